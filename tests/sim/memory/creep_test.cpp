// The warning of bodies that creep, under the friction law `elastic`, because their springs are lost.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "stiction/sim/memory/creep.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::creep_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// Changes the scene or the data before each step.
using Change = std::function<void(Scene*, int step)>;

/// Returns the steps whose reports warn of creep.
std::vector<int> find_warnings(Stepper* stepper, Scene* scene, int num_steps,
                               const Change& change = {}) {
  std::vector<int> steps;
  for (int i = 0; i < num_steps; ++i) {
    if (change) change(scene, i);
    const StepReport& report = stepper->step(scene->data);
    EXPECT_TRUE(report.ok()) << report.message;
    const auto& warning = report.warnings[static_cast<int>(WarningKind::anchors)];
    if (warning.count > 0) steps.push_back(i);
    if (warning.count > 0) std::cout << "  " << i << ": " << warning.text.str() << "\n";
  }
  return steps;
}

/// A box of 1 kg at half the friction cone, on two equal slabs.
Scene make_slabs() {
  return Scene(support::make_mjcf(tilt(std::atan(0.25), 2e-3), R"(<worldbody>
<geom name="one" type="box" size="5 5 1" pos="0 0 -1" friction="0.5"/>
<geom name="other" type="box" size="5 5 1" pos="0 0 -1" friction="0.5" contype="0" conaffinity="0"/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5"/></body>
</worldbody>)"));
}

/// Lets the slabs carry the box in turn.
void swap_slabs(Scene* scene, int step) {
  for (int slab = 0; slab < 2; ++slab)
    scene->model->geom_contype[slab] = scene->model->geom_conaffinity[slab] = (step + slab) % 2;
}

TEST(Creep, OfABodyWhoseContactsChangeInEachStepIsWarnedOfOnce) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene = make_slabs();
    Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, 1e5));
    const std::vector<int> steps = find_warnings(&stepper, &scene, 2000, swap_slabs);
    EXPECT_EQ(steps.size(), 1) << contact::traits(model).name;
    std::cout << contact::traits(model).name << " " << scene.data->qpos[0] << "\n";
  }
}

TEST(Creep, OfStatesThatOneStepperTakesInTurnIsWarnedOf) {
  Scene scene = make_incline(0.5, 2e-3);
  Scene other(scene);
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e5));
  other.data->qpos[0] = 1;
  int num = 0;
  for (int i = 0; i < 1000; ++i) {
    num += find_warnings(&stepper, &scene, 1).size();
    num += find_warnings(&stepper, &other, 1).size();
  }
  printf("%g\n", scene.data->qpos[0]);
  EXPECT_EQ(num, 1);
}

struct Quiet {
  const char* name;
  std::string mjcf;
  double seconds;
};

std::string on_plane(const std::string& option, const std::string& body,
                     const std::string& assets = "") {
  return support::make_mjcf(option, assets + R"(<worldbody><geom type="plane" size="9 9 1" friction="0.5"/>)" + body + "</worldbody>");
}

std::vector<Quiet> make_quiet(double dt) {
  const std::string step = "timestep='" + std::to_string(dt) + "'";
  const std::string box = "<body pos='0 0 .05'><freejoint/><geom type='box' size='.1 .1 .05' mass='1' friction='.5'/></body>";
  return {
      {"rest", on_plane(tilt(0, dt), box), 3},
      {"held", on_plane(tilt(std::atan(0.45), dt), box), 3},
      {"slide", on_plane(tilt(std::atan(0.6), dt), box), 3},
      {"wheel", on_plane(tilt(0.1, dt), "<body pos='0 0 .1' euler='90 0 0'><freejoint/><geom type='cylinder' size='.1 .05' mass='1' friction='.5'/></body>"), 3},
      {"ball", on_plane(tilt(0.1, dt), "<body pos='0 0 .1'><freejoint/><geom type='sphere' size='.1' mass='1' friction='.5 .005 .001' condim='6'/></body>"), 3},
      {"prism rolls", on_plane(tilt(0.35, dt), "<body pos='0 0 .1' euler='90 0 0'><freejoint/><geom type='mesh' mesh='prism' mass='1' friction='.5'/></body>", "<asset>" + support::make_prism_mesh() + "</asset>"), 3},
      {"slow prism", on_plane(tilt(0.25, dt), "<body pos='0 0 .1' euler='90 0 0'><freejoint/><geom type='mesh' mesh='prism' mass='1' friction='.5'/></body>", "<asset>" + support::make_prism_mesh() + "</asset>"), 3},
      {"rocking", on_plane(step, "<body pos='0 0 .25' euler='0 12 0'><freejoint/><geom type='box' size='.06 .06 .2' mass='1' friction='.5'/></body>"), 4},
      {"rocking stone", on_plane(step, "<body pos='0 0 .205' euler='0 3 2'><freejoint/><geom type='box' size='.06 .05 .2' mass='1' friction='.5'/></body>"), 4},
      {"impact", on_plane(tilt(.2, dt), "<body pos='0 0 .5' euler='20 30 0'><freejoint/><geom type='box' size='.1 .06 .05' mass='1' friction='.5'/></body>"), 4},
      {"can", on_plane(tilt(std::atan(.25), dt), "<body pos='0 0 .05'><freejoint/><geom type='cylinder' size='.1 .05' mass='1' friction='.5'/></body>"), 4},
      {"pile", make_pile(dt), 5},
      {"plate", make_wrist(dt), 4},
      {"shaken", on_plane(step, "<body pos='0 0 .05'><joint axis='1 0 0' type='slide'/><joint axis='0 0 1' type='slide'/><geom type='box' size='.2 .2 .05' mass='100' friction='.5'/></body>"
       "<body pos='0 0 .15'><freejoint/><geom type='box' size='.1 .1 .05' mass='1' friction='.5'/></body>"), 4},
  };
}

TEST(Creep, Quiet) {
  for (const double dt : {1e-3, 2e-3, 1e-2})
  for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb})
    for (const double stiffness : {1e5, 0.0})
    for (const Quiet& quiet : make_quiet(dt)) {
    Scene scene(quiet.mjcf);
    Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, stiffness));
    const std::string name = quiet.name;
    const Change change = name == "plate" ? Change([](Scene* s, int) { drive_wrist(s); }) : 
       name == "shaken" ? Change([](Scene* s, int) { s->data->qfrc_applied[0] = 300 * std::sin(60 * 6.28 * s->data->time); s->data->qfrc_applied[1] = 2500 * std::sin(30 * 6.28 * s->data->time);}) : Change();
    const auto steps = find_warnings(&stepper, &scene, quiet.seconds / dt, change);
    EXPECT_TRUE(steps.empty()) << name << " " << dt << ' ' << contact::traits(model).name << ' ' << stiffness;
  }
}

}  // namespace
}  // namespace stiction::sim::creep_test
