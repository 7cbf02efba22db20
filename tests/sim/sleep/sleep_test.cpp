// Sleeping trees: when they fall asleep, what they leave in the data, and what the report says.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sleep/sleeping.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "support/mjdata_fields.hpp"

namespace stiction::sim::sleep_test {
namespace {

using contact::ContactModel;
using support::Scene;

class SleepOf : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, SleepOf, testing::ValuesIn(models_with_sleep()),
                         support::model_name);

TEST_P(SleepOf, TreesAtRestFallAsleepInTheirIslands) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  const mjData* d = scene.data;
  const int low = tree_of(scene, "low"), high = tree_of(scene, "high"), far = tree_of(scene, "far");
  EXPECT_EQ(d->tree_asleep[low], high);
  EXPECT_EQ(d->tree_asleep[high], low);
  EXPECT_EQ(d->tree_asleep[far], far);

  const std::vector<mjtNum> qpos(d->qpos, d->qpos + scene->nq);
  const StepReport& report = stepper.step(scene.data, 50);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_TRUE(std::equal(qpos.begin(), qpos.end(), d->qpos));
  EXPECT_TRUE(std::all_of(d->qvel, d->qvel + scene->nv, [](mjtNum v) { return v == 0; }));
  EXPECT_EQ(report.statistics.num_asleep, 3);
  EXPECT_EQ(report.statistics.num_contacts, 0);
  EXPECT_EQ(report.contacts.size(), 0);
  EXPECT_EQ(d->ncon, 0);
  EXPECT_TRUE(report.certificate.ok);
}

// Sleep leaves out the step from rest: each of the following steps, if it were taken, would have
// velocities within the bound.
TEST_P(SleepOf, TheBoundHoldsForTheStepThatSleepLeavesOut) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  const double bound = stepper.step(scene.data).certificate.sleep_bound;
  if (!contact::traits(GetParam()).has_error_bound) {
    EXPECT_EQ(bound, contact::kInfinity);
    return;
  }
  EXPECT_LT(bound, std::sqrt(3.0) * scene->opt.sleep_tolerance);

  Scene awake(scene);
  awake.model->opt.enableflags &= ~mjENBL_SLEEP;
  Stepper exact(awake.model, make_options(GetParam(), 1e-10));
  for (int i = 0; i < 20; ++i) {
    const StepReport& report = exact.step(awake.data);
    ASSERT_TRUE(report.ok()) << report.message;
    double speed2 = 0;  // |v|_M^2 for boxes of 1 kg
    const double moment = 1.0 / 6 * 0.2 * 0.2;
    for (int dof = 0; dof < scene->nv; ++dof)
      speed2 += (dof % 6 < 3 ? 1 : moment) * awake.data->qvel[dof] * awake.data->qvel[dof];
    EXPECT_LE(std::sqrt(speed2), bound * (1 + 1e-9)) << i;
    // The exact step from rest.
    std::fill_n(awake.data->qvel, awake->nv, 0.0);
    std::copy_n(scene.data->qpos, scene->nq, awake.data->qpos);
  }
}

TEST_P(SleepOf, AFallingBodyAtTheTopOfItsPathStaysAwake) {
  Scene scene(support::make_mjcf(R"(timestep="1e-6")",
                                 "<worldbody>" + make_box("box", 0, 1) + "</worldbody>"));
  allow_sleep(scene);
  scene.data->qvel[2] = 2e-4;
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 60));
  EXPECT_FALSE(sleeps(scene, "box"));
  EXPECT_LT(scene.data->qvel[2], 0);
}

