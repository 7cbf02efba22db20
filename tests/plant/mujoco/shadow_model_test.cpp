#include "stiction/plant/mujoco/shadow_model.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::shadow_model_test {
namespace {

const char* const kTwoGeoms = R"(<mujoco><worldbody><geom type="plane" size="1 1 1" gap="0.5"/>
    <body><freejoint/><geom name="ball" size="0.1" gap="0.25"/></body></worldbody></mujoco>)";

TEST(ShadowModel, FollowsTheOptionsAndFlagsOfTheModel) {
  support::Scene scene(kTwoGeoms);
  ShadowModel shadow(scene.model);
  scene->opt.timestep = 0.125;
  scene->opt.gravity[0] = 3;
  scene->flg_surfacevel = 1;
  shadow.follow(scene.model);
  EXPECT_EQ(shadow->opt.timestep, 0.125);
  EXPECT_EQ(shadow->opt.gravity[0], 3);
  EXPECT_EQ(shadow->flg_surfacevel, 1);
}

TEST(ShadowModel, SharesTheArraysOfTheModel) {
  support::Scene scene(kTwoGeoms);
  const ShadowModel shadow(scene.model);
  scene->geom_size[3 * scene.geom("ball")] = 2;
  EXPECT_EQ(shadow->geom_size[3 * scene.geom("ball")], 2);
}

TEST(ShadowModel, FollowUndoesTheEditsOfOptions) {
  support::Scene scene(kTwoGeoms);
  ShadowModel shadow(scene.model);
  shadow.edit()->opt.timestep = 1;
  disable_midphase(shadow.edit());
  EXPECT_NE(scene->opt.timestep, 1);
  shadow.follow(scene.model);
  EXPECT_EQ(shadow->opt.timestep, scene->opt.timestep);
  EXPECT_EQ(shadow->opt.disableflags, scene->opt.disableflags);
}

TEST(ShadowModel, AnArrayOfItsOwnHidesThatOfTheModel) {
  support::Scene scene(kTwoGeoms);
  ShadowModel shadow(scene.model);
  mjtNum* const gap = shadow.own(&mjModel::geom_gap, scene->ngeom);
  EXPECT_EQ(gap[0], 0.5);
  gap[1] = 7;
  EXPECT_EQ(shadow->geom_gap[1], 7);
  EXPECT_EQ(scene->geom_gap[1], 0.25);
  scene->geom_gap[0] = 0.75;
  EXPECT_EQ(shadow.own(&mjModel::geom_gap, scene->ngeom), gap);
  EXPECT_EQ(gap[0], 0.75);
  EXPECT_EQ(gap[1], 0.25);
}

TEST(ShadowModel, ArraysOfItsOwnMoveWithIt) {
  support::Scene scene(kTwoGeoms);
  ShadowModel shadow(scene.model);
  shadow.own(&mjModel::geom_gap, scene->ngeom)[1] = 7;
  const ShadowModel moved(std::move(shadow));
  EXPECT_EQ(moved->geom_gap[1], 7);
}

TEST(ShadowModel, FollowsAnotherModelWithItsArrays) {
  support::Scene scene(kTwoGeoms), other(scene);
  ShadowModel shadow(scene.model);
  other->geom_size[3] = 3;
  shadow.follow(other.model);
  EXPECT_EQ(shadow->geom_size, other->geom_size);
}

}  // namespace
}  // namespace stiction::plant::shadow_model_test
