// Steps do not allocate memory. The tests count every call of malloc in the process.
#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/sim/advance/options.hpp"
#include "stiction/sim/batch/batch.hpp"
#include "support/allocation_counter.hpp"

namespace stiction::sim::sim_allocation_test {
namespace {

using support::count_allocations;
using support::Scene;

TEST(AllocationCounter, CountsNewAndMalloc) {
  const long before = count_allocations();
  std::vector<int>* volatile on_heap = new std::vector<int>(1000);
  void* volatile block = std::malloc(100);
  EXPECT_EQ(count_allocations() - before, 3);
  std::free(block);
  delete on_heap;
}

/// Boxes, capsules and balls that fall on each other, and a chain with limits and dry friction.
std::string make_pile(int num_layers) {
  std::string bodies;
  const auto add = [&](double x, double y, double z, const char* geom) {
    bodies += "<body pos=\"" + std::to_string(x) + " " + std::to_string(y) + " " +
              std::to_string(z) + "\" euler=\"10 20 30\"><freejoint/><geom " + geom + "/></body>";
  };
  for (int i = 0; i < num_layers; ++i) {
    const double z = 0.3 + 0.35 * i;
    add(0.02 * i, 0, z, R"(type="box" size="0.1 0.12 0.08")");
    add(0.3, 0.03 * i, z, R"(type="capsule" size="0.06 0.1")");
    add(0, 0.3, z, R"(size="0.1" condim="6")");
    add(-0.3 + 0.01 * i, 0.3, z, R"(type="box" size="0.08 0.08 0.08")");
  }
  return support::make_mjcf(
      R"(timestep="0.002")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies +
          R"(<body pos="0 -0.5 0.6"><joint axis="0 1 0" range="-30 30" frictionloss="0.1"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/><body pos="0.3 0 0"><joint type="ball" damping="0.01" range="0 40"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/></body></body></worldbody>)");
}

class Allocation : public testing::TestWithParam<std::tuple<contact::ContactModel, int>> {
 protected:
  StepOptions options() const {
    StepOptions out = make_options(std::get<0>(GetParam()));
    out.num_threads = std::get<1>(GetParam());
    return out;
  }
};

TEST_P(Allocation, NoneAfterTheFirstStepAtRest) {
  Scene scene(make_pile(3));
  {
    Stepper settling(scene.model, options());
    run(&settling, &scene, 3000);
  }
  Stepper stepper(scene.model, options());
  run(&stepper, &scene);
  int status = 0, num_growing = 0;
  for (int i = 0; i < 200; ++i) {
    const long before = count_allocations();
    status |= stepper.step(scene.data).status;
    num_growing += count_allocations() != before;
  }
  // Under `similar` bodies tremble, so that a step may be harder than all before.
  EXPECT_LE(num_growing, std::get<0>(GetParam()) == contact::ContactModel::similar ? 1 : 0);
  EXPECT_EQ(status, 0);
}

/// Expects 200 steps that allocate nothing and have no fault.
void expect_no_allocations(Stepper* stepper, Scene* scene) {
  const long before = count_allocations();
  int status = 0;
  for (int i = 0; i < 200; ++i) status |= stepper->step(scene->data).status;
  EXPECT_EQ(count_allocations() - before, 0);
  EXPECT_EQ(status, 0);
}

TEST(AnchorAllocation, NoneAfterTheFirstStepsAtRest) {
  Scene scene(make_pile(3));
  StepOptions options = make_options(contact::ContactModel::lagged);
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  {
    Stepper settling(scene.model, options);
    run(&settling, &scene, 3000);
  }
  Stepper stepper(scene.model, options);
  run(&stepper, &scene, 100);  // a body that still rolls joins two islands
  expect_no_allocations(&stepper, &scene);
}

TEST(AnchorAllocation, NoneAfterTheFirstStepsOfHeldJoints) {
  Scene scene(support::make_mjcf("", R"(<worldbody><body><joint axis="0 1 0" frictionloss="9"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/><body pos="0.3 0 0"><joint axis="0 1 0" frictionloss="0.1"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body></body></worldbody>)"));
  StepOptions options = make_options(contact::ContactModel::coulomb);
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  Stepper stepper(scene.model, options);
  run(&stepper, &scene, 2);
  expect_no_allocations(&stepper, &scene);
}

/// Repeats a motion. Only the texts of warnings are allocated.
void expect_no_allocation_again(const std::vector<mjtNum>& start, int num_steps, Scene* scene,
                                Stepper* stepper) {
  scene->set_state(start);
  int status = 0;
  for (int i = 0; i < num_steps; ++i) {
    const long before = count_allocations();
    const StepReport& report = stepper->step(scene->data);
    if (report.num_warnings == 0) {
      ASSERT_EQ(count_allocations() - before, 0) << "step " << i;
    }
    status |= report.status;
  }
  EXPECT_EQ(status, 0);
}

/// The tests of a motion exclude tamsi: it fails in this motion, and it allocates its dense
/// matrices again when islands change their size.
class MotionAllocation : public Allocation {};

TEST_P(MotionAllocation, NoneInARepeatedMotion) {
  Scene scene(make_pile(6));
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, options());
  // Contacts and islands come, go and merge; memory grows where one is larger than all before.
  int max_contacts = 0, num_growing = 0;
  constexpr int kNumSteps = 900;
  for (int i = 0; i < kNumSteps; ++i) {
    const long before = count_allocations();
    const StepReport& report = stepper.step(scene.data);
    num_growing += count_allocations() != before;
    ASSERT_TRUE(report.ok()) << report.message;
    max_contacts = std::max(max_contacts, report.contacts.size());
  }
  EXPECT_GT(max_contacts, 50);
  // Measured: 100 to 170, and up to 401 for rigid models, whose islands each keep their own memory.
  EXPECT_LT(num_growing, contact::traits(std::get<0>(GetParam())).is_rigid ? 450 : 200);

