#pragma once

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/convex/formulation.hpp"
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

// Batches of up to four contacts of one body pair, one contact per SIMD lane. The axes of an
// unused lane are zero, so the impulse and Hessian of that lane add nothing.

/// The frames of the contacts: v_c = [t1 t2 n]^T v_p + b, where v_p = v + w x r.
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

/// Axes of the three angular components w_n, w_t1, w_t2.
inline constexpr int kSpinAxis[3] = {2, 0, 1};
/// Components that the friction of one contact couples, at most: two slips and three spins.
inline constexpr int kMaxSlips = 5;

/// Contacts of six components, v_c = [v_t1, v_t2, v_n, w_n, w_t1, w_t2]; else as ContactBatch.
template <class Law>
struct TorsionBatch {
  BatchSource source;
  BatchFrame frame;
  Lanes v_c[6]{}, dv_c[6]{}, gamma[6]{};
  typename Law::Parameters parameters;
  typename Law::State state;

  void calc_velocity(const PairVelocity& V) {
    calc_components(V, v_c);
    add_bias();
  }
  /// Adds the prescribed velocities of the surfaces to v_c.
  void add_bias() {
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

/// Adds Psi^T G Psi to the pair's Hessian. Rows of Psi are [r x e; e] (linear) or [e; 0].
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

/// The tangential springs of four contacts under the friction law `elastic`, see contact::Anchor.
///
/// The trial impulse p + a v_t is a times the shifted slip v_t + p / a, and friction is cut at the
/// bound b. This is friction with Huber's function, which is regularized by b / a:
///
///     l_t = b |v_t + p / a|_f,   eps_s = b / a,   f(s) = min(s, 1).
///
/// So a law with anchors differs from the regularized one by its function, its slip tolerance, and
/// the shift. With torsion, rolling or unequal coefficients mu_i the norm is that of m u as in
/// LaggedTorsionWith, and component i has the stiffness k_t (mu_i / mu)^2, where mu is the largest
/// coefficient. The cut is then radial in m^-1 gamma, whose length bounds friction.
/// Source: [theory:anchors].
struct ElasticStick {
  Lanes inertia = math::broadcast(1);  // a = dt (dt k_t + c) > 0 [kg]
  Lanes shift[5]{};                    // p / a [m/s, rad/s]

  /// Returns the slip tolerance > 0 for a friction bound >= 0 [N s] -> [m/s].
  Lanes calc_slip_tolerance(const Lanes& bound) const {
    return math::max(bound / inertia, math::broadcast(kLeastTolerance));
  }
  static constexpr double kLeastTolerance = 1e-100;  // its square is a normal number
};

/// Reads the springs of the contacts of a batch. Requires anchors.
inline ElasticStick gather_anchors(const contact::ContactProblem& problem,
                                   const BatchSource& source) {
  // The inertia of contacts that nothing moves, whose springs are 0. It hardly has an effect.
  constexpr double kLeastInertia = 1e-30;
  const double dt = problem.time_step;
  ElasticStick stick;
  for (int lane = 0; lane < source.num_contacts; ++lane) {
    const contact::Anchor& anchor = problem.anchors[source.contact[lane]];
    const double resistance = dt * anchor.stiffness + anchor.damping;  // [N s/m]
    stick.inertia[lane] = std::max(dt * resistance, kLeastInertia);
    const double per_stretch = resistance > 0 ? anchor.stiffness / resistance : 0;
    for (int i = 0; i < 5; ++i) stick.shift[i][lane] = per_stretch * anchor.stretch[i];
    for (int i = 0; i < 2; ++i) stick.shift[i][lane] += anchor.arc_velocity[i];
  }
  return stick;
}

/// A formulation whose contacts may stick by springs.
template <class F>
concept TakesAnchors = requires(const ElasticStick& stick, typename F::Parameters* p) {
  F::attach(stick, p);
};

/// Makes the laws of the contacts of a batch, whose source is set.
/// @param calc_velocity (batch) computes v_c at the start of the step
template <class F>
void make_laws_of(const contact::ContactProblem& problem, const ModelParameters& model,
                  auto&& calc_velocity, ContactBatch<F>* batch) {
  ContactStart start;
  gather(problem, batch->source, &batch->frame, &start);
  calc_velocity(batch);
  start.v_c0 = batch->v_c;
  batch->parameters = F::make_parameters(start, model);
  if constexpr (TakesAnchors<F>)
    if (has_anchors(model)) F::attach(gather_anchors(problem, batch->source), &batch->parameters);
}
template <class F>
void make_laws_of(const contact::ContactProblem& problem, const ModelParameters& model,
                  auto&& calc_velocity, TorsionBatch<typename F::Torsion>* batch) {
  using Torsion = typename F::Torsion;
  typename Torsion::Start start;
  gather(problem, batch->source, &batch->frame, &start);
  for (int lane = 0; lane < batch->source.num_contacts; ++lane)
    start.set_friction(lane, problem.contacts[batch->source.contact[lane]]);
  calc_velocity(batch);
  start.v_c0 = {batch->v_c[0], batch->v_c[1], batch->v_c[2]};
  batch->parameters = F::make_torsion_parameters(start, model);
  if constexpr (TakesAnchors<Torsion>)
    if (has_anchors(model))
      Torsion::attach(gather_anchors(problem, batch->source), &batch->parameters);
}

}  // namespace stiction::formulations
