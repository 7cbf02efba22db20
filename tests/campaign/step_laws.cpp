#include "campaign/step_laws.hpp"

#include <algorithm>
#include <cmath>

#include "campaign/contact_motion.hpp"
#include "campaign/reading_laws.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/gaps.hpp"

namespace stiction::campaign {
namespace {

using contact::ContactModel;
using contact::TangentPolicy;
using support::Scene;

Eigen::Map<const Eigen::VectorXd> view(const mjtNum* x, mjtSize n) { return {x, n}; }

/// The residual that a certificate always allows [sqrt(J)], SolverOptions::absolute_tolerance.
constexpr double kAbsoluteTolerance = 1e-14;

/// Returns a bound on the sizes of the momenta whose difference the step changes, with
/// |M_ij| <= sqrt(M_ii M_jj).
Eigen::VectorXd calc_momentum_sizes(const TakenStep& s) {
  const mjModel* m = s.scene.model;
  Eigen::VectorXd root(m->nv);
  double sum = 0;
  for (int i = 0; i < m->nv; ++i) {
    root[i] = std::sqrt(s.scene.data->M[m->M_rowadr[i] + m->M_rownnz[i] - 1]);
    sum += root[i] * (std::abs(s.v0[i]) + std::abs(s.scene.data->qvel[i]));
  }
  return sum * root;
}

/// The forces of a step, as impulses in MuJoCo's dofs.
struct Balance {
  Eigen::VectorXd momentum, inertial, smooth, contacts, rows;
  /// Rounding of sums whose terms cancel each other, and of impulses of stiff laws.
  Eigen::VectorXd rounding;

