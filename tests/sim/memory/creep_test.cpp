// The warning of bodies that creep under the friction law `elastic` because their springs are lost.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "stiction/sim/memory/creep.hpp"
#include "support/error_message.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::creep_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// Changes a scene before a step.
using Change = std::function<void(Scene*)>;

/// The warnings of a run.
struct Warnings {
  std::vector<int> steps;  // that had one
  std::string text;        // of the last one
};

Warnings find_warnings(Stepper* stepper, Scene* scene, int num_steps, const Change& change = {}) {
  Warnings warnings;
  for (int i = 0; i < num_steps; ++i) {
    if (change) change(scene);
    const StepReport& report = stepper->step(scene->data);
    EXPECT_TRUE(report.ok()) << report.message;
    const auto& of_step = report.warnings[static_cast<int>(WarningKind::anchors)];
    if (of_step.count == 0) continue;
    warnings.steps.push_back(i);
    warnings.text = of_step.text.str();
  }
  return warnings;
}

/// A body of 1 kg on two equal slabs, at a share of its friction cone.
Scene make_slabs(double share, double dt,
                 const std::string& body = R"(type="box" size=".1 .1 .05")") {
  const std::string slab = R"(type="box" size="50 50 1" pos="0 0 -1" friction="0.5"/>)";
  return Scene(support::make_mjcf(tilt(std::atan(0.5 * share), dt),
                                  "<worldbody><geom name=\"one\" " + slab +
                                      "<geom name=\"other\" contype=\"0\" conaffinity=\"0\" " +
                                      slab +
                                      "<body pos=\"0 0 0.05\"><freejoint/><geom name=\"body\" " +
                                      body + " mass=\"1\" friction=\"0.5\"/></body></worldbody>"));
}

/// Lets the other slab carry the body, so that all contacts are new ones.
void swap_slabs(Scene* scene) {
  for (const int slab : {0, 1})
    scene->model->geom_contype[slab] = scene->model->geom_conaffinity[slab] =
        1 - scene->model->geom_contype[slab];
}

TEST(Creep, IsWarnedOfOnceIfAllContactsChangeInEachStep) {
  constexpr double kStiffness = 1e5;
  for (const double dt : {2e-3, 2e-2})
    for (const ContactModel model : support::models_with_anchors()) {
      Scene scene = make_slabs(0.5, dt);
      Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, kStiffness));
      const int num_steps = std::max(500, static_cast<int>(4 / dt));
      const Warnings warnings = find_warnings(&stepper, &scene, num_steps, swap_slabs);
      EXPECT_EQ(warnings.steps.size(), 1) << contact::traits(model).name << ' ' << dt;
      EXPECT_NE(warnings.text.find("'other' and geom 'body' creep by"), std::string::npos)
          << warnings.text;
    }
}

TEST(Creep, HasTheSpeedThatTheWarningTells) {
  Scene scene = make_slabs(0.5, 2e-3);
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e5));
  const Warnings warnings = find_warnings(&stepper, &scene, 500, swap_slabs);
  const double x = scene.data->qpos[0];
  find_warnings(&stepper, &scene, 500, swap_slabs);
  const std::string start = "creep by ";
  const double told = std::stod(warnings.text.substr(warnings.text.find(start) + start.size()));
  EXPECT_GT(told, 1e-3);
  EXPECT_NEAR(scene.data->qpos[0] - x, told, 0.05 * told);  // two digits, and a second
}

TEST(Creep, IsWarnedOfIfPositionsAreSetBeforeEachStepButNotIfRunsBeginAnew) {
  Scene scene = make_incline(0.5, 2e-3);
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e5));
  std::size_t num_warnings = 0;
  for (int i = 0; i < 1000; ++i) {
    scene.data->qpos[1] += 1e-9;
    num_warnings += find_warnings(&stepper, &scene, 1).steps.size();
  }
  EXPECT_EQ(num_warnings, 1);
  for (int i = 0; i < 1000; ++i) {
    if (i % 5 == 0) scene.set_state(start);
    num_warnings += find_warnings(&stepper, &scene, 1).steps.size();
  }
  EXPECT_EQ(num_warnings, 1);
}

TEST(Creep, IsWarnedOfAgainAfterAWindowWithoutIt) {
  Scene scene = make_slabs(0.5, 1e-2);
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e5));
  EXPECT_EQ(find_warnings(&stepper, &scene, 300, swap_slabs).steps.size(), 1);
  EXPECT_EQ(find_warnings(&stepper, &scene, 300).steps.size(), 0);
  EXPECT_EQ(find_warnings(&stepper, &scene, 300, swap_slabs).steps.size(), 1);
}

