#include "stiction/geometry/meshed_shape.hpp"

#include <utility>

#include "stiction/geometry/shape_pieces.hpp"

namespace stiction::geometry {

PressureField make_pressure_field(MeshedShape shape, double hydroelastic_modulus) {
  check_positive("hydroelastic_modulus", hydroelastic_modulus);
  PressureField field{std::move(shape.mesh), std::move(shape.extent)};
  for (double& p : field.pressure) p *= hydroelastic_modulus;
  return field;
}

}  // namespace stiction::geometry