TEST_P(SleepOf, ABallThatBeginsToRollStaysAwake) {
  Scene scene(support::make_mjcf(R"(timestep="0.001" gravity="0.02 0 -9.81")", R"(<worldbody>
<geom type="plane" size="9 9 1"/>
<body name="ball" pos="0 0 .1"><freejoint/><geom size=".1" mass="1"/></body></worldbody>)"));
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
  EXPECT_FALSE(sleeps(scene, "ball"));
  EXPECT_GT(scene.data->qpos[0], 1e-3);
}

// A tree beside sleeping ones has the bits that it has without them.
TEST_P(SleepOf, AwakeTreesKeepTheirBits) {
  const std::string spinner = R"(<body name="spinner" pos="3 0 0.4" sleep="never"><freejoint/>
<geom type="box" size=".1 .1 .1" mass="1"/></body>)";
  const auto make = [&](const std::string& others) {
    return support::make_mjcf(kTimeStep, R"(<worldbody><geom type="plane" size="9 9 1"/>)" +
                                             others + spinner + "</worldbody>");
  };
  const std::string sleepers = make_box("low", 0, 0.1) + make_box("high", 0, 0.3);
  Scene with(make(sleepers)), without(make(""));
  const auto throw_spinner = [](const Scene& scene) {
    mjtNum* v = scene.data->qvel + scene->nv - 6;
    const mjtNum thrown[6] = {0.3, 0.1, 2, 1, 2, 3};
    std::copy_n(thrown, 6, v);
  };
  allow_sleep(with);
  Stepper stepper(with.model, make_options(GetParam()));
  Stepper alone(without.model, make_options(GetParam()));
  throw_spinner(with);
  throw_spinner(without);
  int num_asleep = 0;  // at the start of the step
  for (int i = 0; i < 400; ++i) {
    const StepReport& report = stepper.step(with.data);
    const StepReport& other = alone.step(without.data);
    ASSERT_EQ(report.ok(), other.ok()) << report.message << other.message;
    if (!report.ok()) break;
    ASSERT_TRUE(std::equal(without.data->qpos, without.data->qpos + 7, with.data->qpos + 14)) << i;
    ASSERT_TRUE(std::equal(without.data->qvel, without.data->qvel + 6, with.data->qvel + 12)) << i;
    if (num_asleep == 2) {
      ASSERT_EQ(report.certificate.error_bound, other.certificate.error_bound) << i;
    }
    num_asleep = report.statistics.num_asleep;
  }
  EXPECT_EQ(num_asleep, 2);
}

// A woken tree is as if it had been awake all along.
TEST_P(SleepOf, AWokenTreeMovesAsIfItHadBeenAwake) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));  // forgets the active set of a rigid model
  Scene awake(scene);
  awake.model->opt.enableflags &= ~mjENBL_SLEEP;
  Stepper other(awake.model, make_options(GetParam()));
  for (Scene* s : {&scene, &awake}) s->data->xfrc_applied[6 * s->body("high")] = 20;
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_NO_FATAL_FAILURE(run(&other, &awake));
    for (int k = 0; k < 14; ++k) ASSERT_EQ(scene.data->qpos[k], awake.data->qpos[k]) << i;
  }
  EXPECT_FALSE(sleeps(scene, "low"));
  EXPECT_TRUE(sleeps(scene, "far"));
}

/// Returns a table of soft materials, whose geoms touch in patches.
plant::MaterialTable make_soft(const Scene& scene) {
  plant::Material soft = plant::kDefaultMaterial;
  soft.hydroelastic_modulus = 1e6;
  soft.law.dissipation = 1;
  return make_materials(scene, soft);
}

TEST_P(SleepOf, TreesThatTouchInPatchesSleepAndWake) {
  if (!contact::traits(GetParam()).takes_patches) GTEST_SKIP() << "takes no patches";
  Scene scene(support::make_mjcf(kTimeStep, R"(<worldbody>
<geom type="box" size="1 1 .1" pos="0 0 -.1"/>)" +
                                                make_box("low", 0, 0.0999) + R"(
<body name="ball" pos="0.03 0 1" sleep="never"><freejoint/><geom size=".1" mass="1"/></body></worldbody>)"));
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(GetParam()), make_soft(scene));
  bool has_slept = false, has_patch = true;
  for (int i = 0; i < 400; ++i) {
    // Patches begin where geoms overlap at the start of a step.
    const bool is_hit = scene.data->qpos[9] < 0.2999;  // by the ball
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    if (!is_hit && sleeps(scene, "low")) {
      has_slept = true;
      has_patch = report.patches.size() > 0;
    }
    if (is_hit) {
      ASSERT_FALSE(sleeps(scene, "low")) << i;
      EXPECT_GE(report.patches.size(), 2);
      break;
    }
  }
  EXPECT_TRUE(has_slept);
  EXPECT_FALSE(has_patch);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 20));
  EXPECT_NE(scene.data->qpos[0], 0);
}

