// The friction law `elastic` in motion: rolling, sticking and slipping in turn, and mocap bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"

namespace stiction::sim::anchor_motion_test {
namespace {

using contact::ContactModel;
using support::Scene;

TEST(AnchorMotion, AWheelRollsWithoutDrag) {
  for (const char* geom :
       {R"(type="sphere" size="0.1")", R"(type="cylinder" size="0.1 0.05" euler="90 0 0")"}) {
    for (const double dt : {2e-3, 1e-2}) {
      Scene scene(support::make_mjcf(
          tilt(0.1, dt), R"(<worldbody><geom type="plane" size="90 90 1" friction="0.8"/>
<body pos="0 0 0.1"><freejoint/><geom mass="1" friction="0.8" )" +
                             std::string(geom) + "/></body></worldbody>"));
      Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e7));
      run(&stepper, &scene, static_cast<int>(std::lround(0.25 / dt)));
      const double v = scene.data->qvel[0], t = scene.data->time;
      run(&stepper, &scene, static_cast<int>(std::lround(1 / dt)));
      const double share = std::strstr(geom, "sphere") ? 5.0 / 7 : 2.0 / 3;
      const double exact = share * kGravity * std::sin(0.1);
      EXPECT_NEAR((scene.data->qvel[0] - v) / (scene.data->time - t), exact, 1e-4 * exact)
          << geom << dt;
    }
  }
}

/// A turning arm with two fingers that hold a cube, and how the arm moves.
struct Gripper {
  const char* axis;
  double speed, dt, share;  // [rad/s], [s], and share of the friction cone
  bool swings = false;
};

/// Returns how fast the cube drifts in the frame of the arm [m/s], and the largest slip velocity
/// that the report gives for it [m/s].
std::array<double, 2> measure_drift(const Gripper& gripper, ContactModel model) {
  constexpr double kRadius = 0.3, kMass = 0.1;
  const std::string r = std::to_string(kRadius);
  Scene scene(support::make_mjcf(
      "timestep=\"" + std::to_string(gripper.dt) + "\"",
      R"(<worldbody><body name="arm" pos="0 0 1">
<joint type="hinge" axis=")" +
          std::string(gripper.axis) +
          R"("/><geom type="sphere" size=".02" mass="1e5"/>
<body pos=")" +
          r + R"( -.041 0"><joint name="a" type="slide" axis="0 1 0"/>
<geom type="box" size=".02 .02 .02" mass=".2" friction="1"/></body>
<body pos=")" +
          r + R"( .041 0"><joint name="b" type="slide" axis="0 -1 0"/>
<geom type="box" size=".02 .02 .02" mass=".2" friction="1"/></body></body>
<body name="cube" pos=")" +
          r +
          R"( 0 1"><freejoint/><geom type="box" size=".02 .02 .02" mass=".1" friction="1"/></body>
</worldbody><equality><joint joint1="a" joint2="b"/></equality>
<actuator><motor joint="a"/><motor joint="b"/></actuator>)"));
  const double load = kMass * (kGravity + kRadius * gripper.speed * gripper.speed);
  scene.data->ctrl[0] = scene.data->ctrl[1] = load / (2 * gripper.share);
  Stepper stepper(scene.model, make_elastic(model));
  std::array<mjtNum, 3> place{}, first{};
  double slip = 0;
  const double settled = 1 - 0.5 * gripper.dt, last = 3 - 0.5 * gripper.dt;  // in whole turns
  const int cube = scene.body("cube"), arm = scene.body("arm");
  while (scene.data->time < last) {
    const double t = scene.data->time;
    scene.data->qvel[0] = gripper.speed * (gripper.swings ? std::sin(2 * std::numbers::pi * t)
                                                          : std::min(1.0, 2 * t));
    const StepReport& report = stepper.step(scene.data);
    EXPECT_TRUE(report.ok()) << report.message;
    mj_kinematics(scene.model, scene.data);
    mjtNum way[3];
    mju_sub3(way, scene.data->xpos + 3 * cube, scene.data->xpos + 3 * arm);
    mju_mulMatTVec3(place.data(), scene.data->xmat + 9 * arm, way);
    place[1] = 0;  // the fingers yield along their normals
    if (t < settled) {
      first = place;
      continue;
    }
    for (const double v : report.contacts.slip_velocity) slip = std::max(slip, std::abs(v));
  }
  return {mju_dist3(place.data(), first.data()) / (last - settled), slip};
}

// Velocities carry the chords of arcs: 1.2 mm/s at 2 rad/s under `soft`.
TEST(AnchorMotion, ATurningGripperKeepsWhatItHolds) {
  constexpr double kTurn = std::numbers::pi;  // one turn from the first place to the last
  for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb})
    for (const Gripper& gripper :
         {Gripper{"0 0 1", 2, 2e-3, 0.8}, Gripper{"0 0 1", 6, 1e-2, 0.5},
          Gripper{"0 0 1", 6, 1e-3, 0.05}, Gripper{"0 1 0", kTurn, 1e-2, 0.3},
          Gripper{"1 0 0", kTurn, 2e-3, 0.3}, Gripper{"0 1 0", 3, 2e-3, 0.3, true},
          Gripper{"0 0 1", 3, 2e-3, 0.3, true}, Gripper{"0 0 1", 3, 2e-3, 0.6, true},
          Gripper{"0 0 1", 3, 1e-2, 0.3, true}}) {
      const auto [drift, slip] = measure_drift(gripper, model);
      EXPECT_LE(drift, 1e-9) << contact::traits(model).name << ' ' << gripper.axis << ' '
                             << gripper.speed << ' ' << gripper.dt << ' ' << gripper.share;
      if (gripper.speed != kTurn && !gripper.swings) {  // the load does not change
        EXPECT_LE(slip, 1e-9) << gripper.axis << ' ' << gripper.speed << ' ' << gripper.dt;
      }
    }
}

