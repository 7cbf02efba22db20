// Contact surfaces of shapes, tet meshes, triangle meshes and half spaces of arbitrary numbers.
#include <cmath>
#include <optional>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/extent.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/shapes.hpp"

namespace stiction::fuzz {
namespace {

using namespace geometry;

Vec3 make_vector(Input* input) {
  const double x = input->raw_number(), y = input->raw_number(), z = input->raw_number();
  return {x, y, z};
}

/// Meshes a shape with up to a few thousand elements.
MeshedShape make_shape(Input* input) {
  const double a = input->raw_number(), b = input->raw_number(), c = input->raw_number();
  const double hint = input->log_uniform(0.15, 10) * a;
  switch (input->integer(0, 3)) {
    case 0: return make_box_mesh({a, b, c});
    case 1: return make_sphere_mesh(a, hint);
    case 2: return make_cylinder_mesh(a, std::min(b, 4 * a), hint);
    default: return make_ellipsoid_mesh({a, std::min(b, a), std::min(c, a)}, hint);
  }
}

TetMesh make_tets(Input* input) {
  TetMesh mesh;
  for (int i = input->integer(0, 9); i > 0; --i) mesh.vertices.push_back(make_vector(input));
  for (int i = input->integer(0, 6); i > 0; --i) {
    std::array<int, 4> tet{};
    for (int& vertex : tet) vertex = input->integer(0, 9) - 1;
    mesh.tets.push_back(tet);
  }
  return mesh;
}

TriangleMesh make_triangles(Input* input) {
  TriangleMesh mesh;
  for (int i = input->integer(0, 9); i > 0; --i) mesh.vertices.push_back(make_vector(input));
  for (int i = input->integer(0, 9); i > 0; --i) {
    std::array<int, 3> triangle{};
    for (int& vertex : triangle) vertex = input->integer(0, 9) - 1;
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

PressureField make_arbitrary_field(Input* input) {
  PressureField field{make_tets(input), {}};
  for (std::size_t i = 0; i < field.mesh.vertices.size(); ++i)
    field.pressure.push_back(input->raw_number());
  return field;
}

/// @throws Error if the numbers are not those of a body
ContactBody make_body(Input* input) {
  switch (input->integer(0, 5)) {
    case 0: return HalfSpace{std::abs(input->number()) + 1e-3};
    case 1: return HalfSpace{std::numeric_limits<double>::infinity()};
    case 2: return CompliantBody(make_arbitrary_field(input));
    case 3: return RigidBody(make_triangles(input));
    case 4:
      return CompliantBody(
          make_pressure_field(make_meshed_shape(make_tets(input), "input"), input->raw_number()));
    default: return CompliantBody(make_pressure_field(make_shape(input), input->raw_number()));
  }
}

RigidTransform make_pose(Input* input) {
  const double angle = input->number(), x = input->number(), y = input->number();
  const double c = std::cos(angle), s = std::sin(angle);
  RigidTransform X;
  X.R.row[0] = {c, -s, 0};
  X.R.row[1] = {s, c, 0};
  X.p = {x, y, input->raw_number()};
  return X;
}

void require_valid(const ContactSurface& surface) {
  for (const SurfaceFace& face : surface.faces) {
    require(face.area > 0);
    require(face.num_vertices >= 3);
    require(face.first_vertex >= 0 &&
            face.first_vertex + face.num_vertices <= static_cast<int>(surface.vertices.size()));
  }
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  fuzz::Input input(data, size);
  std::optional<geometry::ContactBody> A, B;
  try {
    A = fuzz::make_body(&input);
    B = fuzz::make_body(&input);
  } catch (const Error&) {
    return 0;
  }
  geometry::SurfaceQuery query;
  geometry::ContactSurface surface;
  for (int i = 0; i < 3; ++i) {
    const geometry::RigidTransform X_WA = fuzz::make_pose(&input), X_WB = fuzz::make_pose(&input);
    const auto tessellation = static_cast<geometry::Tessellation>(input.integer(0, 1));
    query.calc(*A, X_WA, *B, X_WB, tessellation, &surface);
    fuzz::require_valid(surface);
  }
  return 0;
}