TEST(Sleep, TakesAsManyStepsAsMuJoCo) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
                                 "<worldbody>" + make_box("box", 0, 1) + "</worldbody>"));
  allow_sleep(scene);
  Scene theirs(scene);
  mj_resetData(theirs.model, theirs.data);
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  for (int i = 1; i <= 12; ++i) {
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    mj_step(theirs.model, theirs.data);
    EXPECT_EQ(scene.data->tree_asleep[0], theirs.data->tree_asleep[0]) << i;
  }
  EXPECT_TRUE(sleeps(scene, "box"));
}

TEST(Sleep, FollowsThePolicyOfTheBody) {
  const auto make = [](const char* policy) {
    return support::make_mjcf(
        R"(timestep="0.002")",
        std::string(
            R"(<worldbody><geom type="plane" size="9 9 1"/><body name="box" pos="0 0 .1" )") +
            policy + R"(><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>)");
  };
  for (const char* policy : {"", R"(sleep="allowed")", R"(sleep="never")"}) {
    Scene scene(make(policy));
    allow_sleep(scene);
    Stepper stepper(scene.model, make_options(ContactModel::lagged));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 300));
    EXPECT_EQ(sleeps(scene, "box"), std::string(policy).find("never") == std::string::npos)
        << policy;
  }
}

// Trees that are initialized asleep may float. They stay until they are touched.
TEST(Sleep, InitializedTreesSleepUntilTheyAreTouched) {
  Scene scene(support::make_mjcf(R"(timestep="0.002"><flag sleep="enable"/></option><option)",
                                 R"(<worldbody><geom type="plane" size="9 9 1"/>
<body name="floating" pos="0 0 1" sleep="init"><freejoint/><geom size=".1" mass="1"/></body>
<body name="falling" pos="0.02 0 1.5"><freejoint/><geom size=".1" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  ASSERT_TRUE(sleeps(scene, "floating"));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 100));
  EXPECT_TRUE(sleeps(scene, "floating"));
  EXPECT_EQ(scene.data->qpos[2], 1);
  // Gravity does not act on them.
  scene.model->opt.gravity[2] = -9;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  EXPECT_TRUE(sleeps(scene, "floating"));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 150));
  EXPECT_FALSE(sleeps(scene, "floating"));
  EXPECT_LT(scene.data->qpos[2], 1);
}

TEST(Sleep, HasNoEffectWithoutTheFlag) {
  Scene scene(make_boxes());
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  const StepReport& report = stepper.step(scene.data, 300);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.statistics.num_asleep, 0);
  EXPECT_EQ(report.certificate.sleep_bound, 0);
  EXPECT_GT(scene.data->ncon, 0);
}

TEST(Sleep, EndsWithTheFlag) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  scene.model->opt.enableflags &= ~mjENBL_SLEEP;
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.statistics.num_asleep, 0);
  EXPECT_EQ(scene.data->ntree_awake, scene->ntree);
  EXPECT_GT(scene.data->ncon, 0);
}

TEST(Sleep, IsIgnoredByIntegratorsThatMoveBodiesWithinAStep) {
  for (const Integrator integrator : {Integrator::event_driven, Integrator::rk4}) {
    Scene scene(make_boxes());
    allow_sleep(scene);
    StepOptions options = make_options(ContactModel::viscous);
    options.integrator = integrator;
    Stepper stepper(scene.model, options);
    const StepReport& report = stepper.step(scene.data, 30);
    ASSERT_TRUE(report.ok()) << report.message;
    EXPECT_EQ(report.statistics.num_asleep, 0);
    EXPECT_EQ(scene.data->ntree_awake, scene->ntree);
    const std::vector<std::string> ignored = stepper.ignored_settings();
    EXPECT_TRUE(std::ranges::any_of(
        ignored, [](const std::string& text) { return text.find("sleep") != text.npos; }));
  }
}