TEST(AnchorMotion, ABallThatRollsFarInAStepKeepsItsSpeed) {
  constexpr double kRadius = 0.05, kDt = 0.01;
  // In a step [rad]. From 2.1 on the normal does not tell the way of the contact, and beyond half a
  // turn poses show another turn.
  for (const double turn : {0.3, 0.6, 1.0, 1.4, 2.0, 2.15, 3.0, 4.0, 5.0, 6.2, 7.0}) {
    Scene scene(support::make_mjcf(tilt(0, kDt), R"(<worldbody>
<geom type="plane" size="900 90 1" friction="0.8"/>
<body pos="0 0 0.05"><freejoint/><geom size="0.05" mass="1" friction="0.8"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e7));
    run(&stepper, &scene, 10);
    const double speed = turn / kDt * kRadius;
    scene.data->qvel[0] = speed;
    scene.data->qvel[4] = turn / kDt;
    for (int i = 0; i < 200; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_LE(report.anchors.energy, 1e-6 * speed * speed) << turn;
    }
    EXPECT_NEAR(scene.data->qvel[0], speed, 1e-5 * speed) << turn;
    // The ball rolls on a radius that is shorter by its sag.
    EXPECT_NEAR(scene.data->qvel[4], turn / kDt, 3e-5 * turn / kDt) << turn;
  }
}

/// A box of 1 kg that a spring pulls over a plane. It breaks away at x = mu m g / kSpring, and then
/// x = V tau - V / omega sin(omega tau).
struct Pulled {
  static constexpr double kSpring = 1000, kSpeed = 0.1, kMu = 0.3;  // [N/m], [m/s], [-]
  double rms = 0;       // distance to the exact solution [m]
  double sticking = 0;  // largest motion before it breaks away [m]
};

Pulled pull(double dt, double stiffness, ContactModel model) {
  Scene scene(
      support::make_mjcf(tilt(0, dt), R"(<worldbody><geom type="plane" size="5 5 1" friction="0.3"/>
<body pos="0 0 .05"><freejoint/><geom type="box" size="0.2 0.2 0.05" mass="1" friction="0.3"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, stiffness));
  run(&stepper, &scene, static_cast<int>(std::lround(0.2 / dt)));
  const double start = scene.data->time, x0 = scene.data->qpos[0];
  constexpr double kBreaksAway = Pulled::kMu * kGravity / (Pulled::kSpring * Pulled::kSpeed);
  const double omega = std::sqrt(Pulled::kSpring);
  const int num_steps = static_cast<int>(std::lround((kBreaksAway + 0.15) / dt));
  Pulled out;
  for (int i = 0; i < num_steps; ++i) {
    const double pulled = Pulled::kSpeed * (scene.data->time - start) - (scene.data->qpos[0] - x0);
    scene.data->xfrc_applied[6] = Pulled::kSpring * pulled;
    run(&stepper, &scene);
    const double tau = scene.data->time - start - kBreaksAway;
    const double exact = tau > 0 ? Pulled::kSpeed * (tau - std::sin(omega * tau) / omega) : 0;
    const double error = scene.data->qpos[0] - x0 - exact;
    out.rms += error * error / num_steps;
    // The force is that of the start of the step, so the box breaks away a step later.
    if (tau < 0) out.sticking = std::max(out.sticking, std::abs(error));
  }
  out.rms = std::sqrt(out.rms);
  return out;
}

