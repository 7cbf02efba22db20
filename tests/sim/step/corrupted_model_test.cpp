// Any number of the model is corrupted: the model is rejected, or steps succeed, or a step fails
// and changes nothing. There is never an abort, and never a state that is not finite.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <mujoco/mjxmacro.h>

#include "sim/step/stepping.hpp"
#include "stiction/base/error.hpp"
#include "support/trials.hpp"

namespace stiction::sim::corrupted_model_test {
namespace {

using support::Scene;

constexpr const char* kScene = R"(
<asset><mesh name="m" vertex="-.1 -.1 -.1  .1 -.1 -.1  -.1 .1 -.1  0 0 .1"/>
<hfield name="h" nrow="2" ncol="2" size="1 1 1 0.1" elevation="1 1 1 0"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1"/><geom type="hfield" hfield="h" pos="3 0 -0.5"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  <body pos="0.05 0 0.3"><freejoint/><geom name="upper" type="mesh" mesh="m" condim="6"/></body>
  <body pos="3 0 0.58"><freejoint/><geom type="ellipsoid" size="0.2 0.1 0.1" fluidshape="ellipsoid"/></body>
  <body mocap="true" pos="0 1 0.5"><geom size="0.05"/></body>
  <body name="arm" pos="0 -1 0.5" gravcomp="0.5"><joint name="a" axis="0 1 0" range="-5 5" stiffness="2" springyield="0.01" frictionloss="0.1" damping="0.1"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="s" pos="0.3 0 0"/>
    <body pos="0.3 0 0"><joint name="b" type="ball" range="0 20"/><geom type="cylinder" size="0.03 0.1"/><site name="t" pos="0.1 0 0"/></body></body>
  <body name="weight" pos="1 0 0.5"><freejoint/><geom size="0.05"/></body>
</worldbody>
<contact><pair geom1="floor" geom2="upper" friction="0.5 0.6 0.01 0.001 0.001"/></contact>
<equality><connect body1="weight" anchor="0 0 0.5"/></equality>
<tendon><fixed name="x" stiffness="3" springyield="0.01" frictionloss="0.1"><joint joint="a" coef="1"/></fixed>
<spatial name="y" limited="true" range="0 0.05"><site site="s"/><site site="t"/></spatial></tendon>
<actuator><position joint="a" kp="5" timeconst="0.1"/><motor tendon="x" ctrlrange="-1 1"/><muscle tendon="y" lengthrange="0.01 0.2"/></actuator>
<sensor><jointpos joint="a"/><accelerometer site="s"/><touch site="t"/></sensor>)";

/// An array of numbers of the model.
struct Array {
  const char* name;
  mjtNum* values;
  mjtSize size;
};

std::vector<Array> find_arrays(mjModel* m) {
  std::vector<Array> out;
  const auto add = [&]<class T>(const char* name, T* values, mjtSize size) {
    if constexpr (std::is_same_v<T, mjtNum>)
      if (size > 0) out.push_back({name, values, size});
  };
  MJMODEL_POINTERS_PREAMBLE(m)
  (void)nmocap, (void)nq, (void)nu, (void)na, (void)nplastic;
#define X(type, name, rows, columns) add(#name, m->name, static_cast<mjtSize>(m->rows) * (columns));
  MJMODEL_POINTERS
#undef X
#define X(type, name, n) add(#name, &m->opt.name, 1);
#define XVEC(type, name, n) add(#name, m->opt.name, n);
  MJOPTION_FIELDS
#undef XVEC
#undef X
  return out;
}

bool is_finite(const Scene& scene) {
  for (const mjtNum x : scene.state())
    if (!std::isfinite(x)) return false;
  return true;
}

class CorruptedModel : public testing::TestWithParam<double> {};

/// Takes three steps. A step that fails must leave the state unchanged bit for bit.
/// @return true if all steps succeeded
bool make_steps(Stepper* stepper, Scene* scene) {
  for (int step = 0; step < 3; ++step) {
    const std::vector<mjtNum> before = scene->state();
    const StepReport& report = stepper->step(scene->data);
    EXPECT_EQ(report.ok(), report.message.empty());
    EXPECT_EQ(report.num_steps, report.ok() ? 1 : 0);
    if (report.ok()) continue;
    const std::vector<mjtNum> after = scene->state();
    EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(mjtNum)), 0)
        << report.message;
    return false;
  }
  return true;
}

