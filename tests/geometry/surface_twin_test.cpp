// Compares surfaces with a brute-force twin that shares no code with them. The twin tests every
// pair of elements and computes each polygon from the intersections of three planes.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "geometry/surface_support.hpp"

namespace stiction::geometry::surface_twin_test {
namespace {

/// The half space normal . x <= offset.
struct Plane {
  Vec3 normal;
  double offset;
};

using Planes = std::vector<Plane>;

struct TwinFace {
  double area;
  Vec3 centroid;
};

std::optional<Vec3> meet(const Plane& a, const Plane& b, const Plane& c) {
  const double det = dot(a.normal, cross(b.normal, c.normal));
  if (std::abs(det) < 1e-9) return std::nullopt;
  return (a.offset * cross(b.normal, c.normal) + b.offset * cross(c.normal, a.normal) +
          c.offset * cross(a.normal, b.normal)) *
         (1 / det);
}

/// Returns the part of a plane that lies within all `walls`.
TwinFace calc_twin_face(const Plane& plane, const Planes& walls) {
  std::vector<Vec3> corners;
  for (std::size_t i = 0; i < walls.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const auto x = meet(plane, walls[i], walls[j]))
        if (std::all_of(walls.begin(), walls.end(), [&](const Plane& wall) {
              return dot(wall.normal, *x) <= wall.offset + 1e-12;
            }))
          corners.push_back(*x);
  if (corners.size() < 3) return {0, {}};
  // Sort the corners by angle about their mean.
  const Vec3 mean = std::accumulate(corners.begin(), corners.end(), Vec3{}) *
                    (1.0 / static_cast<double>(corners.size()));
  const Vec3 skew = std::abs(plane.normal.x) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 u = cross(plane.normal, skew), v = cross(plane.normal, u);
  std::sort(corners.begin(), corners.end(), [&](const Vec3& a, const Vec3& b) {
    return std::atan2(dot(v, a - mean), dot(u, a - mean)) <
           std::atan2(dot(v, b - mean), dot(u, b - mean));
  });
  TwinFace face{0, {}};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec3 a = corners[i], b = corners[(i + 1) % corners.size()];
    const double area = 0.5 * norm(cross(a - mean, b - mean));
    face.area += area;
    face.centroid += area / 3 * (a + b + mean);
  }
  if (face.area > 0) face.centroid = face.centroid * (1 / face.area);
  return face;
}

Plane through(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 n = cross(b - a, c - a);
  const Vec3 normal = n * (1 / norm(n));
  return {normal, dot(normal, a)};
}

struct LinearField {
  Vec3 gradient;
  double constant = 0;
};

struct WorldTet {
  Planes walls;
  LinearField field;
};

std::vector<WorldTet> make_world_tets(const PressureField& field, const RigidTransform& X) {
  std::vector<WorldTet> tets;
  for (const auto& v : field.mesh.tets) {
    std::array<Vec3, 4> x;
    for (int i = 0; i < 4; ++i) x[i] = X * field.mesh.vertices[v[i]];
    WorldTet tet;
    for (int i = 0; i < 4; ++i) {
      Plane wall = through(x[(i + 1) % 4], x[(i + 2) % 4], x[(i + 3) % 4]);
      const double height = dot(wall.normal, x[i]) - wall.offset;
      if (height > 0) wall = {-wall.normal, -wall.offset};
      tet.walls.push_back(wall);
      // The pressure is the sum of p_i times the height above the opposite face, relative to the
      // height of corner i.
      const double scale = -field.pressure[v[i]] / std::abs(height);
      tet.field.gradient += scale * wall.normal;
      tet.field.constant -= scale * wall.offset;
    }
    tets.push_back(tet);
  }
  return tets;
}

using Pair = std::pair<int, int>;
using TwinSurface = std::map<Pair, TwinFace>;

bool is_selected(const Vec3& gradient, const Vec3& inward) {
  return dot(gradient, inward) > std::cos(5 * std::numbers::pi / 8) * norm(gradient);
}

void add_twin_face(int a, int b, const Plane& plane, Planes walls_a, const Planes& walls_b,
                   TwinSurface* surface) {
  walls_a.insert(walls_a.end(), walls_b.begin(), walls_b.end());
  const TwinFace face = calc_twin_face(plane, walls_a);
  if (face.area > 0) (*surface)[{a, b}] = face;
}

TwinSurface calc_twin(const std::vector<WorldTet>& A, const std::vector<WorldTet>& B) {
  TwinSurface surface;
  for (int a = 0; a < static_cast<int>(A.size()); ++a)
    for (int b = 0; b < static_cast<int>(B.size()); ++b) {
      const Vec3 n = B[b].field.gradient - A[a].field.gradient;
      const Vec3 normal = n * (1 / norm(n));
      if (!is_selected(A[a].field.gradient, -normal) || !is_selected(B[b].field.gradient, normal))
        continue;
      const Plane plane = {normal, (A[a].field.constant - B[b].field.constant) / norm(n)};
      add_twin_face(a, b, plane, A[a].walls, B[b].walls, &surface);
    }
  return surface;
}

/// The walls of a triangle: the planes through its edges, perpendicular to it.
Planes make_edge_walls(const std::array<Vec3, 3>& x, const Vec3& normal) {
  Planes walls;
  for (int i = 0; i < 3; ++i) {
    const Vec3 out = cross(x[(i + 1) % 3] - x[i], normal);
    const Vec3 unit = out * (1 / norm(out));
    walls.push_back({unit, dot(unit, x[i])});
  }
  return walls;
}

TwinSurface calc_twin(const TriangleMesh& A, const RigidTransform& X_WA,
                      const std::vector<WorldTet>& B) {
  TwinSurface surface;
  for (int a = 0; a < static_cast<int>(A.triangles.size()); ++a) {
    std::array<Vec3, 3> x;
    for (int i = 0; i < 3; ++i) x[i] = X_WA * A.vertices[A.triangles[a][i]];
    const Plane plane = through(x[0], x[1], x[2]);
    const Planes walls = make_edge_walls(x, plane.normal);
    for (int b = 0; b < static_cast<int>(B.size()); ++b)
      if (is_selected(B[b].field.gradient, plane.normal))
        add_twin_face(a, b, plane, walls, B[b].walls, &surface);
  }
  return surface;
}

/// Compares areas, centroids and element pairs. Faces of less than 1e-16 m^2 may be missing on one
/// side.
void expect_equal(const ContactSurface& surface, const TwinSurface& twin) {
  TwinSurface faces;
  for (const SurfaceFace& face : surface.faces) {
    const bool is_new =
        faces.insert({{face.element_A, face.element_B}, {face.area, face.centroid}}).second;
    EXPECT_TRUE(is_new) << face.element_A << ", " << face.element_B << " twice";
  }
  TwinSurface all = faces;
  all.insert(twin.begin(), twin.end());
  for (const auto& [pair, _] : all) {
    const TwinFace face = faces[pair];
    const auto at = twin.find(pair);
    const TwinFace expected = at == twin.end() ? TwinFace{0, {}} : at->second;
    EXPECT_NEAR(face.area, expected.area, 1e-13) << pair.first << ", " << pair.second;
    if (face.area > 1e-9) {
      EXPECT_LT(norm(face.centroid - expected.centroid), 1e-10);
    }
  }
}

TEST(SurfaceTwin, AgreesOnRandomFields) {
  std::mt19937 random(1);
  std::size_t num_faces = 0, most_vertices = 0;
  for (int round = 0; round < 6; ++round) {
    const PressureField A = make_random_field(&random, 2, 0.02);
    const PressureField B = make_random_field(&random, 2, 0.015);
    const RigidTransform X_WA = random_pose(&random, 1);
    const RigidTransform X_WB = X_WA * random_pose(&random, 0.02);
    const ContactSurface surface = calc_surface(CompliantBody(A), X_WA, CompliantBody(B), X_WB);
    expect_equal(surface, calc_twin(make_world_tets(A, X_WA), make_world_tets(B, X_WB)));
    num_faces += surface.faces.size();
    for (const SurfaceFace& face : surface.faces)
      most_vertices = std::max<std::size_t>(most_vertices, face.num_vertices);
  }
  EXPECT_GT(num_faces, 200U);
  EXPECT_GE(most_vertices, 7U);
}

TEST(SurfaceTwin, AgreesOnARigidBoxInARandomField) {
  std::mt19937 random(2);
  std::size_t num_faces = 0;
  for (int round = 0; round < 6; ++round) {
    const TriangleMesh box =
        make_box_surface(0.5 * random_vector(&random, 0.01) + Vec3{0.02, 0.015, 0.01});
    const PressureField field = make_random_field(&random, 3, 0.012);
    const RigidTransform X_WA = random_pose(&random, 1);
    const RigidTransform X_WB = X_WA * random_pose(&random, 0.02);
    const ContactSurface surface = calc_surface(RigidBody(box), X_WA, CompliantBody(field), X_WB);
    expect_equal(surface, calc_twin(box, X_WA, make_world_tets(field, X_WB)));
    num_faces += surface.faces.size();
  }
  EXPECT_GT(num_faces, 200U);
}

TEST(SurfaceTwin, AgreesOnHalfSpaces) {
  std::mt19937 random(3);
  std::size_t num_faces = 0;
  for (const double pressure_gradient : {kInfinity, 5e7}) {
    for (int round = 0; round < 4; ++round) {
      const PressureField field = make_random_field(&random, 3, 0.012);
      const RigidTransform X_WA = random_pose(&random, 1);
      const RigidTransform X_WB = X_WA * random_pose(&random, 0.005);
      const ContactSurface surface =
          calc_surface(HalfSpace{pressure_gradient}, X_WA, CompliantBody(field), X_WB);
      const Vec3 up = X_WA.R * Vec3{0, 0, 1};
      const Plane ground = {up, dot(up, X_WA.p)};
      TwinSurface twin;
      const std::vector<WorldTet> tets = make_world_tets(field, X_WB);
      for (int b = 0; b < static_cast<int>(tets.size()); ++b) {
        const bool is_rigid = std::isinf(pressure_gradient);
        const LinearField below = {-pressure_gradient * up, pressure_gradient * ground.offset};
        const Vec3 n = is_rigid ? up : tets[b].field.gradient - below.gradient;
        const Vec3 normal = n * (1 / norm(n));
        const Plane plane =
            is_rigid ? ground : Plane{normal, (below.constant - tets[b].field.constant) / norm(n)};
        if (!is_selected(tets[b].field.gradient, normal)) continue;
        if (!is_rigid && !is_selected(below.gradient, -normal)) continue;
        add_twin_face(-1, b, plane, tets[b].walls, is_rigid ? Planes{} : Planes{ground}, &twin);
      }
      expect_equal(surface, twin);
      num_faces += surface.faces.size();
    }
  }
  EXPECT_GT(num_faces, 200U);
}

TEST(SurfaceTwin, AgreesOnARigidBoxInACompliantHalfSpace) {
  std::mt19937 random(4);
  const TriangleMesh box = make_box_surface({0.05, 0.04, 0.03});
  for (int round = 0; round < 8; ++round) {
    const RigidTransform X_WA = random_pose(&random, 1);
    const RigidTransform X_WB = X_WA * random_pose(&random, 0.02);
    const ContactSurface surface = calc_surface(RigidBody(box), X_WA, HalfSpace{1e7}, X_WB);
    const Vec3 up = X_WB.R * Vec3{0, 0, 1};
    const WorldTet ground = {{{up, dot(up, X_WB.p)}}, {-1e7 * up, 1e7 * dot(up, X_WB.p)}};
    TwinSurface twin;
    for (const auto& [pair, face] : calc_twin(box, X_WA, {ground})) twin[{pair.first, -1}] = face;
    expect_equal(surface, twin);
    EXPECT_FALSE(surface.faces.empty());
  }
}

}  // namespace
}  // namespace stiction::geometry::surface_twin_test
