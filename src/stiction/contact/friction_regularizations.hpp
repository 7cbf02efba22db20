#pragma once

#include <span>
#include <string_view>

namespace stiction::contact {

/// Friction as a function of slip below the slip tolerance: one name in C++, Python and files.
enum class FrictionRegularizationKind { soft, quadratic, arctan };

/// All names, in the order of the enum.
std::span<const std::string_view> friction_regularization_names();
std::string_view name_of(FrictionRegularizationKind kind);
/// @throws Error with the nearest name if no regularization has this one
FrictionRegularizationKind parse_friction_regularization(std::string_view name);

}  // namespace stiction::contact