TEST(Creep, IsNoneWhereABodySlidesOrRollsWhileItsContactsChange) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene slides = make_slabs(1.2, 2e-3);
    Scene rolls = make_slabs(0.05, 2e-3, R"(type="sphere" size="0.05")");
    for (Scene* scene : {&slides, &rolls}) {
      Stepper stepper(scene->model, make_elastic(model), make_stiff(*scene, 1e5));
      EXPECT_EQ(find_warnings(&stepper, scene, 2000, swap_slabs).steps.size(), 0)
          << contact::traits(model).name << ' ' << scene->data->qpos[0];
      EXPECT_GT(scene->data->qpos[0], 1);
    }
  }
}

TEST(Creep, ACheckpointWithinAWindowGoesOnWithTheSameBits) {
  Scene scene = make_slabs(0.5, 2e-3);
  const auto make = [](const Scene& s) {
    return Stepper(s.model, make_elastic(), make_stiff(s, 1e5));
  };
  Stepper stepper = make(scene);
  EXPECT_TRUE(find_warnings(&stepper, &scene, 300, swap_slabs).steps.empty());
  Scene copy(scene);
  copy.set_state(scene.state());
  Stepper other = make(copy);
  other.set_state(stepper.get_state());
  const Warnings one = find_warnings(&stepper, &scene, 400, swap_slabs);
  const Warnings two = find_warnings(&other, &copy, 400, swap_slabs);
  EXPECT_EQ(one.steps.size(), 1);
  EXPECT_EQ(one.steps, two.steps);
  EXPECT_EQ(one.text, two.text);
  EXPECT_TRUE(support::has_same_bits(scene.state(), copy.state()));
  EXPECT_EQ(stepper.get_state(), other.get_state());
}

/// A cube of 0.1 kg between two fingers, 0.3 m from an axis on which it swings.
/// @param force of the fingers [N]
Scene make_swing(double force, double dt) {
  const std::string slide = R"(<geom type="box" size=".03 .02 .03" mass=".2"/></body>)";
  return Scene(support::make_mjcf(
      "timestep=\"" + std::to_string(dt) + "\"",
      R"(<worldbody><body pos="0 0 .5"><joint type="hinge" axis="0 0 1"/>
<geom type="sphere" size=".02" mass="1e5" contype="0" conaffinity="0"/>
<body pos=".3 -.041 0"><joint name="a" type="slide" axis="0 1 0"/>)" +
          slide + R"(<body pos=".3 .041 0"><joint name="b" type="slide" axis="0 -1 0"/>)" + slide +
          R"(</body><body pos=".3 0 .5"><freejoint/>
<geom type="box" size=".02 .02 .02" mass=".1"/></body></worldbody>
<equality><joint joint1="a" joint2="b"/></equality>
<actuator><motor joint="a"/><motor joint="b"/></actuator><keyframe><key ctrl=")" +
          std::to_string(force) + " " + std::to_string(force) + R"("/></keyframe>)"));
}

TEST(Creep, IsWarnedOfIfLoadsThatSwingLetABodyWalk) {
  for (const double dt : {2e-3, 1e-2}) {
    // At the speed of 4 rad/s and the frequency of 1 Hz, 1.2 N along the surface and the weight.
    for (const double share : {0.9, 0.6}) {
      const double force = 0.1 * std::hypot(0.3 * 8 * 3.14159, kGravity) / (2 * share);
      Scene scene = make_swing(force, dt);
      mj_resetDataKeyframe(scene.model, scene.data, 0);
      Stepper stepper(scene.model, make_elastic(ContactModel::coulomb), make_stiff(scene, 1e5));
      const auto swing = [](Scene* s) {
        const double t = s->data->time;
        s->data->qvel[0] = 4 * std::min(1.0, t) * std::sin(2 * 3.14159265358979 * t);
      };
      const int second = static_cast<int>(std::lround(1 / dt));
      find_warnings(&stepper, &scene, 2 * second, swing);
      const double z = scene.data->xpos[3 * 4 + 2];
      const Warnings warnings = find_warnings(&stepper, &scene, 8 * second, swing);
      const double speed = (z - scene.data->xpos[3 * 4 + 2]) / 8;
      if (share > 0.8) {
        EXPECT_GT(speed, 1e-6) << dt;
        EXPECT_EQ(warnings.steps.size(), 1) << dt;
        EXPECT_NE(warnings.text.find("walk on each other by"), std::string::npos) << warnings.text;
        Stepper other(scene.model, make_elastic(ContactModel::coulomb), make_stiff(scene, 1e5));
        other.set_state(stepper.get_state());
        EXPECT_EQ(other.get_state(), stepper.get_state());
      } else {
        EXPECT_LT(std::abs(speed), 1e-8) << dt;
        EXPECT_EQ(warnings.steps.size(), 0) << dt << warnings.text;
      }
    }
  }
}

