// The velocities of mocap bodies, from the poses of successive steps.
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "support/scene.hpp"

namespace stiction::plant::mocap_motion_test {
namespace {

using support::Scene;

constexpr double kStep = 0.01;  // [s]

class Mocap : public testing::Test {
 protected:
  /// Moves the body by a distance and a rotation vector, and starts a step.
  void step(const std::array<double, 3>& moved, const std::array<double, 3>& turned = {}) {
    mju_addTo3(d->mocap_pos, moved.data());
    mjtNum axis[3], turn[4], next[4];
    mju_copy3(axis, turned.data());
    const double angle = mju_normalize3(axis);
    mju_axisAngle2Quat(turn, axis, angle);
    mju_mulQuat(next, turn, d->mocap_quat);
    mju_copy4(d->mocap_quat, next);
    motion.start(scene.model, d, kStep, true);
    d->time += kStep;
  }
  std::array<double, 6> velocity() const {
    std::array<double, 6> V{};
    if (const double* given = motion.of_body(scene.model, scene.body("finger")))
      std::copy_n(given, 6, V.begin());
    return V;
  }
  void expect_velocity(const std::array<double, 6>& expected) const {
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(velocity()[i], expected[i], 1e-12) << i;
  }

  Scene scene{support::make_mjcf("", R"(<worldbody>
<body name="hand" mocap="true" pos="1 2 3" quat="1 2 3 4"><geom size="0.1"/>
  <body name="finger" pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body></body>
<body name="free" pos="5 0 0"><freejoint/><geom size="0.1"/></body></worldbody>)")};
  mjData* d = scene.data;
  MocapMotion motion;
};

TEST_F(Mocap, HasTheVelocityThatTwoStepsShare) {
  step({0, 0, 0});
  expect_velocity({});
  step({0.02, 0, 0}, {0, 0, 0.03});
  expect_velocity({});  // the first displacement may be a jump
  step({0.02, 0, 0}, {0, 0, 0.03});
  expect_velocity({0, 0, 3, 2, 0, 0});
  step({0, 0.01, 0}, {0, 0, 0.05});
  expect_velocity({0, 0, 3, 0, 0, 0});  // a right angle; the rotation is the slower one
  step({0.003, 0.03, 0}, {0, 0, -0.05});
  const double length = std::hypot(0.003, 0.03);
  expect_velocity({0, 0, 0, 0.003 / length, 0.03 / length, 0});  // shortened to 0.01 m
}

TEST_F(Mocap, MovesEvenlyBetweenPosesThatAreSetNowAndThen) {
  constexpr int kSteps = 4;
  std::array<double, 3> last{};
  for (int i = 0; i < 5 * kSteps; ++i) {
    const double by = i % kSteps == 0 ? 0.02 : 0;
    step({by, 0, 0}, {0, 0, by});
    Scene placed(scene);
    motion.place_at_start(placed.model, placed.data);
    const std::array<double, 3> now = {placed.data->mocap_pos[0], 0, 0};
    if (i < 2 * kSteps) {  // the first pose is no displacement
      expect_velocity({});
    } else {
      expect_velocity({0, 0, 0.5, 0.5, 0, 0});
      EXPECT_EQ(motion.is_between(), i % kSteps != kSteps - 1);
      if (motion.is_between() && i % kSteps != 0) {
        EXPECT_NEAR(now[0] - last[0], 0.005, 1e-12);
      }
      if (!motion.is_between()) {
        EXPECT_NEAR(d->mocap_pos[0], 1 + 0.02 * (i / kSteps + 1), 1e-12);
      }
    }
    if (motion.is_between()) last = now;
  }
  step({0, 0, 0});
  expect_velocity({});  // the pose has not changed again
  for (int i = 0; i < 30; ++i) step({0, 0, 0});
  step({0.02, 0, 0});
  expect_velocity({});  // it has rested
}

TEST_F(Mocap, RestsAtDisplacementsOfHalfAGeom) {
  // The spheres have a diameter of 0.2 m.
  step({0, 0, 0});
  for (const double by : {0.1, 0.3, 5.0}) {
    for (int i = 0; i < 4; ++i) {
      step({by, 0, 0});
      expect_velocity({});
      EXPECT_NEAR(motion.jump(0), by / 0.2, 1e-9);
    }
  }
  for (int i = 0; i < 3; ++i) step({0.099, 0, 0});
  expect_velocity({0, 0, 0, 9.9, 0, 0});
  EXPECT_NEAR(motion.jump(0), 0, 1e-9);
}

TEST_F(Mocap, RestsAfterAJump) {
  for (int i = 0; i < 6; ++i) {
    step({i % 3 == 0 ? 0.5 : 0.0, 0, 0});
    expect_velocity({});
  }
}

TEST_F(Mocap, MovesByLargeDisplacementsThatAreRegular) {
  // 0.15 m every 4 steps, in spite of a diameter of 0.2 m. Two jumps are no motion.
  for (const double slow : {0.0, 0.02}) {  // displacement before
    motion = {};
    const int num_slow = slow > 0 ? 4 : 1;
    for (int i = 0; i < 40; ++i) {
      const int change = i / 4;
      step({i % 4 != 0 ? 0 : change < num_slow ? slow : 0.15, 0, 0});
      if (change >= num_slow)
        expect_velocity({0, 0, 0, change < num_slow + 2 ? 0 : 0.15 / (4 * kStep), 0, 0});
    }
  }
}

TEST_F(Mocap, MovesByPosesAtSixtyHertzThatAreRounded) {
  // The number of steps between two poses is 16 or 17. Poses in single precision turn a little.
  constexpr double kFine = 0.001, kSpeed = 9;
  for (int i = 0, changes = 0; i < 200; ++i) {
    const bool is_new = std::floor(60 * kFine * i) > std::floor(60 * kFine * (i - 1));
    if (is_new) {
      ++changes;
      d->mocap_pos[0] += kSpeed / 60;
      d->mocap_quat[1 + changes % 3] += 1e-7 * (changes % 5 - 2);
    }
    motion.start(scene.model, d, kFine, true);
    d->time += kFine;
    if (changes > 3 && is_new) {
      EXPECT_NEAR(velocity()[3], kSpeed, 0.05 * kSpeed);
    }
  }
}

TEST_F(Mocap, RestsAtLargeDisplacementsThatAreIrregular) {
  int next = 1;
  for (int i = 0, k = 0; i < 60; ++i) {
    const bool changes = i == next;
    if (changes) next += 2 + 2 * (k++ % 3);
    step({changes ? 0.15 : 0, 0, 0});
    expect_velocity({});
  }
}

TEST_F(Mocap, MovesByPosesThatAreSetAtExactlyTheLowestRate) {
  // 100 steps of 2 ms are more than 0.2 s in floating-point numbers.
  constexpr double kFine = 0.002;
  for (int i = 0; i < 600; ++i) {
    if (i % 100 == 0) d->mocap_pos[0] += 0.01;
    motion.start(scene.model, d, kFine, true);
    d->time += kFine;
    if (i > 300) expect_velocity({0, 0, 0, 0.05, 0, 0});
  }
}

TEST_F(Mocap, GoesOnUpToTwiceTheTimeAndAStep) {
  for (const double dt : {0.001, 0.002, 0.003, 0.01}) {
    for (int interval = 1; interval < 9; ++interval) {
      for (const int late : {0, 1}) {
        motion = {};
        const int last = 4 * interval + 1 + late;
        for (int i = 0; i <= last; ++i) {
          if (i == 0 || i == interval || i == 2 * interval || i == last) d->mocap_pos[0] += 0.01;
          motion.start(scene.model, d, dt, true);
          d->time += dt;
        }
        EXPECT_EQ(motion.is_any(), late == 0) << dt << " s, every " << interval << " steps";
      }
    }
  }
}

TEST(MocapExtent, CountsGeomsThatCollideByPairs) {
  constexpr std::array<double, 6> kMoved = {0, 0, 0, 0.01, 0, 0};
  constexpr std::array<double, 4> kUnit = {1, 0, 0, 0};
  constexpr const char* kBodies = R"(<worldbody>
<body mocap="true"><geom name="plate" type="box" size="0.005 1 1" contype="0" conaffinity="0"/></body>
<body pos="9 0 0"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>)";
  for (const char* pair :
       {R"(<pair geom1="plate" geom2="ball"/>)", R"(<pair geom1="ball" geom2="plate"/>)"}) {
    std::string bodies = kBodies;
    bodies.append("<contact>").append(pair).append("</contact>");
    Scene scene(support::make_mjcf("", bodies));
    EXPECT_NEAR(calc_mocap_share(scene.model, 0, kUnit.data(), kMoved), 1, 1e-12);
  }
  Scene scene(support::make_mjcf("", kBodies));
  EXPECT_LT(calc_mocap_share(scene.model, 0, kUnit.data(), kMoved), 0.5);
}

TEST_F(Mocap, RestsIfTheStepIsNotTheNextOneOfTheData) {
  const auto move = [&] {
    for (int i = 0; i < 3; ++i) step({0.02, 0, 0});
    ASSERT_TRUE(motion.is_any());
  };
  move();
  d->time += kStep;
  step({0.02, 0, 0});
  EXPECT_FALSE(motion.is_any()) << "another time";
  move();
  Scene other(scene);
  other.data->time = d->time;
  motion.start(other.model, other.data, kStep, true);
  EXPECT_FALSE(motion.is_any()) << "other data";
}

TEST_F(Mocap, ContinuesFromItsMemory) {
  for (int i = 0; i < 3; ++i) step({0.02, 0.01, 0}, {0.01, 0.02, 0});
  std::vector<std::uint64_t> words;
  base::WordWriter writer(&words);
  motion.write_memory(scene.model, &writer);
  MocapMotion other;
  base::WordReader reader(words);
  other.read_memory(scene.model, &reader);
  EXPECT_TRUE(reader.rest().empty());
  step({0.02, 0.01, 0}, {0.01, 0.02, 0});
  d->time -= kStep;
  other.start(scene.model, d, kStep, true);
  const double* V = other.of_body(scene.model, scene.body("hand"));
  ASSERT_NE(V, nullptr);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(V[i], velocity()[i]);
}

TEST_F(Mocap, MovesItsTreeAsItsPosesDo) {
  for (int i = 0; i < 3; ++i) step({0.02, 0.01, 0}, {0.01, 0.02, 0});
  // Compare the velocities of points with the difference of their positions.
  d->qvel[0] = 2;
  const auto locate = [&](double time) {
    Scene moved(scene);
    mju_copy(moved.data->qpos, d->qpos, static_cast<int>(scene->nq));
    motion.place(moved.model, moved.data, d->time - kStep + time);
    mj_integratePos(moved.model, moved.data->qpos, d->qvel, time);
    mj_kinematics(moved.model, moved.data);
    const mjtNum* p = moved.data->geom_xpos + 3 * 1;
    return std::array<double, 3>{p[0], p[1], p[2]};
  };
  constexpr double h = 1e-5;
  const auto before = locate(-h), after = locate(h);
  mj_kinematics(scene.model, d);
  mj_comPos(scene.model, d);
  BodyVelocities velocities;
  velocities.calc(scene.model, d, d->qvel, &motion);
  const int finger = scene.body("finger");
  const double* V = velocities.of_body(finger);
  mjtNum r[3], v[3];
  mju_sub3(r, d->geom_xpos + 3, d->subtree_com + 3 * scene->body_rootid[finger]);
  mju_cross(v, V, r);
  mju_addTo3(v, V + 3);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(v[i], (after[i] - before[i]) / (2 * h), 1e-6) << i;
  EXPECT_EQ(motion.of_body(scene.model, scene.body("free")), nullptr);
}

}  // namespace
}  // namespace stiction::plant::mocap_motion_test
