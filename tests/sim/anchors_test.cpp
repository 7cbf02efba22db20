// The friction law `elastic` in simulation: nothing that sticks creeps, rolling has no drag, no
// energy is made, and the anchors are remembered, saved and forgotten.
#include "stiction/sim/anchors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/anchor_scenes.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/anchor_sharing.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81;

/// Returns materials of a normal stiffness [N/m]; 0: near-rigid.
plant::MaterialTable make_stiff(const Scene& scene, double stiffness) {
  plant::Material material = plant::make_default_material();
  if (stiffness > 0) material.law.stiffness = stiffness;
  return make_materials(scene, material);
}

std::string tilt(double angle, double dt) {
  return "timestep=\"" + std::to_string(dt) + "\" gravity=\"" +
         std::to_string(kGravity * std::sin(angle)) + " 0 " +
         std::to_string(-kGravity * std::cos(angle)) + "\"";
}

/// A box of 1 kg on a plane with friction 0.5, tilted to a share of the friction cone.
Scene make_incline(double share, double dt) {
  return Scene(support::make_mjcf(tilt(std::atan(0.5 * share), dt), R"(<worldbody>
<geom type="plane" size="5 5 1" friction="0.5"/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5"/></body>
</worldbody>)"));
}

/// Returns how fast a coordinate moves on average in a time [m/s].
double measure_speed(Stepper* stepper, Scene* scene, int coordinate, double time) {
  const double x = scene->data->qpos[coordinate], t = scene->data->time;
  run(stepper, scene, static_cast<int>(std::lround(time / stepper->time_step())));
  return (scene->data->qpos[coordinate] - x) / (scene->data->time - t);
}

struct Incline {
  ContactModel model;
  double dt, stiffness;
};

class ElasticIncline : public testing::TestWithParam<Incline> {
 protected:
  Stepper make_stepper(const Scene& scene) const {
    return {scene.model, make_elastic(GetParam().model), make_stiff(scene, GetParam().stiffness)};
  }
};

TEST_P(ElasticIncline, BlockDoesNotCreepBelowTheCone) {
  for (const double share : {0.5, 0.99}) {
    Scene scene = make_incline(share, GetParam().dt);
    Stepper stepper = make_stepper(scene);
    run(&stepper, &scene, static_cast<int>(std::lround(1 / GetParam().dt)));
    EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-10) << share;
  }
}

