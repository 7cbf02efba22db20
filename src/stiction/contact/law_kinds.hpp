#pragma once

#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"

/// Normal laws and friction regularizations by name: one spelling in C++, Python and files.
namespace stiction::contact {

/// Force of a contact from its penetration and the rate of it. `custom` is a law of the caller's,
/// see custom_law.hpp; it has no name in files.
enum class NormalLawKind { hunt_crossley, linear, hertz, log_barrier, ipc_barrier, custom };

/// Friction as a function of slip below the slip tolerance.
enum class FrictionRegularizationKind { soft, quadratic, arctan };

/// The contact properties that a law reads.
using PropertyUse = ContactLawData<bool>;

struct NormalLawTraits {
  NormalLawKind law;
  std::string_view name;
  PropertyUse uses;
};

/// All laws that have names, in the order of tables.
std::span<const NormalLawTraits> normal_laws();
/// Those of `custom` have the name "custom", and use nothing.
const NormalLawTraits& traits(NormalLawKind law);
/// @throws Error with the nearest name if no law has this one
NormalLawKind parse_normal_law(std::string_view name);

std::span<const std::string_view> friction_regularization_names();
std::string_view name_of(FrictionRegularizationKind kind);
/// @throws Error with the nearest name if no regularization has this one
FrictionRegularizationKind parse_friction_regularization(std::string_view name);

/// The law of a model: the one asked for if it takes laws; else its own, for which hunt_crossley
/// stands.
NormalLawKind find_normal_law(ContactModel model, NormalLawKind law);

/// What a model reads under a law: the law's properties if it takes laws, else its own.
PropertyUse calc_property_use(ContactModel model, NormalLawKind law);

}  // namespace stiction::contact
