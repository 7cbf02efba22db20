// The signed distance of two convex geoms, found without MuJoCo and without the library: the
// largest separation over all directions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::support {

using Vector = std::array<double, 3>;

inline Vector add(const Vector& x, double scale, const Vector& y) {
  return {x[0] + scale * y[0], x[1] + scale * y[1], x[2] + scale * y[2]};
}
inline double dot(const Vector& x, const Vector& y) {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}
inline Vector cross(const Vector& x, const Vector& y) {
  return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
}
inline Vector normalize(const Vector& x) {
  const double length = std::sqrt(dot(x, x));
  return length > 0 ? Vector{x[0] / length, x[1] / length, x[2] / length} : Vector{1, 0, 0};
}

/// Returns the farthest point of a geom along u, both in the geom's frame. It is written from the
/// definitions of the shapes and shares nothing with support_function.cpp.
inline Vector find_farthest(const mjModel* m, int geom, const Vector& u) {
  const mjtNum* s = m->geom_size + 3 * geom;
  const auto sign = [](double x) { return x < 0 ? -1.0 : 1.0; };
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return {s[0] * u[0], s[0] * u[1], s[0] * u[2]};
    case mjGEOM_CAPSULE: return {s[0] * u[0], s[0] * u[1], s[0] * u[2] + s[1] * sign(u[2])};
    case mjGEOM_BOX: return {s[0] * sign(u[0]), s[1] * sign(u[1]), s[2] * sign(u[2])};
    case mjGEOM_CYLINDER: {
      const double angle = std::atan2(u[1], u[0]);
      return {s[0] * std::cos(angle), s[0] * std::sin(angle), s[1] * sign(u[2])};
    }
    case mjGEOM_MESH: {
      const int mesh = m->geom_dataid[geom];
      const float* x = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
      Vector best{};
      double highest = -mjMAXVAL;
      for (int i = 0; i < m->mesh_vertnum[mesh]; ++i, x += 3) {
        const Vector vertex = {x[0], x[1], x[2]};
        if (!(dot(vertex, u) > highest)) continue;
        highest = dot(vertex, u);
        best = vertex;
      }
      return best;
    }
    default: break;
  }
  // The point of an ellipsoid whose normal is u.
  const double length = std::hypot(s[0] * u[0], s[1] * u[1], s[2] * u[2]);
  return {s[0] * s[0] * u[0] / length, s[1] * s[1] * u[1] / length, s[2] * s[2] * u[2] / length};
}

/// Searches the largest separation s(n) of two geoms, the smallest n . w over all differences w of
/// their points.
class SeparationSearch {
 public:
  struct Nearest {
    double distance = -mjMAXVAL;  // [m]
    Vector n{};                   // unit vector from A to B
  };

  /// @param data after mj_kinematics; both must outlive this
  SeparationSearch(const mjModel* model, const mjData* data, int geom_A, int geom_B)
      : m_(model), d_(data), A_(geom_A), B_(geom_B) {}

  double calc_separation(const Vector& n) const { return dot(n, find_difference(n)); }

  /// Returns the signed distance.
  /// @param further directions to begin from, besides the axes of the geoms and those on a spiral
  ///     over the sphere
  Nearest find(const std::vector<Vector>& further = {}) const {
    constexpr int kNumDirections = 300, kNumRefined = 5;
    std::vector<Nearest> starts;
    for (int i = 0; i < kNumDirections; ++i) {
      const double z = 1 - (2 * i + 1.0) / kNumDirections, r = std::sqrt(1 - z * z);
      const double angle = std::numbers::pi * (1 + std::sqrt(5.0)) * i;
      add_start({r * std::cos(angle), r * std::sin(angle), z}, &starts);
    }
    for (const int geom : {A_, B_}) {
      for (int axis = 0; axis < 3; ++axis) {
        const mjtNum* R = d_->geom_xmat + 9 * geom + axis;
        add_start({R[0], R[3], R[6]}, &starts);
        add_start({-R[0], -R[3], -R[6]}, &starts);
      }
    }
    std::partial_sort(starts.begin(), starts.begin() + kNumRefined, starts.end(),
                      [](const Nearest& x, const Nearest& y) { return x.distance > y.distance; });
    starts.resize(kNumRefined);
    for (const Vector& n : further) add_start(n, &starts);
    Nearest best;
    for (const Nearest& start : starts) {
      const Nearest found = refine(start);
      if (found.distance > best.distance) best = found;
    }
    return best;
  }