TEST_P(ElasticIncline, BlockSlidesBeyondTheConeAsCoulombSays) {
  const double angle = std::atan(0.5 * 1.01);
  Scene scene = make_incline(1.01, GetParam().dt);
  Stepper stepper = make_stepper(scene);
  run(&stepper, &scene, static_cast<int>(std::lround(0.5 / GetParam().dt)));
  const double v = scene.data->qvel[0], t = scene.data->time;
  run(&stepper, &scene, static_cast<int>(std::lround(0.5 / GetParam().dt)));
  const double exact = kGravity * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR((scene.data->qvel[0] - v) / (scene.data->time - t), exact, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, ElasticIncline,
                         testing::Values(Incline{ContactModel::lagged, 1e-3, 0},
                                         Incline{ContactModel::lagged, 1e-3, 1e7},
                                         Incline{ContactModel::lagged, 2e-3, 1e12},
                                         Incline{ContactModel::lagged_regularized, 2e-3, 1e7},
                                         Incline{ContactModel::coulomb, 1e-3, 0},
                                         Incline{ContactModel::coulomb, 1e-2, 1e10}));

/// Returns how fast the plate moves in the frame of the wrist [m/s].
double measure_plate_drift(double dt, double stiffness, const StepOptions& options) {
  Scene scene(make_wrist(dt));
  Stepper stepper(scene.model, options, make_stiff(scene, stiffness));
  const auto turn = [&](double time) {
    const int num = static_cast<int>(std::lround(time / dt));
    for (int i = 0; i < num; ++i) {
      drive_wrist(&scene);
      run(&stepper, &scene);
    }
  };
  turn(0.6);
  const std::array<mjtNum, 3> before = find_plate(scene);
  turn(0.5);
  const std::array<mjtNum, 3> after = find_plate(scene);
  return mju_dist3(before.data(), after.data()) / 0.5;
}

TEST(Anchors, APlateThatTurnsStaysInItsGrip) {
  for (const double dt : {2e-3, 5e-3, 1e-2}) {
    for (const double k : {0.0, 1e6, 1e10})
      EXPECT_LE(measure_plate_drift(dt, k, make_elastic()), 1e-12) << dt << " " << k;
    // Without anchors it drifts by omega^2 r dt / 2.
    const double chord = 16 * 0.06 * dt / 2;
    EXPECT_NEAR(measure_plate_drift(dt, 0, make_options(ContactModel::lagged)), chord,
                0.15 * chord);
  }
}

TEST(Anchors, AStackOfTenTiltedBoxesComesToRest) {
  std::string bodies;
  for (int i = 0; i < 10; ++i) {
    const std::string half = std::to_string(0.05 - 0.002 * i);
    bodies += "<body pos=\"0 0 " + std::to_string(0.05 + 0.1 * i) +
              "\"><freejoint/><geom type=\"box\" mass=\"1\" friction=\"0.8\" size=\"" + half + " " +
              half + " 0.05\"/></body>";
  }
  Scene scene(support::make_mjcf(
      tilt(0.04, 0.01),
      R"(<worldbody><geom type="plane" size="5 5 1" friction="0.8"/>)" + bodies + "</worldbody>"));
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e7));
  run(&stepper, &scene, 400);
  for (const int box : {0, 9})
    EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 7 * box, 2)), 1e-11) << box;
}

/// A body of 1 kg at a share of the friction cone, whose contact points change from step to step.
struct Shifting {
  const char *floor, *body;
  double stiffness, dt, share;  // stiffness 0: near-rigid
  double largest;               // [m/s]
};

Shifting make_can(double stiffness, double dt, double share, double largest) {
  return {R"(type="box" size="3 1 0.1" pos="2 0 -0.1")",
          R"(type="cylinder" size="0.1 0.05")",
          stiffness,
          dt,
          share,
          largest};
}

Shifting make_prism(double stiffness, double dt, double share, double largest) {
  return {
      R"(type="plane" size="9 9 1")", R"(type="mesh" mesh="prism")", stiffness, dt, share, largest};
}

class ShiftingContacts : public testing::TestWithParam<Shifting> {
 protected:
  static Scene make_scene(const Shifting& p) {
    std::string vertices;
    for (int i = 0; i < 12; ++i)
      for (const double z : {-0.05, 0.05})
        vertices += std::to_string(0.1 * std::cos(i * std::numbers::pi / 6)) + " " +
                    std::to_string(0.1 * std::sin(i * std::numbers::pi / 6)) + " " +
                    std::to_string(z) + " ";
    return Scene(support::make_mjcf(
        tilt(std::atan(0.5 * p.share), p.dt),
        "<asset><mesh name=\"prism\" vertex=\"" + vertices + "\"/></asset><worldbody><geom " +
            p.floor + " friction=\"0.5\"/><body pos=\"0 0 0.0499\"><freejoint/><geom " + p.body +
            " mass=\"1\" friction=\"0.5\"/></body></worldbody>"));
  }
};

TEST_P(ShiftingContacts, HardlyLetABodyCreep) {
  for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb}) {
    Scene scene = make_scene(GetParam());
    Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, GetParam().stiffness));
    const int num_steps = static_cast<int>(std::lround(2 / GetParam().dt));
    const StepReport& report = stepper.step(scene.data, num_steps);
    ASSERT_TRUE(report.ok()) << report.message;
    constexpr int kKind = static_cast<int>(WarningKind::anchors);
    EXPECT_EQ(report.warnings[kKind].count, 1);
    EXPECT_NE(report.warnings[kKind].text.str().find("may creep"), std::string::npos);
    EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 6)), GetParam().largest)
        << contact::traits(model).name;
    EXPECT_EQ(report.warnings[kKind].count, 0);  // it has been given
    for (int i = 0; i < 100; ++i) {
      const AnchorSummary& anchors = stepper.step(scene.data).anchors;
      EXPECT_LE(anchors.energy_gain, 1e-12 * anchors.energy);
    }
  }
}

