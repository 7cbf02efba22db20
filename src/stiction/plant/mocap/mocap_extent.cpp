#include "stiction/plant/mocap/mocap_extent.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::plant {
namespace {

/// A geom's bounding box in the frame of its mocap body.
struct Box {
  mjtNum center[3], R[9], half[3];
  double diameter = 0;  // of the geom's bounding sphere [m]
};

/// Returns the length of a vector as a share of the thickness along it, of the box or of the
/// bounding sphere.
double calc_share(const Box& box, const mjtNum* u) {
  mjtNum local[3];
  mju_mulMatTVec3(local, box.R, u);
  const double length2 = mju_dot3(u, u), length = std::sqrt(length2);
  double reach = 0;  // thickness times length
  for (int k = 0; k < 3; ++k) reach += 2 * box.half[k] * std::abs(local[k]);
  reach = std::min(reach, box.diameter * length);
  return reach > 0 ? length2 / reach : 0;
}

double calc_largest_share(const Box& box, const std::array<double, 6>& displacement) {
  double share = 0;
  for (int corner = 0; corner < 8; ++corner) {
    mjtNum local[3], r[3], u[3];
    for (int k = 0; k < 3; ++k) local[k] = (corner >> k & 1) ? box.half[k] : -box.half[k];
    mju_mulMatVec3(r, box.R, local);
    mju_addTo3(r, box.center);
    mju_cross(u, displacement.data(), r);
    mju_addTo3(u, displacement.data() + 3);
    share = std::max(share, calc_share(box, u));
  }
  return share;
}

/// Returns the bounding box of a geom in the frame of the mocap body, its root.
Box make_box(const mjModel* m, int geom, int root) {
  mjtNum p[3], q[4];
  mju_copy3(p, m->geom_pos + 3 * geom);
  mju_copy4(q, m->geom_quat + 4 * geom);
  for (int body = m->geom_bodyid[geom]; body != root; body = m->body_parentid[body]) {
    mjtNum turned[3], product[4];
    mju_rotVecQuat(turned, p, m->body_quat + 4 * body);
    mju_add3(p, turned, m->body_pos + 3 * body);
    mju_mulQuat(product, m->body_quat + 4 * body, q);
    mju_copy4(q, product);
  }
  Box box;
  const mjtNum* aabb = m->geom_aabb + 6 * geom;
  mju_quat2Mat(box.R, q);
  mju_copy3(box.half, aabb + 3);
  box.diameter = 2 * m->geom_rbound[geom];
  mju_mulMatVec3(box.center, box.R, aabb);
  mju_addTo3(box.center, p);
  return box;
}

bool may_collide(const mjModel* m, int geom) {
  if (m->geom_contype[geom] != 0 || m->geom_conaffinity[geom] != 0) return true;
  for (int i = 0; i < m->npair; ++i)
    if (m->pair_geom1[i] == geom || m->pair_geom2[i] == geom) return true;
  return false;
}

/// Returns a displacement in the frame of a body.
std::array<double, 6> turn_back(const double* quat, const std::array<double, 6>& displacement) {
  std::array<double, 6> out;
  mjtNum back[4];
  mju_negQuat(back, quat);
  for (const int part : {0, 3}) mju_rotVecQuat(out.data() + part, displacement.data() + part, back);
  return out;
}

}  // namespace

double calc_mocap_share(const mjModel* m, int mocap, const double* quat,
                        const std::array<double, 6>& displacement) {
  const std::array<double, 6> local = turn_back(quat, displacement);
  double share = 0;
  bool has_geoms = false;
  for (int geom = 0; geom < m->ngeom; ++geom) {
    const int root = m->body_rootid[m->geom_bodyid[geom]];
    if (m->body_mocapid[root] != mocap) continue;
    if (!may_collide(m, geom)) continue;
    has_geoms = true;
    share = std::max(share, calc_largest_share(make_box(m, geom, root), local));
  }
  if (has_geoms) return share;
  const double size = m->stat.meansize;
  return std::max(mju_norm3(displacement.data() + 3) / size, mju_norm3(displacement.data()));
}

}  // namespace stiction::plant
