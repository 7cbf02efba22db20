#include "campaign/reading_laws.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "campaign/contact_motion.hpp"

namespace stiction::campaign {
namespace {

/// A force and its moment about the world's origin.
struct Wrench {
  Vector force = Vector::Zero(), moment = Vector::Zero();
  void add(const Vector& f, const Vector& torque, const Vector& point) {
    force += f;
    moment += torque + point.cross(f);
  }
};

/// Wrenches on the second geom of each pair of geoms.
using Wrenches = std::map<std::pair<int, int>, Wrench>;

Wrenches sum_report(const sim::ContactReport& contacts) {
  Wrenches out;
  const auto at = [](const std::vector<double>& x, int c) { return Vector(&x[3 * c]); };
  for (int c = 0; c < contacts.size(); ++c)
    out[{contacts.geoms[2 * c], contacts.geoms[2 * c + 1]}].add(
        at(contacts.impulse, c) / contacts.time_step,
        at(contacts.torque_impulse, c) / contacts.time_step, at(contacts.point, c));
  return out;
}

Wrenches sum_mujoco(const support::Scene& scene) {
  Wrenches out;
  for (int i = 0; i < scene.data->ncon; ++i) {
    const mjContact& con = scene.data->contact[i];
    double local[6];
    mj_contactForce(scene.model, scene.data, i, local);
    const Eigen::Map<const Eigen::Matrix3d> frame(con.frame);  // columns: normal and tangents
    out[{con.geom[0], con.geom[1]}].add(frame * Vector(local), frame * Vector(local + 3),
                                        Vector(con.pos));
  }
  return out;
}

/// Returns the largest force of a contact, and at least 1 mN, below which rounding does not matter.
/// Forces of contacts may be large and cancel each other.
double calc_largest_force(const sim::ContactReport& contacts) {
  double largest = 1e-3;
  for (int c = 0; c < contacts.size(); ++c)
    largest = std::max(largest, Vector(&contacts.impulse[3 * c]).norm() / contacts.time_step);
  return largest;
}

void check_contact_forces(const TakenStep& s, Ledger* ledger) {
  const Wrenches reported = sum_report(s.report.contacts);
  Wrenches read = sum_mujoco(s.scene);
  const double scale = calc_largest_force(s.report.contacts);
  for (const auto& [pair, wrench] : reported) {
    ledger->check("mj_contactForce", (wrench.force - read[pair].force).norm(), 1e-9 * scale);
    // One contact of MuJoCo stands for a patch, and has its moment only with condim 6.
    if (!s.world.traits.has_pressure_fields)
      ledger->check("mj_contactForce", (wrench.moment - read[pair].moment).norm(), 1e-9 * scale);
  }
  for (const auto& [pair, wrench] : read)
    if (!reported.contains(pair))
      ledger->check("mj_contactForce", wrench.force.norm(), 1e-9 * scale);
}

/// Returns the sum of the forces of contacts on each body, and of their normal forces' sizes.
std::pair<std::vector<Vector>, std::vector<double>> sum_by_body(const TakenStep& s) {
  std::vector<Vector> forces(s.scene->nbody, Vector::Zero());
  std::vector<double> pressing(s.scene->nbody, 0.0);
  const sim::ContactReport& contacts = s.report.contacts;
  for (int c = 0; c < contacts.size(); ++c)
    for (int side = 0; side < 2; ++side) {
      const int body = contacts.bodies[2 * c + side];
      const Vector impulse(&contacts.impulse[3 * c]);
      forces[body] += (side == 0 ? -1 : 1) / contacts.time_step * impulse;
      pressing[body] += contacts.normal_impulse[c] / contacts.time_step;
    }
  return {forces, pressing};
}

void check_body_forces(const TakenStep& s, Ledger* ledger) {
  const auto [forces, pressing] = sum_by_body(s);
  const mjModel* m = s.scene.model;
  const double scale = calc_largest_force(s.report.contacts);
  mj_rnePostConstraint(m, s.scene.data);
  for (int b = 1; b < m->nbody; ++b) {
    if (!s.world.traits.has_equality && !s.world.traits.has_spatial_tendon) {
      const Vector read(s.scene.data->cfrc_ext + 6 * b + 3);
      const Vector applied(s.scene.data->xfrc_applied + 6 * b);
      ledger->check("cfrc_ext", (read - applied - forces[b]).norm(),
                    1e-9 * (scale + applied.norm()));
    }
    if (s.world.traits.has_pressure_fields) continue;
    const int sensor = mj_name2id(m, mjOBJ_SENSOR, mj_id2name(m, mjOBJ_BODY, b));
    if (sensor < 0) continue;
    const double touch = s.scene.data->sensordata[m->sensor_adr[sensor]];
    ledger->check("touch_sensor", std::abs(touch - pressing[b]), 1e-9 * scale);
  }
}

}  // namespace

void check_readings(const TakenStep& s, Ledger* ledger) {
  check_contact_forces(s, ledger);
  check_body_forces(s, ledger);
  const mjData* d = s.scene.data;
  double difference = 0;
  for (int i = 0; i < s.scene->nv; ++i)
    difference = std::max(
        difference, std::abs(d->qacc[i] - (d->qvel[i] - s.v0[i]) / s.report.contacts.time_step) /
                        (1 + std::abs(d->qacc[i])));
  ledger->check("qacc", difference, 1e-9);
}

}  // namespace stiction::campaign