// Under `soft` the bodies creep at 58 um/s, and at 220 um/s at 0.9 of the cone. Measured here: 6,
// 0.5, 2e-3, 0.5, 0.05, and 14 um/s. MuJoCo's points make the bodies rock, by 2.4 N in the first
// scene, so that the bounds of some fall below their load for a step.
INSTANTIATE_TEST_SUITE_P(All, ShiftingContacts,
                         testing::Values(make_can(1e5, 2e-3, 0.5, 8e-6),
                                         make_can(1e6, 2e-3, 0.5, 1e-6),
                                         make_can(0, 2e-3, 0.5, 1e-7), make_can(0, 1e-2, 0.5, 2e-6),
                                         make_prism(1e6, 2e-3, 0.5, 1e-6),
                                         make_prism(0, 1e-2, 0.9, 2.2e-5)));

TEST(Anchors, AWheelRollsWithoutDrag) {
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

/// A ball of 1 kg on a plane, with torsional and rolling friction.
Scene make_ball(double angle) {
  return Scene(support::make_mjcf(
      tilt(angle, 2e-3),
      R"(<worldbody><geom type="plane" size="5 5 1" friction="0.5 0.01 0.004" condim="6"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1" friction="0.5 0.01 0.004" condim="6"/></body>
</worldbody>)"));
}

TEST(Anchors, TorsionAndRollingStick) {
  for (const ContactModel model : support::models_with_anchors()) {
    StepOptions options = make_elastic(model);
    options.tolerance = 1e-9;  // residuals of 1e-5 keep the ball swinging by 1e-8 m
    // Half of the torsional friction holds a torque about the normal.
    Scene twisted = make_ball(0);
    twisted.data->xfrc_applied[6 + 5] = 0.5 * 0.01 * kGravity;
    Stepper twisting(twisted.model, options, make_stiff(twisted, 1e6));
    run(&twisting, &twisted, 3000);
    EXPECT_LE(std::abs(measure_speed(&twisting, &twisted, 6, 1)), 1e-9);  // half the angle [rad/s]
    EXPECT_GT(twisted.data->qpos[6], 1e-6);
    // Half of the rolling friction holds a ball on a slope.
    Scene tilted = make_ball(0.5 * 0.004 / 0.1);
    Stepper rolling(tilted.model, options, make_stiff(tilted, 1e6));
    run(&rolling, &tilted, 4000);
    EXPECT_LE(std::abs(measure_speed(&rolling, &tilted, 0, 1)), 1e-9);
    EXPECT_LE(std::abs(tilted.data->qpos[0]), 1e-4);
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

TEST(Anchors, ABlockPulledByASpringSticksAndSlipsAsItsSolutionSays) {
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

TEST(Anchors, ABlockOnSoftSpringsYieldsByTheirDeflectionBeforeItBreaksAway) {
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

TEST(Anchors, AJumpOfAMocapBodyKicksNothing) {
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

TEST(Anchors, AMocapBodyThatMovesTakesAlongWhatStandsOnIt) {
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

/// A pile of different geoms that fall on each other between walls.
std::string make_pile(double dt) {
  constexpr const char* kGeoms[] = {
      R"(type="box" size="0.04 0.03 0.05")", R"(type="sphere" size="0.04")",
      R"(type="capsule" size="0.03 0.04")", R"(type="cylinder" size="0.04 0.03")"};
  std::string bodies;
  for (int i = 0; i < 10; ++i)
    bodies += "<body pos=\"" + std::to_string(0.03 * (i % 3 - 1)) + " " +
              std::to_string(0.02 * (i % 4)) + " " + std::to_string(0.1 + 0.11 * i) +
              "\" euler=\"" + std::to_string(40 * i) + " 30 " + std::to_string(10 * i) +
              "\"><freejoint/><geom mass=\"0.3\" friction=\"0.6 0.004 0.001\" condim=\"" +
              std::to_string(i % 3 == 0   ? 3
                             : i % 3 == 1 ? 4
                                          : 6) +
              "\" " + kGeoms[i % 4] + "/></body>";
  return support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"",
                            R"(<worldbody><geom type="plane" size="5 5 1"/>
<geom type="plane" size="1 1 1" pos="0.15 0 0" zaxis="-1 0 0"/><geom type="plane" size="1 1 1" pos="-0.15 0 0" zaxis="1 0 0"/>
<geom type="plane" size="1 1 1" pos="0 0.15 0" zaxis="0 -1 0"/><geom type="plane" size="1 1 1" pos="0 -0.15 0" zaxis="0 1 0"/>)" +
                                bodies + "</worldbody>");
}

double calc_energy(const Scene& scene) {
  // A step leaves the kinematics of its start.
  mj_fwdKinematics(scene.model, scene.data);
  mj_makeM(scene.model, scene.data);
  mj_energyPos(scene.model, scene.data);
  mj_energyVel(scene.model, scene.data);
  return scene.data->energy[0] + scene.data->energy[1];
}

TEST(Anchors, APileGainsNoEnergy) {
  int num_lost = 0;
  for (const double damping : {0.0, 1.0}) {
    for (const double k : {0.0, 1e5, 1e8}) {
      for (const ContactModel model : support::models_with_anchors()) {
        Scene scene(make_pile(2e-3));
        plant::MaterialTable materials = make_stiff(scene, k);
        for (plant::Material& m : materials.geoms) m.law.tangential_damping = damping;
        Stepper stepper(scene.model, make_elastic(model), materials);
        run(&stepper, &scene);
        const double start = calc_energy(scene);
        for (int i = 0; i < 700; ++i) {
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
          ASSERT_LE(calc_energy(scene) + report.anchors.energy, start * (1 + 1e-9)) << "step " << i;
          EXPECT_LE(report.certificate.max_friction_work, 1e-12);
          // Energy that shows only beside that of the fall is no proof, so each step is checked.
          EXPECT_LE(report.anchors.energy_gain, 1e-12 * (report.anchors.energy + 1e-3));
          num_lost += report.anchors.num_lost;
        }
      }
    }
  }
  EXPECT_GT(num_lost, 0);  // springs were shared
}

TEST(Anchors, StiffnessesAndStepsOfAnySizeSucceed) {
  for (const double dt : {1e-4, 2e-3, 1e-2}) {
    for (const double k : {1e4, 1e6, 1e8, 1e10, 1e12}) {
      for (const ContactModel model : {ContactModel::lagged, ContactModel::coulomb}) {
        Scene scene(make_pile(dt));
        Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, k));
        const StepReport& report = stepper.step(scene.data, 150);
        EXPECT_TRUE(report.ok()) << dt << " " << k << ": " << report.message;
      }
    }
  }
}

// ---- memory -------------------------------------------------------------------------------------

bool has_same_bits(const std::vector<mjtNum>& a, const std::vector<mjtNum>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(mjtNum)) == 0;
}

TEST(AnchorMemory, ACheckpointContinuesWithTheSameBits) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene(make_pile(2e-3));
    Stepper stepper(scene.model, make_elastic(model));
    for (int checkpoint = 0; checkpoint < 4; ++checkpoint) {
      run(&stepper, &scene, 100);
      Scene copy(scene);
      copy.set_state(scene.state());
      Stepper other(copy.model, make_elastic(model));
      other.set_state(stepper.get_state());
      for (int i = 0; i < 20; ++i) {
        run(&stepper, &scene);
        run(&other, &copy);
        ASSERT_TRUE(has_same_bits(scene.state(), copy.state())) << checkpoint << " " << i;
      }
    }
  }
}

TEST(AnchorMemory, ThreadsDoNotChangeTheBits) {
  Scene one(make_pile(2e-3)), many(make_pile(2e-3));
  StepOptions options = make_elastic();
  Stepper alone(one.model, options);
  options.num_threads = 4;
  Stepper together(many.model, options);
  run(&alone, &one, 400);
  run(&together, &many, 400);
  EXPECT_TRUE(has_same_bits(one.state(), many.state()));
}

TEST(AnchorMemory, SavedAnchorsHoldTheStateAtWhichTheyWereSaved) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  const std::vector<std::uint64_t> anchors = stepper.save_anchors();
  const std::vector<mjtNum> state = scene.state();
  const double stretch = stepper.step(scene.data).anchors.largest_stretch;
  EXPECT_GT(stretch, 0);

  // Another stepper that goes on from the state without anchors lets the block slip, and says so.
  scene.set_state(state);
  Stepper other(scene.model, make_elastic());
  run(&other, &scene, 3);
  const double slipped = scene.data->qpos[0];
  scene.set_state(state);
  other.load_anchors(scene.data, anchors);
  const StepReport& report = other.step(scene.data);
  EXPECT_EQ(report.anchors.num_forgotten, 0);
  EXPECT_FALSE(report.missing_memory & kAnchors);
  EXPECT_NEAR(report.anchors.largest_stretch, stretch, 1e-3 * stretch);
  run(&other, &scene, 2);
  EXPECT_GT(slipped - scene.data->qpos[0], 0.1 * stretch);
}