  explicit Balance(const TakenStep& s) {
    const mjModel* m = s.scene.model;
    const mjData* d = s.scene.data;
    const double dt = s.report.contacts.time_step;
    const Eigen::VectorXd change = view(d->qvel, m->nv) - view(s.v0.data(), m->nv);
    momentum = inertial = rows = contacts = Eigen::VectorXd::Zero(m->nv);
    mj_mulM(m, d, momentum.data(), d->qvel);
    mj_mulM(m, d, inertial.data(), change.data());
    smooth = dt * view(d->qfrc_smooth, m->nv);
    Eigen::VectorXd sizes = calc_momentum_sizes(s), levers = Eigen::VectorXd::Zero(m->nv);
    for (int c = 0; c < s.report.contacts.size(); ++c) {
      const ContactMotion motion(s.scene, s.report.contacts, c);
      contacts += motion.linear.transpose() * motion.impulse +
                  motion.angular.transpose() * motion.torque_impulse;
      levers += (motion.linear.cwiseAbs() + motion.angular.cwiseAbs()).colwise().sum().transpose();
      sizes += motion.linear.cwiseAbs().transpose() * motion.impulse.cwiseAbs() +
               motion.angular.cwiseAbs().transpose() * motion.torque_impulse.cwiseAbs();
    }
    rounding = 0x1p-52 * (m->nv + 32 + s.report.contacts.size()) * sizes +
               s.report.certificate.impulse_error * levers;
    // The rows of contacts are zero in efc_J.
    if (d->nefc > 0) mj_mulJacTVec(m, d, rows.data(), d->efc_force);
    rows *= dt;
  }
  double imbalance(int i) const {
    return std::abs(inertial[i] - smooth[i] - contacts[i] - rows[i]);
  }
  double magnitude(int i) const {
    return std::abs(inertial[i]) + std::abs(smooth[i]) + std::abs(contacts[i]) + std::abs(rows[i]);
  }
};

/// Returns a bound on dt |d(w w^T)| in the step and in the motion without contacts [rad/s], twice.
double calc_spin_change(const TakenStep& s, int dof) {
  const double dt = s.report.contacts.time_step;
  const auto w0 = view(s.v0.data() + dof, 3), w = view(s.scene.data->qvel + dof, 3);
  const double free_change = dt * view(s.scene.data->qacc_smooth + dof, 3).norm();
  return 8 * dt * (w0.norm() + w.norm() + free_change) * ((w - w0).norm() + free_change);
}

/// The momentum of each dof whose forces are all explicit must balance. These are the translations
/// of free trees without tendons, and all dofs of passive trees. The rotation of a single free body
/// has an implicit gyroscopic moment.
void check_momentum(const TakenStep& s, Ledger* ledger) {
  const mjModel* m = s.scene.model;
  const Balance balance(s);
  double scale = 0, momentum = 0;  // norms [sqrt(J)]
  std::vector<double> inertia(m->nv);
  for (int i = 0; i < m->nv; ++i) {
    inertia[i] = s.scene.data->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    scale = std::hypot(scale, balance.magnitude(i) / std::sqrt(inertia[i]));
    momentum = std::hypot(momentum, balance.momentum[i] / std::sqrt(inertia[i]));
  }
  scale = std::max(scale, contact::kResolvedMomentum * momentum);
  const double relative =
      std::max(2 * s.options.tolerance, 2 * s.report.certificate.relative_residual) + 1e-9;
  const auto allowed = [&](int i) {
    return (relative * scale + 2 * kAbsoluteTolerance) * std::sqrt(inertia[i]) +
           balance.rounding[i];
  };
  for (int j = 0; j < m->njnt; ++j) {
    const bool is_free = m->jnt_type[j] == mjJNT_FREE;
    if (is_free ? s.world.traits.has_spatial_tendon : !s.world.traits.is_passive) continue;
    const int first = m->jnt_dofadr[j], size = is_free ? 3 : m->jnt_type[j] == mjJNT_BALL ? 3 : 1;
    // A free body's Coriolis force w x (w x s) and gyroscopic moment w x I w are implicit. Their
    // change in the step is at most twice that of their linearization.
    const double rate = is_free ? calc_spin_change(s, first + 3) : 0;
    const int body = m->jnt_bodyid[j];
    const double first_moment =
        m->body_subtreemass[body] *
        mju_dist3(s.scene.data->subtree_com + 3 * body, s.scene.data->xpos + 3 * body);
    for (int i = first; i < first + size; ++i)
      ledger->check("momentum", balance.imbalance(i), allowed(i) + first_moment * rate);
    if (!is_free || !s.world.traits.is_passive) continue;
    const double moment = *std::max_element(&inertia[first + 3], &inertia[first + 3] + 3);
    for (int i = first + 3; i < first + 6; ++i)
      ledger->check("angular_momentum", balance.imbalance(i), allowed(i) + moment * rate);
  }
}

/// True if friction is bounded by mu times the normal impulse of the step.
bool has_cone(const contact::ContactModelTraits& model) {
  if (model.is_rigid)
    return model.tangents == TangentPolicy::kFrictionPolygon ||
           model.tangents == TangentPolicy::kFrictionCone;
  return model.model != ContactModel::lagged && model.model != ContactModel::lagged_regularized;
}

/// Velocities of the rigid models' constraints are exact to this [m/s], see docs/certificates.md.
double calc_velocity_tolerance(const TakenStep& s) {
  double speed = 1, mobility = 1;
  for (int c = 0; c < s.report.contacts.size(); ++c) {
    speed = std::max(speed, std::abs(s.report.contacts.normal_velocity[c]));
    mobility = std::max(mobility, s.report.contacts.delassus[c]);
  }
  return 2e-6 * speed * mobility;
}

/// Returns the largest normal impulse of a step, or the impulse that the tolerance of the solver
/// resolves at a contact if that is larger [N s]. The certificate of rigid models resolves 1e-6 of
/// the momentum.
double calc_impulse_scale(const TakenStep& s, int c) {
  const mjModel* m = s.scene.model;
  const mjData* d = s.scene.data;
  std::vector<double> change(m->nv), momentum(m->nv);
  for (int i = 0; i < m->nv; ++i) change[i] = d->qvel[i] - s.v0[i];
  mj_mulM(m, d, momentum.data(), change.data());
  double largest = 0, forces = 0;
  for (const double x : s.report.contacts.normal_impulse) largest = std::max(largest, x);
  if (s.model().is_rigid) {
    std::vector<double> end(m->nv);
    mj_mulM(m, d, end.data(), d->qvel);
    for (const double p : end) largest = std::max(largest, 1e-6 * std::abs(p));
  }
  for (int i = 0; i < m->nv; ++i)
    forces = std::hypot(forces, (s.report.contacts.time_step * std::abs(d->qfrc_smooth[i]) +
                                 std::abs(momentum[i])) /
                                    std::sqrt(d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1]));
  return std::max(largest, s.options.tolerance * forces / std::sqrt(s.report.contacts.delassus[c]));
}

/// A contact pushes only while it is closed at the end of the step, and a rigid contact may not
/// close further than to its surface.
/// @param spin relative angular speed of the bodies [rad/s]
void check_gap(const TakenStep& s, int c, double spin, double tolerance, Ledger* ledger) {
  const sim::ContactReport& contacts = s.report.contacts;
  const double dt = contacts.time_step, gap = contacts.distance[c];
  const double v_n = contacts.normal_velocity[c];
  const bool pushes = contacts.normal_impulse[c] > 0;
  const contact::ContactModelTraits& model = s.model();
  if (model.is_rigid) {
    const bool takes_part = model.gaps == contact::GapPolicy::kSpeculative || gap < 1e-6;
    // Contact points are known to kTouchDistance, and so is the lever of the bodies' spin.
    if (takes_part)
      ledger->check("rigid_gap", -v_n - std::max(gap, 0.0) / dt,
                    tolerance + contact::kTouchDistance * spin);
    if (pushes && s.world.traits.is_near_rigid && gap > 2e-6 &&
        model.tangents != TangentPolicy::kLeastEnergy)
      ledger->check("complementarity", v_n + gap / dt, tolerance);
  } else if (pushes && !model.lifts_sliding && !s.world.traits.has_adhesion &&
             s.report.statistics.max_substeps == 1) {
    ledger->check("adhesion", gap + dt * v_n, 1e-9 * (std::abs(gap) + dt * std::abs(v_n)) + 1e-12);
  }
  // Near-rigid contacts part no faster than 0.1 m/s, and rigid ones as well without restitution.
  if (pushes && s.world.traits.is_near_rigid && !model.lifts_sliding &&
      !s.world.traits.has_adhesion && s.report.statistics.max_substeps == 1 &&
      model.tangents != TangentPolicy::kLeastEnergy)
    ledger->check("parting_speed", v_n, s.options.parameters.max_correction_speed + tolerance);
}

/// Coulomb's law of sliding: friction is mu gamma_n against the slip, so gamma_t.v_t is
/// -mu gamma_n |v_t|. The certificate's natural residual e [m/s] says that an impulse within e / w
/// and a velocity within e of these satisfy the law, [theory:friction-cone-residual].
void check_sliding(const TakenStep& s, int c, const Vector& friction, const Vector& slip,
                   double tolerance, Ledger* ledger) {
  const sim::ContactReport& contacts = s.report.contacts;
  const double impulse = contacts.normal_impulse[c] + friction.norm();
  const double speed = std::abs(contacts.normal_velocity[c]) + slip.norm() +
                       std::abs(contacts.distance[c]) / contacts.time_step;
  const double mu = contacts.friction[c];
  ledger->check("sliding", mu * contacts.normal_impulse[c] * slip.norm() + friction.dot(slip),
                2 * (1 + mu) * tolerance * (impulse + (speed + tolerance) / contacts.delassus[c]));
}

/// Friction of a contact adds no energy.
/// @param largest normal impulse of the step [N s]
void check_friction(const TakenStep& s, int c, const Vector& friction, const Vector& slip,
                    double tolerance, double largest, Ledger* ledger) {
  const TangentPolicy tangents = s.model().tangents;
  if (tangents == TangentPolicy::kFrictionCone)
    return check_sliding(s, c, friction, slip, tolerance, ledger);
  // Friction of least energy may act along the slip of a contact that is driven apart.
  if (tangents == TangentPolicy::kLeastEnergy || s.report.statistics.max_substeps != 1) return;
  // Sticking contacts of no_slip move by short levers, within the tolerance of velocities.
  const double share = tangents == TangentPolicy::kBilateral ? 1 : 1e-3;
  const double impulse = std::hypot(s.report.contacts.normal_impulse[c], friction.norm());
  ledger->check("friction_power", friction.dot(slip),
                1e-10 * impulse * (1 + slip.norm()) + tolerance * share * largest);
}

void check_contacts(const TakenStep& s, Ledger* ledger) {
  const sim::ContactReport& contacts = s.report.contacts;
  const auto v = view(s.scene.data->qvel, s.scene->nv);
  const double tolerance = calc_velocity_tolerance(s);
  double largest = 0;
  for (const double x : contacts.normal_impulse) largest = std::max(largest, x);
  for (int c = 0; c < contacts.size(); ++c) {
    const ContactMotion motion(s.scene, contacts, c);
    const Vector velocity = motion.linear * v;
    const double v_n = velocity.dot(motion.normal);
    const Vector slip = velocity - v_n * motion.normal;
    const Vector reported(&contacts.slip_velocity[3 * c]);
    const double rounding = 1e-9 * (1 + motion.linear.cwiseAbs().maxCoeff() * v.cwiseAbs().sum());
    ledger->check("contact_velocity", std::abs(v_n - contacts.normal_velocity[c]), rounding);
    ledger->check("contact_velocity", (slip - reported).norm(), rounding);
    const double normal = motion.impulse.dot(motion.normal);
    const Vector friction = motion.impulse - normal * motion.normal;
    ledger->check("normal_impulse", std::abs(normal - contacts.normal_impulse[c]),
                  1e-13 * motion.impulse.norm());
    ledger->check("attraction", -contacts.normal_impulse[c], 0);
    // An island whose corrections conflict may be solved without friction.
    if (has_cone(s.model()) && s.report.warning.empty()) {
      const double scale = calc_impulse_scale(s, c);
      const double coupling = s.report.certificate.coupling_error * scale;
      // A millionth of what complementarity within the tolerance of velocities allows.
      const double lcp_tolerance = s.model().is_rigid ? 1e-6 * tolerance / contacts.delassus[c] : 0;
      ledger->check("cone", friction.norm(),
                    contacts.friction[c] * (normal + coupling) + 1e-9 * scale +
                        kAbsoluteTolerance / std::sqrt(contacts.delassus[c]) + lcp_tolerance);
    }
    if (s.world.traits.is_near_rigid)
      check_friction(s, c, friction, slip, tolerance, largest, ledger);
    check_gap(s, c, (motion.angular * v).norm(), tolerance, ledger);
  }
}

}  // namespace

