#include "campaign/campaign.hpp"

#include <algorithm>
#include <cmath>

#include "campaign/dice.hpp"
#include "campaign/time_laws.hpp"
#include "campaign/view_laws.hpp"

namespace stiction::campaign {
namespace {

using contact::ContactModel;
using support::Scene;

sim::StepOptions make_options(ContactModel model, const World& world) {
  Dice dice(world.seed + 4);
  sim::StepOptions options;
  options.contact_model = model;
  options.tolerance = 1e-8;
  options.on_failure = sim::OnFailure::stop;
  options.max_seconds = 5;
  // Springs see the arcs of bodies besides the velocities that the laws compare.
  options.parameters.friction_law = contact::FrictionRegularizationKind::soft;
  if (contact::traits(model).takes_laws && dice.chance(0.1) && !world.traits.has_pressure_fields)
    options.parameters.normal_law = contact::NormalLawKind::hertz;
  return options;
}

/// Takes a step without contacts from a state, and returns the velocities at its end.
std::vector<double> calc_free_velocities(const std::vector<mjtNum>& start,
                                         const sim::StepOptions& options, Scene* scene) {
  scene->set_state(start);
  scene->model->opt.disableflags |= mjDSBL_CONTACT;
  sim::Stepper stepper(scene->model, options);
  const bool is_ok = stepper.step(scene->data).ok();
  scene->model->opt.disableflags &= ~mjDSBL_CONTACT;
  if (!is_ok) return {};
  return {scene->data->qvel, scene->data->qvel + scene->model->nv};
}

/// The laws on one world under one contact model.
void check_model(ViewedWorld* viewed, const std::vector<mjtNum>& first,
                 const sim::StepOptions& options, Ledger* ledger) {
  constexpr int kSteps = 6;
  const World& world = viewed->world();
  const auto name = contact::traits(options.contact_model).name;
  Scene& scene = viewed->plain();
  scene.set_state(first);
  sim::Stepper stepper(scene.model, options, viewed->materials());
  for (int i = 0; i < kSteps; ++i) {
    const std::vector<mjtNum> start = scene.state();
    const std::vector<double> v0(scene.data->qvel, scene.data->qvel + scene->nv);
    const sim::StepReport& report = stepper.step(scene.data);
    ledger->count("steps");
    ledger->start(world.seed, name, i, report.warning.empty());
    if (!report.ok())
      return ledger->count("failed: " + std::string(name) + ": " +
                           sim::describe_status(report.status));
    if (!report.warning.empty()) ledger->count("steps with a warning");
    const TakenStep taken{world, scene, report, options, v0};
    check_step(taken, ledger);
    // Deep patches continue from the last step, which a new stepper does not know.
    const bool has_memory = world.traits.has_pressure_fields && i > 0;
    if ((i != 0 && i != kSteps - 1) || has_memory) continue;
    viewed->check(start, taken, ledger);
    if (!world.traits.is_passive) continue;
    Scene free_scene(scene);
    const std::vector<double> free_v = calc_free_velocities(start, options, &free_scene);
    if (!free_v.empty()) check_energy(taken, free_v, ledger);
  }
}

/// Returns the state after some steps under a robust model, so that bodies touch in many ways.
std::vector<mjtNum> settle(ViewedWorld* viewed) {
  constexpr int kSteps[] = {0, 3, 20, 100};
  const World& world = viewed->world();
  Dice dice(world.seed + 5);
  Scene& scene = viewed->plain();
  randomize_state(world, &scene);
  const sim::StepOptions options = make_options(ContactModel::lagged_regularized, world);
  sim::Stepper stepper(scene.model, options, viewed->materials());
  (void)stepper.step(scene.data, kSteps[dice.below(4)]);
  return scene.state();
}

/// True if joints turn so far in a step that the explicit Coriolis forces of trees add energy, as
/// docs/step.md says. Such worlds blow up under any contact model.
bool is_too_fast(const Scene& scene) {
  double speed = 0;
  for (int i = 0; i < scene->nv; ++i) speed = std::max(speed, std::abs(scene.data->qvel[i]));
  return speed * scene->opt.timestep > 0.3;
}

}  // namespace

void check_world(std::uint64_t seed, const std::string& only, Ledger* ledger) {
  ViewedWorld viewed(seed);
  const std::vector<mjtNum> first = settle(&viewed);
  ledger->count("worlds");
  if (is_too_fast(viewed.plain())) return ledger->count("worlds that are too fast");
  int index = 0;
  for (const contact::ContactModelTraits& model : contact::contact_models()) {
    ++index;
    if (model.is_mj_step || (!only.empty() && model.name != only)) continue;
    if (viewed.world().traits.has_pressure_fields && !model.takes_patches) continue;
    const sim::StepOptions options = make_options(model.model, viewed.world());
    check_model(&viewed, first, options, ledger);
    const bool is_chosen =
        seed % contact::contact_models().size() + 1 == static_cast<unsigned>(index);
    if (!is_chosen && only.empty()) continue;
    if (viewed.world().traits.is_calm && model.model != ContactModel::viscous)
      check_rest(viewed.world(), options, ledger);
    if (!model.has_error_bound) continue;  // a step may have several solutions
    viewed.plain().set_state(first);
    ledger->start(seed, model.name, 0, true);
    check_halving(viewed.world(), viewed.plain(), options, viewed.materials(), ledger);
  }
}

}  // namespace stiction::campaign
