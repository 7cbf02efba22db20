#include "stiction/contact/model_parameters.hpp"

#include "stiction/base/error.hpp"

namespace stiction::contact {

void check_custom_laws(const ModelParameters& parameters) {
  if (parameters.normal_law == NormalLawKind::custom && !parameters.custom_law)
    throw Error(ErrorCode::kInvalidValue, "custom_law", "is null; give one by make_custom_law");
  if (parameters.friction_law == FrictionRegularizationKind::custom && !parameters.custom_friction)
    throw Error(ErrorCode::kInvalidValue, "custom_friction", "is null; give a TabulatedFriction");
}

}  // namespace stiction::contact
