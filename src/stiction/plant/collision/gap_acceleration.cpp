#include "stiction/plant/collision/gap_acceleration.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>
#include <Eigen/LU>

#include "stiction/math/spatial.hpp"
#include "stiction/plant/shapes/local_shape.hpp"

namespace stiction::plant {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using math::Matrix3;
using math::Vector3;
using Basis = Eigen::Matrix<double, 3, 2>;  // columns span the tangent plane
using ConstVector = Eigen::Map<const Vector3>;

/// One surface at a contact, in the tangent plane.
struct Side {
  Vector2d normal_rate;  // w x n, the rate of a normal that is fixed in the body
  Matrix2d R;
  Vector2d flat[2];
  int num_flat = 0;
  double sign = 0;  // -1 for A, 1 for B: the sign of u in u_B - u_A
};

Side make_side(const LocalShape& shape, const Vector3& w, const Vector3& n, const Basis& E,
               double sign) {
  Side side;
  side.normal_rate = E.transpose() * w.cross(n);
  const Eigen::Map<const Matrix3> R(shape.R);
  side.R = E.transpose() * R * E;
  side.num_flat = shape.num_flat;
  for (int i = 0; i < shape.num_flat; ++i)
    side.flat[i] = E.transpose() * ConstVector(shape.flat[i]);
  side.sign = sign;
  return side;
}

/// At most two independent directions along which a surface is flat, and the surface of each.
struct Flats {
  int count = 0;
  Vector2d d[2];
  const Side* side[2] = {};

  /// Adds the flat directions of a surface that are independent of the directions found so far.
  void add(const Side& surface) {
    for (int i = 0; i < surface.num_flat && count < 2; ++i) {
      const Vector2d& e = surface.flat[i];
      if (count == 1 && std::abs(d[0].x() * e.y() - d[0].y() * e.x()) < 1e-6) continue;
      d[count] = e;
      side[count++] = &surface;
    }
  }
};

/// Returns two unit vectors orthogonal to n and to each other.
Basis make_basis(const Vector3& n) {
  Vector3 least = Vector3::Zero();
  int k = 0;
  n.cwiseAbs().minCoeff(&k);
  least[k] = 1;
  Basis E;
  E.col(0) = n.cross(least).normalized();
  E.col(1) = n.cross(E.col(0));
  return E;
}

/// Computes n-dot in the tangent plane. Along flat directions it is w x n. In the other directions
/// it solves (R_A + R_B + phi) n-dot = v + R_A (w_A x n) + R_B (w_B x n).
Vector2d calc_normal_rate(const Side& A, const Side& B, const Flats& flats, const Vector2d& v,
                          double phi) {
  const Matrix2d R = A.R + B.R + phi * Matrix2d::Identity();
  const Vector2d right = v + A.R * A.normal_rate + B.R * B.normal_rate;
  Matrix2d rows = R;
  Vector2d values = right;
  for (int i = 0; i < flats.count; ++i) {
    rows.row(i) = flats.d[i].transpose();
    values[i] = flats.d[i].dot(flats.side[i]->normal_rate);
  }
  if (flats.count == 1) {
    const Vector2d across(-flats.d[0].y(), flats.d[0].x());
    rows.row(1) = across.transpose() * R;
    values[1] = across.dot(right);
  }
  // The normal of a corner on a corner, or of an edge along an edge, is not unique. Let it move
  // with A.
  constexpr double kSharp = 1e-12;
  const double det = rows.determinant();
  if (std::abs(det) <= kSharp) return A.normal_rate;
  return Vector2d(rows(1, 1) * values[0] - rows(0, 1) * values[1],
                  rows(0, 0) * values[1] - rows(1, 0) * values[0]) /
         det;
}

/// Returns the speeds of the points along the flat directions that keep the points opposite each
/// other.
/// @param rest the tangential velocity that these speeds must give [m/s]
Vector2d calc_flat_slips(const Flats& flats, const Vector2d& rest) {
  if (flats.count == 0) return Vector2d::Zero();
  if (flats.count == 1) return {flats.d[0].dot(rest), 0};
  const double det = flats.d[0].x() * flats.d[1].y() - flats.d[0].y() * flats.d[1].x();
  return Vector2d(flats.d[1].y() * rest.x() - flats.d[1].x() * rest.y(),
                  flats.d[0].x() * rest.y() - flats.d[0].y() * rest.x()) /
         det;
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
  Motion out{};
  std::copy_n(velocities_.of_body(body), 3, out.w);
  const ConstVector w(out.w), v(velocities_.of_body(body) + 3);
  const double* spatial = accelerations_.data() + 6 * static_cast<std::size_t>(body);
  const ConstVector angular(spatial), linear(spatial + 3);
  const Vector3 r = ConstVector(point) - ConstVector(d->subtree_com + 3 * m->body_rootid[body]);
  Eigen::Map<Vector3> v_p(out.v), a_p(out.a);
  v_p = v + w.cross(r);
  // Convert the spatial acceleration to the acceleration of the material point.
  a_p = linear + angular.cross(r) + w.cross(v_p);
  return out;
}

double GapAcceleration::calc(const mjModel* m, const mjData* d, const mjContact& con) const {
  const ConstVector n(con.frame), middle(con.pos);
  const double phi = con.dist;
  const Vector3 p_A = middle - 0.5 * phi * n, p_B = middle + 0.5 * phi * n, back = -n;
  const Motion motion_A = calc_motion(m, d, con.geom[0], p_A.data());
  const Motion motion_B = calc_motion(m, d, con.geom[1], p_B.data());
  const ConstVector w_A(motion_A.w), w_B(motion_B.w), a_A(motion_A.a), a_B(motion_B.a);
  const Vector3 v = ConstVector(motion_B.v) - ConstVector(motion_A.v);

  const Basis E = make_basis(n);
  const Side A =
      make_side(find_local_shape(m, d, con.geom[0], p_A.data(), n.data()), w_A, n, E, -1);
  const Side B =
      make_side(find_local_shape(m, d, con.geom[1], p_B.data(), back.data()), w_B, n, E, 1);
  Flats flats;  // directions of the flatter surface come first
  for (const Side* side : {B.num_flat > A.num_flat ? &B : &A, &A, &B}) flats.add(*side);

  const Vector2d v_t = E.transpose() * v;
  const Vector2d n_dot = calc_normal_rate(A, B, flats, v_t, phi);
  Vector2d u_A = A.R * (n_dot - A.normal_rate), u_B = B.R * (B.normal_rate - n_dot);
  const Vector2d slips = calc_flat_slips(flats, phi * n_dot - v_t - u_B + u_A);
  for (int i = 0; i < flats.count; ++i) {
    const double sign = flats.side[i]->sign;
    (sign < 0 ? u_A : u_B) += sign * slips[i] * flats.d[i];
  }
  return n_dot.dot(v_t) + n.dot(a_B + w_B.cross(E * u_B) - a_A - w_A.cross(E * u_A));
}

}  // namespace stiction::plant
