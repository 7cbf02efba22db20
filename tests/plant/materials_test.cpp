#include "stiction/plant/materials.hpp"

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant {
namespace {

class Materials : public testing::Test {
 protected:
  PairProperties combine(const Material& a, const Material& b) {
    table_.geoms = {a, b};
    return combine_materials(scene_.model, table_, 0, 1, 0.33);
  }

  support::Scene scene_{support::make_mjcf("", R"(<worldbody><geom size="1" friction="0.4"/>
<geom size="1" friction="0.9"/></worldbody>)")};
  MaterialTable table_ = make_default_materials(scene_.model);
};

TEST_F(Materials, CombineAsSpringsInSeries) {
  const PairProperties p = combine({1e5, 10, 0.01, 0.5}, {3e5, 50, 0.02, 1.0});
  EXPECT_DOUBLE_EQ(p.stiffness, 0.75e5);
  EXPECT_DOUBLE_EQ(p.dissipation, 0.75 * 10 + 0.25 * 50);  // the softer side weighs more
  EXPECT_DOUBLE_EQ(p.relaxation_time, 0.03);
  EXPECT_DOUBLE_EQ(p.friction, 2 * 0.5 * 1.0 / 1.5);
  EXPECT_TRUE(p.friction_is_ours);
  EXPECT_DOUBLE_EQ(p.share_of_first, 0.75);
}

TEST_F(Materials, CombineTheSameInEitherOrder) {
  const Material a{1e5, 10, 0.01, 0.5}, b{3e6, 50, 0.02, 1.0};
  const PairProperties ab = combine(a, b), ba = combine(b, a);
  EXPECT_DOUBLE_EQ(ab.stiffness, ba.stiffness);
  EXPECT_DOUBLE_EQ(ab.dissipation, ba.dissipation);
  EXPECT_DOUBLE_EQ(ab.friction, ba.friction);
  EXPECT_DOUBLE_EQ(ab.share_of_first, 1 - ba.share_of_first);
}

TEST_F(Materials, RigidSideTakesNoCompression) {
  const Material rigid{contact::kInfinity, 5, 0, 0.5}, soft{1e4, 30, 0, 0.5};
  const PairProperties p = combine(rigid, soft);
  EXPECT_EQ(p.stiffness, 1e4);
  EXPECT_EQ(p.dissipation, 30);
  EXPECT_EQ(p.share_of_first, 0);
  EXPECT_EQ(combine(soft, rigid).share_of_first, 1);
  const PairProperties both = combine(rigid, rigid);
  EXPECT_EQ(both.stiffness, contact::kInfinity);
  EXPECT_EQ(both.dissipation, 5);
  EXPECT_EQ(both.share_of_first, 0.5);
}

TEST_F(Materials, FrictionWithoutPropertiesIsMuJoCos) {
  const PairProperties p = combine(kDefaultMaterial, kDefaultMaterial);
  EXPECT_EQ(p.friction, 0.33);
  EXPECT_FALSE(p.friction_is_ours);
}

TEST_F(Materials, FrictionOfOneSideMeetsTheOthersMjcfCoefficient) {
  Material a = kDefaultMaterial;
  a.friction = 0.6;
  EXPECT_DOUBLE_EQ(combine(a, kDefaultMaterial).friction, 2 * 0.6 * 0.9 / 1.5);
  EXPECT_DOUBLE_EQ(combine(kDefaultMaterial, a).friction, 2 * 0.4 * 0.6 / 1.0);
  a.friction = 0;
  EXPECT_EQ(combine(a, kDefaultMaterial).friction, 0);
  EXPECT_EQ(combine(a, a).friction, 0);  // 0 / 0
}

}  // namespace
}  // namespace stiction::plant
