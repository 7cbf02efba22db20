#include "campaign/time_laws.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace stiction::campaign {

using support::Scene;

namespace {

/// True if the step has no limit as it shrinks. Near-rigid stiffness and the speed at which
/// overlaps are corrected grow with 1 / dt, so an overlap at the start then is another problem at
/// each step. Hertz contacts are near-rigid without a modulus.
bool depends_on_step(const World& world, const Scene& scene, const sim::StepOptions& options) {
  const bool is_near_rigid = world.traits.is_near_rigid ||
                             contact::traits(options.contact_model).is_rigid ||
                             options.parameters.normal_law == contact::NormalLawKind::hertz;
  if (!is_near_rigid) return false;
  for (int i = 0; i < scene.data->ncon; ++i)
    if (scene.data->contact[i].dist < 0) return true;
  return false;
}

/// A step in equal parts.
struct DividedStep {
  bool is_taken = false;
  double largest_speed = 0;  // |v| of a part [sqrt(J)]
  std::vector<mjtNum> qpos;  // at the end

  DividedStep(const std::vector<mjtNum>& state, int parts, const sim::StepOptions& options,
              const plant::MaterialTable& materials, Scene* scene) {
    const double time_step = scene->model->opt.timestep;
    scene->set_state(state);
    scene->model->opt.timestep = time_step / parts;
    sim::Stepper stepper(scene->model, options, materials);
    is_taken = true;
    for (int i = 0; i < parts && is_taken; ++i) {
      const sim::StepReport& report = stepper.step(scene->data);
      is_taken = report.ok() && report.warning.empty();
      const std::vector<double> v(scene->data->qvel, scene->data->qvel + scene->model->nv);
      largest_speed = std::max(largest_speed, calc_inertial_norm(*scene, v));
    }
    qpos.assign(scene->data->qpos, scene->data->qpos + scene->model->nq);
    scene->model->opt.timestep = time_step;
  }
};

}  // namespace

/// Positions are compared, because velocities at the end have no limit if a body touches there.
void check_halving(const World& world, const Scene& start, const sim::StepOptions& options,
                   const plant::MaterialTable& materials, Ledger* ledger) {
  // Stiff contacts are resolved only by parts that are shorter than their own time, which may be
  // 10 us.
  constexpr int kUsualParts = 64, kMostParts = 4096;
  Scene scene(start);
  const std::vector<mjtNum> state = start.state();
  mj_fwdPosition(scene.model, scene.data);
  if (depends_on_step(world, scene, options))
    return ledger->count("halving not taken, because bodies overlap");
  std::vector<mjtNum> last;
  double largest = 0, speed = 0, change = 0, allowed = 0;
  for (int parts = 1; parts <= kMostParts; parts *= 2) {
    const DividedStep step(state, parts, options, materials, &scene);
    if (!step.is_taken) return ledger->count("halving not taken, because of a failure or warning");
    speed = std::max(speed, step.largest_speed);
    if (parts > 1) {
      std::vector<double> difference(scene->nv);
      mj_differentiatePos(scene.model, difference.data(), scene->opt.timestep, last.data(),
                          step.qpos.data());
      change = calc_inertial_norm(scene, difference);
      largest = std::max(largest, change);
    }
    last = step.qpos;
    // First order: each change is half the one before.
    allowed = std::max(0.5 * largest, 0.05 * speed) + 1e-9;
    if (parts >= kUsualParts && change <= allowed) break;
    if (parts == kUsualParts) ledger->count("halving in more than 64 parts");
  }
  ledger->check("halving", change, allowed);
}

namespace {

/// True if two moving bodies touch.
bool lean_on_each_other(const sim::ContactReport& contacts) {
  for (int c = 0; c < contacts.size(); ++c)
    if (contacts.distance[c] < 1e-3 && contacts.bodies[2 * c] > 0 && contacts.bodies[2 * c + 1] > 0)
      return true;
  return false;
}

}  // namespace

void check_rest(const World& world, const sim::StepOptions& options, Ledger* ledger) {
  Scene scene(world.xml);
  randomize_state(world, &scene);
  sim::Stepper stepper(scene.model, options, make_materials(world, scene));
  const int num_steps = static_cast<int>(3 / scene->opt.timestep);
  for (int i = 0; i < num_steps; ++i) {
    const sim::StepReport& report = stepper.step(scene.data);
    if (!report.ok()) return ledger->count("rest: a step failed");
    ledger->start(world.seed, contact::traits(options.contact_model).name, i,
                  report.warning.empty());
    if (i + 1 < num_steps) continue;
    // A body that leans on another may need friction near its bound. Regularized friction then
    // creeps at several times the stiction tolerance, and the body turns over after seconds.
    if (lean_on_each_other(report.contacts))
      return ledger->count("rest not checked, because bodies lean on each other");
    double speed = 0, weight = 0;
    Eigen::Vector3d ground = Eigen::Vector3d::Zero();
    for (int k = 0; k < scene->nv; ++k) speed = std::max(speed, std::abs(scene.data->qvel[k]));
    for (int b = 1; b < scene->nbody; ++b) weight += 9.81 * scene->body_mass[b];
    for (int c = 0; c < report.contacts.size(); ++c)
      for (int side = 0; side < 2; ++side)
        if (report.contacts.bodies[2 * c + side] == 0)
          ground += (side == 0 ? 1 : -1) / report.contacts.time_step *
                    Eigen::Vector3d(&report.contacts.impulse[3 * c]);
    // Sticking contacts creep below the stiction tolerance, with lever arms of 2 cm and more.
    ledger->check("comes_to_rest", speed, options.parameters.stiction_tolerance / 0.02);
    ledger->check("weight_at_rest", (ground - Eigen::Vector3d(0, 0, weight)).norm(), 1e-2 * weight);
  }
}

}  // namespace stiction::campaign
