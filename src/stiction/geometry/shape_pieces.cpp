#include "stiction/geometry/shape_pieces.hpp"

#include <cmath>
#include <numbers>

#include "stiction/base/error.hpp"
#include "stiction/base/number_text.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::geometry {

void check_positive(const char* name, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kInvalidValue, name,
              "is " + base::to_text(value) + ", must be finite and above 0");
}

int add_vertex(const Vec3& position, double extent, MeshedShape& shape) {
  shape.mesh.vertices.push_back(position);
  shape.extent.push_back(extent);
  return static_cast<int>(shape.mesh.vertices.size()) - 1;
}

int add_ring(double radius, double z, int n, double extent, MeshedShape& shape) {
  const int first = static_cast<int>(shape.mesh.vertices.size());
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    add_vertex({radius * math::cos(angle), radius * math::sin(angle), z}, extent, shape);
  }
  return first;
}

void add_cone(int apex, int a, int b, int c, MeshedShape& shape) {
  shape.mesh.tets.push_back({apex, a, b, c});
}

void add_prism(const std::array<int, 3>& bottom, const std::array<int, 3>& top,
               MeshedShape& shape) {
  shape.mesh.tets.push_back({top[0], top[1], bottom[0], top[2]});
  shape.mesh.tets.push_back({top[1], bottom[1], bottom[0], top[2]});
  shape.mesh.tets.push_back({bottom[1], bottom[2], bottom[0], top[2]});
}

void add_pyramid(int apex, const std::array<int, 2>& lower, const std::array<int, 2>& upper,
                 MeshedShape& shape) {
  add_cone(apex, lower[0], lower[1], upper[0], shape);
  add_cone(apex, lower[1], upper[1], upper[0], shape);
}

}  // namespace stiction::geometry
