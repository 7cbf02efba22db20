// Poisons every number of a model that a step reads, and all arrays that it does not read.
#include "stiction/plant/model/model_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <mujoco/mjxmacro.h>

#include "sim/step/stepping.hpp"
#include "stiction/base/error.hpp"

namespace stiction::sim::model_numbers_test {
namespace {

using plant::NumberArray;
using plant::Range;
using support::Scene;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr const char* kScene = R"(
<asset><mesh name="m" vertex="-.1 -.1 -.1  .1 -.1 -.1  -.1 .1 -.1  0 0 .1"/>
<texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="paint" texture="t"/>
<hfield name="h" nrow="3" ncol="3" size="1 1 1 0.1" elevation="1 1 1 1 0 1 1 1 1"/></asset>
<worldbody>
  <light name="lamp" pos="0 0 3"/><camera name="eye" pos="0 0 3" mode="trackcom"/>
  <camera name="lens" pos="0 -1 3" focal="0.01 0.01" sensorsize="0.01 0.01" resolution="10 10"/>
  <geom name="floor" type="plane" size="9 9 1" material="paint"/>
  <geom name="terrain" type="hfield" hfield="h" pos="3 0 -0.5"/>
  <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
    <site name="pad" type="box" size=".2 .2 .2"/></body>
  <body name="mesh" pos="0.05 0 0.3"><freejoint/><geom name="upper" type="mesh" mesh="m" condim="6"/></body>
  <body name="egg" pos="3 0 0.58"><freejoint/><geom type="ellipsoid" size="0.2 0.1 0.1" fluidshape="ellipsoid"/></body>
  <body mocap="true" pos="0 1 0.5"><geom size="0.05"/></body>
  <body name="arm" pos="0 -1 0.5" gravcomp="0.5"><joint name="a" axis="0 1 0" range="-5 5" stiffness="2" frictionloss="0.1" damping="0.1"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="s" pos="0.3 0 0"/>
    <body pos="0.3 0 0"><joint name="b" type="ball" range="0 20"/><geom type="cylinder" size="0.03 0.1"/><site name="t" pos="0.1 0 0"/></body></body>
  <body name="weight" pos="1 0 0.5"><freejoint/><geom size="0.05"/></body>
</worldbody>
<contact><pair geom1="floor" geom2="upper" friction="0.5 0.6 0.01 0.001 0.001"/></contact>
<equality><connect body1="weight" anchor="0 0 0.5"/></equality>
<tendon><fixed name="x" stiffness="3" frictionloss="0.1"><joint joint="a" coef="1"/></fixed>
<spatial name="y" limited="true" range="0 0.05" stiffness="1"><site site="s"/><site site="t"/></spatial></tendon>
<actuator><position joint="a" kp="5" timeconst="0.1" forcerange="-9 9"/><motor tendon="x" ctrlrange="-1 1" delay="0.004" nsample="4"/><muscle tendon="y" lengthrange="0.01 0.2"/></actuator>
<sensor><jointpos joint="a"/><accelerometer site="s"/><touch site="pad"/><magnetometer site="s"/><framepos objtype="camera" objname="eye"/>
<camprojection site="s" camera="lens"/><rangefinder site="s"/></sensor>
<keyframe><key time="1"/></keyframe>)";

/// A mesh with an octree, which has 30,000 cells.
constexpr const char* kOctree = R"(
<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><geom type="sdf" mesh="m"/></worldbody>)";

/// Calls f(name, array, number of rows, number of columns) for the arrays of floating-point
/// numbers.
template <class F>
void for_each_array(mjModel* m, F&& f) {
  const auto call = [&]<class T>(const char* name, T* values, mjtSize rows, mjtSize columns) {
    if constexpr (std::is_floating_point_v<T>) f(name, values, rows, columns);
  };
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns) call(#name, m->name, m->rows, columns);
  MJMODEL_POINTERS
#undef X
}

Scene make_scene(const char* body = kScene) {
  return Scene(support::make_mjcf(R"(timestep="0.002" density="1.2" magnetic="0 0 1")", body));
}

TEST(ModelNumbers, TheSceneHasEveryArray) {
  Scene scene = make_scene();
  for (const NumberArray& array : plant::list_numbers(scene.model))
    EXPECT_TRUE(array.count > 0 || array.field.starts_with("oct_")) << array.field;
}

/// Returns the message of the refused model or of the failed step; empty if all steps succeed.
/// @param poison  is called before the simulator is made, or between two of its steps
std::string find_message(Scene* scene, bool is_between, const std::function<void()>& poison) {
  try {
    if (!is_between) poison();
    Stepper stepper(scene->model, make_options(contact::ContactModel::coulomb));
    if (is_between) {
      EXPECT_TRUE(stepper.step(scene->data).ok());
      poison();
    }
    return stepper.step(scene->data).message;
  } catch (const Error& error) {
    return error.what();
  }
}

/// Values that no number of a range may have.
std::vector<double> find_poisons(Range range) {
  if (range == Range::kNotNan) return {kNan};
  if (plant::interval_of(range).has_negative) return {kNan, kInf, -kInf, 1e300};
  return {kNan, kInf, -kInf, 1e300, -1e5};
}

/// Poisons a number before and between steps, and expects errors that name its place.
template <class Number>
void expect_named(Scene* scene, const Number* address, Range range, const std::string& place) {
  auto* number = const_cast<Number*>(address);
  const Number good = *number;
  const std::vector<mjtNum> state = scene->state();
  for (const double poison : find_poisons(range))
    for (const bool is_between : {false, true}) {
      const std::string message =
          find_message(scene, is_between, [&] { *number = static_cast<Number>(poison); });
      EXPECT_NE(message.find(" must be "), std::string::npos) << place << " " << poison << message;
      EXPECT_NE(message.find("; correct model." + place), std::string::npos)
          << place << " " << poison << message;
      *number = good;
      scene->set_state(state);
    }
}

