// A step that fails reports the reason, and leaves the state and the inputs unchanged bit for bit.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::failure_test {
namespace {

using support::Scene;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Every part of the state that MuJoCo knows: contacts, limits, activations, delays of controls and
/// sensors, plastic springs, mocap, equalities, user data.
constexpr const char* kEverything = R"(
<size nuserdata="3"/>
<worldbody>
  <geom type="plane" size="9 9 1"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  <body pos="0.05 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  <body mocap="true" pos="0 1 0.5"><geom size="0.05"/></body>
  <body name="arm" pos="0 -1 0.5"><joint name="a" axis="0 1 0" range="-5 5" stiffness="2" springyield="0.01"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="s" pos="0.3 0 0"/></body>
  <body name="weight" pos="1 0 0.5"><freejoint/><geom size="0.05"/></body>
</worldbody>
<equality><connect body1="weight" anchor="0 0 0.5"/></equality>
<tendon><fixed name="t" stiffness="3" springyield="0.01"><joint joint="a" coef="1"/></fixed></tendon>
<actuator><position joint="a" kp="5" timeconst="0.1"/><motor joint="a" delay="0.006" nsample="4" interp="linear"/></actuator>
<sensor><jointpos joint="a" nsample="5" delay="0.006" interval="0.004"/><accelerometer site="s" nsample="3" delay="0.004"/>
  <framelinvel objtype="site" objname="s"/></sensor>)";

Scene make_scene() { return Scene(support::make_mjcf(R"(timestep="0.002")", kEverything)); }

bool is_same(const std::vector<mjtNum>& a, const std::vector<mjtNum>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(mjtNum)) == 0;
}

/// Returns results of the last step in mjData that are not part of the state.
std::vector<mjtNum> outputs(const Scene& scene) {
  const mjData* d = scene.data;
  std::vector<mjtNum> out;
  const auto add = [&](const mjtNum* values, mjtSize n) {
    out.insert(out.end(), values, values + n);
  };
  add(d->sensordata, scene->nsensordata);
  add(d->qacc, scene->nv);
  add(d->act_dot, scene->na);
  add(d->xpos, 3 * scene->nbody);
  add(d->qfrc_constraint, scene->nv);
  add(d->actuator_force, scene->nactuator);
  add(d->energy, 2);
  return out;
}

/// Expects that a report certifies nothing. A bound of 0 would be the best one.
void expect_no_certificate(const StepReport& report) {
  EXPECT_FALSE(report.certificate.ok) << report.message;
  EXPECT_EQ(report.certificate.error_bound, kInf) << report.message;
  EXPECT_EQ(report.certificate.velocity_bound, kInf) << report.message;
}

class Failure : public testing::TestWithParam<contact::ContactModel> {
 protected:
  /// A scene in motion, with all of its inputs set.
  Failure() : scene_(make_scene()), stepper_(scene_.model, make_options(GetParam())) {
    set_in_motion(&stepper_, &scene_);
  }

  static void set_in_motion(Stepper* stepper, Scene* scene) {
    std::fill_n(scene->data->ctrl, scene->model->nu, 0.3);
    scene->data->userdata[1] = 7;
    run(stepper, scene, 20);
  }

  /// A number of the model, an invalid value for it, and a part of the expected message.
  struct Corruption {
    mjtNum* number;
    double value;
    const char* text;
  };
  /// Takes a step with the invalid value, checks that the state does not change, and restores the
  /// value.
  /// @return the report
  const StepReport& step_corrupted(const Corruption& entry) {
    const double good = *entry.number;
    const auto state = scene_.state();
    *entry.number = entry.value;
    const StepReport& report = stepper_.step(scene_.data);
    EXPECT_TRUE(is_same(scene_.state(), state)) << entry.text;
    expect_no_certificate(report);
    *entry.number = good;
    return report;
  }

  Scene scene_;
  Stepper stepper_;
};
INSTANTIATE_TEST_SUITE_P(Models, Failure,
                         testing::ValuesIn(support::list_models(
                             [](const contact::ContactModelTraits&) { return true; })),
                         model_name);

