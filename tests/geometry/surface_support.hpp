#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/shapes.hpp"

namespace stiction::geometry {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline const RigidTransform kIdentity;

inline RigidTransform translation(double x, double y, double z) { return {{}, {x, y, z}}; }

/// Returns the rotation about `axis`, which need not be a unit vector, by Rodrigues' formula.
inline math::Mat3 rotation(const Vec3& axis, double angle) {
  const Vec3 k = axis * (1 / norm(axis));
  const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
  return {{{c + d * k.x * k.x, d * k.x * k.y - s * k.z, d * k.x * k.z + s * k.y},
           {d * k.y * k.x + s * k.z, c + d * k.y * k.y, d * k.y * k.z - s * k.x},
           {d * k.z * k.x - s * k.y, d * k.z * k.y + s * k.x, c + d * k.z * k.z}}};
}

inline Vec3 random_vector(std::mt19937* random, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  return {uniform(*random), uniform(*random), uniform(*random)};
}

inline RigidTransform random_pose(std::mt19937* random, double size) {
  const Vec3 axis = random_vector(random, 1);
  const double angle = random_vector(random, std::numbers::pi).x;
  return {rotation(axis, angle), random_vector(random, size)};
}

/// Makes a cube of n^3 cells of width `cell` [m], with six tetrahedra each. The inner vertices are
/// displaced at random, and all pressures are random, also on the boundary.
inline PressureField make_random_field(std::mt19937* random, int n, double cell) {
  PressureField field;
  std::uniform_real_distribution<double> pressure(0, 1e6), shift(-0.2 * cell, 0.2 * cell);
  const auto at = [n](int i, int j, int k) { return (i * (n + 1) + j) * (n + 1) + k; };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= n; ++k) {
        const auto place = [&](int at) {
          return (at - 0.5 * n) * cell + (at > 0 && at < n ? shift(*random) : 0.0);
        };
        const double x = place(i), y = place(j), z = place(k);
        field.mesh.vertices.push_back({x, y, z});
        field.pressure.push_back(pressure(*random));
      }
  // Each tetrahedron goes along the diagonal in one order of the axes.
  constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        for (int order = 0; order < 6; ++order) {
          std::array<int, 3> step = {0, 0, 0};
          std::array<int, 4> tet;
          for (int v = 0; v < 4; ++v) {
            tet[v] = at(i + step[0], j + step[1], k + step[2]);
            if (v < 3) step[kOrders[order][v]] = 1;
          }
          if (order >= 3) std::swap(tet[2], tet[3]);
          field.mesh.tets.push_back(tet);
        }
  return field;
}

inline ContactBody make_sphere(double radius, double hint, double modulus) {
  return CompliantBody(make_pressure_field(make_sphere_mesh(radius, hint), modulus));
}
inline ContactBody make_box(const Vec3& half_size, double modulus) {
  return CompliantBody(make_pressure_field(make_box_mesh(half_size), modulus));
}

/// Integrals over a surface.
struct SurfaceTotals {
  double area = 0, stiffness = 0;  // sum A g [N/m]
  Vec3 centroid;
  Vec3 force_on_A, torque_on_A;  // about the world's origin
};
inline SurfaceTotals calc_totals(const ContactSurface& surface) {
  SurfaceTotals totals;
  for (const SurfaceFace& face : surface.faces) {
    const Vec3 force = -face.area * face.pressure * face.normal;
    totals.area += face.area;
    totals.centroid += face.area * face.centroid;
    totals.stiffness += face.area * stiffness_per_area(face);
    totals.force_on_A += force;
    totals.torque_on_A += cross(face.centroid, force);
  }
  if (totals.area > 0) totals.centroid = totals.centroid * (1 / totals.area);
  return totals;
}

inline ContactSurface calc_surface(const ContactBody& A, const RigidTransform& X_WA,
                                   const ContactBody& B, const RigidTransform& X_WB,
                                   Tessellation tessellation = Tessellation::polygon) {
  ContactSurface surface;
  SurfaceQuery().calc(A, X_WA, B, X_WB, tessellation, &surface);
  return surface;
}

}  // namespace stiction::geometry
