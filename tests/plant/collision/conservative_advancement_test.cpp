#include "stiction/plant/collision/conservative_advancement.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "support/scene.hpp"

namespace stiction::plant::conservative_advancement_test {
namespace {

using support::make_mjcf;
using support::Scene;

constexpr double kTouching = ConservativeAdvancement::kTouching;

Touch find_touch(const Scene& scene, double duration) {
  ConservativeAdvancement advancement(scene.model);
  Touch touch;
  EXPECT_TRUE(advancement.calc(scene.model, scene.data, scene.data->qvel, duration, &touch))
      << advancement.error();
  return touch;
}

/// Returns the distance of two geoms after the bodies have moved for a time [m].
double calc_distance_at(const Scene& scene, double time, int geom1, int geom2) {
  Scene other(scene);
  if (time > 0) mj_integratePos(other.model, other.data->qpos, other.data->qvel, time);
  mj_kinematics(other.model, other.data);
  other->opt.ccd_tolerance = 1e-10;
  other->opt.ccd_iterations = 200;
  return mj_geomDistance(other.model, other.data, geom1, geom2, 100, nullptr);
}

TEST(ConservativeAdvancement, SphereTouchesAFloorAtItsDistanceOverItsSpeed) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.6"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[2] = -2;
  scene.data->qvel[0] = 3;
  for (const double spin : {0.0, 40.0}) {
    scene.data->qvel[4] = spin;
    const Touch touch = find_touch(scene, 1);
    EXPECT_LE(touch.time, 0.25);
    EXPECT_GE(touch.time, 0.25 - kTouching / 2);  // [m] over 2 m/s
    EXPECT_EQ(touch.geoms, (std::array{0, 1}));
    EXPECT_LE(touch.num_distances, 3) << "a sphere's spin does not matter";
    EXPECT_EQ(find_touch(scene, 0.2).time, 0.2);
    EXPECT_EQ(find_touch(scene, 0.2).geoms[0], -1);
  }
}

/// Rounding tilts a cylinder that has turned about its axis, and MuJoCo's distance of it from the
/// floor is wrong by up to its radius.
TEST(ConservativeAdvancement, UprightCylinderTouchesAFloorAtItsDistanceOverItsSpeed) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.15"><freejoint/><geom type="cylinder" size="0.1 0.05"/></body></worldbody>)"));
  scene.data->qvel[2] = -2;
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 300; ++trial) {
    const double tilt = std::pow(10, -16 + 4 * (trial % 10) / 10.0), yaw = normal(rng);
    mjtNum* q = scene.data->qpos + 3;
    q[0] = std::cos(yaw);
    q[1] = tilt * normal(rng);
    q[2] = tilt * normal(rng);
    q[3] = std::sin(yaw);
    const Touch touch = find_touch(scene, 0.1);
    EXPECT_LE(touch.time, 0.05);
    EXPECT_GE(touch.time, 0.05 - kTouching / 2);
  }
}

TEST(ConservativeAdvancement, GeomsTouchAtTheirMargin) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1" margin="0.1"/>
<body pos="0 0 0.6"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[2] = -2;
  EXPECT_NEAR(find_touch(scene, 1).time, 0.2, kTouching);
}

/// A box of side 2a spins about a horizontal axis through its center and does not fall. Its lowest
/// corner is a sqrt(2) cos(pi/4 - angle) below the center.
TEST(ConservativeAdvancement, CornerOfATurningBoxTouchesOnItsCircle) {
  const double a = 0.1, height = 0.13, spin = 2;
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.13"><freejoint/><geom type="box" size="0.1 0.3 0.1"/></body></worldbody>)"));
  scene.data->qvel[4] = spin;
  const double exact =
      (std::numbers::pi / 4 - std::acos(height / (a * std::numbers::sqrt2))) / spin;
  const Touch touch = find_touch(scene, 1);
  // The corner moves down at spin a sqrt(2) sin(acos(..)) = 0.11 m/s.
  EXPECT_LE(touch.time, exact);
  EXPECT_GE(touch.time, exact - 1.5 * kTouching / 0.11);
}

/// A rod of length l turns on a hinge at height h. Its tip touches the floor when sin(angle) = h/l.
TEST(ConservativeAdvancement, RodOnAHingeTouchesWithItsTip) {
  const double length = 0.5, height = 0.3, radius = 0.02, speed = 3;
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.3"><joint axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/></body></worldbody>)"));
  scene.data->qvel[0] = speed;
  const double exact = std::asin((height - radius) / length) / speed;
  const Touch touch = find_touch(scene, 1);
  EXPECT_LE(touch.time, exact);
  EXPECT_GE(touch.time, exact - 1.5 * kTouching / (speed * length * std::cos(exact * speed)));
}