TEST(AnchorMemory, AnotherStateFindsNoAnchors) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  EXPECT_EQ(stepper.step(scene.data).anchors.num_forgotten, 0);
  scene.data->qpos[0] += 0.3;
  const StepReport& moved = stepper.step(scene.data);
  EXPECT_EQ(moved.anchors.num_forgotten, 4);
  EXPECT_TRUE(moved.missing_memory & kAnchors);
  EXPECT_EQ(stepper.step(scene.data).anchors.num_forgotten, 0);
}

TEST(AnchorMemory, ForgottenAnchorsBeginAgain) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  const double stretch = stepper.step(scene.data).anchors.largest_stretch;
  const double x = scene.data->qpos[0];
  stepper.forget_anchors();
  run(&stepper, &scene, 500);
  // The block yields once by about the deflection of its springs.
  EXPECT_GT(scene.data->qpos[0] - x, 0.3 * stretch);
  EXPECT_LT(scene.data->qpos[0] - x, 3 * stretch);
  EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-10);
}

TEST(AnchorMemory, AFailedStepAndForwardLeaveItAsItWas) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  const std::vector<std::uint64_t> anchors = stepper.save_anchors();
  EXPECT_TRUE(stepper.forward(scene.data).ok());
  EXPECT_EQ(stepper.save_anchors(), anchors);
  scene.data->qfrc_applied[0] = std::nan("");
  EXPECT_FALSE(stepper.step(scene.data).ok());
  EXPECT_EQ(stepper.save_anchors(), anchors);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(AnchorMemory, WrongAnchorsAreRefused) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic()),
      soft(scene.model, make_options(ContactModel::lagged));
  run(&stepper, &scene, 10);
  std::vector<std::uint64_t> anchors = stepper.save_anchors();
  EXPECT_NE(message_of([&] { (void)soft.save_anchors(); }).find("'elastic'"), std::string::npos);
  EXPECT_NE(message_of([&] { soft.forget_anchors(); }).find("'elastic'"), std::string::npos);
  EXPECT_NE(message_of([&] { soft.set_state(stepper.get_state()); }), "");
  EXPECT_NE(message_of([&] { stepper.set_state(soft.get_state()); }), "");
  scene.data->time += 1;
  EXPECT_NE(message_of([&] { stepper.load_anchors(scene.data, anchors); }).find("another time"),
            std::string::npos);
  anchors.pop_back();
  EXPECT_NE(message_of([&] { stepper.load_anchors(scene.data, anchors); }), "");
  for (const ContactModel model :
       {ContactModel::sap, ContactModel::similar, ContactModel::tamsi, ContactModel::no_slip}) {
    const std::string text = message_of([&] { Stepper refused(scene.model, make_elastic(model)); });
    EXPECT_NE(text.find("friction_law: is 'elastic'"), std::string::npos) << text;
    EXPECT_NE(text.find("lagged, lagged_regularized, coulomb"), std::string::npos) << text;
  }
}