  expect_no_allocation_again(start, kNumSteps, &scene, &stepper);
}

TEST_P(MotionAllocation, NoneInARepeatedMotionUnderErrorControl) {
  const contact::ContactModelTraits& traits = contact::traits(std::get<0>(GetParam()));
  if (!can_advance(traits)) GTEST_SKIP() << "a simulator cannot advance under this model";
  Scene scene(make_pile(3));
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, options());
  const std::vector<std::uint64_t> memory = stepper.get_state();
  const auto repeat = [&](bool allocates) {
    scene.set_state(start);
    stepper.set_state(memory);
    for (int i = 1; i <= 60; ++i) {
      const long before = count_allocations();
      const StepReport& report = stepper.advance(scene.data, {.until = 0.01 * i, .accuracy = 1e-3});
      ASSERT_TRUE(report.ok()) << report.message;
      if (!allocates && report.num_warnings == 0) {
        ASSERT_EQ(count_allocations() - before, 0) << "call " << i;
      }
    }
  };
  ASSERT_NO_FATAL_FAILURE(repeat(true));
  repeat(false);
}

TEST_P(MotionAllocation, NoneInARepeatedMotionInWhichTreesSleepAndWake) {
  Scene scene(make_pile(3));
  scene.model->opt.enableflags |= mjENBL_SLEEP;
  scene->opt.sleep_tolerance = 0.05;
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, options());
  constexpr int kNumSteps = 900;
  int num_changes = 0;
  for (int i = 0; i < kNumSteps; ++i) {
    const int before = scene.data->ntree_awake;
    ASSERT_TRUE(stepper.step(scene.data).ok());
    num_changes += scene.data->ntree_awake != before;
  }
  EXPECT_GT(num_changes, 3);
  expect_no_allocation_again(start, kNumSteps, &scene, &stepper);
}

/// Checks an integrator that divides a step, in which contacts begin and end at any time.
void expect_no_allocation(const char* bodies, StepOptions options, Integrator integrator) {
  options.integrator = integrator;
  Scene scene(support::make_mjcf(R"(timestep="0.001")", bodies));
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, options);
  int num_events = 0;
  for (int i = 0; i < 600; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    num_events += report.statistics.num_events;
  }
  EXPECT_GT(num_events, 0);
  expect_no_allocation_again(start, 600, &scene, &stepper);
}