/// A ball at the end of two arms. The outer hinge turns back as fast as the inner one turns.
TEST(ConservativeAdvancement, ArmOfTwoHingesTouchesWhereItsTipIs) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 1"><joint axis="0 1 0"/><geom size="0.01"/><body pos="0.6 0 0"><joint axis="0 1 0"/>
<geom pos="0.4 0 0" size="0.1"/></body></body></worldbody>)"));
  scene.data->qvel[0] = 2;
  scene.data->qvel[1] = -2;  // the outer arm stays level: its ball is 0.6 sin(2 t) down
  scene.data->qpos[0] = 0.2;
  scene.data->qpos[1] = -0.2;
  scene->geom_pos[5] = 0;
  // 1 - 0.1 = 0.6 sin(angle) has no solution, so start lower.
  scene->body_pos[5] = 0.5;
  const double exact = (std::asin(0.4 / 0.6) - 0.2) / 2;
  const Touch touch = find_touch(scene, 1);
  EXPECT_LE(touch.time, exact);
  EXPECT_NEAR(touch.time, exact, 3 * kTouching);
}

TEST(ConservativeAdvancement, PairsThatTouchAreIgnored) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1"/></body><body pos="0 0 0.5"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[2] = -1;
  scene.data->qvel[8] = -1;
  EXPECT_EQ(find_touch(scene, 0.1).time, 0.1) << "both balls fall at the same speed";
  scene.data->qvel[2] = 0;
  const Touch touch = find_touch(scene, 1);
  EXPECT_NEAR(touch.time, 0.2, kTouching);
  EXPECT_EQ(touch.geoms, (std::array{1, 2}));
}

TEST(ConservativeAdvancement, PairsWithinTheIgnoredDistanceAreIgnored) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.100005"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[2] = -1;
  ConservativeAdvancement advancement(scene.model);
  Touch touch;
  const auto time_with = [&](double ignored_distance) {
    EXPECT_TRUE(advancement.calc(scene.model, scene.data, scene.data->qvel, 1e-3, &touch,
                                 ignored_distance));
    return touch.time;
  };
  EXPECT_NEAR(time_with(kTouching), 5e-6, kTouching);
  EXPECT_EQ(time_with(2 * kTouching), touch.time) << "it is 5e-6 m away";
  EXPECT_EQ(time_with(1e-5), 1e-3);
}

