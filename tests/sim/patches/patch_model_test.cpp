// Changes of the model between steps, in pressure-field contact: filters are followed, and a change
// of a shape is refused.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::patch_model_test {
namespace {

using support::Scene;

constexpr double kHeight = 0.05;

/// A soft ball at rest on a rigid plane, beside a box that touches nothing.
struct Ball {
  Scene scene{support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom name="floor" type="plane" size="2 2 1"/><body pos="0 0 0.05"><freejoint/>
<geom name="ball" size="0.05" mass="1"/></body>
<geom name="block" type="box" size="0.1 0.1 0.1" pos="1 0 0.1" contype="0" conaffinity="0"/>
</worldbody>)")};
  plant::MaterialTable materials = make_materials();
  Stepper stepper{scene.model, make_options(contact::ContactModel::coulomb), materials};

  plant::MaterialTable make_materials() const {
    plant::MaterialTable table = plant::make_default_materials(scene.model);
    table.geoms[scene.geom("floor")].rigid = true;
    table.geoms[scene.geom("ball")].hydroelastic_modulus = 1e5;
    table.geoms[scene.geom("block")].hydroelastic_modulus = 1e5;
    return table;
  }
  double height() const { return scene.data->qpos[2]; }
};

TEST(PatchModel, ChangedFiltersActAtOnce) {
  Ball ball;
  ASSERT_NO_FATAL_FAILURE(run(&ball.stepper, &ball.scene, 2000));
  const double rest = ball.height();
  EXPECT_NEAR(rest, kHeight, 0.01);
  // Without a filter that matches, the ball falls freely.
  int* const contype = ball.scene.model->geom_contype;
  int* const conaffinity = ball.scene.model->geom_conaffinity;
  for (const char* name : {"floor", "ball"})
    contype[ball.scene.geom(name)] = conaffinity[ball.scene.geom(name)] = 0;
  ASSERT_NO_FATAL_FAILURE(run(&ball.stepper, &ball.scene, 10));
  EXPECT_NEAR(ball.height(), rest - 9.81 * 0.002 * 0.002 * 55, 1e-6);  // 1 + 2 + ... + 10
  // With it, the ball is pushed out again.
  contype[ball.scene.geom("ball")] = conaffinity[ball.scene.geom("floor")] = 2;
  ASSERT_NO_FATAL_FAILURE(run(&ball.stepper, &ball.scene, 2000));
  EXPECT_NEAR(ball.height(), rest, 1e-4);
}

TEST(PatchModel, AChangedRunEqualsThatOfANewStepper) {
  Ball ball;
  ASSERT_NO_FATAL_FAILURE(run(&ball.stepper, &ball.scene, 50));
  ball.scene.model->geom_condim[ball.scene.geom("ball")] = 1;
  ball.scene.model->geom_condim[ball.scene.geom("floor")] = 1;
  ball.scene.model->geom_contype[ball.scene.geom("block")] = 1;
  ball.scene.model->geom_friction[3 * ball.scene.geom("ball")] = 0.3;
  ball.scene.model->geom_friction[3 * ball.scene.geom("floor")] = 0.3;
  Ball other;
  for (const char* name : {"ball", "floor", "block"}) {
    const int geom = ball.scene.geom(name);
    other.scene.model->geom_condim[geom] = ball.scene.model->geom_condim[geom];
    other.scene.model->geom_contype[geom] = ball.scene.model->geom_contype[geom];
    other.scene.model->geom_friction[3 * geom] = ball.scene.model->geom_friction[3 * geom];
  }
  other.scene.set_state(ball.scene.state());
  Stepper fresh(other.scene.model, make_options(contact::ContactModel::coulomb), other.materials);
  fresh.set_state([&] {
    (void)ball.stepper.forward(ball.scene.data);  // follows the changes
    return ball.stepper.get_state();
  }());
  for (Ball* b : {&ball, &other}) b->scene.data->qvel[0] = 1;
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_FATAL_FAILURE(run(&ball.stepper, &ball.scene));
    ASSERT_NO_FATAL_FAILURE(run(&fresh, &other.scene));
    ASSERT_EQ(ball.scene.state(), other.scene.state()) << i;
    const mjContact &a = ball.scene.data->contact[0], &b = other.scene.data->contact[0];
    ASSERT_EQ(a.friction[0], 0.3);
    ASSERT_EQ(a.friction[0], b.friction[0]);
  }
  EXPECT_NEAR(ball.scene.data->qvel[0], 1, 1e-12);  // condim 1 has no friction
}

TEST(PatchModel, AChangedShapeIsRefused) {
  const auto change = [](const char* geom, const std::function<void(mjModel*, int)>& f) {
    Ball ball;
    EXPECT_TRUE(ball.stepper.step(ball.scene.data, 5).ok());
    f(ball.scene.model, ball.scene.geom(geom));
    const std::vector<mjtNum> before = ball.scene.state();
    const StepReport& report = ball.stepper.step(ball.scene.data);
    EXPECT_EQ(ball.scene.state() == before, !report.ok());
    return std::pair(report.status, report.message);
  };
  const auto [status, message] =
      change("ball", [](mjModel* m, int geom) { m->geom_size[3 * geom] = 0.1; });
  EXPECT_EQ(status, kModelChanged);
  EXPECT_EQ(
      message.find("geom 'ball': geom_size[0] was 0.05 when the simulator was made, and is 0.1"), 0)
      << message;
  EXPECT_NE(message.find("make a new Simulator"), std::string::npos) << message;
  EXPECT_EQ(change("block", [](mjModel* m, int geom) { m->geom_size[3 * geom + 2] = 0.2; }).first,
            kModelChanged);
  EXPECT_EQ(change("ball", [](mjModel* m, int geom) { m->geom_type[geom] = mjGEOM_BOX; }).first,
            kModelChanged);
  // MuJoCo draws a plane of this size, but it collides everywhere.
  EXPECT_EQ(change("floor", [](mjModel* m, int geom) { m->geom_size[3 * geom] = 5; }).first, kOk);
}

/// A law without patches is refused when the first pair begins to collide, as when a stepper is
/// made.
TEST(PatchModel, ALawWithoutPatchesIsRefusedWhenAPairAppears) {
  Ball ball;
  const int geoms[] = {ball.scene.geom("floor"), ball.scene.geom("ball")};
  for (const int geom : geoms)
    ball.scene.model->geom_contype[geom] = ball.scene.model->geom_conaffinity[geom] = 0;
  StepOptions options = make_options(contact::ContactModel::lagged);
  options.parameters.normal_law = contact::NormalLawKind::hertz;
  Stepper stepper(ball.scene.model, options, ball.materials);
  ASSERT_TRUE(stepper.step(ball.scene.data).ok());
  for (const int geom : geoms)
    ball.scene.model->geom_contype[geom] = ball.scene.model->geom_conaffinity[geom] = 1;
  const StepReport& report = stepper.step(ball.scene.data);
  EXPECT_EQ(report.status, kModelChanged);
  EXPECT_NE(report.message.find("normal_law"), std::string::npos) << report.message;
}

}  // namespace
}  // namespace stiction::sim::patch_model_test
