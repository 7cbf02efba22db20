#pragma once

#include <span>
#include <string_view>

namespace stiction::contact {

/// The friction laws. The friction regularizations give friction as a function of slip below the
/// slip tolerance. Under `elastic` a contact sticks by a tangential spring instead, see Anchor.
/// Each law has one name in C++, Python and files, except `custom`, which has no name in files.
/// This is a regularization by a table of the caller, see law_tables.hpp.
enum class FrictionRegularizationKind { soft, quadratic, arctan, elastic, custom };

/// Returns the names of the regularizations but `custom`, in the order of the enum.
std::span<const std::string_view> friction_regularization_names();
/// Returns the names of all laws but `custom`, in the order of the enum.
std::span<const std::string_view> friction_law_names();
std::string_view name_of(FrictionRegularizationKind kind);
/// Returns the law with a name.
/// @throws Error that suggests the nearest name if there is no such law
FrictionRegularizationKind parse_friction_regularization(std::string_view name);

}  // namespace stiction::contact