/// Calls f(scene, number, contact model) for some numbers of every array of a valid model.
template <class F>
void for_each_number(F&& f) {
  Scene good(support::make_mjcf(R"(timestep="0.002" density="1.2")", kScene));
  std::mt19937_64 rng(8);
  for (std::size_t k = 0; k < find_arrays(good.model).size(); ++k) {
    for (int trial = 0; trial < 4; ++trial) {
      Scene scene(good);
      const Array array = find_arrays(scene.model)[k];
      const auto i = std::uniform_int_distribution<mjtSize>(0, array.size - 1)(rng);
      SCOPED_TRACE(std::string(array.name) + "[" + std::to_string(i) + "]");
      f(&scene, &array.values[i], convex_models()[trial]);
      EXPECT_TRUE(is_finite(scene));
      EXPECT_GE(scene.data->time, 0);
    }
  }
}

TEST_P(CorruptedModel, IsRejectedOrAFailedStepChangesNothing) {
  int num_refused = 0, num_stepped = 0;
  for_each_number([&](Scene* scene, mjtNum* number, contact::ContactModel model) {
    *number = GetParam();
    try {
      Stepper stepper(scene->model, make_options(model));
      num_stepped += make_steps(&stepper, scene);
    } catch (const Error& error) {
      ++num_refused;
      EXPECT_FALSE(error.message().empty());
    }
  });
  // A check of the model finds these in all arrays that a step reads.
  const bool is_absurd = !(std::abs(GetParam()) < 1e250);
  if (is_absurd) {
    EXPECT_GT(num_refused, 350);
  }
  EXPECT_GT(num_stepped, is_absurd ? 15 : 80);
}

TEST_P(CorruptedModel, MayBeCorruptedBetweenSteps) {
  int num_failed = 0, num_stepped = 0;
  for_each_number([&](Scene* scene, mjtNum* number, contact::ContactModel model) {
    Stepper stepper(scene->model, make_options(model));
    run(&stepper, scene);
    *number = GetParam();
    ++(make_steps(&stepper, scene) ? num_stepped : num_failed);
  });
  const bool is_absurd = !(std::abs(GetParam()) < 1e250);
  if (is_absurd) {
    EXPECT_GT(num_failed, 350);
  }
  EXPECT_GT(num_stepped, is_absurd ? 15 : 80);
}

/// Returns the message of the refused model or of the failed step; empty if all steps succeeded.
std::string try_steps(Scene* scene) {
  try {
    Stepper stepper(scene->model, make_options(contact::ContactModel::coulomb));
    for (int step = 0; step < 20; ++step)
      if (const StepReport& report = stepper.step(scene->data); !report.ok()) return report.message;
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Not a number may be anywhere that a step does not read. It is never used silently.
TEST(NotANumber, IsNamedUnlessItHasNoEffect) {
  const Scene good(support::make_mjcf(R"(timestep="0.002" density="1.2")", kScene));
  Scene undisturbed(good);
  ASSERT_EQ(try_steps(&undisturbed), "");
  std::mt19937_64 rng(9);
  int num_named = 0;
  const auto poke = [&](const char* name, mjtSize size, auto&& set) {
    for (int trial = 0; trial < support::num_trials(5); ++trial) {
      const auto i = std::uniform_int_distribution<mjtSize>(0, size - 1)(rng);
      SCOPED_TRACE(std::string(name) + "[" + std::to_string(i) + "]");
      Scene scene(good);
      set(scene.model, i);
      const std::string message = try_steps(&scene);
      if (message.empty()) {
        EXPECT_EQ(scene.state(), undisturbed.state());
      } else {
        EXPECT_NE(message.find(" is nan, must be "), std::string::npos) << message;
        ++num_named;
      }
    }
  };
  const std::vector<Array> arrays = find_arrays(good.model);
  for (std::size_t k = 0; k < arrays.size(); ++k)
    poke(arrays[k].name, arrays[k].size, [k](mjModel* m, mjtSize i) {
      find_arrays(m)[k].values[i] = std::numeric_limits<double>::quiet_NaN();
    });
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  poke("mesh_vert", 3 * good.model->nmeshvert,
       [](mjModel* m, mjtSize i) { m->mesh_vert[i] = kNan; });
  poke("hfield_data", good.model->nhfielddata,
       [](mjModel* m, mjtSize i) { m->hfield_data[i] = kNan; });
  EXPECT_GT(num_named, support::num_trials(5) * 60);
}

TEST(Margin, ThatIsTooLargeIsNamed) {
  Scene scene(support::make_mjcf("", kScene));
  scene->geom_margin[2] = 1e9;
  EXPECT_NE(try_steps(&scene).find("margin is 1e+09, must be finite and at most 1e6"),
            std::string::npos);
  scene->geom_margin[2] = 1e6;
  EXPECT_EQ(try_steps(&scene), "");
}

INSTANTIATE_TEST_SUITE_P(Values, CorruptedModel,
                         testing::Values(std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(), -1.0, 0.0, 1e300,
                                         -1e300, 1e-300),
                         [](const auto& info) { return "value" + std::to_string(info.index); });

}  // namespace
}  // namespace stiction::sim::corrupted_model_test