TEST(AnchorMotion, ABlockPulledByASpringSticksAndSlipsAsItsSolutionSays) {
  // Measured: 1.5e-5, 3.7e-6, 9.4e-7 and 2.2e-7 m at 8 to 1 ms, which is 0.23 dt^2.
  for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb}) {
    double before = 0;
    for (const double dt : {8e-3, 4e-3, 2e-3, 1e-3}) {
      const Pulled result = pull(dt, 1e9, model);
      EXPECT_LE(result.rms, 0.3 * dt * dt) << dt;
      EXPECT_LE(result.sticking, 1e-7) << dt;
      EXPECT_TRUE(before == 0 || before / result.rms >= 2) << dt;  // at least first order
      before = result.rms;
    }
  }
}

TEST(AnchorMotion, ABlockOnSoftSpringsYieldsByTheirDeflectionBeforeItBreaksAway) {
  // 2.9 N on four springs of 0.85e6 N/m are 0.9 um. The rest is the box's tilt.
  for (const double dt : {1e-3, 4e-3})
    EXPECT_LE(pull(dt, 1e6, ContactModel::lagged).sticking, 3e-6);
}

/// A box or ball that stands on a mocap body.
Scene make_carried(const char* geom) {
  return Scene(support::make_mjcf("timestep=\"0.002\"", R"(<worldbody>
<body mocap="true"><geom type="box" size="3 3 0.05" friction="0.5"/></body>
<body pos="0 0 0.1"><freejoint/><geom mass="1" )" + std::string(geom) +
                                                            "/></body></worldbody>"));
}

TEST(AnchorMotion, AJumpOfAMocapBodyKicksNothing) {
  for (const char* geom : {R"(type="box" size="0.1 0.1 0.05")", R"(type="sphere" size="0.05")"}) {
    // Also jumps that count as such by their size, along and about the normal.
    for (const double jump : {1e-4, 1e-2, 0.5, 3.2}) {
      for (const double turn : {0.0, 0.5}) {
        Scene scene = make_carried(geom);
        Stepper stepper(scene.model, make_elastic());
        run(&stepper, &scene, 500);
        if (jump < 3) scene.data->mocap_pos[0] += jump;
        const mjtNum axis[3] = {0, 0, 1};
        mju_axisAngle2Quat(scene.data->mocap_quat, axis, jump < 3 ? turn : std::numbers::pi / 2);
        for (int i = 0; i < 10; ++i) {
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << report.message;
          EXPECT_EQ(report.anchors.num_forgotten, 0);
          // The bodies still settle at 4e-9. Jumps gave 0.02 and more.
          EXPECT_LE(mju_norm(scene.data->qvel, 6), 2e-8) << geom << " " << jump << " " << turn;
        }
      }
    }
  }
}

TEST(AnchorMotion, AMocapBodyThatMovesTakesAlongWhatStandsOnIt) {
  // It accelerates to 0.1 m/s at a fifth of the friction, turns, and stops.
  Scene scene = make_carried(R"(type="box" size="0.1 0.1 0.05" pos="0.3 0 0")");
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  constexpr double kDt = 0.002, kRate = 1;  // [m/s^2]
  const double start = scene.data->time, x0 = scene.data->qpos[0];
  const auto place = [&](double t) {
    const double speeding = std::min(t, 0.1), braking = std::clamp(t - 0.6, 0.0, 0.1);
    const double even = std::clamp(t - 0.1, 0.0, 0.5);
    return 0.5 * kRate * speeding * speeding + 0.1 * even + (0.1 - 0.5 * kRate * braking) * braking;
  };
  for (int i = 0; i < 500; ++i) {
    const double moved = place(scene.data->time - start);
    scene.data->mocap_pos[0] = moved;
    run(&stepper, &scene);
  }
  EXPECT_NEAR(scene.data->qpos[0] - x0, place(10), 3 * kRate * kDt * kDt);
}

}  // namespace
}  // namespace stiction::sim::anchor_motion_test
