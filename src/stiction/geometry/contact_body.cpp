#include "stiction/geometry/contact_body.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/tet_filter.hpp"
#include "stiction/geometry/tet_mesh.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::geometry {
namespace {

[[noreturn]] void throw_invalid(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kInvalidValue, where, message);
}

void check_vertices(const std::vector<Vec3>& vertices) {
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (!is_finite(vertices[i])) throw_invalid("vertex " + std::to_string(i), "is not finite");
}

template <std::size_t kSize>
void check_elements(const std::vector<std::array<int, kSize>>& elements, std::size_t num_vertices,
                    const std::string& name) {
  if (elements.empty()) throw_invalid("", "the mesh has no " + name);
  for (std::size_t i = 0; i < elements.size(); ++i)
    for (const int v : elements[i])
      if (v < 0 || static_cast<std::size_t>(v) >= num_vertices)
        throw_invalid(name + " " + std::to_string(i),
                      "vertex index " + std::to_string(v) + " is out of range; the mesh has " +
                          std::to_string(num_vertices) + " vertices");
}

void check_pressure(const PressureField& field) {
  const std::size_t n = field.mesh.vertices.size();
  if (field.pressure.size() != n)
    throw_invalid("", "the field has " + std::to_string(field.pressure.size()) +
                          " pressures, but the mesh has " + std::to_string(n) + " vertices");
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(field.pressure[i]))
      throw_invalid("vertex " + std::to_string(i), "the pressure is not finite");
}

/// Throws if more than two tetrahedra share a face, whose polygons would not belong to one.
void check_faces(const std::vector<std::array<int, 4>>& tets) {
  std::vector<std::array<int, 4>> faces;  // sorted vertices, then the tetrahedron
  faces.reserve(4 * tets.size());
  for (int i = 0; i < static_cast<int>(tets.size()); ++i)
    for (int k = 0; k < 4; ++k) {
      std::array<int, 3> face = get_face(tets[i], k);
      std::sort(face.begin(), face.end());
      faces.push_back({face[0], face[1], face[2], i});
    }
  std::sort(faces.begin(), faces.end());
  for (std::size_t i = 2; i < faces.size(); ++i)
    if (std::equal(faces[i].begin(), faces[i].begin() + 3, faces[i - 2].begin()))
      throw_invalid("tetrahedron " + std::to_string(faces[i][3]),
                    "shares a face with two other tetrahedra; at most two may share a face");
}

/// Returns a new id >= 1; an address may be that of a deleted body.
std::uint64_t make_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

template <class Data>
void set_bounds(const std::vector<Vec3>& vertices, Data* data) {
  Vec3 low = vertices[0], high = vertices[0];
  for (const Vec3& x : vertices) {
    low = componentwise_min(low, x);
    high = componentwise_max(high, x);
  }
  data->center = 0.5 * (low + high);
  data->radius = 0.5 * norm(high - low);
}

Tet make_tet(const PressureField& field, int index) {
  const std::array<int, 4>& v = field.mesh.tets[index];
  std::array<Vec3, 4> X;
  Tet tet{};
  for (int i = 0; i < 4; ++i) {
    X[i] = field.mesh.vertices[v[i]];
    tet.x[i] = X[i].x;
    tet.y[i] = X[i].y;
    tet.z[i] = X[i].z;
    tet.pressure[i] = field.pressure[v[i]];
  }
  const Vec3 a = X[1] - X[0], b = X[2] - X[0], c = X[3] - X[0];
  const double six_volumes = dot(cross(a, b), c);
  if (!(six_volumes > 0))
    throw_invalid("tetrahedron " + std::to_string(index),
                  "the volume is " + std::to_string(six_volumes / 6) + " m^3; it must be positive");
  const auto p = tet.pressure;
  tet.gradient =
      ((p[1] - p[0]) * cross(b, c) + (p[2] - p[0]) * cross(c, a) + (p[3] - p[0]) * cross(a, b)) *
      (1 / six_volumes);
  tet.constant = p[0] - dot(tet.gradient, X[0]);
  tet.gradient_norm = norm(tet.gradient);
  for (int i = 0; i < 4; ++i) {
    const auto [j, k, l] = get_face({0, 1, 2, 3}, i);
    Vec3 n = cross(X[k] - X[j], X[l] - X[j]);
    n = n * (1 / norm(n));
    tet.plane_x[i] = n.x;
    tet.plane_y[i] = n.y;
    tet.plane_z[i] = n.z;
    tet.plane_offset[i] = dot(n, X[j]);
  }
  return tet;
}

Vec3 corner(const Tet& tet, int i) { return {tet.x[i], tet.y[i], tet.z[i]}; }

ElementBox bound(const Tet& tet, double most_rate, int element) {
  const Vec4& p = tet.pressure;
  return bound_sections({corner(tet, 0), corner(tet, 1), corner(tet, 2), corner(tet, 3)},
                        {p[0], p[1], p[2], p[3]}, most_rate, element);
}

/// Bounds a triangle of a rigid body. The triangle may meet a field at any pressure.
ElementBox bound(const Triangle& triangle, int element) {
  const auto& [a, b, c] = triangle.vertex;
  return bound_all_pressures(componentwise_min(a, componentwise_min(b, c)),
                             componentwise_max(a, componentwise_max(b, c)), element);
}

