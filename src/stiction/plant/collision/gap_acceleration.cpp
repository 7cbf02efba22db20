#include "stiction/plant/collision/gap_acceleration.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/small_matrix.hpp"
#include "stiction/plant/shapes/local_shape.hpp"

namespace stiction::plant {
namespace {

using math::dot_pairwise;
using math::Vec3;
using Matrix2 = math::SquareMatrix<2>;

Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }

/// A vector in the tangent plane.
struct Vec2d {
  double x = 0, y = 0;
};
Vec2d operator+(const Vec2d& a, const Vec2d& b) { return {a.x + b.x, a.y + b.y}; }
Vec2d operator-(const Vec2d& a, const Vec2d& b) { return {a.x - b.x, a.y - b.y}; }
Vec2d operator*(double s, const Vec2d& a) { return {s * a.x, s * a.y}; }
Vec2d operator*(const Matrix2& A, const Vec2d& v) {
  return {A(0, 0) * v.x + A(0, 1) * v.y, A(1, 0) * v.x + A(1, 1) * v.y};
}
double dot(const Vec2d& a, const Vec2d& b) { return a.x * b.x + a.y * b.y; }
double calc_determinant(const Vec2d& a, const Vec2d& b) { return a.x * b.y - a.y * b.x; }

/// Two unit vectors that span the tangent plane.
struct Basis {
  Vec3 e[2];

  Vec2d project(const Vec3& v) const { return {dot_pairwise(e[0], v), dot_pairwise(e[1], v)}; }
  Vec3 lift(const Vec2d& v) const { return v.x * e[0] + v.y * e[1]; }
};

/// One surface at a contact, in the tangent plane.
struct Side {
  Vec2d normal_rate;  // w x n, the rate of a normal that is fixed in the body
  Matrix2 R;
  Vec2d flat[2];
  int num_flat = 0;
  double sign = 0;  // -1 for A, 1 for B: the sign of u in u_B - u_A
};

Side make_side(const LocalShape& shape, const Vec3& w, const Vec3& n, const Basis& E, double sign) {
  Side side;
  side.normal_rate = E.project(cross(w, n));
  for (int i = 0; i < 2; ++i) {
    // R is symmetric, so its rows are its columns.
    const Vec3 row{dot_pairwise(E.e[i], load(shape.R)), dot_pairwise(E.e[i], load(shape.R + 3)),
                   dot_pairwise(E.e[i], load(shape.R + 6))};
    for (int j = 0; j < 2; ++j) side.R(i, j) = dot_pairwise(row, E.e[j]);
  }
  side.num_flat = shape.num_flat;
  for (int i = 0; i < shape.num_flat; ++i) side.flat[i] = E.project(load(shape.flat[i]));
  side.sign = sign;
  return side;
}

/// At most two independent directions along which a surface is flat, and the surface of each.
struct Flats {
  int count = 0;
  Vec2d d[2];
  const Side* side[2] = {};

  /// Adds the flat directions of a surface that are independent of the directions found so far.
  void add(const Side& surface) {
    for (int i = 0; i < surface.num_flat && count < 2; ++i) {
      const Vec2d& e = surface.flat[i];
      if (count == 1 && std::abs(calc_determinant(d[0], e)) < 1e-6) continue;
      d[count] = e;
      side[count++] = &surface;
    }
  }
};

/// Returns two unit vectors orthogonal to n and to each other.
Basis make_basis(const Vec3& n) {
  double least[3] = {};
  int k = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[k])) k = i;
  least[k] = 1;
  const Vec3 t = cross(n, load(least));
  const double length = std::sqrt(dot_pairwise(t, t));
  const Vec3 first{t.x / length, t.y / length, t.z / length};
  return {{first, cross(n, first)}};
}

/// Computes n-dot in the tangent plane. Along flat directions it is w x n. In the other directions
/// it solves (R_A + R_B + phi) n-dot = v + R_A (w_A x n) + R_B (w_B x n).
Vec2d calc_normal_rate(const Side& A, const Side& B, const Flats& flats, const Vec2d& v,
                       double phi) {
  const Matrix2 R = A.R + B.R + phi * Matrix2{{1, 0, 0, 1}};
  const Vec2d right = v + A.R * A.normal_rate + B.R * B.normal_rate;
  Vec2d rows[2] = {{R(0, 0), R(0, 1)}, {R(1, 0), R(1, 1)}};
  double values[2] = {right.x, right.y};
  for (int i = 0; i < flats.count; ++i) {
    rows[i] = flats.d[i];
    values[i] = dot(flats.d[i], flats.side[i]->normal_rate);
  }
  if (flats.count == 1) {
    const Vec2d across{-flats.d[0].y, flats.d[0].x};
    rows[1] = {across.x * R(0, 0) + across.y * R(1, 0), across.x * R(0, 1) + across.y * R(1, 1)};
    values[1] = dot(across, right);
  }
  // The normal of a corner on a corner, or of an edge along an edge, is not unique. Let it move
  // with A.
  constexpr double kSharp = 1e-12;
  const double det = rows[0].x * rows[1].y - rows[1].x * rows[0].y;
  if (std::abs(det) <= kSharp) return A.normal_rate;
  return {(rows[1].y * values[0] - rows[0].y * values[1]) / det,
          (rows[0].x * values[1] - rows[1].x * values[0]) / det};
}