TEST(AnchorMemory, TheListHasEachSpringOnce) {
  Scene scene = make_incline(1.2, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 200);
  double energy = 0, force = 0;
  const std::vector<AnchorReport> anchors = stepper.list_anchors();
  EXPECT_EQ(anchors.size(), 4);
  for (const AnchorReport& anchor : anchors) {
    EXPECT_EQ(anchor.geoms, (std::array{0, 1}));
    EXPECT_EQ(anchor.elements, (std::array{-1, -1}));
    EXPECT_TRUE(anchor.slips);
    energy += 0.5 * anchor.stiffness * dot(anchor.stretch, anchor.stretch);
    force += anchor.force.x;
  }
  EXPECT_NEAR(energy, stepper.step(scene.data).anchors.energy, 1e-3 * energy);
  // A block that slides is braked by its friction.
  EXPECT_NEAR(force, -0.5 * kGravity * std::cos(std::atan(0.5 * 1.2)), 1e-3);

  // Another stepper has the same list from the saved state.
  Stepper other(scene.model, make_elastic());
  other.set_state(stepper.get_state());
  EXPECT_TRUE(other.list_anchors().front().slips);
  Stepper soft(scene.model, make_options(ContactModel::lagged));
  EXPECT_NE(message_of([&] { (void)soft.list_anchors(); }).find("list_anchors: needs"),
            std::string::npos);
}