/// Returns the largest rate of moving boxes [m/Pa]. It is twice the rate in a ball of this radius,
/// where the pressure rises from 0 on the boundary to its largest value at the center.
double calc_most_rate(const PressureField& field, double radius) {
  double most = 0;
  for (const double p : field.pressure) most = std::max(most, std::abs(p));
  return most > 0 ? 2 * radius / most : 0;
}

Triangle make_triangle(const TriangleMesh& mesh, int index) {
  Triangle triangle;
  for (int i = 0; i < 3; ++i) triangle.vertex[i] = mesh.vertices[mesh.triangles[index][i]];
  const auto& [a, b, c] = triangle.vertex;
  const Vec3 n = cross(b - a, c - a);
  const double length = norm(n);
  triangle.normal = length > 0 ? n * (1 / length) : Vec3{};
  return triangle;
}

bool is_in(const TetBodyData& body, const Vec3& x) {
  if (norm(x - body.center) > body.radius) return false;
  const double tolerance = 1e-12 * body.radius;
  return std::any_of(body.tets.begin(), body.tets.end(), [&](const Tet& tet) {
    for (int i = 0; i < 4; ++i)
      if (tet.plane_x[i] * x.x + tet.plane_y[i] * x.y + tet.plane_z[i] * x.z >
          tet.plane_offset[i] + tolerance)
        return false;
    return true;
  });
}

/// Solid angles of all triangles sum to 4 pi inside, and to 0 outside. Source: [vanoosterom1983].
bool is_in(const TriangleBodyData& body, const Vec3& x) {
  if (norm(x - body.center) > body.radius) return false;
  double half_angle = 0;
  for (const Triangle& triangle : body.triangles) {
    const Vec3 a = triangle.vertex[0] - x, b = triangle.vertex[1] - x, c = triangle.vertex[2] - x;
    const double A = norm(a), B = norm(b), C = norm(c);
    half_angle +=
        math::atan2(dot(a, cross(b, c)), A * B * C + dot(a, b) * C + dot(b, c) * A + dot(c, a) * B);
  }
  return half_angle > std::numbers::pi;
}

}  // namespace

CompliantBody::CompliantBody(PressureField field) {
  const TetMesh& mesh = field.mesh;
  check_vertices(mesh.vertices);
  check_elements(mesh.tets, mesh.vertices.size(), "tetrahedron");
  check_pressure(field);
  check_faces(mesh.tets);
  auto data = std::make_shared<TetBodyData>();
  data->id = make_id();
  for (int i = 0; i < static_cast<int>(mesh.tets.size()); ++i)
    data->tets.push_back(make_tet(field, i));
  set_bounds(mesh.vertices, data.get());
  std::vector<ElementBox> boxes;
  const double most_rate = calc_most_rate(field, data->radius);
  for (int i = 0; i < static_cast<int>(data->tets.size()); ++i)
    boxes.push_back(bound(data->tets[i], most_rate, i));
  data->bvh = make_bvh(boxes, data->center, data->radius, most_rate);
  for (const BvhLeaf& leaf : data->bvh.leaves)
    data->leaves.push_back(make_tet_leaf(leaf, data->tets, data->center));
  data->max_pressure = *std::max_element(field.pressure.begin(), field.pressure.end());
  data->field = std::move(field);
  data_ = std::move(data);
}

const PressureField& CompliantBody::field() const { return data_->field; }
double CompliantBody::max_pressure() const { return data_->max_pressure; }

RigidBody::RigidBody(TriangleMesh mesh) {
  check_vertices(mesh.vertices);
  check_elements(mesh.triangles, mesh.vertices.size(), "triangle");
  auto data = std::make_shared<TriangleBodyData>();
  data->id = make_id();
  for (int i = 0; i < static_cast<int>(mesh.triangles.size()); ++i)
    data->triangles.push_back(make_triangle(mesh, i));
  set_bounds(mesh.vertices, data.get());
  std::vector<ElementBox> boxes;
  for (int i = 0; i < static_cast<int>(data->triangles.size()); ++i)
    boxes.push_back(bound(data->triangles[i], i));
  data->bvh = make_bvh(boxes, data->center, data->radius, 0);
  data->mesh = std::move(mesh);
  data_ = std::move(data);
}

const TriangleMesh& RigidBody::mesh() const { return data_->mesh; }

bool contains(const ContactBody& body, const Vec3& x) noexcept {
  if (const auto* tets = std::get_if<CompliantBody>(&body)) return is_in(tets->data(), x);
  if (const auto* triangles = std::get_if<RigidBody>(&body)) return is_in(triangles->data(), x);
  return x.z <= 0;
}

bool is_compliant(const ContactBody& body) {
  const auto* half_space = std::get_if<HalfSpace>(&body);
  if (half_space) return std::isfinite(half_space->pressure_gradient);
  return std::holds_alternative<CompliantBody>(body);
}

bool has_contact_surface(const ContactBody& A, const ContactBody& B) {
  const bool are_half_spaces =
      std::holds_alternative<HalfSpace>(A) && std::holds_alternative<HalfSpace>(B);
  return !are_half_spaces && (is_compliant(A) || is_compliant(B));
}

}  // namespace stiction::geometry
