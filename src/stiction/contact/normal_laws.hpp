#pragma once

#include <cmath>
#include <concepts>
#include <iterator>
#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/law_data.hpp"

namespace stiction::certificate {
class DefinedForce;
}  // namespace stiction::certificate

/// The normal laws: their names, what they read, from how far they act, and their force as
/// documented. The solver's own form of a law is in laws/.
namespace stiction::contact {

/// Force of a contact from its penetration and the rate of it: one name in C++, Python and files.
/// `custom` is the caller's own law, see custom_law.hpp; it has no name in files.
enum class NormalLawKind { hunt_crossley, linear, hertz, log_barrier, ipc_barrier, custom };

/// The force f(x, xdot) of a law [N], as its documentation writes it.
///
/// Only the certificate may evaluate it. Solvers have closed forms of their own, for impulses,
/// slopes and costs, in laws/: if they called this function, a mistake in it would be in the
/// solution and in its check alike, and neither would show it.
class ForceDefinition {
 public:
  /// @param law  properties of the contact
  /// @param f_e  elastic force of a linear spring [N]: k x, or the pressure on a surface's face
  /// @param x    penetration [m], negative apart
  /// @param xdot its rate [m/s]
  using Force = double (*)(const ContactLawData<double>& law, double f_e, double x, double xdot);

  constexpr ForceDefinition() = default;
  template <std::convertible_to<Force> F>
  constexpr ForceDefinition(F force) : force_(force) {}  // NOLINT: rows give a lambda

 private:
  friend class certificate::DefinedForce;
  Force force_ = nullptr;
};

/// How far ahead a law acts, in time and in distance; see Reach.
struct LawReach {
  double time = 0;      // [s], beyond the step
  double distance = 0;  // [m]
};

struct NormalLawTraits {
  NormalLawKind law;
  std::string_view name;
  PropertyUse uses = {};
  /// Pressure-field contact has laws that are linear in depth.
  bool takes_patches = false;
  /// The force grows without bound as the surfaces come to touch.
  bool is_barrier = false;
  /// The barrier thickness of a surface that gives none [m].
  double default_thickness = 5e-4;
  /// Null: the law acts where surfaces overlap, within the step.
  LawReach (*reach)(const ContactLawData<double>& law) = nullptr;
  ForceDefinition force = {};
};

/// Zero for negative numbers; what is not a number stays so.
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
           return law.hertz_stiffness * std::pow(positive_part(x), 1.5) *
                  positive_part(1 + 1.5 * law.dissipation * xdot);
         }},
    // f = k d^2 / g at gaps g = -x of any size, for which the default thickness is small. The reach
    // ends where f = k d / 1000.
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
           return g < d ? k * ((d - g) * (d - g) / g - 2 * (d - g) * std::log(g / d)) : 0;
         }},
    // The caller's law gives its force and its reach itself, see CustomLaw.
    {.law = NormalLawKind::custom, .name = "custom"},
};

/// All laws that have names, in the order of tables: all but `custom`, which is last.
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

/// @throws Error with the nearest name if no law has this one
NormalLawKind parse_normal_law(std::string_view name);

/// The law that a model's contacts have: `law` if the model takes laws; else the model's own, for
/// which hunt_crossley stands.
constexpr NormalLawKind find_normal_law(ContactModel model, NormalLawKind law) {
  return traits(model).takes_laws ? law : NormalLawKind::hunt_crossley;
}

/// The properties that a model reads under a normal law.
constexpr PropertyUse calc_property_use(ContactModel model, NormalLawKind law) {
  PropertyUse use = traits(model).uses;
  if (!traits(model).takes_laws) return use;
  for (const auto property : kLawProperties<bool>) use.*property |= traits(law).uses.*property;
  return use;
}

}  // namespace stiction::contact