TEST(AnchorMemory, FeaturesNameTheElementsOfAFace) {
  const std::uint64_t first = make_feature(12, 3456), second = next_feature(first);
  EXPECT_EQ(find_elements(first), (std::array{12, 3456}));
  EXPECT_EQ(find_elements(second), (std::array{12, 3456}));
  EXPECT_TRUE(is_same_face(first, second));
  EXPECT_FALSE(is_same_face(first, make_feature(12, 3457)));
  EXPECT_EQ(find_elements(make_feature(-1, 7)), (std::array{-1, 7}));
  EXPECT_EQ(find_elements(0), (std::array{-1, -1}));  // a contact point
}

TEST(AnchorMemory, BodiesThatSleepKeepTheirAnchors) {
  Scene scene = make_incline(0.9, 2e-3);
  scene->opt.enableflags |= mjENBL_SLEEP;
  Stepper stepper(scene.model, make_elastic());
  double x = 0;
  int num_asleep = 0;
  for (int i = 0; i < 3000 && num_asleep == 0; ++i) {
    num_asleep = stepper.step(scene.data).statistics.num_asleep;
    x = scene.data->qpos[0];
  }
  ASSERT_EQ(num_asleep, 1);
  // Springs that sleep count as all others do.
  double energy = 0, stretch = 0;
  for (const AnchorReport& anchor : stepper.list_anchors()) {
    energy += 0.5 * anchor.stiffness * dot(anchor.stretch, anchor.stretch);
    stretch = std::max(stretch, norm(anchor.stretch));
  }
  const AnchorSummary asleep = stepper.step(scene.data).anchors;
  EXPECT_NEAR(asleep.energy, energy, 1e-12 * energy);
  EXPECT_EQ(asleep.largest_stretch, stretch);
  run(&stepper, &scene, 50);
  scene.data->xfrc_applied[6 + 2] = 1e-3;  // wakes the block
  const StepReport& report = stepper.step(scene.data);
  EXPECT_EQ(report.statistics.num_asleep, 0);
  EXPECT_EQ(report.anchors.num_forgotten, 0);
  scene.data->xfrc_applied[6 + 2] = 0;
  run(&stepper, &scene, 20);
  EXPECT_NEAR(scene.data->qpos[0], x, 1e-9);  // without anchors it would yield by 1e-7
}

