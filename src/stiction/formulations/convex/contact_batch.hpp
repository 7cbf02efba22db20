#pragma once

#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/formulations/convex/pair_sums.hpp"

/// Up to four contacts of one body pair, side by side in lanes. A lane without contact has zero
/// axes, so that whatever its law says adds nothing.
namespace stiction::formulations {

/// Where the contacts are: v_p = v + w x r, and v_c = [t1 t2 n]^T v_p + b.
struct BatchFrame {
  Lanes3 axis[3]{};   // t1, t2, n in the world frame
  Lanes3 r{};         // from the pair's origin [m]
  Lanes3 bias{};      // prescribed surface velocity in the contact frame [m/s]
  Lanes spin_bias{};  // the same about the normal [rad/s]

  Lanes3 to_contact_frame(const Lanes3& a_W) const {
    return {dot(axis[0], a_W), dot(axis[1], a_W), dot(axis[2], a_W)};
  }
  Lanes3 to_world(const Lanes3& a_C) const {
    return multiply_add(axis[2], a_C.z, multiply_add(axis[1], a_C.y, axis[0] * a_C.x));
  }
  /// R G R^T.
  LanesSymmetric3 to_world(const LanesSymmetric3& G) const {
    const Lanes3 b0 = to_world(Lanes3{G.xx, G.xy, G.xz});
    const Lanes3 b1 = to_world(Lanes3{G.xy, G.yy, G.yz});
    const Lanes3 b2 = to_world(Lanes3{G.xz, G.yz, G.zz});
    const auto entry = [&](Lanes Lanes3::*i, Lanes Lanes3::*j) {
      return multiply_add(axis[2].*i, b2.*j, multiply_add(axis[1].*i, b1.*j, axis[0].*i * b0.*j));
    };
    constexpr auto x = &Lanes3::x, y = &Lanes3::y, z = &Lanes3::z;
    return {entry(x, x), entry(x, y), entry(y, y), entry(x, z), entry(y, z), entry(z, z)};
  }
  Lanes3 point_velocity(const PairVelocity& V) const { return V.v + cross(V.w, r); }
};

/// Which contacts of the problem are in the lanes.
struct BatchSource {
  int contact[math::kNumLanes] = {-1, -1, -1, -1};
  int num_contacts = 0;
};

/// What stands in a lane without contact: no axes, and parameters that every law can take.
inline constexpr contact::Contact kNoContact = {
    .fn0 = -1,
    .phi0 = 1,
    .law = {.stiffness = 1, .hertz_stiffness = 1, .barrier_stiffness = 1, .barrier_thickness = 1}};

/// Reads the batch's contacts: where they are, and what their law takes.
inline void gather(const contact::ContactProblem& problem, const BatchSource& source,
                   BatchFrame* frame, ContactStart* start) {
  const contact::Contact* contacts[math::kNumLanes];
  for (int lane = 0; lane < math::kNumLanes; ++lane) {
    const int c = source.contact[lane];
    STICTION_ASSERT(-1 <= c && c < problem.num_contacts());
    contacts[lane] = c >= 0 ? &problem.contacts[c] : &kNoContact;
    start->delassus[lane] = c >= 0 ? problem.delassus[c] : 1;
    start->mu[lane] = contacts[lane]->sliding_friction();
  }
  static_assert(offsetof(contact::Contact, law.barrier_thickness) ==
                offsetof(contact::Contact, R_WC) + 23 * sizeof(double));
  const auto read = [&](int first) {
    return math::transpose(math::load<Lanes>(contacts[0]->R_WC.data() + first),
                           math::load<Lanes>(contacts[1]->R_WC.data() + first),
                           math::load<Lanes>(contacts[2]->R_WC.data() + first),
                           math::load<Lanes>(contacts[3]->R_WC.data() + first));
  };
  const math::FourLanes f0 = read(0), f4 = read(4), f8 = read(8), f12 = read(12), f16 = read(16),
                        f20 = read(20);
  frame->axis[0] = {f0.a, f0.b, f0.c};
  frame->axis[1] = {f0.d, f4.a, f4.b};
  frame->axis[2] = {f4.c, f4.d, f8.a};
  frame->r = {f8.b, f8.c, f8.d};
  frame->bias = {f12.a, f12.b, f12.c};
  frame->spin_bias = f12.d;
  start->time_step = problem.time_step;
  start->fn0 = f16.a;
  start->phi0 = f16.b;
  start->law.stiffness = f16.c;
  start->law.dissipation = f16.d;
  start->law.relaxation_time = f20.a;
  start->law.hertz_stiffness = f20.b;
  start->law.barrier_stiffness = f20.c;
  start->law.barrier_thickness = f20.d;
}

/// True if a mask of lanes holds in all.
inline bool is_true_in_all(const auto& mask) {
  return mask[0] != 0 && mask[1] != 0 && mask[2] != 0 && mask[3] != 0;
}

/// Contacts with a law of three components.
template <class Law>
struct ContactBatch {
  BatchSource source;
  BatchFrame frame;
  Lanes3 v_c{}, dv_c{}, gamma{};
  typename Law::Row row;
  typename Law::State state;

