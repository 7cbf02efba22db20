#include "stiction/plant/mocap/body_velocities.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/six.hpp"

namespace stiction::plant {

using math::Six;

void BodyVelocities::calc(const mjModel* m, const mjData* d, const double* qvel,
                          const MocapMotion* mocap) {
  V_.resize(6 * static_cast<std::size_t>(m->nbody));
  std::fill_n(V_.begin(), 6, 0.0);
  for (int body = 1; body < m->nbody; ++body) {
    if (mocap && m->body_mocapid[body] >= 0) {
      const auto V = mocap->calc_at_point(m, d, body, d->subtree_com + 3 * body);
      std::copy(V.begin(), V.end(), V_.begin() + 6 * static_cast<std::ptrdiff_t>(body));
      continue;
    }
    Six V = Six::load(of_body(m->body_parentid[body]));
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i)
      V = multiply_add(Six::load(d->cdof + 6 * i), qvel[i], V);
    V.store(V_.data() + 6 * static_cast<std::size_t>(body));
  }
}

BodyVelocities::AtContact BodyVelocities::calc_at_point(const mjModel* m, const mjData* d,
                                                        const mjContact& con, const double* point,
                                                        const double* half_gap) const {
  double v[3] = {};  // of B relative to A, in the world
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1 : 1;
    const int body = m->geom_bodyid[con.geom[side]];
    const double* V = of_body(body);
    const mjtNum* com = d->subtree_com + 3 * m->body_rootid[body];
    double r[3];
    for (int i = 0; i < 3; ++i) r[i] = point[i] + sign * half_gap[i] - com[i];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      v[i] += sign * (V[3 + i] + V[j] * r[k] - V[k] * r[j]);
    }
  }
  double v_c[3];  // MuJoCo's frame: rows n, t1, t2
  for (int e = 0; e < 3; ++e) {
    const mjtNum* axis = con.frame + 3 * e;
    v_c[e] = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
  }
  if (m->flg_surfacevel) {
    v_c[1] += con.surfacevel[0];
    v_c[2] += con.surfacevel[1];
  }
  return {.normal = v_c[0],
          .tangential = {v_c[1], v_c[2]},
          .slip = std::sqrt(v_c[1] * v_c[1] + v_c[2] * v_c[2])};
}

}  // namespace stiction::plant