TEST(AnchorMemory, ManyPairsThatSleepCostLittle) {
  // A search through all pairs for each pair that sleeps took 0.6 s for these steps.
  constexpr int kNumPairs = 20000, kNumSteps = 3;
  AnchorMemory memory;
  for (int i = 0; i < kNumPairs; ++i) {
    memory.step.pairs.push_back({.geoms = {0, 1 + i}, .first_point = i, .num_points = 1});
    memory.step.points.emplace_back();
  }
  Scene scene = make_incline(0.9, 2e-3);
  Anchors anchors;
  const std::clock_t start = std::clock();
  for (int i = 0; i < kNumSteps; ++i) {
    anchors.set_memory(memory);
    anchors.finish(scene.model, scene.data);  // belongs to this state, but has no anchors
    AnchorMemory now = anchors.memory();
    now.step = memory.step;
    anchors.set_memory(now);
    anchors.start(scene.model, scene.data);
    contact::ContactProblem problem;
    anchors.write(scene.model, scene.data, {}, {}, &problem);
    (void)anchors.record(problem, {});
    anchors.keep([](int, int) { return true; });
    anchors.finish(scene.model, scene.data);
    EXPECT_EQ(anchors.memory().step.pairs.size(), kNumPairs);
  }
  EXPECT_LE(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.2);
}

// ---- sharing ------------------------------------------------------------------------------------

/// Returns a contact in the plane z = 0.
AnchorPoint make_point(const math::Vec3& position, const math::Vec3& stretch = {}) {
  return {.position = position, .normal = {0, 0, 1}, .stretch = stretch, .stiffness = 1e4};
}

/// Ratios of contacts with sliding friction 0.5, torsional friction 0.05 m and rolling friction.
TwistRatios make_ratios() {
  contact::Contact c;
  c.friction = {0.5, 0.5, 0.05, 0.02, 0.02};
  return TwistRatios(c);
}

double sum_energy(std::span<const AnchorPoint> points) {
  double energy = 0;
  for (const AnchorPoint& point : points) energy += calc_energy(point, make_ratios());
  return energy;
}

/// Force and moment about the origin of the springs of points.
std::array<math::Vec3, 2> sum_wrench(std::span<const AnchorPoint> points) {
  std::array<math::Vec3, 2> wrench;
  for (const AnchorPoint& point : points) {
    const math::Vec3 force = point.stretch * point.stiffness;
    wrench[0] += force;
    wrench[1] += cross(point.position, force) +
                 make_ratios().apply(point.twist, point.normal) * point.stiffness;
  }
  return wrench;
}

/// Shares the force of anchors among contacts.
/// @return the energy that is left
double share(std::vector<AnchorPoint> anchors, std::span<const double> weights,
             std::vector<AnchorPoint>* contacts, double spare = 0) {
  AnchorSharing sharing;
  sharing.start(make_ratios());
  for (AnchorPoint& anchor : anchors) sharing.release(&anchor);
  for (std::size_t i = 0; i < contacts->size(); ++i) sharing.take(&(*contacts)[i], weights[i]);
  return sharing.solve(spare);
}

std::vector<AnchorPoint> make_square() {
  return {make_point({1, 1, 0}), make_point({-1, 1, 0}), make_point({-1, -1, 0}),
          make_point({1, -1, 0})};
}

TEST(AnchorSharing, KeepsForceMomentAndEnergyOfALostAnchor) {
  AnchorPoint lost = make_point({0.2, 0.3, 0}, {1e-3, -2e-3, 0});
  lost.twist = {0, 0, 0.3};  // a part of the moment
  std::vector<AnchorPoint> contacts = make_square();
  const double left = share({lost}, std::array{1.0, 2.0, 3.0, 4.0}, &contacts);
  const auto before = sum_wrench({&lost, 1}), after = sum_wrench(contacts);
  EXPECT_GT(make_ratios().apply(lost.twist, lost.normal).z * lost.stiffness,
            1);  // not to be forgotten
  for (int i = 0; i < 2; ++i) EXPECT_LE(norm(after[i] - before[i]), 1e-6 * norm(before[i])) << i;
  const double energy = sum_energy({&lost, 1});
  EXPECT_LE(sum_energy(contacts), energy);
  EXPECT_NEAR(sum_energy(contacts) + left, energy, 1e-9 * energy);
}