// The arrays are those that MuJoCo makes itself.
TEST(SleepArrays, AreThoseOfMuJoCo) {
  const std::string xml = support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0"><flag sleep="enable"/></option><option)", R"(<worldbody>
<geom type="plane" size="9 9 1"/><body pos="0 0 5"><geom size=".1"/></body>
<body mocap="true" pos="0 0 6"><geom size=".1"/><body pos="0 0 .3"><geom size=".1"/></body></body>
<body pos="0 0 1" sleep="never"><freejoint/><geom size=".1"/></body>
<body pos="0 0 2"><freejoint/><geom size=".1"/></body>
<body pos="1 0 2"><joint type="ball"/><geom size=".1"/>
  <body pos="0 0 .3"><geom size=".1"/><body pos="0 0 .3"><joint/><geom size=".1"/></body></body>
</body></worldbody>)");
  Scene theirs(xml), ours(xml);
  for (int i = 0; i < 12; ++i) mj_step(theirs.model, theirs.data);
  ASSERT_EQ(theirs.data->ntree_awake, 1);
  const std::vector<int> tree_asleep(theirs.data->tree_asleep,
                                     theirs.data->tree_asleep + theirs->ntree);
  plant::write_sleep_arrays(ours.model, tree_asleep, ours.data);
  const mjModel* m = ours.model;
  const mjData *a = theirs.data, *b = ours.data;
  EXPECT_EQ(a->ntree_awake, b->ntree_awake);
  ASSERT_EQ(a->nbody_awake, b->nbody_awake);
  ASSERT_EQ(a->nparent_awake, b->nparent_awake);
  ASSERT_EQ(a->nv_awake, b->nv_awake);
  EXPECT_TRUE(std::equal(a->tree_awake, a->tree_awake + m->ntree, b->tree_awake));
  EXPECT_TRUE(std::equal(a->body_awake, a->body_awake + m->nbody, b->body_awake));
  EXPECT_TRUE(std::equal(a->body_awake_ind, a->body_awake_ind + a->nbody_awake, b->body_awake_ind));
  EXPECT_TRUE(
      std::equal(a->parent_awake_ind, a->parent_awake_ind + a->nparent_awake, b->parent_awake_ind));
  EXPECT_TRUE(std::equal(a->dof_awake_ind, a->dof_awake_ind + a->nv_awake, b->dof_awake_ind));
}

/// Returns a copy of a scene with poisoned data.
Scene poison_copy(const Scene& scene, double value) {
  Scene copy(scene);
  support::poison(copy.model, copy.data, value);
  return copy;
}

// A restored step writes all fields, also those of trees that sleep.
TEST(Sleep, LeavesNothingOfAnEarlierCallInTheData) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  scene.data->xfrc_applied[6 * scene.body("far") + 2] = 30;  // wakes one of the islands
  const std::vector<std::uint64_t> memory = stepper.get_state();
  Scene a(poison_copy(scene, 1e9)), b(poison_copy(scene, -3));
  Stepper stepper_a(a.model, make_options(ContactModel::lagged));
  Stepper stepper_b(b.model, make_options(ContactModel::lagged));
  stepper_a.set_state(memory);
  stepper_b.set_state(memory);
  const auto read = [](const Scene& s) { return support::read_fields(s.model, s.data); };
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_NO_FATAL_FAILURE(run(&stepper_a, &a));
    ASSERT_NO_FATAL_FAILURE(run(&stepper_b, &b));
    EXPECT_EQ(support::find_differences(read(a), read(b)), "") << i;
    // The first step after a checkpoint still has the contacts of the trees that sleep.
    if (i > 0) {
      EXPECT_EQ(support::find_differences(read(a), read(scene)), "") << i;
    }
  }
}

}  // namespace
}  // namespace stiction::sim::sleep_test