/// Returns the speeds of the points along the flat directions that keep the points opposite each
/// other.
/// @param rest the tangential velocity that these speeds must give [m/s]
Vec2d calc_flat_slips(const Flats& flats, const Vec2d& rest) {
  if (flats.count == 0) return {};
  if (flats.count == 1) return {dot(flats.d[0], rest), 0};
  const double det = calc_determinant(flats.d[0], flats.d[1]);
  return {(flats.d[1].y * rest.x - flats.d[1].x * rest.y) / det,
          (flats.d[0].x * rest.y - flats.d[0].y * rest.x) / det};
}

/// Adds the acceleration that a mocap body gives a body by moving the axes of its joints: V x S for
/// each joint with the axis S. MuJoCo's cdof_dot has that by the other joints.
void add_turning_axes(const mjModel* m, const mjData* d, int body, const MocapMotion& mocap,
                      double* a) {
  const auto V = mocap.calc_at_point(m, d, body, d->subtree_com + 3 * m->body_rootid[body]);
  for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i) {
    const mjtNum* axis = d->cdof + 6 * i;
    mjtNum turned[3];
    mju_cross(turned, V.data(), axis);
    mju_addToScl3(a, turned, d->qvel[i]);
    mju_cross(turned, V.data(), axis + 3);
    mju_addToScl3(a + 3, turned, d->qvel[i]);
    mju_cross(turned, V.data() + 3, axis);
    mju_addToScl3(a + 3, turned, d->qvel[i]);
  }
}

}  // namespace

void GapAcceleration::calc_bodies(const mjModel* m, const mjData* d, const MocapMotion* mocap) {
  velocities_.calc(m, d, d->qvel, mocap);
  accelerations_.assign(6 * static_cast<std::size_t>(m->nbody), 0.0);
  for (int body = 1; body < m->nbody; ++body) {
    double* a = accelerations_.data() + 6 * static_cast<std::size_t>(body);
    std::copy_n(accelerations_.data() + 6 * static_cast<std::size_t>(m->body_parentid[body]), 6, a);
    const double* given = mocap ? mocap->of_body(m, body) : nullptr;
    if (given && m->body_mocapid[body] >= 0) {  // The velocity of the origin is constant.
      mju_cross(a + 3, given + 3, given);
      continue;
    }
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i)
      mju_addToScl(a, d->cdof_dot + 6 * i, d->qvel[i], 6);
    if (given) add_turning_axes(m, d, body, *mocap, a);
  }
}

GapAcceleration::Motion GapAcceleration::calc_motion(const mjModel* m, const mjData* d, int geom,
                                                     const double point[3]) const {
  const int body = m->geom_bodyid[geom];
  Motion out;
  const double *V = velocities_.of_body(body),
               *A = accelerations_.data() + 6 * static_cast<std::size_t>(body);
  const Vec3 r = load(point) - load(d->subtree_com + 3 * m->body_rootid[body]);
  out.w = load(V);
  out.v = load(V + 3) + cross(out.w, r);
  // Convert the spatial acceleration to the acceleration of the material point.
  out.a = load(A + 3) + cross(load(A), r) + cross(out.w, out.v);
  return out;
}

double GapAcceleration::calc(const mjModel* m, const mjData* d, const mjContact& con) const {
  const Vec3 n = load(con.frame), middle = load(con.pos), back = -n;
  const double phi = con.dist;
  const Vec3 p_A = middle - 0.5 * phi * n, p_B = middle + 0.5 * phi * n;
  const Motion motion_A = calc_motion(m, d, con.geom[0], &p_A.x);
  const Motion motion_B = calc_motion(m, d, con.geom[1], &p_B.x);

  const Basis E = make_basis(n);
  const Side A = make_side(find_local_shape(m, d, con.geom[0], &p_A.x, &n.x), motion_A.w, n, E, -1);
  const Side B =
      make_side(find_local_shape(m, d, con.geom[1], &p_B.x, &back.x), motion_B.w, n, E, 1);
  Flats flats;  // directions of the flatter surface come first
  for (const Side* side : {B.num_flat > A.num_flat ? &B : &A, &A, &B}) flats.add(*side);

  const Vec2d v_t = E.project(motion_B.v - motion_A.v);
  const Vec2d n_dot = calc_normal_rate(A, B, flats, v_t, phi);
  Vec2d u_A = A.R * (n_dot - A.normal_rate), u_B = B.R * (B.normal_rate - n_dot);
  const Vec2d slips = calc_flat_slips(flats, phi * n_dot - v_t - u_B + u_A);
  for (int i = 0; i < flats.count; ++i) {
    const double sign = flats.side[i]->sign;
    Vec2d& u = sign < 0 ? u_A : u_B;
    u = u + sign * (i == 0 ? slips.x : slips.y) * flats.d[i];
  }
  const Vec3 difference =
      motion_B.a + cross(motion_B.w, E.lift(u_B)) - motion_A.a - cross(motion_A.w, E.lift(u_A));
  return dot(n_dot, v_t) + dot_pairwise(n, difference);
}

}  // namespace stiction::plant