TEST_P(Failure, InputThatIsNotFiniteChangesNothing) {
  struct Entry {
    const char* name;
    mjtNum* value;
    std::uint32_t status;
  };
  mjData* d = scene_.data;
  const Entry kEntries[] = {
      {"time[0]", &d->time, kNonFiniteState},
      {"qpos[2]", d->qpos + 2, kNonFiniteState},
      {"qvel[7]", d->qvel + 7, kNonFiniteState},
      {"act[0]", d->act, kNonFiniteState},
      {"ctrl[1]", d->ctrl + 1, kNonFiniteInput},
      {"qfrc_applied[3]", d->qfrc_applied + 3, kNonFiniteInput},
      {"xfrc_applied[8]", d->xfrc_applied + 8, kNonFiniteInput},
      {"mocap_pos[1]", d->mocap_pos + 1, kNonFiniteInput},
      {"mocap_quat[3]", d->mocap_quat + 3, kNonFiniteInput},
  };
  for (const Entry& entry : kEntries) {
    for (const double bad : {kNan, kInf, -kInf}) {
      const double good = *entry.value;
      *entry.value = bad;
      const auto state = scene_.state(), results = outputs(scene_);
      const StepReport& report = stepper_.step(d);
      EXPECT_EQ(report.status, entry.status) << entry.name;
      expect_no_certificate(report);
      EXPECT_EQ(report.num_steps, 0);
      EXPECT_NE(report.message.find(entry.name), std::string::npos) << report.message;
      EXPECT_TRUE(is_same(scene_.state(), state)) << entry.name;
      EXPECT_TRUE(is_same(outputs(scene_), results)) << entry.name;
      *entry.value = good;
    }
  }
}

TEST_P(Failure, MotionContinuesAsIfTheFaultHadNeverHappened) {
  // Once the fault is fixed, the motion equals bit for bit the motion of data that never had it.
  Scene twin = make_scene(), copy(scene_);
  Stepper without_fault(twin.model, make_options(GetParam()));
  Stepper fresh(copy.model, make_options(GetParam()));
  fresh.set_state(stepper_.get_state());
  set_in_motion(&without_fault, &twin);
  const double good = scene_.data->ctrl[0];
  scene_.data->ctrl[0] = kNan;
  EXPECT_FALSE(stepper_.step(scene_.data).ok());
  scene_.data->ctrl[0] = good;
  run(&stepper_, &scene_, 30);
  run(&without_fault, &twin, 30);
  EXPECT_TRUE(is_same(scene_.state(), twin.state()));
  run(&fresh, &copy, 30);
  EXPECT_TRUE(is_same(scene_.state(), copy.state()));
}

TEST_P(Failure, NamesTheNumberThatTheCallerCorrupted) {
  mjModel* m = scene_.model;
  for (const Corruption& entry :
       {Corruption{m->geom_friction, kNan,
                   "geom 0: friction is nan, must be finite and at least 0"},
        {m->body_mass + 1, -1, "body 1: mass is -1"},
        {m->body_mass + 1, kInf, "body 1: mass is inf"},
        {m->body_inertia + 4, -1, "body 1: inertia is -1"},
        {m->dof_armature, -1, "joint 0: armature is -1"}}) {
    const StepReport& report = step_corrupted(entry);
    EXPECT_EQ(report.status, kNonFiniteInput) << entry.text;
    EXPECT_EQ(report.message.find(entry.text), 0u) << report.message;
  }
  EXPECT_TRUE(stepper_.step(scene_.data).ok());
}

/// The failures of iterative solvers. Rigid models pivot to the end and ignore max_iterations.
class SolverFailure : public Failure {
 protected:
  StepOptions impatient(OnFailure on_failure) const {
    StepOptions options = make_options(GetParam(), 1e-12);
    options.max_iterations = 1;
    options.on_failure = on_failure;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Models, SolverFailure, testing::ValuesIn(compliant_models()), model_name);

TEST_P(SolverFailure, LeavesTheStateAsItWas) {
  Stepper impatient(scene_.model, this->impatient(OnFailure::stop));
  scene_.data->qvel[2] -= 1;  // an impact, which one iteration does not solve
  const auto state = scene_.state();
  const StepReport& report = impatient.step(scene_.data);
  EXPECT_EQ(report.status, kNotConverged);
  EXPECT_EQ(report.num_steps, 0);
  expect_no_certificate(report);
  EXPECT_EQ(report.time, scene_.data->time);
  // tamsi takes one iteration for the whole step, and one for the first of 2, 3, ... 20 sub-steps.
  const bool is_tamsi = GetParam() == contact::ContactModel::tamsi;
  const char* text = is_tamsi ? "stopped after 20 iterations" : "stopped after 1 iteration";
  EXPECT_NE(report.message.find(text), std::string::npos) << report.message;
  EXPECT_TRUE(is_same(scene_.state(), state));

  // A step with more iterations then equals a step of data that never had the failure.
  Scene twin(make_scene());
  twin.set_state(state);
  Stepper fresh(twin.model, make_options(GetParam()));
  fresh.set_state(stepper_.get_state());
  run(&stepper_, &scene_, 10);
  run(&fresh, &twin, 10);
  EXPECT_TRUE(is_same(scene_.state(), twin.state()));
}

TEST_P(SolverFailure, NamesTheNumberOfTheModelThatCausedIt) {
  mjModel* m = scene_.model;
  for (const Corruption& entry :
       {Corruption{m->eq_data, kNan, "equality 0: data (anchor, relpose, polycoef) is nan"},
        {m->tendon_stiffness, -kNan, "tendon 't': stiffness is nan"},
        {m->body_pos + 3 * scene_.body("arm"), kNan, "body 'arm': pos is nan"}}) {
    const StepReport& report = step_corrupted(entry);
    EXPECT_FALSE(report.ok()) << entry.text;
    EXPECT_NE(report.message.find(entry.text), std::string::npos) << report.message;
    EXPECT_EQ(report.message.find("-nan"), std::string::npos) << report.message;
  }
}

TEST_P(SolverFailure, NamesTheDampingThatDrivesTheMotion) {
  scene_->dof_damping[scene_.dof("a")] = -1e6;
  scene_->opt.disableflags |= mjDSBL_CONTACT;  // which could stop the joint
  const StepReport& report = stepper_.step(scene_.data, 100);
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.message.find("joint 'a': damping is -1e+06"), std::string::npos)
      << report.message;
  EXPECT_EQ(report.message.find("-nan"), std::string::npos) << report.message;
}

