#include "stiction/plant/mocap/mocap_rows.hpp"

#include <array>

namespace stiction::plant {
namespace {

using Velocity = std::array<double, 6>;  // [w; v]

/// The side of an equality: a point of a body, and the body's orientation there.
struct Anchor {
  Velocity V{};
  mjtNum quat[4];
};

Anchor find_anchor(const mjModel* m, const mjData* d, const MocapMotion& mocap, int equality,
                   int side) {
  Anchor out;
  const mjtNum* data = m->eq_data + mjNEQDATA * equality;
  const int object = side == 0 ? m->eq_obj1id[equality] : m->eq_obj2id[equality];
  mjtNum point[3];
  int body = object;
  if (m->eq_objtype[equality] == mjOBJ_SITE) {
    body = m->site_bodyid[object];
    mju_copy3(point, d->site_xpos + 3 * object);
    mju_mulQuat(out.quat, d->xquat + 4 * body, m->site_quat + 4 * object);
  } else {
    // A connect has the anchors of both bodies in this order, a weld in the other.
    const bool is_first = (m->eq_type[equality] == mjEQ_CONNECT) == (side == 0);
    mju_mulMatVec3(point, d->xmat + 9 * body, data + (is_first ? 0 : 3));
    mju_addTo3(point, d->xpos + 3 * body);
    mju_copy4(out.quat, d->xquat + 4 * body);
    // The second body should turn with the first one by relpose.
    if (side == 0 && m->eq_type[equality] == mjEQ_WELD)
      mju_mulQuat(out.quat, d->xquat + 4 * body, data + 6);
  }
  out.V = mocap.calc_at_point(m, d, body, point);
  return out;
}

/// Returns the velocity of a component of a connect or weld: the difference of the velocities of
/// both points, or of a weld the rate of the vector part of its error q2^-1 q1 times torquescale.
double calc_equality_velocity(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                              int equality, int component) {
  const Anchor a = find_anchor(m, d, mocap, equality, 0), b = find_anchor(m, d, mocap, equality, 1);
  if (component < 3) return a.V[3 + component] - b.V[3 + component];
  mjtNum w[3], back[4], turned[4], rate[4];
  mju_sub3(w, a.V.data(), b.V.data());
  mju_negQuat(back, b.quat);
  mju_mulQuatAxis(turned, back, w);
  mju_mulQuat(rate, turned, a.quat);
  return 0.5 * m->eq_data[mjNEQDATA * equality + 10] * rate[component - 2];
}

/// A point at which a spatial tendon is bent.
struct WrapPoint {
  int body;
  const mjtNum* position;
};

/// Returns the rate at which moving mocap bodies lengthen a straight piece of a tendon [m/s].
double calc_piece_rate(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                       const WrapPoint& a, const WrapPoint& b) {
  if (a.body == b.body) return 0;
  mjtNum along[3], v[3];
  mju_sub3(along, b.position, a.position);
  mju_normalize3(along);
  const Velocity V_a = mocap.calc_at_point(m, d, a.body, a.position);
  const Velocity V_b = mocap.calc_at_point(m, d, b.body, b.position);
  mju_sub3(v, V_b.data() + 3, V_a.data() + 3);
  return mju_dot3(along, v);
}

/// Returns the sign with which a row has the velocity of its tendon: -1 at the upper limit.
double find_sign(const mjModel* m, const mjData* d, int row) {
  const int tendon = d->efc_id[row];
  // If both limits are active, MuJoCo puts the lower one first.
  const auto is_other = [&](int other) {
    return other >= 0 && other < d->nefc && d->efc_type[other] == mjCNSTR_LIMIT_TENDON &&
           d->efc_id[other] == tendon;
  };
  if (is_other(row - 1)) return -1;
  if (is_other(row + 1)) return 1;
  const double lower = d->ten_length[tendon] - m->tendon_range[2 * tendon];
  const double upper = m->tendon_range[2 * tendon + 1] - d->ten_length[tendon];
  return d->efc_pos[row] == lower && d->efc_pos[row] != upper ? 1 : -1;
}

/// Returns the rate of the error of a tendon equality.
double calc_tendon_equality_velocity(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                                     int equality) {
  const int first = m->eq_obj1id[equality], second = m->eq_obj2id[equality];
  const double rate = calc_mocap_tendon_velocity(m, d, mocap, first);
  if (second < 0) return rate;
  // The error is L1 - L1_0 - sum_k c_k (L2 - L2_0)^k.
  const mjtNum* c = m->eq_data + mjNEQDATA * equality;
  const double x = d->ten_length[second] - m->tendon_length0[second];
  const double slope = c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]));
  return rate - slope * calc_mocap_tendon_velocity(m, d, mocap, second);
}

}  // namespace

double calc_mocap_tendon_velocity(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                                  int tendon) {
  // The points are those of data->wrap_*. Sites and pulleys follow each other there as in the
  // model; each geom adds two points or none.
  constexpr int kSite = -1, kPulley = -2;
  int element = m->tendon_adr[tendon];
  if (m->wrap_type[element] == mjWRAP_JOINT) return 0;
  double rate = 0, divisor = 1;
  WrapPoint last{-1, nullptr};
  const int begin = d->ten_wrapadr[tendon], end = begin + d->ten_wrapnum[tendon];
  for (int i = begin; i < end; ++i) {
    const int object = d->wrap_obj[i];
    WrapPoint point{-1, d->wrap_xpos + 3 * i};
    if (object == kSite || object == kPulley) {
      const int wanted = object == kSite ? mjWRAP_SITE : mjWRAP_PULLEY;
      while (m->wrap_type[element] != wanted) ++element;
      if (object == kPulley)
        divisor = m->wrap_prm[element];
      else
        point.body = m->site_bodyid[m->wrap_objid[element]];
      ++element;
    } else {
      point.body = m->geom_bodyid[object];
    }
    if (last.body >= 0 && point.body >= 0)
      rate += calc_piece_rate(m, d, mocap, last, point) / divisor;
    last = point;
  }
  return rate;
}

double calc_mocap_row_velocity(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                               int row) {
  const int id = d->efc_id[row];
  switch (d->efc_type[row]) {
    case mjCNSTR_EQUALITY: {
      const int type = m->eq_type[id];
      if (type == mjEQ_TENDON) return calc_tendon_equality_velocity(m, d, mocap, id);
      if (type != mjEQ_CONNECT && type != mjEQ_WELD) return 0;
      int first = row;
      while (first > 0 && d->efc_type[first - 1] == mjCNSTR_EQUALITY && d->efc_id[first - 1] == id)
        --first;
      return calc_equality_velocity(m, d, mocap, id, row - first);
    }
    case mjCNSTR_LIMIT_TENDON:
      return find_sign(m, d, row) * calc_mocap_tendon_velocity(m, d, mocap, id);
    case mjCNSTR_FRICTION_TENDON: return calc_mocap_tendon_velocity(m, d, mocap, id);
    default: return 0;
  }
}

}  // namespace stiction::plant