TEST(AnchorSharing, GivesEachContactTheSameShareOfWhatItBears) {
  // The force acts where the strengths have their mean, as friction of a body at rest does.
  const std::array<double, 4> strengths{1, 2, 4, 1};
  math::Vec3 center;
  std::vector<AnchorPoint> contacts = make_square();
  for (int i = 0; i < 4; ++i) center += contacts[i].position * (strengths[i] / 8);
  (void)share({make_point(center, {2e-3, 0, 0})}, strengths, &contacts);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(contacts[i].stretch.x * 1e4, 20 * strengths[i] / 8, 1e-5);
    EXPECT_NEAR(contacts[i].stretch.y, 0, 1e-9);
  }
}

TEST(AnchorSharing, IsReducedWhereTheEnergyWouldGrow) {
  // A contact far away and stretched already would need more energy than was lost.
  const math::Vec3 present{3e-3, 0, 0};
  std::vector<AnchorPoint> contacts{make_point({1, 0, 0}, present)};
  EXPECT_NEAR(share({make_point({0, 0, 0}, {1e-3, 0, 0})}, std::array{1.0}, &contacts), 0, 1e-15);
  const math::Vec3 u = contacts[0].stretch;
  EXPECT_NEAR(dot(u, u), dot(present, present) + 1e-6, 1e-12);
  EXPECT_GT(u.x, present.x);
}

TEST(AnchorSharing, SpareEnergyBringsTheForceBack) {
  // Four springs need less energy than three. What they leave pays for the three that follow.
  const std::vector<AnchorPoint> three{make_point({1, 0, 0}, {1e-3, 0, 0}),
                                       make_point({-1, 1, 0}, {1e-3, 0, 0}),
                                       make_point({-1, -1, 0}, {1e-3, 0, 0})};
  std::vector<AnchorPoint> four = make_square(), again = three;
  for (AnchorPoint& point : again) point.stretch = {};
  const std::array<double, 4> weights{1, 1, 1, 1};
  const double spare = share(three, weights, &four);
  EXPECT_GT(spare, 0.1 * sum_energy(three));
  std::vector<AnchorPoint> poor = again;
  (void)share(four, weights, &again, spare);
  EXPECT_NEAR(norm(sum_wrench(again)[0]), 30, 1e-6);
  (void)share(four, weights, &poor);
  EXPECT_LT(norm(sum_wrench(poor)[0]), 29);
}

TEST(AnchorSharing, NothingTakesAShareWithoutAStiffness) {
  std::vector<AnchorPoint> contacts{make_point({1, 0, 0})};
  contacts[0].stiffness = 0;
  (void)share({make_point({0, 0, 0}, {1e-3, 0, 0})}, std::array{1.0}, &contacts);
  EXPECT_EQ(contacts[0].stretch, math::Vec3{});
}

TEST(LossCounter, WarnsOnceUntilStepsWithoutLossesPrevailed) {
  LossCounter counter;
  int num_warnings = 0;
  const auto count = [&](int num_steps, bool has_losses) {
    for (int i = 0; i < num_steps; ++i) num_warnings += counter.add(has_losses);
  };
  count(49, true);
  EXPECT_EQ(num_warnings, 0);
  count(1, true);
  EXPECT_EQ(num_warnings, 1);
  count(50, false);
  count(200, true);
  EXPECT_EQ(num_warnings, 1);
  count(100, false);
  count(50, true);
  EXPECT_EQ(num_warnings, 2);
}

}  // namespace
}  // namespace stiction::sim
