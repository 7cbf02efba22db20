#include "stiction/plant/collision/geom_pair.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::geom_pair_test {
namespace {

using support::Scene;

constexpr const char* kScene = R"(
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <geom name="wall" type="box" size=".1 .1 .1"/>
  <body name="arm" pos="0 0 5"><joint/>
    <geom name="arm" size=".1" condim="4" friction="0.3 0.02 0.001"/><geom name="arm2" size=".1"/>
    <body name="plate"><geom name="plate" type="box" size=".1 .1 .1"/></body>
    <body name="hand"><joint/><geom name="hand" size=".1" margin="0.02" gap="0.005"/></body>
  </body>
  <body name="cube" pos="3 0 0"><freejoint/>
    <geom name="cube" type="box" size=".1 .1 .1" friction="0.8" priority="1"/>
    <geom name="ghost" size=".1" contype="0" conaffinity="0"/>
  </body>
  <body name="ball" pos="9 0 0"><freejoint/><geom name="ball" size=".1"/></body>
</worldbody>
<contact>
  <exclude body1="ball" body2="cube"/>
  <pair name="odd" geom1="ghost" geom2="ball" condim="1" friction="0.5 0.6 0.1 0.2 0.3"/>
  <pair name="close" geom1="hand" geom2="arm2"/>
</contact>)";

class GeomPairs : public testing::Test {
 protected:
  GeomPair probe(const char* a, const char* b) {
    return probe_geom_pair(scene_.model, scene_.geom(a), scene_.geom(b));
  }
  std::string reason(const char* a, const char* b) {
    const GeomPair ab = probe(a, b), ba = probe(b, a);
    EXPECT_EQ(ab.collides, ba.collides);
    EXPECT_EQ(ab.reason, ba.reason);
    return (ab.collides ? "yes: " : "no: ") + ab.reason;
  }
  Scene scene_{support::make_mjcf("", kScene)};
};

TEST_F(GeomPairs, HaveAReasonToCollideOrNot) {
  EXPECT_EQ(reason("floor", "cube"), "yes: by contype and conaffinity");
  EXPECT_EQ(reason("arm", "cube"), "yes: by contype and conaffinity");
  EXPECT_EQ(reason("arm", "floor"), "yes: by contype and conaffinity");
  EXPECT_EQ(reason("cube", "cube"), "no: it is the same geom");
  EXPECT_EQ(reason("wall", "floor"), "no: they belong to the same body 'world'");
  EXPECT_EQ(reason("arm", "arm2"), "no: they belong to the same body 'arm'");
  EXPECT_EQ(reason("arm", "plate"), "no: their bodies are fixed to each other");
  EXPECT_EQ(reason("ghost", "arm"), "no: contype and conaffinity do not match");
  EXPECT_EQ(reason("ball", "cube"), "no: an <exclude> element names their bodies");
  EXPECT_EQ(reason("hand", "arm"),
            "no: their bodies are parent and child, which collide only by a <pair>");
  EXPECT_EQ(reason("hand", "plate"),
            "no: their bodies are parent and child, which collide only by a <pair>");
  EXPECT_EQ(reason("ghost", "ball"), "yes: by pair 'odd'");
  EXPECT_EQ(reason("hand", "arm2"), "yes: by pair 'close'");
}

TEST_F(GeomPairs, FollowTheModelsFlags) {
  scene_->opt.disableflags |= mjDSBL_FILTERPARENT;
  EXPECT_EQ(reason("hand", "arm"), "yes: by contype and conaffinity");
  scene_->opt.disableflags |= mjDSBL_CONTACT;
  EXPECT_EQ(reason("floor", "cube"), "no: contacts are disabled by <option><flag>");
}

TEST_F(GeomPairs, BodiesFixedToTheWorldDoNotCollide) {
  Scene scene(support::make_mjcf("", R"(<worldbody><geom name="a" size="1"/>
<body><geom name="b" size="1"/></body></worldbody>)"));
  EXPECT_EQ(probe_geom_pair(scene.model, 0, 1).reason, "both are fixed to the world");
}

TEST_F(GeomPairs, TypesWithoutACollisionFunctionDoNotCollide) {
  Scene scene(support::make_mjcf("", R"(<worldbody><geom type="plane" size="1 1 1"/>
<body mocap="true"><geom type="plane" size="1 1 1"/></body></worldbody>)"));
  EXPECT_EQ(probe_geom_pair(scene.model, 0, 1).reason,
            "MuJoCo has no collision function for these two types");
}

TEST_F(GeomPairs, HaveTheParametersOfMuJoCo) {
  const mjContact larger = probe("arm", "ball").contact;
  EXPECT_EQ(larger.dim, 4);
  EXPECT_EQ(larger.friction[0], 1);
  EXPECT_EQ(larger.friction[2], 0.02);
  EXPECT_EQ(probe("arm", "cube").contact.friction[0], 0.8);  // by priority
  const mjContact pair = probe("ball", "ghost").contact;
  EXPECT_EQ(pair.dim, 1);
  EXPECT_EQ(pair.friction[1], 0.6);
}

TEST_F(GeomPairs, AgreeWithTheContactsOfACollision) {
  // All bodies are at the same place, so every pair that MuJoCo collides touches.
  std::fill_n(scene_->body_pos + 3 * scene_.body("arm"), 3, 0.0);
  for (const char* body : {"cube", "ball"})
    std::fill_n(scene_.data->qpos + scene_->jnt_qposadr[scene_->body_jntadr[scene_.body(body)]], 3,
                0.01);  // a box and a sphere with the same center have no normal
  mj_forward(scene_.model, scene_.data);
  int num_touching = 0;
  for (int a = 0; a < scene_->ngeom; ++a) {
    for (int b = a + 1; b < scene_->ngeom; ++b) {
      const mjContact* found = nullptr;
      for (int i = 0; i < scene_.data->ncon; ++i) {
        const mjContact& con = scene_.data->contact[i];
        if (std::minmax(con.geom[0], con.geom[1]) == std::minmax(a, b)) found = &con;
      }
      const GeomPair pair = probe_geom_pair(scene_.model, a, b);
      EXPECT_EQ(pair.collides, found != nullptr) << a << " " << b << " " << pair.reason;
      if (!found || !pair.collides) continue;
      ++num_touching;
      EXPECT_EQ(pair.contact.dim, found->dim);
      EXPECT_EQ(pair.contact.includemargin, found->includemargin);
      for (int k = 0; k < 5; ++k) EXPECT_EQ(pair.contact.friction[k], found->friction[k]);
      for (int k = 0; k < mjNREF; ++k) EXPECT_EQ(pair.contact.solref[k], found->solref[k]);
    }
  }
  EXPECT_GT(num_touching, 10);
}

}  // namespace
}  // namespace stiction::plant::geom_pair_test