TEST(DividedStepAllocation, NoneInARepeatedMotion) {
  const char* const bodies = R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.2" euler="0 20 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
<body pos="0.02 0 0.5"><freejoint/><geom size="0.1"/></body>
<body pos="1 0 0.3"><joint axis="0 1 0" range="-20 60"/><geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/></body>
</worldbody>)";
  expect_no_allocation(bodies, make_options(contact::ContactModel::no_slip),
                       Integrator::event_driven);
  expect_no_allocation(bodies, make_options(contact::ContactModel::viscous), Integrator::rk4);
}

TEST(TaxelAllocation, NoneInARepeatedMotion) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom name="pad" type="box" size="0.02 0.025 0.01"/><body pos="0 0 0.017"><freejoint/>
<geom name="block" type="box" size="0.01 0.008 0.006" mass="0.3" euler="5 3 20"/></body></worldbody>
<asset><mesh name="plate" builtin="plate" params="8 8" scale="0.02 0.02 0.01"/></asset>
<sensor><tactile geom="block" mesh="plate"/></sensor>)"));
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  materials.geoms[scene.geom("pad")].hydroelastic_modulus = 1e6;
  materials.geoms[scene.geom("block")].rigid = true;
  const std::vector<mjtNum> start = scene.state();
  Stepper stepper(scene.model, make_options(contact::ContactModel::lagged), materials);
  stepper.set_taxels(std::vector<plant::TaxelGrid>{{.name = "skin",
                                                    .geom = scene.geom("pad"),
                                                    .pos = {0, 0, 0.01},
                                                    .size = {0.04, 0.05},
                                                    .shape = {20, 25}}});
  double pressed = 0;
  for (int i = 0; i < 200; ++i)
    for (const double x : stepper.step(scene.data).read_taxels().force) pressed += std::abs(x);
  EXPECT_GT(pressed, 0);
  expect_no_allocation_again(start, 200, &scene, &stepper);
}

std::string name_of_allocation(const testing::TestParamInfo<Allocation::ParamType>& info) {
  return std::string(contact::traits(std::get<0>(info.param)).name) + "_" +
         std::to_string(std::get<1>(info.param)) + "_threads";
}
INSTANTIATE_TEST_SUITE_P(ModelsAndThreads, Allocation,
                         testing::Combine(testing::ValuesIn(compliant_models()),
                                          testing::Values(1, 2)),
                         name_of_allocation);
INSTANTIATE_TEST_SUITE_P(ModelsAndThreads, MotionAllocation,
                         testing::Combine(testing::ValuesIn(convex_models()),
                                          testing::Values(1, 2)),
                         name_of_allocation);

/// There is no test at rest, because balls do not come to rest without rolling friction.
INSTANTIATE_TEST_SUITE_P(RigidModels, MotionAllocation,
                         testing::Combine(testing::ValuesIn(fast_rigid_models()),
                                          testing::Values(1, 2)),
                         name_of_allocation);

/// The tests of batches have one thread; what other threads do is the same.
class BatchAllocation : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, BatchAllocation, testing::ValuesIn(convex_models()), model_name);
INSTANTIATE_TEST_SUITE_P(Rigid, BatchAllocation, testing::ValuesIn(fast_rigid_models()),
                         model_name);

TEST_P(BatchAllocation, NoneAfterTheFirstStepAtRest) {
  Scene scene(make_pile(1));
  const StepOptions options = make_options(GetParam());
  Batch batch(scene.model, 3, {.nthread = 1, .persistent = 0}, options);
  ASSERT_EQ(batch.step(nullptr, 0, 1000, mjSTAGE_NONE), 0);
  const long before = count_allocations();
  int num_failed = 0;
  for (int i = 0; i < 100; ++i) num_failed += batch.step(nullptr, 0, 1, mjSTAGE_NONE);
  EXPECT_EQ(count_allocations() - before, 0);
  EXPECT_EQ(num_failed, 0);
}

}  // namespace
}  // namespace stiction::sim::sim_allocation_test