  void calc_velocity(const PairVelocity& V) {
    v_c = frame.to_contact_frame(frame.point_velocity(V)) + frame.bias;
  }
  void calc_direction(const PairVelocity& dV) {
    dv_c = frame.to_contact_frame(frame.point_velocity(dV));
  }
  void calc_impulse() { gamma = Law::calc_impulse(row, v_c, &state); }
  void add_to(PairWrenchLanes* wrench) const { add_impulse(gamma, wrench); }
  /// Adds any impulse at the contacts.
  void add_impulse(const Lanes3& impulse, PairWrenchLanes* wrench) const {
    wrench->add_force(frame.r, frame.to_world(impulse));
  }
  void add_to(PairHessianLanes* hessian, Curvature curvature) const {
    hessian->add_stiffness(frame.r, frame.to_world(Law::calc_hessian(row, state, curvature)));
  }
  LineDerivatives calc_line_derivatives(double alpha) const {
    return Law::calc_line_derivatives(row, multiply_add(dv_c, math::broadcast(alpha), v_c), dv_c);
  }
  bool is_feasible(double alpha) const {
    return is_true_in_all(Law::is_feasible(row, multiply_add(dv_c, math::broadcast(alpha), v_c)));
  }
  void soften(double fraction) { row.normal = row.normal.calc_softened(fraction); }
};

/// Contacts with a law of six components: [v_t1, v_t2, v_n, w_n, w_t1, w_t2].
template <class Law>
struct TorsionBatch {
  static constexpr int kSpinAxis[3] = {2, 0, 1};
  BatchSource source;
  BatchFrame frame;
  Lanes v_c[6]{}, dv_c[6]{}, gamma[6]{};
  typename Law::Row row;
  typename Law::State state;

  void calc_velocity(const PairVelocity& V) {
    calc_components(V, v_c);
    v_c[0] += frame.bias.x;
    v_c[1] += frame.bias.y;
    v_c[2] += frame.bias.z;
    v_c[3] += frame.spin_bias;
  }
  void calc_direction(const PairVelocity& dV) { calc_components(dV, dv_c); }
  void calc_impulse() { Law::calc_impulse(row, v_c, &state, gamma); }
  void add_to(PairWrenchLanes* wrench) const { add_impulse(gamma, wrench); }
  void add_impulse(const Lanes impulse[6], PairWrenchLanes* wrench) const {
    wrench->add_force(frame.r, frame.to_world(Lanes3{impulse[0], impulse[1], impulse[2]}));
    for (int i = 0; i < 3; ++i) wrench->torque += frame.axis[kSpinAxis[i]] * impulse[3 + i];
  }
  void add_to(PairHessianLanes* hessian, Curvature curvature) const;
  LineDerivatives calc_line_derivatives(double alpha) const {
    Lanes v[6];
    for (int i = 0; i < 6; ++i) v[i] = v_c[i] + alpha * dv_c[i];
    return Law::calc_line_derivatives(row, v, dv_c);
  }
  bool is_feasible(double alpha) const {
    Lanes v[6];
    for (int i = 0; i < 6; ++i) v[i] = v_c[i] + alpha * dv_c[i];
    return is_true_in_all(Law::is_feasible(row, v));
  }
  void soften(double fraction) { row.normal = row.normal.calc_softened(fraction); }

 private:
  void calc_components(const PairVelocity& V, Lanes* out) const {
    const Lanes3 v = frame.to_contact_frame(frame.point_velocity(V));
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
    for (int i = 0; i < 3; ++i) out[3 + i] = dot(frame.axis[kSpinAxis[i]], V.w);
  }
};

/// H += Psi^T G Psi, where row e of Psi is [r x e; e] for the linear components, [e; 0] for spins.
template <class Law>
void TorsionBatch<Law>::add_to(PairHessianLanes* hessian, Curvature curvature) const {
  Lanes G[6][6];
  Law::calc_hessian(row, state, curvature, G);
  Lanes3 w[6], v[6];  // columns of Psi, angular and linear
  for (int i = 0; i < 3; ++i) {
    w[i] = cross(frame.r, frame.axis[i]);
    v[i] = frame.axis[i];
    w[3 + i] = frame.axis[kSpinAxis[i]];
    v[3 + i] = Lanes3{};
  }
  for (int e = 0; e < 6; ++e) {
    Lanes3 Gw{}, Gv{};  // row e of G Psi
    for (int f = 0; f < 6; ++f) {
      Gw += w[f] * G[e][f];
      Gv += v[f] * G[e][f];
    }
    hessian->ww += LanesSymmetric3{w[e].x * Gw.x, w[e].x * Gw.y, w[e].y * Gw.y,
                                   w[e].x * Gw.z, w[e].y * Gw.z, w[e].z * Gw.z};
    hessian->vv += LanesSymmetric3{v[e].x * Gv.x, v[e].x * Gv.y, v[e].y * Gv.y,
                                   v[e].x * Gv.z, v[e].y * Gv.z, v[e].z * Gv.z};
    hessian->wv[0] += Gv * w[e].x;
    hessian->wv[1] += Gv * w[e].y;
    hessian->wv[2] += Gv * w[e].z;
  }
}

}  // namespace stiction::formulations
