#pragma once

#include <span>
#include <string_view>

namespace stiction::contact {

/// The friction regularizations, which give friction as a function of slip below the slip
/// tolerance. Each has one name in C++, Python and files, except `custom`, which has no name in
/// files. This is a table of the caller, see law_tables.hpp.
enum class FrictionRegularizationKind { soft, quadratic, arctan, custom };

/// Returns all names but `custom`, in the order of the enum.
std::span<const std::string_view> friction_regularization_names();
std::string_view name_of(FrictionRegularizationKind kind);
/// Returns the regularization with a name.
/// @throws Error that suggests the nearest name if there is no such regularization
FrictionRegularizationKind parse_friction_regularization(std::string_view name);

}  // namespace stiction::contact
