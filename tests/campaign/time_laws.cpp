#include "campaign/time_laws.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace stiction::campaign {

using support::Scene;

namespace {

/// True if the step has no limit as it shrinks. Near-rigid stiffness and the speed at which
/// overlaps are corrected grow with 1 / dt, so an overlap at the start then is another problem at
/// each step.
bool depends_on_step(const World& world, const Scene& scene, const sim::StepOptions& options) {
  if (!world.traits.is_near_rigid && !contact::traits(options.contact_model).is_rigid) return false;
  for (int i = 0; i < scene.data->ncon; ++i)
    if (scene.data->contact[i].dist < 0) return true;
  return false;
}

}  // namespace

void check_halving(const World& world, const Scene& start, const sim::StepOptions& options,
                   const plant::MaterialTable& materials, Ledger* ledger) {
  Scene scene(start);
  const std::vector<mjtNum> state = start.state();
  mj_fwdPosition(scene.model, scene.data);
  if (depends_on_step(world, scene, options))
    return ledger->count("halving not taken, because bodies overlap");
  std::vector<std::vector<double>> ends;
  for (int parts = 1; parts <= 64; parts *= 2) {
    scene.set_state(state);
    scene.model->opt.timestep = start.model->opt.timestep / parts;
    sim::Stepper stepper(scene.model, options, materials);
    if (!stepper.step(scene.data, parts).ok()) return ledger->count("halving not taken");
    ends.emplace_back(scene.data->qvel, scene.data->qvel + scene->nv);
  }
  scene.set_state(state);
  mj_fwdPosition(scene.model, scene.data);
  std::vector<double> changes;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    std::vector<double> change = ends[i];
    for (std::size_t k = 0; k < change.size(); ++k) change[k] -= ends[i - 1][k];
    changes.push_back(calc_inertial_norm(scene, change));
  }
  const std::vector<double> v0(scene.data->qvel, scene.data->qvel + scene->nv);
  const double scale = calc_inertial_norm(scene, ends.back()) + calc_inertial_norm(scene, v0);
  // First order: each change is half the one before. An impact near the end of the step delays
  // this.
  const double largest = *std::max_element(changes.begin(), changes.end());
  ledger->check("halving", changes.back(), std::max(0.5 * largest, 0.05 * scale) + 1e-9);
}

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
