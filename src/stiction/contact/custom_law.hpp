#pragma once

#include <concepts>
#include <memory>
#include <utility>

/// Normal laws of the caller's: any force f(x, xdot) >= 0 that does not fall as penetration x or
/// its rate xdot rise. Then n(v) = dt f(x0 - dt v, -v) has a convex cost, [castro2023] eqs.
/// (5)-(8).
namespace stiction::contact {

/// A normal force and its partial derivatives.
struct NormalForce {
  double f = 0;         // [N], >= 0
  double df_dx = 0;     // [N/m], >= 0
  double df_dxdot = 0;  // [N s/m], >= 0
};

/// A law that gives these at every penetration x [m], negative apart, and rate xdot [m/s]. It is
/// called from several threads at once, and throws nothing. One that acts before surfaces touch has
/// `double reach() const noexcept` as well: from how far [m].
template <class L>
concept NormalLaw = requires(const L& law, double x, double xdot) {
  { law.calc_force(x, xdot) }
  noexcept->std::same_as<NormalForce>;
};

/// Where a law is checked.
struct LawRange {
  double max_penetration = 0.01;  // [m], > 0; as far apart as well
  double max_rate = 10;           // [m/s], > 0; both ways
};

/// A law whose type is forgotten.
class CustomLaw {
 public:
  virtual ~CustomLaw() = default;
  virtual NormalForce calc_force(double x, double xdot) const noexcept = 0;
  /// How far apart surfaces may be for it to push them [m]: the law's own `reach()` if it has one,
  /// else 0.
  virtual double reach() const noexcept = 0;
};

/// Evaluates f and its derivatives on a grid that is finer towards zero, and differences of f.
/// @throws Error naming the first point where a value is not finite or negative, a derivative is
/// not
///         that of f, or f falls towards the next point, with the value and what to do; or for a
///         range that is none, or a reach that is no distance
void check_normal_law(const CustomLaw& law, const LawRange& range = {});

template <NormalLaw L>
class HeldLaw final : public CustomLaw {
 public:
  explicit HeldLaw(L law) : law_(std::move(law)) {}
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

template <NormalLaw L>
void check_normal_law(const L& law, const LawRange& range = {}) {
  check_normal_law(static_cast<const CustomLaw&>(HeldLaw<L>(law)), range);
}

/// For ModelParameters::custom_law.
/// @throws Error if check_normal_law does
template <NormalLaw L>
std::shared_ptr<const CustomLaw> make_custom_law(L law, const LawRange& range = {}) {
  auto held = std::make_shared<const HeldLaw<L>>(std::move(law));
  check_normal_law(static_cast<const CustomLaw&>(*held), range);
  return held;
}

/// Integral of a custom law's n from v to where it ends or, where it does not within 1e3 m/s, to
/// 1e3 m/s above; by adaptive quadrature, to about 1e-10 of itself. Not for the step. [J]
double integrate_impulse(const CustomLaw& law, double dt, double x0, double v);

}  // namespace stiction::contact
