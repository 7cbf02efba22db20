#pragma once

#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/formulations/convex/pair_sums.hpp"

/// Batches of up to four contacts of one body pair, one contact per SIMD lane. The axes of an
/// unused lane are zero, so the impulse and Hessian of that lane add nothing.
namespace stiction::formulations {

/// The frames of the contacts. With the velocity v_p = v + w x r of the point,
/// v_c = [t1 t2 n]^T v_p + b.
struct BatchFrame {
  Lanes3 axis[3]{};   // t1, t2, n in the world frame
  Lanes3 r{};         // from the pair's origin to the point, world frame [m]
  Lanes3 bias{};      // prescribed surface velocity in the contact frame [m/s]
  Lanes spin_bias{};  // prescribed angular velocity about the normal [rad/s]

  /// Returns a vector of the world frame in the contact frames.
  Lanes3 to_contact_frame(const Lanes3& a_W) const {
    return {dot(axis[0], a_W), dot(axis[1], a_W), dot(axis[2], a_W)};
  }
  /// Returns a vector of the contact frames in the world frame.
  Lanes3 to_world(const Lanes3& a_C) const {
    return multiply_add(axis[2], a_C.z, multiply_add(axis[1], a_C.y, axis[0] * a_C.x));
  }
  /// Returns R G R^T, a matrix of the contact frames in the world frame.
  LanesSymmetric3 to_world(const LanesSymmetric3& G) const {
    const Lanes3 b0 = to_world(Lanes3{G.xx, G.xy, G.xz});
    const Lanes3 b1 = to_world(Lanes3{G.xy, G.yy, G.yz});
    const Lanes3 b2 = to_world(Lanes3{G.xz, G.yz, G.zz});
    const auto entry = [&](Lanes Lanes3::*i, Lanes Lanes3::*j) {
      return multiply_add(axis[2].*i, b2.*j, multiply_add(axis[1].*i, b1.*j, axis[0].*i * b0.*j));
    };
    constexpr auto x = &Lanes3::x, y = &Lanes3::y, z = &Lanes3::z;
    return {.xx = entry(x, x),
            .xy = entry(x, y),
            .yy = entry(y, y),
            .xz = entry(x, z),
            .yz = entry(y, z),
            .zz = entry(z, z)};
  }
  /// Returns the velocities of the points in the world frame [m/s].
  Lanes3 point_velocity(const PairVelocity& V) const { return V.v + cross(V.w, r); }
};

/// The indices of the batch's contacts in the problem; -1: an unused lane.
struct BatchSource {
  int contact[math::kNumLanes] = {-1, -1, -1, -1};
  int num_contacts = 0;
};

/// The contact of an unused lane. Its axes are zero, and its properties are valid for every law.
inline constexpr contact::Contact kNoContact = {
    .fn0 = -1,
    .phi0 = 1,
    .law = {.stiffness = 1, .hertz_stiffness = 1, .barrier_stiffness = 1, .barrier_thickness = 1}};

/// Reads the contacts of a batch: their frames, and the data from which their laws are made.
inline void gather(const contact::ContactProblem& problem, const BatchSource& source,
                   BatchFrame* frame, ContactStart* start) {
  const contact::Contact* contacts[math::kNumLanes];
  for (int lane = 0; lane < math::kNumLanes; ++lane) {
    const int c = source.contact[lane];
    STICTION_ASSERT(-1 <= c && c < problem.num_contacts());
    contacts[lane] = c >= 0 ? &problem.contacts[c] : &kNoContact;
    start->delassus[lane] = c >= 0 ? problem.delassus[c] : 1;
    start->mu[lane] = contacts[lane]->sliding_friction();
    start->lagged_impulse[lane] = c >= 0 ? problem.find_lagged_impulse(c).value_or(-1) : -1;
  }
  // Transpose the first 24 numbers of the four contacts, four at a time.
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

/// True if a mask of lanes is set in every lane.
inline bool is_true_in_all(const auto& mask) {
  return mask[0] != 0 && mask[1] != 0 && mask[2] != 0 && mask[3] != 0;
}

/// Contacts with a law of three components, v_c = [v_t1, v_t2, v_n].
template <class Law>
struct ContactBatch {
  BatchSource source;
  BatchFrame frame;
  Lanes3 v_c{};    // at the current velocities [m/s]
  Lanes3 dv_c{};   // along the Newton direction [m/s]
  Lanes3 gamma{};  // impulses at v_c [N s]
  typename Law::Parameters parameters;
  typename Law::State state;

  /// Computes v_c of the pair's motion V.
  void calc_velocity(const PairVelocity& V) {
    v_c = frame.to_contact_frame(frame.point_velocity(V)) + frame.bias;
  }
  /// Computes dv_c of a change dV of the pair's motion.
  void calc_direction(const PairVelocity& dV) {
    dv_c = frame.to_contact_frame(frame.point_velocity(dV));
  }
  /// Computes the impulses at v_c, and the state from which the Hessian is computed.
  void calc_impulse() { gamma = Law::calc_impulse(parameters, v_c, &state); }
  /// The normal impulse of a lane [N s].
  double normal_impulse(int lane) const { return gamma.z[lane]; }
  /// Adds the impulses gamma to the pair's wrench impulse.
  void add_to(PairWrenchLanes* wrench) const { add_impulse(gamma, wrench); }
  /// Adds given impulses at the contacts to the pair's wrench impulse.
  void add_impulse(const Lanes3& impulse, PairWrenchLanes* wrench) const {
    wrench->add_force(frame.r, frame.to_world(impulse));
  }
  /// Adds Phi^T G Phi at v_c to the pair's Hessian.
  void add_to(PairHessianLanes* hessian, Curvature curvature) const {
    hessian->add_stiffness(frame.r,
                           frame.to_world(Law::calc_hessian(parameters, state, curvature)));
  }
  /// Computes the derivatives of the cost at v_c + alpha dv_c along dv_c.
  LineDerivatives calc_line_derivatives(double alpha) const {
    return Law::calc_line_derivatives(parameters, multiply_add(dv_c, math::broadcast(alpha), v_c),
                                      dv_c);
  }
  /// True if the law itself, and not its linear extension, applies at v_c + alpha dv_c.
  bool is_feasible(double alpha) const {
    return is_true_in_all(
        Law::is_feasible(parameters, multiply_add(dv_c, math::broadcast(alpha), v_c)));
  }
  /// Extends the domain of the normal law, see IslandProblem::extend_domain.
  void extend_domain(double fraction) {
    parameters.normal = parameters.normal.calc_extended(fraction);
  }
  /// Removes the extension of the normal law.
  void restore_domain() { parameters.normal = parameters.normal.without_extension(); }
};

/// Contacts with a law of six components, v_c = [v_t1, v_t2, v_n, w_n, w_t1, w_t2]. The members
/// have the meanings of those of ContactBatch.
template <class Law>
struct TorsionBatch {
  /// Axes of the three angular components w_n, w_t1, w_t2.
  static constexpr int kSpinAxis[3] = {2, 0, 1};
  BatchSource source;
  BatchFrame frame;
  Lanes v_c[6]{}, dv_c[6]{}, gamma[6]{};
  typename Law::Parameters parameters;
  typename Law::State state;

  void calc_velocity(const PairVelocity& V) {
    calc_components(V, v_c);
    v_c[0] += frame.bias.x;
    v_c[1] += frame.bias.y;
    v_c[2] += frame.bias.z;
    v_c[3] += frame.spin_bias;
  }
  void calc_direction(const PairVelocity& dV) { calc_components(dV, dv_c); }
  void calc_impulse() { Law::calc_impulse(parameters, v_c, &state, gamma); }
  double normal_impulse(int lane) const { return gamma[2][lane]; }
  void add_to(PairWrenchLanes* wrench) const { add_impulse(gamma, wrench); }
  void add_impulse(const Lanes impulse[6], PairWrenchLanes* wrench) const {
    wrench->add_force(frame.r, frame.to_world(Lanes3{impulse[0], impulse[1], impulse[2]}));
    for (int i = 0; i < 3; ++i) wrench->torque += frame.axis[kSpinAxis[i]] * impulse[3 + i];
  }
  void add_to(PairHessianLanes* hessian, Curvature curvature) const;
  LineDerivatives calc_line_derivatives(double alpha) const {
    Lanes v[6];
    for (int i = 0; i < 6; ++i) v[i] = v_c[i] + alpha * dv_c[i];
    return Law::calc_line_derivatives(parameters, v, dv_c);
  }
  bool is_feasible(double alpha) const {
    Lanes v[6];
    for (int i = 0; i < 6; ++i) v[i] = v_c[i] + alpha * dv_c[i];
    return is_true_in_all(Law::is_feasible(parameters, v));
  }
  void extend_domain(double fraction) {
    parameters.normal = parameters.normal.calc_extended(fraction);
  }
  void restore_domain() { parameters.normal = parameters.normal.without_extension(); }

 private:
  void calc_components(const PairVelocity& V, Lanes* out) const {
    const Lanes3 v = frame.to_contact_frame(frame.point_velocity(V));
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
    for (int i = 0; i < 3; ++i) out[3 + i] = dot(frame.axis[kSpinAxis[i]], V.w);
  }
};

/// Adds Psi^T G Psi to the pair's Hessian. The row of Psi of an axis e is [r x e; e] for a linear
/// component and [e; 0] for an angular one.
template <class Law>
void TorsionBatch<Law>::add_to(PairHessianLanes* hessian, Curvature curvature) const {
  Lanes G[6][6];
  Law::calc_hessian(parameters, state, curvature, G);
  Lanes3 w[6], v[6];  // rows of Psi, angular and linear part
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
    hessian->ww += LanesSymmetric3{.xx = w[e].x * Gw.x,
                                   .xy = w[e].x * Gw.y,
                                   .yy = w[e].y * Gw.y,
                                   .xz = w[e].x * Gw.z,
                                   .yz = w[e].y * Gw.z,
                                   .zz = w[e].z * Gw.z};
    hessian->vv += LanesSymmetric3{.xx = v[e].x * Gv.x,
                                   .xy = v[e].x * Gv.y,
                                   .yy = v[e].y * Gv.y,
                                   .xz = v[e].x * Gv.z,
                                   .yz = v[e].y * Gv.z,
                                   .zz = v[e].z * Gv.z};
    hessian->wv[0] += Gv * w[e].x;
    hessian->wv[1] += Gv * w[e].y;
    hessian->wv[2] += Gv * w[e].z;
  }
}

}  // namespace stiction::formulations