TEST_P(Failure, StateFromWhichNoStepCouldStartIsNotReached) {
  if (contact::traits(GetParam()).is_mj_step) GTEST_SKIP() << "resets by itself";
  scene_->opt.disableflags |= mjDSBL_CONSTRAINT;  // constraint impulses would be huge
  for (const double gravity : {-1e14, 1e30}) {
    const StepReport& report =
        step_corrupted({scene_->opt.gravity + 2, gravity, "a velocity above 1e10 m/s"});
    EXPECT_EQ(report.status, kNonFiniteSolution) << report.message;
    EXPECT_NE(report.message.find("at the end of the step"), std::string::npos) << report.message;
  }
  run(&stepper_, &scene_, 20);
}

TEST_P(SolverFailure, KeepBestAdvancesAndReportsTheFault) {
  Stepper best(scene_.model, impatient(OnFailure::keep_best));
  scene_.data->qvel[2] -= 1;
  const double time = scene_.data->time;
  const StepReport& report = best.step(scene_.data, 3);
  EXPECT_TRUE(report.status & kNotConverged);
  EXPECT_FALSE(report.certificate.ok);
  EXPECT_EQ(report.num_steps, 3);
  EXPECT_NEAR(scene_.data->time, time + 0.006, 1e-12);
  // Inputs that are not finite stop the step under `keep_best`, too.
  scene_.data->ctrl[0] = kNan;
  const auto state = scene_.state();
  EXPECT_EQ(best.step(scene_.data).status, kNonFiniteInput);
  EXPECT_TRUE(is_same(scene_.state(), state));
}

TEST_P(Failure, ContactsThatDoNotFitStopTheStep) {
  // 40 boxes have 160 contacts.
  std::string boxes;
  for (int i = 0; i < 40; ++i) {
    char text[120];
    std::snprintf(
        text, sizeof text,
        R"(<body pos="%g 0 0.0999"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>)",
        0.3 * i);
    boxes += text;
  }
  for (const char* memory : {"60K", "30K"}) {
    Scene full("<mujoco><size memory=\"" + std::string(memory) +
               R"("/><worldbody><geom type="plane" size="99 99 1"/>)" + boxes +
               "</worldbody></mujoco>");
    Stepper stepper(full.model, make_options(GetParam()));
    const auto state = full.state();
    for (int i = 0; i < 3; ++i) {
      const StepReport& report = stepper.step(full.data);
      EXPECT_TRUE(report.status & kBufferFull) << memory;
      expect_no_certificate(report);
      EXPECT_NE(report.message.find("<size memory="), std::string::npos) << report.message;
      EXPECT_TRUE(is_same(full.state(), state)) << memory << ": " << report.message;
    }
  }
}

/// A callback of MuJoCo that writes a NaN to qfrc_applied from `fault_time` on.
double fault_time;
void corrupt_control(const mjModel*, mjData* d) {
  if (d->time >= fault_time) d->qfrc_applied[0] = kNan;
}

TEST_P(SolverFailure, SeveralStepsStopAtTheFailedStepAndKeepTheEarlierSteps) {
  // The callback runs inside a step. This step finds a force that is not finite, and the NaN stays
  // in the input.
  Scene twin(scene_);
  const std::vector<std::uint64_t> memory = stepper_.get_state();
  fault_time = scene_.data->time + 0.0099;  // the sixth step
  mjcb_control = &corrupt_control;
  const StepReport& report = stepper_.step(scene_.data, 10);
  mjcb_control = nullptr;
  EXPECT_FALSE(report.ok());
  expect_no_certificate(report);
  EXPECT_EQ(report.num_steps, 5);
  EXPECT_EQ(report.time, scene_.data->time);

  Stepper fresh(twin.model, make_options(GetParam()));
  fresh.set_state(memory);
  run(&fresh, &twin, 5);
  scene_.data->qfrc_applied[0] = 0;
  EXPECT_TRUE(is_same(scene_.state(), twin.state()));
}

}  // namespace
}  // namespace stiction::sim::failure_test