 private:
  Vector find_point(int geom, const Vector& n) const {
    const mjtNum* R = d_->geom_xmat + 9 * geom;
    const mjtNum* x = d_->geom_xpos + 3 * geom;
    Vector u, p;
    for (int i = 0; i < 3; ++i) u[i] = R[i] * n[0] + R[3 + i] * n[1] + R[6 + i] * n[2];
    const Vector q = find_farthest(m_, geom, u);
    for (int i = 0; i < 3; ++i)
      p[i] = x[i] + R[3 * i] * q[0] + R[3 * i + 1] * q[1] + R[3 * i + 2] * q[2];
    return p;
  }

  Vector find_difference(const Vector& n) const {
    return add(find_point(B_, {-n[0], -n[1], -n[2]}), -1, find_point(A_, n));
  }

  void add_start(const Vector& n, std::vector<Nearest>* starts) const {
    starts->push_back({calc_separation(n), n});
  }

  bool improve(const Vector& direction, Nearest* best) const {
    const Vector n = normalize(direction);
    const double distance = calc_separation(n);
    if (!(distance > best->distance)) return false;
    *best = {distance, n};
    return true;
  }

  /// Follows the planes, lines and points that the differences near n span. The best direction is
  /// normal to a plane through three of them, or the shortest vector to a line or to one of them.
  /// For polytopes this is exact, and for smooth geoms each round squares the error.
  Nearest refine(Nearest best) const {
    for (double radius = 0.1; radius > 1e-9; radius *= 0.1) {
      for (int round = 0; round < 4; ++round) {
        const std::vector<Vector> w = find_differences_near(best.n, radius);
        const double before = best.distance;
        for (std::size_t i = 0; i < w.size(); ++i) {
          improve(w[i], &best);
          for (std::size_t k = i + 1; k < w.size(); ++k) {
            const Vector edge = add(w[k], -1, w[i]);
            improve(add(w[i], -dot(w[i], edge) / dot(edge, edge), edge), &best);
            for (std::size_t j = k + 1; j < w.size(); ++j) {
              const Vector normal = cross(edge, add(w[j], -1, w[i]));
              if (!improve(normal, &best)) improve({-normal[0], -normal[1], -normal[2]}, &best);
            }
          }
        }
        if (!(best.distance > before)) break;
      }
    }
    return best;
  }

  std::vector<Vector> find_differences_near(const Vector& n, double radius) const {
    const Vector axis = std::abs(n[0]) < 0.6 ? Vector{1, 0, 0} : Vector{0, 1, 0};
    const Vector t1 = normalize(cross(n, axis)), t2 = cross(n, t1);
    std::vector<Vector> w = {find_difference(n)};
    for (int i = 0; i < 6; ++i) {
      const double angle = std::numbers::pi / 3 * i + 0.1;
      const Vector side = add(add(n, radius * std::cos(angle), t1), radius * std::sin(angle), t2);
      const Vector difference = find_difference(normalize(side));
      const auto is_same = [&](const Vector& x) {
        const Vector gap = add(x, -1, difference);
        return dot(gap, gap) < 1e-24;
      };
      if (std::none_of(w.begin(), w.end(), is_same)) w.push_back(difference);
    }
    return w;
  }

  const mjModel* m_;
  const mjData* d_;
  int A_, B_;
};

}  // namespace stiction::support