/// Poisons the first and the last number of an array.
template <class Number>
void expect_ends_named(Scene* scene, const NumberArray& array, const Number* values) {
  const std::string field(array.field);
  const auto name = [&](const std::string& row, int column) {
    if (array.count == 1 && array.count_name.empty()) return field;
    return field + "[" + row + (array.width > 1 ? ", " + std::to_string(column) : "") + "]";
  };
  expect_named(scene, values, array.range, name("0", 0));
  expect_named(scene, values + array.size() - 1, array.range,
               name(std::to_string(array.count - 1), array.width - 1));
}

TEST(ModelNumbers, EachIsNamedIfItIsNotInItsRange) {
  Scene scene = make_scene();
  for (const NumberArray& array : plant::list_numbers(scene.model)) {
    if (array.count == 0) continue;
    if (array.numbers)
      expect_ends_named(&scene, array, array.numbers);
    else
      expect_ends_named(&scene, array, array.floats);
  }
}

TEST(ModelNumbers, ACellOfAnOctreeIsNamed) {
  Scene scene = make_scene(kOctree);
  for (mjtNum* number : {scene->oct_aabb + 7, scene->oct_coeff + 9}) {
    const mjtNum good = *number;
    const std::string message = find_message(&scene, false, [&] { *number = kNan; });
    EXPECT_NE(message.find("octree cell 1: "), std::string::npos) << message;
    *number = good;
  }
}

/// A call of step reads a part of a large array, so a number is found after as many calls as there
/// are parts, and from then on in each call.
TEST(ModelNumbers, ALargeArrayIsCheckedInTurn) {
  Scene scene = make_scene(kOctree);
  Stepper stepper(scene.model, make_options(contact::ContactModel::coulomb));
  run(&stepper, &scene, 2);
  scene->oct_coeff[8 * scene->noct - 1] = kInf;
  const int num_parts = static_cast<int>((8 * scene->noct + 255) / 256);
  int num_steps = 0;
  while (num_steps <= num_parts && stepper.step(scene.data).ok()) ++num_steps;
  EXPECT_EQ(num_steps, num_parts - 2);
  EXPECT_NE(stepper.step(scene.data).message.find("coefficient is inf"), std::string::npos);
}

/// Each call of step checks one part, however many steps it takes.
TEST(ModelNumbers, ALargeArrayIsCheckedInTurnByCallsOfManySteps) {
  Scene scene =
      make_scene(R"(<asset><hfield name="h" nrow="100" ncol="100" size="1 1 1 0.1"/></asset>
<worldbody><geom type="hfield" hfield="h"/></worldbody>)");
  constexpr int kNumParts = 40;  // of 10,000 numbers
  Stepper stepper(scene.model, make_options(contact::ContactModel::coulomb));
  run(&stepper, &scene, kNumParts);
  scene->hfield_data[scene->nhfielddata - 1] = -1;
  int num_calls = 0;
  while (num_calls < 2 * kNumParts && stepper.step(scene.data, kNumParts).ok()) ++num_calls;
  EXPECT_EQ(num_calls, kNumParts - 2);
  EXPECT_NE(stepper.step(scene.data).message.find("elevation is -1"), std::string::npos);
}

TEST(ModelNumbers, RowsThatAreNoRotationOrAxisAreNamed) {
  const Scene sizes = make_scene();
  for (const NumberArray& array : plant::list_numbers(sizes.model)) {
    if (!plant::is_row(array.range)) continue;
    const mjtSize place = array.numbers - static_cast<const mjtNum*>(sizes.model->buffer);
    const bool is_unit = array.range == Range::kUnitRow;
    for (const double scale : {0.0, 0.9}) {
      Scene scene = make_scene();
      const std::vector<mjtNum> state = scene.state();
      mjtNum* row = static_cast<mjtNum*>(scene.model->buffer) + place;
      const std::string expected =
          scale == 0 || is_unit ? "; normalize model." + std::string(array.field) + "[0]" : "";
      for (const bool is_between : {true, false}) {
        const std::string message = find_message(&scene, is_between, [&] {
          for (int i = 0; i < array.width; ++i) row[i] *= scale;
        });
        EXPECT_EQ(message.empty(), expected.empty()) << array.field << message;
        EXPECT_NE(message.find(expected), std::string::npos) << array.field << message;
        scene.set_state(state);
      }
    }
  }
}

/// Returns the state and the sensors after some steps.
std::vector<mjtNum> run_steps(Scene* scene) {
  Stepper stepper(scene->model, make_options(contact::ContactModel::coulomb));
  run(&stepper, scene, 20);
  std::vector<mjtNum> out = scene->state();
  out.insert(out.end(), scene->data->sensordata,
             scene->data->sensordata + scene->model->nsensordata);
  return out;
}

TEST(ModelNumbers, ArraysThatAStepDoesNotReadChangeNothing) {
  Scene undisturbed = make_scene();
  const std::vector<mjtNum> expected = run_steps(&undisturbed);
  Scene scene = make_scene();
  for_each_array(scene.model,
                 [](const std::string& name, auto* values, mjtSize rows, mjtSize columns) {
                   using Number = std::remove_pointer_t<decltype(values)>;
                   if (plant::is_unread(name) && !name.starts_with("key_"))
                     std::fill_n(values, rows * columns, std::numeric_limits<Number>::quiet_NaN());
                 });
  EXPECT_EQ(run_steps(&scene), expected);
}

}  // namespace
}  // namespace stiction::sim::model_numbers_test
