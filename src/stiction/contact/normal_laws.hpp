#pragma once

#include <cmath>
#include <concepts>
#include <iterator>
#include <span>
#include <string_view>

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/law_data.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {
class DefinedForce;
}  // namespace stiction::certificate

/// The table of normal laws: their names, the properties that they read, the distances at which
/// they act, and the formulas of their forces. The solver's own form of a law is in laws/.
namespace stiction::contact {

/// The normal laws, which give the force of a contact from its penetration and the rate of it. Each
/// has one name in C++, Python and files, except `custom`, which has no name in files. This is the
/// caller's own law, see custom_law.hpp.
enum class NormalLawKind { hunt_crossley, linear, hertz, log_barrier, ipc_barrier, custom };

/// The force f(x, xdot) of a law [N], by the formula of its documentation.
///
/// Only the certificate may evaluate it. Solvers have their own closed forms of impulses, slopes
/// and costs in laws/. If they called this function, a mistake in it would be both in the solution
/// and in its check, and would not be found.
class ForceDefinition {
 public:
  /// @param law  properties of the contact
  /// @param f_e  elastic force of a linear spring [N]: k x, or the pressure on a surface's face
  /// @param x    penetration [m], < 0 while the surfaces are apart
  /// @param xdot its rate [m/s]
  using Force = double (*)(const ContactLawData<double>& law, double f_e, double x, double xdot);

  constexpr ForceDefinition() = default;
  template <std::convertible_to<Force> F>
  constexpr ForceDefinition(F force) : force_(force) {}  // NOLINT: the table has lambdas

 private:
  friend class certificate::DefinedForce;
  Force force_ = nullptr;
};

/// The time and the distance by which a law acts before surfaces touch; see Reach.
struct LawReach {
  double time = 0;      // in addition to the time step [s]
  double distance = 0;  // [m]
};

/// The properties of a normal law.
struct NormalLawTraits {
  NormalLawKind law;
  std::string_view name;
  PropertyUse uses = {};
  /// True if pressure-field contact can have this law. Its force must be linear in depth.
  bool takes_patches = false;
  /// True if the force grows without bound as the gap closes.
  bool is_barrier = false;
  /// The barrier thickness of a surface for which none is given [m].
  double default_thickness = 5e-4;
  /// Computes the reach. Null if the law acts only on surfaces that overlap at the end of the step.
  LawReach (*reach)(const ContactLawData<double>& law) = nullptr;
  ForceDefinition force = {};
};

/// Returns x, or 0 if x is negative. NaN stays NaN.
constexpr double positive_part(double x) { return x <= 0 ? 0 : x; }

inline constexpr NormalLawTraits kNormalLaws[] = {
    // f = k x_+ (1 + d xdot)_+
    {.law = NormalLawKind::hunt_crossley,
     .name = "hunt_crossley",
     .uses = {.stiffness = true, .dissipation = true},
     .takes_patches = true,
     .force =
         [](const ContactLawData<double>& law, double f_e, double, double xdot) {
           return positive_part(f_e) * positive_part(1 + law.dissipation * xdot);
         }},
    // f = k (x + tau_d xdot)_+
    {.law = NormalLawKind::linear,
     .name = "linear",
     .uses = {.stiffness = true, .relaxation_time = true},
     .takes_patches = true,
     .reach = [](const ContactLawData<double>& law) -> LawReach {
       return {.time = law.relaxation_time};
     },
     .force =
         [](const ContactLawData<double>& law, double f_e, double, double xdot) {
           return positive_part(f_e + law.stiffness * law.relaxation_time * xdot);
         }},
    // f = k_h x_+^(3/2) (1 + 3/2 d xdot)_+
    {.law = NormalLawKind::hertz,
     .name = "hertz",
     .uses = {.dissipation = true, .hertz_stiffness = true},
     .force =
         [](const ContactLawData<double>& law, double, double x, double xdot) {
           return law.hertz_stiffness * positive_part(x) * std::sqrt(positive_part(x)) *
                  positive_part(1 + 1.5 * law.dissipation * xdot);
         }},
    // f = k d^2 / g at any gap g = -x, so the default d is small. The reach ends at k d / 1000.
    {.law = NormalLawKind::log_barrier,
     .name = "log_barrier",
     .uses = {.barrier_stiffness = true, .barrier_thickness = true},
     .is_barrier = true,
     .default_thickness = 5e-7,
     .reach = [](const ContactLawData<double>& law) -> LawReach {
       return {.distance = 1000 * law.barrier_thickness};
     },
     .force =
         [](const ContactLawData<double>& law, double, double x, double) {
           const double k = law.barrier_stiffness, d = law.barrier_thickness, g = -x;
           return g <= 0 ? kInfinity : k * d * d / g;
         }},
    // f = -d/dg of -k (d - g)^2 ln(g/d), for gaps g = -x below d
    {.law = NormalLawKind::ipc_barrier,
     .name = "ipc_barrier",
     .uses = {.barrier_stiffness = true, .barrier_thickness = true},
     .is_barrier = true,
     .reach = [](const ContactLawData<double>& law) -> LawReach {
       return {.distance = law.barrier_thickness};
     },
     .force =
         [](const ContactLawData<double>& law, double, double x, double) {
           const double k = law.barrier_stiffness, d = law.barrier_thickness, g = -x;
           if (g <= 0) return kInfinity;
           return g < d ? k * ((d - g) * (d - g) / g - 2 * (d - g) * math::log(g / d)) : 0;
         }},
    // The caller's law gives its force and its reach itself, see CustomLaw.
    {.law = NormalLawKind::custom, .name = "custom"},
};

/// Returns all laws with names in files, in the order of tables: all but the last, `custom`.
constexpr std::span<const NormalLawTraits> normal_laws() {
  return {kNormalLaws, std::size(kNormalLaws) - 1};
}

constexpr const NormalLawTraits& traits(NormalLawKind law) {
  return kNormalLaws[static_cast<int>(law)];
}

static_assert(
    [] {
      for (int i = 0; i < static_cast<int>(std::size(kNormalLaws)); ++i)
        if (static_cast<int>(kNormalLaws[i].law) != i) return false;
      return kNormalLaws[std::size(kNormalLaws) - 1].law == NormalLawKind::custom;
    }(),
    "rows are in the order of the enum, custom last");

/// Returns the law with a name.
/// @throws Error that suggests the nearest name if there is no such law
inline NormalLawKind parse_normal_law(std::string_view name) {
  return static_cast<NormalLawKind>(parse_name("normal_law", name, list_names(normal_laws())));
}

/// Returns the normal law under a model; hunt_crossley stands for the law of the model's own.
constexpr NormalLawKind find_normal_law(ContactModel model, NormalLawKind law) {
  return traits(model).takes_laws ? law : NormalLawKind::hunt_crossley;
}

/// Returns the properties that a model reads under a normal law, without those of anchors.
constexpr PropertyUse calc_property_use(ContactModel model, NormalLawKind law) {
  PropertyUse use = traits(model).uses;
  if (!traits(model).takes_laws) return use;
  for (const auto property : kLawProperties<bool>) use.*property |= traits(law).uses.*property;
  return use;
}

}  // namespace stiction::contact