double calc_inertial_norm(const Scene& scene, const std::vector<double>& x) {
  std::vector<double> momentum(x.size());
  mj_mulM(scene.model, scene.data, momentum.data(), x.data());
  return std::sqrt(std::max(0.0, mju_dot(x.data(), momentum.data(), static_cast<int>(x.size()))));
}

void check_step(const TakenStep& s, Ledger* ledger) {
  check_momentum(s, ledger);
  check_contacts(s, ledger);
  check_readings(s, ledger);
}

void check_energy(const TakenStep& s, const std::vector<double>& free_v, Ledger* ledger) {
  // Friction of least energy may act along the slip of a contact that is driven apart.
  if (s.model().tangents == TangentPolicy::kLeastEnergy) return;
  const std::vector<double> v(s.scene.data->qvel, s.scene.data->qvel + s.scene->nv);
  const double before = 0.5 * std::pow(calc_inertial_norm(s.scene, free_v), 2);
  const double after = 0.5 * std::pow(calc_inertial_norm(s.scene, v), 2);
  // 1/2 |v|^2 - 1/2 |v*|^2 = sum gamma.v_c - 1/2 |v - v*|^2 + r.v, and friction only dissipates.
  double work = 0;
  for (int c = 0; c < s.report.contacts.size(); ++c)
    work +=
        s.report.contacts.normal_impulse[c] * std::max(0.0, s.report.contacts.normal_velocity[c]);
  const double bound = s.report.certificate.error_bound;
  const double solver = std::isfinite(bound) ? bound : 1e-6 * std::sqrt(2 * before);
  ledger->check("energy", after - before,
                work + solver * std::sqrt(2 * after) + 1e-9 * (before + after) + 1e-12);
}

}  // namespace stiction::campaign