TEST(Creep, AlteredWordsAreRefused) {
  const Scene scene = make_slabs(0.5, 2e-3);
  CreepWatch watch;
  for (const std::array<int, 2> bodies : {std::array{0, 1}, std::array{0, 0}})
    watch.lose(bodies, {0, 2}, 1, 1e-6);
  std::vector<std::uint64_t> words;
  base::WordWriter writer(&words);
  watch.write(&writer);
  const auto read = [&](const std::vector<std::uint64_t>& from) {
    base::WordReader reader(from);
    CreepWatch copy;
    copy.read(scene.model, &reader);
  };
  EXPECT_NO_THROW(read(words));
  constexpr std::size_t kIsWarned = 2, kCount = 3, kBody = 4, kGeom = 6, kFirstNumber = 8;
  for (const std::size_t at : {kIsWarned, kCount, kBody, kGeom, kFirstNumber}) {
    std::vector<std::uint64_t> altered = words;
    altered[at] = ~std::uint64_t{0};
    EXPECT_NE(support::message_of([&] { read(altered); }).find("wrong numbers"), std::string::npos)
        << at;
  }
  std::swap_ranges(words.begin() + kBody, words.begin() + kBody + 8, words.begin() + kBody + 8);
  EXPECT_NE(support::message_of([&] { read(words); }).find("wrong numbers"), std::string::npos);
}

/// A motion in which losing springs is right, or in which none are lost.
struct Quiet {
  const char* name;
  std::string mjcf;
  Change change = {};
};

/// A body of 1 kg on a plane with friction 0.5.
std::string make_body(const std::string& option, const std::string& pose, const std::string& geom) {
  return support::make_mjcf(option, "<asset>" + support::make_prism_mesh() + R"(</asset><worldbody>
<geom type="plane" size="9 9 1" friction="0.5"/><body )" +
                                        pose + "><freejoint/><geom " + geom +
                                        R"( mass="1" friction="0.5"/></body></worldbody>)");
}

/// Pulls a block by a spring of 400 N/m whose end moves at 50 mm/s, so that it sticks and slips.
void pull(Scene* scene) {
  scene->data->xfrc_applied[6] = 400 * (0.05 * scene->data->time - scene->data->qpos[0]);
}

/// Shakes a body, so that its contacts lift and press.
void shake(Scene* scene) {
  const double phase = 2 * 3.14159 * 30 * scene->data->time;
  scene->data->xfrc_applied[6] = 3 * std::sin(2 * phase);
  scene->data->xfrc_applied[8] = 15 * std::sin(phase);
  scene->data->xfrc_applied[10] = 0.5 * std::sin(phase);
}

std::vector<Quiet> list_quiet(double dt) {
  const std::string level = tilt(0, dt), flat = "pos='0 0 .05'",
                    box = "type='box' size='.1 .1 .05'";
  const std::string lying = "pos='0 0 .1' euler='90 0 0'", prism = "type='mesh' mesh='prism'";
  return {
      {"rest", make_body(level, flat, box)},
      {"held", make_body(tilt(std::atan(0.45), dt), flat, box)},
      {"held can", make_body(tilt(std::atan(0.25), dt), flat, "type='cylinder' size='.1 .05'")},
      {"held prism", make_body(tilt(std::atan(0.25), dt), flat, prism)},
      {"slides", make_body(tilt(std::atan(0.51), dt), flat, box)},
      {"wheel", make_body(tilt(0.1, dt), lying, "type='cylinder' size='.1 .05'")},
      {"rolling prism", make_body(tilt(0.35, dt), lying, prism)},
      {"rocks", make_body(level, "pos='0 0 .25' euler='0 12 0'", "type='box' size='.06 .06 .2'")},
      {"rocks on corners",
       make_body(level, "pos='0 0 .205' euler='0 3 2'", "type='box' size='.06 .05 .2'")},
      {"impact",
       make_body(tilt(0.2, dt), "pos='0 0 .5' euler='20 30 0'", "type='box' size='.1 .06 .05'")},
      {"pile", make_pile(dt)},
      {"sticks and slips", make_body(level, flat, box), pull},
      {"shaken", make_body(level, flat, box), shake},
      {"turning plate", make_wrist(dt), drive_wrist}};
}

plant::MaterialTable make_frictions(const Scene& scene) {
  plant::Material material = plant::make_default_material();
  material.friction = 0.4;
  material.static_friction = 0.5;
  material.law.stiffness = 1e5;
  return make_materials(scene, material);
}

TEST(Creep, IsNoneWhereLosingSpringsIsRight) {
  for (const double dt : {2e-3, 1e-2})
    for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb})
      for (const Quiet& quiet : list_quiet(dt)) {
        Scene scene(quiet.mjcf);
        Stepper stepper(scene.model, make_elastic(model), make_frictions(scene));
        const Warnings warnings =
            find_warnings(&stepper, &scene, static_cast<int>(4 / dt), quiet.change);
        EXPECT_TRUE(warnings.steps.empty()) << quiet.name << ' ' << dt << ' ' << warnings.text;
      }
}

}  // namespace
}  // namespace stiction::sim::creep_test
