#include "campaign/view_laws.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include <Eigen/Core>
#include <Eigen/LU>

#include "campaign/contact_motion.hpp"
#include "campaign/dice.hpp"
#include "campaign/touches.hpp"

namespace stiction::campaign {
namespace {

using support::Scene;

/// The distance of the friction of `coulomb` from Coulomb's law, as a bound on velocities
/// [sqrt(J)].
double calc_coupling_bound(const sim::StepReport& report) {
  double sum = 0, mean = 0;
  const sim::ContactReport& contacts = report.contacts;
  for (const double x : contacts.normal_impulse) mean += x / contacts.size();
  for (int c = 0; c < contacts.size(); ++c)
    sum += contacts.friction[c] * mean * std::sqrt(std::max(contacts.delassus[c], 0.0));
  return report.certificate.coupling_error * sum;
}

/// Returns a bound on the distance of a step from the exact one [sqrt(J)].
double calc_error(const TakenStep& taken, const sim::StepReport& report) {
  const double bound = report.certificate.error_bound;
  return (std::isfinite(bound) ? bound : 1e-8) +
         (taken.options.contact_model == contact::ContactModel::coulomb
              ? calc_coupling_bound(report)
              : 0);
}

/// True if a row of an equality depends on the others, or nearly so. The rigid models satisfy those
/// that they take first, which depends on the axes if positions contradict each other.
bool has_redundant_equality(const Scene& scene) {
  if (scene.data->ne == 0) return false;
  Eigen::MatrixXd J(scene.data->ne, scene->nv);
  std::vector<double> unit(scene->nv), column(scene.data->nefc);
  for (int i = 0; i < scene->nv; ++i) {
    unit[i] = 1;
    mj_mulJacVec(scene.model, scene.data, column.data(), unit.data());
    unit[i] = 0;
    J.col(i) = Eigen::Map<Eigen::VectorXd>(column.data(), scene.data->ne);
  }
  return Eigen::FullPivLU<Eigen::MatrixXd>(J).setThreshold(1e-2).rank() < scene.data->ne;
}

/// Returns the velocities that a rigid model leaves undefined [sqrt(J)]: the tolerance of its
/// certificate, and the corrections of equalities, of which some rows may be redundant. A row that
/// is corrected by itself moves the bodies by its correction over the root of its mobility.
double calc_rigid_freedom(const TakenStep& taken) {
  if (!taken.model().is_rigid) return 0;
  const mjModel* m = taken.scene.model;
  const mjData* d = taken.scene.data;
  double inertia = 0, correction = 0;
  for (int i = 0; i < m->nv; ++i) inertia += d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
  if (has_redundant_equality(taken.scene)) {
    const contact::ModelParameters& parameters = taken.options.parameters;
    std::vector<double> unit(d->nefc), J(m->nv), response(m->nv);
    for (int i = 0; i < d->ne; ++i) {
      unit[i] = 1;
      mj_mulJacTVec(m, d, J.data(), unit.data());
      unit[i] = 0;
      mj_solveM(m, taken.scene.data, response.data(), J.data(), 1);
      const double mobility = mju_dot(J.data(), response.data(), m->nv);
      const double speed = std::min(
          parameters.gap_correction * std::abs(d->efc_pos[i]) / taken.report.contacts.time_step,
          parameters.max_correction_speed);
      if (mobility > 0) correction += speed / std::sqrt(mobility);
    }
  }
  return std::sqrt(inertia) * 2e-6 + correction;
}

std::vector<double> subtract(std::vector<double> a, const mjtNum* b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// Returns the square root of the trace of J M^-1 J^T [1/sqrt(kg), 1/sqrt(kg m^2)].
double calc_mobility(const Scene& scene, const Jacobian& J) {
  double trace = 0;
  std::vector<double> row(scene->nv), out(scene->nv);
  for (int r = 0; r < 3; ++r) {
    Eigen::Map<Eigen::RowVectorXd>(row.data(), scene->nv) = J.row(r);
    mj_solveM(scene.model, scene.data, out.data(), row.data(), 1);
    trace += mju_dot(row.data(), out.data(), scene->nv);
  }
  return std::sqrt(std::max(0.0, trace));
}

/// Returns by how much the impulses of a step move the bodies if contact points and normals differ
/// [sqrt(J)]. An impulse that acts at another point, or in another direction, is another load; the
/// step is a projection, so its response is not larger.
double calc_effect(const TakenStep& taken, const TouchDifference& touches) {
  double effect = 0;
  for (int c = 0; c < taken.report.contacts.size(); ++c) {
    const ContactMotion motion(taken.scene, taken.report.contacts, c);
    effect += motion.impulse.norm() * (touches.point * calc_mobility(taken.scene, motion.angular) +
                                       touches.normal * calc_mobility(taken.scene, motion.linear));
  }
  return effect;
}

/// True if friction acts at the same contacts of two steps of one world. The error bounds of
/// `no_slip` and `viscous` hold for the step's own set of these contacts, of which there may be
/// several.
bool have_same_friction(const sim::ContactReport& a, const sim::ContactReport& b) {
  const auto has_friction = [](const sim::ContactReport& contacts, int c) {
    const Vector normal(&contacts.normal[3 * c]), impulse(&contacts.impulse[3 * c]);
    return (impulse - contacts.normal_impulse[c] * normal).norm() > 1e-12 * impulse.norm();
  };
  if (a.size() != b.size()) return false;
  for (int c = 0; c < a.size(); ++c)
    if (has_friction(a, c) != has_friction(b, c)) return false;
  return true;
}

std::vector<View> make_views(std::uint64_t seed) {
  Dice dice(seed + 2);
  View mirrored, moved, reversed;
  mirrored.name = "mirror";
  mirrored.is_mirrored = true;
  moved.name = "frame";
  for (double& x : moved.rotation) x = dice.normal();
  mju_normalize4(moved.rotation.data());
  for (double& x : moved.translation) x = 3 * dice.normal();
  reversed.name = "order";
  reversed.is_reversed = true;
  return {mirrored, moved, reversed};
}

}  // namespace

ViewedWorld::ViewedWorld(std::uint64_t seed)
    : world_(make_world(seed, {})),
      plain_(std::make_unique<Scene>(world_.xml)),
      spare_(std::make_unique<Scene>(world_.xml)),
      materials_(make_materials(world_, *plain_)) {
  for (const View& view : make_views(seed)) {
    const WorldTraits& traits = world_.traits;
    if (view.is_mirrored &&
        (traits.has_height_field || traits.has_pressure_fields || traits.has_wrap))
      continue;
    const World seen = make_world(seed, view);
    if (view.is_reversed && seen.xml == world_.xml) continue;  // one body
    auto scene = std::make_unique<Scene>(seen.xml);
    plant::MaterialTable materials = make_materials(seen, *scene);
    others_.push_back({view, std::move(scene), std::move(materials)});
  }
}

/// Returns by how much a step changes if its start changes by a billionth [sqrt(J)].
double ViewedWorld::measure_sensitivity(const std::vector<mjtNum>& start, const TakenStep& taken) {
  Dice dice(world_.seed + 3);
  sim::Stepper stepper(spare_->model, taken.options, materials_);
  double largest = 0;
  for (int i = 0; i < 4; ++i) {
    spare_->set_state(start);
    std::vector<double> change(spare_->model->nv);
    for (double& x : change) x = kSamePoint * dice.normal();
    mj_integratePos(spare_->model, spare_->data->qpos, change.data(), 1);
    for (int k = 0; k < spare_->model->nv; ++k) spare_->data->qvel[k] += kSamePoint * dice.normal();
    if (!stepper.step(spare_->data).ok()) return HUGE_VAL;
    const std::vector<double> v(spare_->data->qvel, spare_->data->qvel + spare_->model->nv);
    largest =
        std::max(largest, calc_inertial_norm(taken.scene, subtract(v, taken.scene.data->qvel)));
  }
  return largest;
}

/// Returns the change of a step of `coulomb` per unit of its coupling error [sqrt(J)].
///
/// Friction is bounded by mu x, and the normal impulses gamma_n differ from x by at most e times
/// their mean. So the step is exact for coefficients that differ from mu by e mean / gamma_n. How
/// the step depends on them is measured, one geom after the other, because friction and normal
/// impulses that wedge raise each other.
double ViewedWorld::measure_coupling_effect(const std::vector<mjtNum>& start,
                                            const TakenStep& taken) {
  constexpr double kChange = 0.02;  // far above the coupling errors of the steps
  const sim::ContactReport& contacts = taken.report.contacts;
  std::vector<double> pressing(spare_->model->ngeom), count(spare_->model->ngeom);
  double mean = 0;
  for (int c = 0; c < contacts.size(); ++c) {
    mean += contacts.normal_impulse[c] / contacts.size();
    for (const int geom : {contacts.geoms[2 * c], contacts.geoms[2 * c + 1]}) {
      pressing[geom] += contacts.normal_impulse[c];
      ++count[geom];
    }
  }
  double effect = 0;
  for (int geom = 0; geom < spare_->model->ngeom; ++geom) {
    if (!(pressing[geom] > 0)) continue;
    plant::MaterialTable materials = materials_;
    double* const mu = spare_->model->geom_friction + 3 * geom;
    const double before = *mu;
    *mu *= 1 + kChange;
    materials.geoms[geom].friction *= 1 + kChange;
    spare_->set_state(start);
    sim::Stepper stepper(spare_->model, taken.options, materials);
    const bool is_ok = stepper.step(spare_->data).ok();
    *mu = before;
    if (!is_ok) continue;
    const std::vector<double> v(spare_->data->qvel, spare_->data->qvel + spare_->model->nv);
    effect += calc_inertial_norm(taken.scene, subtract(v, taken.scene.data->qvel)) / kChange *
              count[geom] * mean / pressing[geom];
  }
  return effect;
}

void ViewedWorld::compare(const std::vector<mjtNum>& start, const TakenStep& taken, Other* other,
                          Ledger* ledger) {
  spare_->set_state(start);
  carry_state(*spare_, other->view, other->scene.get());
  sim::Stepper stepper(other->scene->model, taken.options, other->materials);
  const sim::StepReport& report = stepper.step(other->scene->data);
  const char* law = other->view.is_mirrored   ? "mirror"
                    : other->view.is_reversed ? "order"
                                              : "frame";
  if (!report.ok()) return ledger->count(std::string("failed only in view ") + law);
  const TouchDifference touches =
      campaign::compare(list_touches(taken.scene, taken.report.contacts, other->view),
                        list_touches(*other->scene, report.contacts, View()));
  if (!touches.is_same_point)
    return ledger->count(std::string("other contact points in view ") + law);
  const std::vector<double> v = carry_velocities_back(taken.scene, other->view, *other->scene);
  const double difference = calc_inertial_norm(taken.scene, subtract(v, taken.scene.data->qvel));
  const std::vector<double> v1(taken.scene.data->qvel, taken.scene.data->qvel + taken.scene->nv);
  const double scale =
      calc_inertial_norm(taken.scene, v1) + calc_inertial_norm(taken.scene, taken.v0);
  double allowed = calc_error(taken, taken.report) + calc_error(taken, report) +
                   calc_rigid_freedom(taken) + 1e-9 * scale;
  const auto explain = [&](const char* cause, double effect) {
    if (difference > allowed && difference <= allowed + effect)
      ledger->count(std::string("explained by ") + cause + " in view " + law);
    allowed += effect;
  };
  if (difference > allowed) explain("the places of contact points", calc_effect(taken, touches));
  // Rounding in MuJoCo's collision is not bounded, but its effect on the step is measured.
  if (difference > allowed) explain("sensitivity", 10 * measure_sensitivity(start, taken));
  if (difference > allowed && taken.options.contact_model == contact::ContactModel::coulomb)
    explain("the coupling error",
            measure_coupling_effect(start, taken) *
                (taken.report.certificate.coupling_error + report.certificate.coupling_error));
  ledger->check(law, difference, allowed);
}

void ViewedWorld::check_repeated(const std::vector<mjtNum>& start, const TakenStep& taken,
                                 Ledger* ledger) {
  // Compliant models remember overlaps, and lagged ones the forces of the step before, so both
  // steps are taken anew.
  std::vector<double> expected(taken.scene.data->qvel, taken.scene.data->qvel + taken.scene->nv);
  if (!taken.model().is_rigid) {
    spare_->set_state(start);
    sim::Stepper stepper(spare_->model, taken.options, materials_);
    if (!stepper.step(spare_->data).ok()) return ledger->count("failed only in view time_shift");
    expected.assign(spare_->data->qvel, spare_->data->qvel + spare_->model->nv);
  }
  spare_->set_state(start);
  spare_->data->time += 1000;
  sim::Stepper stepper(spare_->model, taken.options, materials_);
  const sim::StepReport& report = stepper.step(spare_->data);
  const bool is_ok = report.ok();
  // Rigid models start from the active set of the last step, so only the solution is the same.
  const std::vector<double> v(spare_->data->qvel, spare_->data->qvel + spare_->model->nv);
  const double difference = calc_inertial_norm(taken.scene, subtract(v, expected.data()));
  if (!taken.model().is_rigid)
    ledger->check("time_shift", is_ok ? difference : HUGE_VAL, 0);
  else if (is_ok && std::isfinite(taken.report.certificate.error_bound)) {
    if (!have_same_friction(taken.report.contacts, report.contacts))
      return ledger->count("other contacts with friction after a time shift");
    ledger->check("time_shift", difference, 2 * taken.report.certificate.error_bound + 1e-6);
  }
}

void ViewedWorld::check(const std::vector<mjtNum>& start, const TakenStep& taken, Ledger* ledger) {
  check_repeated(start, taken, ledger);
  // Friction polygons depend on directions, and tamsi and polygons may have several solutions.
  if (!taken.model().has_error_bound) return;
  // Conflicting corrections of rigid models have no unique solution.
  if (taken.model().is_rigid && !taken.report.warning.empty())
    return ledger->count("views left out, because corrections conflict");
  for (Other& other : others_) compare(start, taken, &other, ledger);
}

}  // namespace stiction::campaign
