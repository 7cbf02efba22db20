#pragma once

#include "stiction/math/lanes.hpp"

/// Sums over the contacts of a body pair, at the pair's origin in the world frame.
namespace stiction::formulations {

using math::Lanes;
using math::Lanes3;
using math::LanesSymmetric3;
using math::multiply_add;

/// The motion V = [w; v] of a pair, with the same value in every lane.
struct PairVelocity {
  Lanes3 w, v;

  explicit PairVelocity(const math::Six& V)
      : w{math::broadcast(V[0]), math::broadcast(V[1]), math::broadcast(V[2])},
        v{math::broadcast(V[3]), math::broadcast(V[4]), math::broadcast(V[5])} {}
};

/// A wrench impulse [torque; force] for each lane.
struct PairWrenchLanes {
  Lanes3 torque{}, force{};

  /// Adds the forces f at the points r.
  void add_force(const Lanes3& r, const Lanes3& f) {
    torque += cross(r, f);
    force += f;
  }
  /// Returns the sum over the lanes.
  math::Six sum() const {
    const Lanes zero{};
    const Lanes rest = math::sum_each(force.y, force.z, zero, zero);
    return {math::sum_each(torque.x, torque.y, torque.z, force.x), math::Vec2{rest[0], rest[1]}};
  }
};

/// A symmetric 6 x 6 matrix for each lane, with the blocks ww, wv and vv.
struct PairHessianLanes {
  LanesSymmetric3 ww{}, vv{};
  Lanes3 wv[3]{};  // by rows

  /// Adds Phi^T K Phi with Phi = [-[r]x I], for matrices K of points at r.
  void add_stiffness(const Lanes3& r, const LanesSymmetric3& K) {
    vv += K;
    // [r]x K by columns; K is symmetric.
    const Lanes3 c0 = cross(r, {K.xx, K.xy, K.xz});
    const Lanes3 c1 = cross(r, {K.xy, K.yy, K.yz});
    const Lanes3 c2 = cross(r, {K.xz, K.yz, K.zz});
    const Lanes3 row0{c0.x, c1.x, c2.x}, row1{c0.y, c1.y, c2.y}, row2{c0.z, c1.z, c2.z};
    wv[0] += row0;
    wv[1] += row1;
    wv[2] += row2;
    // [r]x K [r]x^T, whose row i is r x row_i.
    const Lanes3 minus_r = r * math::broadcast(-1);
    const auto add = [](Lanes* to, const Lanes& r_a, const Lanes& a, const Lanes& minus_r_b,
                        const Lanes& b) {
      *to = multiply_add(minus_r_b, b, multiply_add(r_a, a, *to));
    };
    add(&ww.xx, r.y, row0.z, minus_r.z, row0.y);
    add(&ww.xy, r.z, row0.x, minus_r.x, row0.z);
    add(&ww.xz, r.x, row0.y, minus_r.y, row0.x);
    add(&ww.yy, r.z, row1.x, minus_r.x, row1.z);
    add(&ww.yz, r.x, row1.y, minus_r.y, row1.x);
    add(&ww.zz, r.x, row2.y, minus_r.y, row2.x);
  }

  /// Returns the sum over the lanes.
  math::SixBySix sum() const {
    const Lanes zero{};
    const auto rest = [&](const Lanes& a, const Lanes& b) {
      const Lanes both = math::sum_each(a, b, zero, zero);
      return math::Vec2{both[0], both[1]};
    };
    return {{{math::sum_each(ww.xx, ww.xy, ww.xz, wv[0].x), rest(wv[0].y, wv[0].z)},
             {math::sum_each(ww.xy, ww.yy, ww.yz, wv[1].x), rest(wv[1].y, wv[1].z)},
             {math::sum_each(ww.xz, ww.yz, ww.zz, wv[2].x), rest(wv[2].y, wv[2].z)},
             {math::sum_each(wv[0].x, wv[1].x, wv[2].x, vv.xx), rest(vv.xy, vv.xz)},
             {math::sum_each(wv[0].y, wv[1].y, wv[2].y, vv.xy), rest(vv.yy, vv.yz)},
             {math::sum_each(wv[0].z, wv[1].z, wv[2].z, vv.xz), rest(vv.yz, vv.zz)}}};
  }
};

}  // namespace stiction::formulations
