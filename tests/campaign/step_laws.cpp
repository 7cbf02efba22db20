#include "campaign/step_laws.hpp"

#include <algorithm>
#include <cmath>

#include "campaign/contact_motion.hpp"
#include "campaign/reading_laws.hpp"

namespace stiction::campaign {
namespace {

using contact::ContactModel;
using contact::TangentPolicy;
using support::Scene;

Eigen::Map<const Eigen::VectorXd> view(const mjtNum* x, mjtSize n) { return {x, n}; }

/// Returns the sum of the impulses of all contacts of the report in MuJoCo's dofs.
Eigen::VectorXd sum_contacts(const TakenStep& s) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(s.scene->nv);
  for (int c = 0; c < s.report.contacts.size(); ++c) {
    const ContactMotion motion(s.scene, s.report.contacts, c);
    sum += motion.linear.transpose() * motion.impulse +
           motion.angular.transpose() * motion.torque_impulse;
  }
  return sum;
}

/// The forces of a step, as impulses in MuJoCo's dofs.
struct Balance {
  Eigen::VectorXd inertial, smooth, contacts, rows;

  explicit Balance(const TakenStep& s) {
    const mjModel* m = s.scene.model;
    const mjData* d = s.scene.data;
    const double dt = s.report.contacts.time_step;
    const Eigen::VectorXd change = view(d->qvel, m->nv) - view(s.v0.data(), m->nv);
    inertial = rows = Eigen::VectorXd::Zero(m->nv);
    mj_mulM(m, d, inertial.data(), change.data());
    smooth = dt * view(d->qfrc_smooth, m->nv);
    contacts = sum_contacts(s);
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
  double scale = 0;  // [sqrt(J)]
  std::vector<double> inertia(m->nv);
  for (int i = 0; i < m->nv; ++i) {
    inertia[i] = s.scene.data->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    scale = std::max(scale, balance.magnitude(i) / std::sqrt(inertia[i]));
  }
  const double relative =
      std::max(2 * s.options.tolerance, 2 * s.report.certificate.relative_residual) + 1e-9;
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
      ledger->check("momentum", balance.imbalance(i),
                    relative * scale * std::sqrt(inertia[i]) + first_moment * rate + 1e-14);
    if (!is_free || !s.world.traits.is_passive) continue;
    const double moment = *std::max_element(&inertia[first + 3], &inertia[first + 3] + 3);
    for (int i = first + 3; i < first + 6; ++i)
      ledger->check("angular_momentum", balance.imbalance(i),
                    relative * scale * std::sqrt(inertia[i]) + moment * rate + 1e-14);
  }
}

/// True if friction is bounded by mu times the normal impulse of the step.
bool has_cone(const contact::ContactModelTraits& model) {
  if (model.is_rigid) return model.tangents == TangentPolicy::kFrictionPolygon;
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

/// A contact pushes only while it is closed at the end of the step, and a rigid contact may not
/// close further than to its surface.
void check_gap(const TakenStep& s, int c, double tolerance, Ledger* ledger) {
  const sim::ContactReport& contacts = s.report.contacts;
  const double dt = contacts.time_step, gap = contacts.distance[c];
  const double v_n = contacts.normal_velocity[c];
  const bool pushes = contacts.normal_impulse[c] > 0;
  const contact::ContactModelTraits& model = s.model();
  if (model.is_rigid) {
    const bool takes_part = model.gaps == contact::GapPolicy::kSpeculative || gap < 1e-6;
    if (takes_part) ledger->check("rigid_gap", -v_n - std::max(gap, 0.0) / dt, tolerance);
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
      const double coupling = s.report.certificate.coupling_error * largest;
      ledger->check("cone", friction.norm(),
                    contacts.friction[c] * (normal + coupling) + 1e-9 * largest + 1e-12);
    }
    // Sticking contacts of no_slip move by short levers, within the tolerance of velocities.
    const bool sticks = s.model().tangents == TangentPolicy::kBilateral;
    if (s.report.statistics.max_substeps == 1 &&
        s.model().tangents != TangentPolicy::kLeastEnergy && s.world.traits.is_near_rigid)
      ledger->check("friction_power", friction.dot(slip),
                    1e-10 * motion.impulse.norm() * (1 + slip.norm()) +
                        tolerance * (sticks ? 1 : 1e-3) * largest);
    check_gap(s, c, tolerance, ledger);
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