/// Two balls fly toward each other. They touch unless MuJoCo does not collide them.
TEST(ConservativeAdvancement, SearchesOnlyPairsThatMuJoCoCollides) {
  const auto time_of = [](const std::string& first, const std::string& second,
                          const std::string& more) {
    Scene scene(make_mjcf(
        "", "<worldbody><body name=\"a\"><freejoint/><geom name=\"a\" size=\"0.1\" " + first +
                "/></body><body name=\"b\" pos=\"1 0 0\"><freejoint/><geom name=\"b\" "
                "size=\"0.1\" " +
                second + "/></body></worldbody>" + more));
    scene.data->qvel[0] = 4;
    return find_touch(scene, 1).time;
  };
  EXPECT_NEAR(time_of("", "", ""), 0.2, kTouching);
  EXPECT_EQ(time_of("contype=\"0\" conaffinity=\"2\"", "", ""), 1);
  EXPECT_EQ(time_of("", "", "<contact><exclude body1=\"a\" body2=\"b\"/></contact>"), 1);
  EXPECT_NEAR(time_of("contype=\"0\" conaffinity=\"0\"", "contype=\"0\" conaffinity=\"0\"",
                      "<contact><pair geom1=\"a\" geom2=\"b\" margin=\"0.2\"/></contact>"),
              0.15, kTouching);
  // Parent and child do not collide.
  Scene scene(make_mjcf(
      "",
      R"(<worldbody><body><freejoint/><geom size="0.1"/><body pos="1 0 0"><joint type="slide" axis="1 0 0"/>
<geom size="0.1"/></body></body></worldbody>)"));
  scene.data->qvel[6] = -4;
  EXPECT_EQ(find_touch(scene, 0.24).time, 0.24);
}

TEST(ConservativeAdvancement, HeightFieldsTouchAtTheirPeaks) {
  Scene scene(make_mjcf(
      "",
      R"(<asset><hfield name="h" nrow="3" ncol="3" size="1 1 0.5 0.1" elevation="0 0 0 0 1 0 0 0 0"/></asset>
<worldbody><geom type="hfield" hfield="h"/><body pos="0 0 1"><freejoint/><geom size="0.1"/></body>
<body pos="0.9 0.9 1"><freejoint/><geom type="box" size="0.02 0.02 0.1"/></body></worldbody>)"));
  scene.data->qvel[2] = -2;
  EXPECT_NEAR(find_touch(scene, 1).time, 0.2, kTouching) << "1 - 0.1 - 0.5 at 2 m/s";
  scene.data->qvel[2] = 0;
  scene.data->qvel[8] = -2;
  // The height falls from 0.5 to 0 along max(|x|, |y|). The inner edge of the box, at 0.88, touches
  // first.
  EXPECT_NEAR(find_touch(scene, 1).time, (0.9 - 0.5 * (1 - 0.88)) / 2, kTouching);
}

TEST(ConservativeAdvancement, SignedDistanceFieldsAreErrors) {
  // MuJoCo compiles such geoms only with a plugin, so set the type in the model.
  Scene scene(make_mjcf("", R"(<worldbody><geom name="g" size="0.1"/></worldbody>)"));
  scene->geom_type[0] = mjGEOM_SDF;
  try {
    const ConservativeAdvancement advancement(scene.model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("geom 'g'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("euler"), std::string::npos) << e.what();
  }
}

std::string make_geom(std::mt19937_64* rng) {
  static const char* const kGeoms[] = {R"(type="sphere" size="0.1")",
                                       R"(type="capsule" size="0.04 0.1")",
                                       R"(type="ellipsoid" size="0.04 0.08 0.12")",
                                       R"(type="cylinder" size="0.05 0.1")",
                                       R"(type="box" size="0.05 0.07 0.1")",
                                       R"(type="mesh" mesh="wedge")"};
  return std::string("<geom pos=\"0.03 0 0.02\" ") + kGeoms[(*rng)() % 6] + "/>";
}

/// Returns a scene of a free body, and the tip of an arm with a slide, a ball and a hinge, or
/// another free body.
Scene make_pair(std::mt19937_64* rng) {
  const std::string free = "<body pos=\"0 0 0.5\"><freejoint/>" + make_geom(rng) + "</body>";
  const std::string other =
      (*rng)() % 2
          ? "<body pos=\"0.5 0 0.5\"><freejoint/>" + make_geom(rng) + "</body>"
          : "<body pos=\"1 0 0.5\"><joint type=\"slide\" axis=\"1 0 0\"/><joint type=\"ball\"/>"
            "<geom size=\"0.01\" contype=\"0\" conaffinity=\"0\"/><body pos=\"-0.3 0 0\"><joint "
            "axis=\"0 1 0\" pos=\"0 0 0.05\"/>" +
                make_geom(rng) + "</body></body>";
  return Scene(make_mjcf(
      "", R"(<asset><mesh name="wedge" vertex="0 0 0 0.2 0 0 0 0.1 0 0 0 0.1 0.1 0.1 0.1"/></asset>
<worldbody><geom type="plane" size="9 9 1"/>)" +
              free + other + "</worldbody>"));
}

TEST(ConservativeAdvancement, IsNeitherLateNorEarlyForRandomPairs) {
  std::mt19937_64 rng(7);
  std::normal_distribution<double> normal;
  int num_touches = 0;
  constexpr double kDuration = 0.3;
  for (int trial = 0; trial < 1000; ++trial) {
    Scene scene = make_pair(&rng);
    for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = 2 * normal(rng);
    mj_integratePos(scene.model, scene.data->qpos, scene.data->qvel, 0.1);
    for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = 2 * normal(rng);
    std::vector<std::array<int, 2>> pairs;
    for (int g = 0; g < scene->ngeom; ++g)
      for (int h = g + 1; h < scene->ngeom; ++h)
        if (scene->geom_bodyid[g] != scene->geom_bodyid[h] && scene->geom_contype[g] &&
            scene->geom_contype[h] && calc_distance_at(scene, 0, g, h) > kTouching)
          pairs.push_back({g, h});
    const Touch touch = find_touch(scene, kDuration);
    num_touches += touch.geoms[0] >= 0;
    Scene moved(scene);
    for (const auto& [g, h] : pairs) {
      for (int i = 0; i <= 50; ++i) {
        std::copy_n(scene.data->qpos, scene->nq, moved.data->qpos);
        mj_integratePos(scene.model, moved.data->qpos, scene.data->qvel, touch.time * i / 50);
        mj_kinematics(moved.model, moved.data);
        ASSERT_GT(mj_geomDistance(moved.model, moved.data, g, h, 10, nullptr), 0)
            << "trial " << trial << " geoms " << g << ", " << h << " at " << i << "/50 of "
            << touch.time;
      }
    }
    if (touch.geoms[0] < 0) continue;
    // The time is not early: the reported geoms touch then.
    EXPECT_LE(calc_distance_at(scene, touch.time, touch.geoms[0], touch.geoms[1]), 1.01 * kTouching)
        << trial;
  }
  EXPECT_GT(num_touches, 300);
}

TEST(ConservativeAdvancement, SearchOverTooManyTurnsGivesUpBeforeATouch) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.6">
    <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/></body></worldbody>)"));
  for (const double speed : {1e2, 1e4, 1e6, 1e9}) {
    scene.data->qvel[0] = speed;
    const Touch touch = find_touch(scene, 10);
    EXPECT_EQ(touch.is_given_up, speed > 1e3);
    EXPECT_LE(touch.num_distances, 5101);
    EXPECT_EQ(touch.time == 10, !touch.is_given_up);
    EXPECT_GT(touch.time, 0);
    EXPECT_GT(calc_distance_at(scene, touch.time, 0, 1), kTouching);
  }
}

}  // namespace
}  // namespace stiction::plant::conservative_advancement_test
