#pragma once

#include <concepts>
#include <memory>
#include <utility>

/// Custom normal laws: any force f(x, xdot) >= 0 that does not decrease with the penetration x or
/// its rate xdot. The impulse n(v) = dt f(x0 - dt v, -v) then has a convex cost, [castro2023] eqs.
/// (5)-(8); [theory:custom-law].
namespace stiction::contact {

struct NormalLawTable;

/// A normal force and its partial derivatives.
struct NormalForce {
  double f = 0;         // [N], >= 0
  double df_dx = 0;     // [N/m], >= 0
  double df_dxdot = 0;  // [N s/m], >= 0
};

/// A custom law computes the force at every penetration x [m], which is negative while bodies are
/// apart, and every rate xdot [m/s]. It is called from several threads at once and must not throw.
/// A law that acts before surfaces touch also has `double reach() const noexcept`, the largest
/// distance at which it acts [m].
template <class L>
concept NormalLaw = requires(const L& law, double x, double xdot) {
  { law.calc_force(x, xdot) }
  noexcept->std::same_as<NormalForce>;
};

/// The range of penetrations and rates in which a law is checked.
struct LawRange {
  double max_penetration = 0.01;  // checks x in [-max_penetration, max_penetration] [m], > 0
  double max_rate = 10;           // checks xdot in [-max_rate, max_rate] [m/s], > 0
};

/// Interface of a custom law of any type.
class CustomLaw {
 public:
  virtual ~CustomLaw() = default;
  /// Computes the force at penetration x [m] and rate xdot [m/s].
  virtual NormalForce calc_force(double x, double xdot) const noexcept = 0;
  /// The largest distance at which the law acts [m]: its own `reach()` if it has one, else 0.
  virtual double reach() const noexcept = 0;
  /// The tables of the law, or null if it is not a TabulatedLaw.
  virtual const NormalLawTable* table() const noexcept { return nullptr; }
};

/// Checks the values, derivatives and differences of a law on a grid that becomes finer towards 0.
/// @throws Error for the first point where a value is negative or not finite, where a derivative
///         disagrees with f, or where f decreases towards the next point, with the value and the
///         remedy. Also throws if a limit of `range` is not positive and finite, or if reach() is
///         negative or not finite.
void check_normal_law(const CustomLaw& law, const LawRange& range = {});

/// A CustomLaw that stores a law of type L.
template <NormalLaw L>
class CustomLawOf final : public CustomLaw {
 public:
  explicit CustomLawOf(L law) : law_(std::move(law)) {}
  NormalForce calc_force(double x, double xdot) const noexcept override {
    return law_.calc_force(x, xdot);
  }
  double reach() const noexcept override {
    if constexpr (requires { law_.reach(); }) {
      static_assert(noexcept(law_.reach()), "declare reach() const noexcept");
      return law_.reach();
    } else {
      return 0;
    }
  }

 private:
  L law_;
};

/// Checks a law of any type.
template <NormalLaw L>
void check_normal_law(const L& law, const LawRange& range = {}) {
  check_normal_law(static_cast<const CustomLaw&>(CustomLawOf<L>(law)), range);
}

/// Checks a law and makes the value of ModelParameters::custom_law.
/// @throws Error if check_normal_law does
template <NormalLaw L>
std::shared_ptr<const CustomLaw> make_custom_law(L law, const LawRange& range = {}) {
  auto custom = std::make_shared<const CustomLawOf<L>>(std::move(law));
  check_normal_law(static_cast<const CustomLaw&>(*custom), range);
  return custom;
}

/// Integrates the impulse n of a custom law from v to the velocity where n vanishes, or to 1e3 m/s
/// above v if it does not vanish before. Uses adaptive quadrature with a relative error of about
/// 1e-10. Solvers do not need this integral; tests do.
/// @return integral of n [J]
double integrate_impulse(const CustomLaw& law, double dt, double x0, double v);

}  // namespace stiction::contact
