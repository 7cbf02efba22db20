// Equality constraints, limits and dry friction: closed forms from solref and solimp, and positions
// at rest compared with MuJoCo's own step.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::constraints_test {
namespace {

using support::Scene;

/// The law of a row with position r, velocity v and constant impedance d, computed by hand:
///   f = -D [(v' - v) / dt + B v' + K d (r + dt v')].
struct RowLaw {
  double K, B, d, D;

  /// @param diagonal J M^-1 J^T of the row, which MuJoCo estimates at qpos0
  RowLaw(double timeconst, double dampratio, double impedance, double diagonal)
      : K(1 / std::pow(impedance * timeconst * dampratio, 2)),
        B(2 / (impedance * timeconst)),
        d(impedance),
        D(impedance / (1 - impedance) / diagonal) {}

  /// Returns v' of a mass m under the force F, from m (v' - v) = dt (F + f).
  double step(double m, double F, double r, double v, double dt, bool is_limit) const {
    const double free = v + dt * F / m;
    const double constrained =
        (m * free + D * (v - dt * K * d * r)) / (m + D * (1 + dt * B + dt * dt * K * d));
    const double f = m * (constrained - free) / dt;
    return is_limit && f < 0 ? free : constrained;
  }
  /// Returns the displacement at rest under the force F.
  double sag(double F) const { return F / (D * K * d); }
};

constexpr double kStep = 0.002;
constexpr const char* kOption = R"(timestep="0.002")";

TEST(Limits, SlideFallsOntoItsStopAsTheLawSays) {
  // Closed form at every step of a fall, an impact and the rest after it.
  for (const double timeconst : {0.02, 0.1}) {
    for (const double dampratio : {0.5, 1.0}) {
      Scene scene(support::make_mjcf(
          kOption,
          R"(<worldbody><body><joint type="slide" axis="0 0 1" range="-0.1 5" solimplimit="0.9 0.9"
solreflimit=")" +
              std::to_string(timeconst) + " " + std::to_string(dampratio) +
              R"("/><geom size="0.1" mass="3"/></body></worldbody>)"));
      Stepper stepper(scene.model, with_tolerance(1e-13));
      const RowLaw law(timeconst, dampratio, 0.9, 1 / 3.0);
      double q = 0, v = 0;
      for (int i = 0; i < 1000; ++i) {
        // MuJoCo makes the row only at r < 0.
        const double r = q + 0.1;
        v = r < 0 ? law.step(3, -3 * 9.81, r, v, kStep, true) : v - kStep * 9.81;
        q += kStep * v;
        run(&stepper, &scene, 1);
        ASSERT_NEAR(scene.data->qvel[0], v, 1e-11) << "step " << i;
        ASSERT_NEAR(scene.data->qpos[0], q, 1e-12);
      }
      EXPECT_NEAR(q + 0.1, -law.sag(3 * 9.81), 1e-3 * law.sag(3 * 9.81));
    }
  }
}

TEST(Equality, JointHoldsAsTheLawSays) {
  Scene scene(support::make_mjcf(kOption, R"(
<worldbody><body><joint name="j" type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody>
<equality><joint joint1="j" polycoef="0.3 0 0 0 0" solref="0.05 0.7" solimp="0.8 0.8"/></equality>)"));
  Stepper stepper(scene.model, with_tolerance(1e-13));
  const RowLaw law(0.05, 0.7, 0.8, 0.5);
  double q = 0, v = 0;
  for (int i = 0; i < 500; ++i) {
    v = law.step(2, -2 * 9.81, q - 0.3, v, kStep, false);
    q += kStep * v;
    run(&stepper, &scene, 1);
    ASSERT_NEAR(scene.data->qvel[0], v, 1e-11) << "step " << i;
  }
  EXPECT_NEAR(scene.data->qpos[0], 0.3 - law.sag(2 * 9.81), 1e-6);
}

struct RestScene {
  const char* name;
  const char* body;
};
void PrintTo(const RestScene& scene, std::ostream* out) { *out << scene.name; }

/// Scenes with damping, so that both engines come to rest, and with a load on the constraint.
constexpr RestScene kRestScenes[] = {
    {"connect_to_world", R"(
<worldbody><body name="a" pos="0 0 1"><joint type="free" damping="0.5"/><geom type="box" size="0.1 0.2 0.05" mass="2"/></body></worldbody>
<equality><connect body1="a" anchor="0.1 0 0.05"/></equality>)"},
    {"connect_two_bodies", R"(
<worldbody><body name="a" pos="0 0 1"><joint axis="0 1 0" damping="1" stiffness="50"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/></body>
<body name="b" pos="0.8 0 1"><joint axis="0 1 0" damping="1"/><geom type="capsule" size="0.05" fromto="0 0 0 -0.4 0 0"/></body></worldbody>
<equality><connect body1="a" body2="b" anchor="0.4 0 0"/></equality>)"},
    {"connect_sites", R"(
<worldbody><site name="w" pos="0.1 0 1"/><body name="a" pos="0 0 1"><joint type="free" damping="0.5"/><geom type="box" size="0.1 0.2 0.05" mass="2"/><site name="s" pos="0.1 0 0"/></body></worldbody>
<equality><connect site1="s" site2="w"/></equality>)"},
    {"weld_to_world", R"(
<worldbody><body name="a" pos="0 0 1"><joint type="free" damping="1"/><geom type="box" size="0.1 0.2 0.05" mass="2" pos="0.15 0 0"/></body></worldbody>
<equality><weld body1="a" torquescale="0.5"/></equality>)"},
    {"weld_sites", R"(
<worldbody><site name="w" pos="0 0 1" euler="0 0 20"/><body name="a" pos="0 0 1" euler="0 0 20"><joint type="free" damping="1"/><geom type="box" size="0.1 0.2 0.05" mass="2" pos="0.3 0 0"/><site name="s"/></body></worldbody>
<equality><weld site1="s" site2="w"/></equality>)"},
    {"weld_two_bodies", R"(
<worldbody><body name="a" pos="0 0 1"><joint axis="0 1 0" damping="2" stiffness="100"/><geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0" mass="1"/></body>
<body name="b" pos="0.4 0 1"><joint type="free" damping="1"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body></worldbody>
<equality><weld body1="a" body2="b"/></equality>)"},
    {"joint_coupling", R"(
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="1"/><geom size="0.05" pos="0.3 0 0" mass="1"/></body>
<body pos="0 1 1"><joint name="b" axis="0 1 0" damping="1" stiffness="5"/><geom size="0.05" pos="0.1 0 0" mass="2"/></body></worldbody>
<equality><joint joint1="a" joint2="b" polycoef="0.1 -2 0.5 0 0"/></equality>)"},
    {"tendon_coupling", R"(
<worldbody><body pos="0 0 1"><joint name="a" type="slide" axis="0 0 1" damping="5"/><geom size="0.05" mass="1"/></body>
<body pos="0 1 1"><joint name="b" type="slide" axis="0 0 1" damping="5" stiffness="200"/><geom size="0.05" mass="2"/></body></worldbody>
<tendon><fixed name="ta"><joint joint="a" coef="1"/></fixed><fixed name="tb"><joint joint="b" coef="2"/></fixed></tendon>
<equality><tendon tendon1="ta" tendon2="tb" polycoef="0.05 1 0 0 0"/></equality>)"},
    {"hinge_limit", R"(
<worldbody><body pos="0 0 1"><joint axis="0 1 0" range="-30 20" damping="0.3"/><geom size="0.05" pos="0.3 0 0" mass="1"/></body></worldbody>)"},
    {"ball_limit", R"(
<worldbody><body pos="0 0 1"><joint type="ball" range="0 40" damping="0.3"/><geom size="0.05" pos="0.3 0 0" mass="1"/></body></worldbody>)"},
    {"limit_with_margin", R"(
<worldbody><body pos="0 0 1"><joint axis="0 1 0" range="-30 20" margin="2" damping="0.3"/><geom size="0.05" pos="0.3 0 0" mass="1"/></body></worldbody>)"},
    {"fixed_tendon_limit", R"(
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="0.3"/><geom size="0.05" pos="0.3 0 0" mass="1"/></body>
<body pos="0 1 1"><joint name="b" axis="0 1 0" damping="0.3" stiffness="3"/><geom size="0.05" pos="0.1 0 0" mass="1"/></body></worldbody>
<tendon><fixed range="-0.5 0.4" limited="true"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon>)"},
    {"spatial_tendon_limit", R"(
<worldbody><site name="w" pos="0 0 1"/><body pos="0 0 0.8"><joint type="free" damping="2"/><geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="s" pos="0 0 0.1"/></body></worldbody>
<tendon><spatial range="0 0.3" limited="true"><site site="w"/><site site="s"/></spatial></tendon>)"},
};

class RestUnderLoad : public testing::TestWithParam<RestScene> {};

/// With MuJoCo's estimate of mobilities, and with the exact ones of its flag diagexact.
TEST_P(RestUnderLoad, IsWhereMuJoCoRests) {
  for (int variant = 0; variant < 4; ++variant) {
    const bool is_sparse = variant % 2, is_exact = variant / 2;
    SCOPED_TRACE((is_sparse ? "sparse" : "dense") + std::string(is_exact ? ", exact" : ""));
    Scene ours(support::make_mjcf(kOption, GetParam().body));
    ours->opt.disableflags |= mjDSBL_CONTACT;
    if (is_exact) ours->opt.enableflags |= mjENBL_DIAGEXACT;
    Scene theirs(ours);
    theirs->opt.tolerance = 0;
    theirs->opt.integrator = mjINT_IMPLICITFAST;
    ours->opt.jacobian = is_sparse ? mjJAC_SPARSE : mjJAC_DENSE;
    StepOptions options = with_tolerance(1e-12);
    options.exact_mobility = is_exact;
    Stepper stepper(ours.model, options);
    run(&stepper, &ours, 10000);
    for (int i = 0; i < 10000; ++i) mj_step(theirs.model, theirs.data);
    const double speed = mju_norm(ours.data->qvel, ours->nv);
    ASSERT_LE(speed, 1e-9) << "not at rest";
    ASSERT_LE(mju_norm(theirs.data->qvel, ours->nv), 1e-9);
    // A constraint that carries a load sags. Without a sag the test would compare nothing.
    double sag = 0;
    for (int i = 0; i < ours.data->ne + ours.data->nl; ++i)
      sag = std::max(sag, std::abs(ours.data->efc_pos[i] - ours.data->efc_margin[i]));
    EXPECT_GT(sag, is_exact ? 5e-6 : 1e-5);  // the least one is 8.1e-6
    for (int i = 0; i < ours->nq; ++i)
      EXPECT_NEAR(ours.data->qpos[i], theirs.data->qpos[i], 1e-6 * sag + 1e-10) << "qpos " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, RestUnderLoad, testing::ValuesIn(kRestScenes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Equality, BetweenFreeBodiesConservesMomentum) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(
<worldbody><body name="a"><freejoint/><geom type="box" size="0.1 0.2 0.05" mass="2"/></body>
<body name="b" pos="0.5 0 0"><freejoint/><geom type="box" size="0.1 0.1 0.2" mass="1"/></body></worldbody>
<equality><connect body1="a" body2="b" anchor="0.3 0 0"/></equality>)"));
  std::mt19937_64 rng(1);
  scene.randomize(0, &rng);
  const double before[3] = {2 * scene.data->qvel[0] + scene.data->qvel[6],
                            2 * scene.data->qvel[1] + scene.data->qvel[7],
                            2 * scene.data->qvel[2] + scene.data->qvel[8]};
  Stepper stepper(scene.model, {});
  run(&stepper, &scene, 500);
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(2 * scene.data->qvel[k] + scene.data->qvel[6 + k], before[k], 1e-3 * 1e-5 * 500);
}

TEST(Equality, ConnectCarriesABodyRound) {
  // A mass of 1 kg turns at 10 rad/s about a point 0.5 m away. The row's acceleration (dJ/dt) v is
  // the centripetal acceleration. Speed and radius are compared with MuJoCo, which has the same
  // spring.
  const char* kTether =
      R"(<worldbody><body name="a" pos="0.5 0 0"><freejoint/><geom size="0.05" mass="1"/></body></worldbody>
<equality><connect body1="a" body2="world" anchor="-0.5 0 0"/></equality>)";
  const auto make_spinning = [&] {
    Scene scene(support::make_mjcf(R"(timestep="1e-4" gravity="0 0 0")", kTether));
    scene.data->qvel[1] = 5;
    scene.data->qvel[5] = 10;
    return scene;
  };
  Scene ours = make_spinning(), theirs = make_spinning();
  Stepper stepper(ours.model, make_options(contact::ContactModel::lagged));
  run(&stepper, &ours, 5000);
  for (int i = 0; i < 5000; ++i) mj_step(theirs.model, theirs.data);
  const auto radius = [](const Scene& scene) { return mju_norm3(scene.data->qpos); };
  // Both are first order in the step: 1.5e-4 apart at this one.
  EXPECT_NEAR(radius(ours), radius(theirs), 3e-4);
  EXPECT_NEAR(radius(ours), 0.5, 2e-3);
  EXPECT_NEAR(mju_norm3(ours.data->qvel), mju_norm3(theirs.data->qvel), 0.01);
}

TEST(Equality, InactiveConstraintDoesNothing) {
  Scene scene(support::make_mjcf(kOption, R"(
<worldbody><body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody>
<equality><weld body1="a" active="false"/></equality>)"));
  Stepper stepper(scene.model, {});
  run(&stepper, &scene, 1);
  EXPECT_EQ(scene.data->qvel[2], -9.81 * kStep);
}

/// A nut of 2 kg on a self-locking screw: a slide and a hinge with dry friction of 1.2 times the
/// load, coupled by the pitch [m].
Scene make_screw(double pitch, double dt) {
  const double slope = pitch / (2 * M_PI);
  return Scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + '"',
                                  R"(
<worldbody><body pos="0 0 1"><joint name="z" type="slide" axis="0 0 1"/>
<joint name="phi" axis="0 0 1" armature="1e-4" frictionloss=")" +
                                      std::to_string(1.2 * 2 * 9.81 * slope) + R"("/>
<geom type="cylinder" size="0.03 0.01" mass="2"/></body></worldbody>
<equality><joint joint1="z" joint2="phi" polycoef="0 )" +
                                      std::to_string(slope) +
                                      R"( 0 0 0" solimp="0.9 0.9"/></equality>)"));
}

/// The thread opens by the sag of its row: MuJoCo's estimate adds the mobilities of both joints, of
/// which the row has one and the square of the slope times the other.
TEST(ExactMobility, ScrewHolds) {
  for (const contact::ContactModel model : compliant_models()) {
    SCOPED_TRACE(contact::traits(model).name);
    for (const double pitch : {0.01, 0.002}) {
      for (const double dt : {0.001, 0.005}) {
        Scene scene = make_screw(pitch, dt);
        Stepper stepper(scene.model, make_options(model));
        ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, static_cast<int>(1 / dt)));
        const double slope = pitch / (2 * M_PI), inertia = 0.5 * 2 * 0.03 * 0.03 + 1e-4;
        const RowLaw law(0.02, 1, 0.9, 1 / 2.0 + slope * slope / inertia);
        const double opening = scene.data->qpos[0] - slope * scene.data->qpos[1];
        EXPECT_NEAR(opening, -law.sag(2 * 9.81), 1e-3 * law.sag(2 * 9.81));
        EXPECT_LT(std::abs(scene.data->qpos[1]), 2e-3) << "creep of dry friction, in 1 s";
      }
    }
  }
}

/// Without the option, the rows are MuJoCo's, and so is what gives.
TEST(ExactMobility, OptionGivesMujocosEstimateBack) {
  Scene scene = make_screw(0.01, 0.002);
  StepOptions options;
  options.exact_mobility = false;
  Stepper stepper(scene.model, options);
  Scene theirs(scene);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
  for (int i = 0; i < 500; ++i) mj_step(theirs.model, theirs.data);
  EXPECT_LT(theirs.data->qpos[0], -0.3);
  EXPECT_NEAR(scene.data->qpos[0], theirs.data->qpos[0], 0.02 * std::abs(theirs.data->qpos[0]));
}

/// A mass of 2 kg with dry friction under a force, on a joint or on a tendon with coefficient 3.
Scene make_dry(double frictionloss, bool on_tendon) {
  const std::string loss = "frictionloss=\"" + std::to_string(frictionloss) + "\"";
  return Scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")", R"(
<worldbody><body><joint name="j" type="slide" )" +
                                                 (on_tendon ? "" : loss) +
                                                 R"(/><geom size="0.1" mass="2"/></body></worldbody>
<tendon><fixed )" + (on_tendon ? loss : "") + R"(><joint joint="j" coef="3"/></fixed></tendon>)"));
}

/// With the flag diagexact, MuJoCo computes the mobility of each row instead of estimating it.
TEST(ExactDiagonal, GivesRowsTheParametersOfMujoco) {
  for (const char* jacobian : {"dense", "sparse"}) {
    const std::string body = R"(
<worldbody>
  <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0" range="-5 5"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" contype="0" conaffinity="0"/>
    <body pos="0.3 0 0"><joint name="b" axis="0 1 0" range="-5 5"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" contype="0" conaffinity="0"/></body></body>
  <body name="x" pos="0 1 1"><freejoint/><geom type="box" size="0.1 0.05 0.02"/></body>
  <body name="y" pos="0.3 1 1"><freejoint/><geom type="box" size="0.1 0.05 0.02"/></body>
</worldbody>
<equality><connect body1="x" body2="y" anchor="0.15 0 0"/><weld body1="x" body2="a"/></equality>)";
    const std::string option =
        std::string(R"(timestep="0.002" gravity="0 0 0" jacobian=")") + jacobian + '"';
    Scene scene(support::make_mjcf(option, body + "<option><flag diagexact=\"enable\"/></option>"));
    Scene estimated(support::make_mjcf(option, body));
    for (Scene* each : {&scene, &estimated})
      for (const char* joint : {"a", "b"}) each->data->qpos[each->qpos(joint)] = 0.3;
    Scene theirs(scene);
    mj_forward(theirs.model, theirs.data);
    Stepper stepper(scene.model, with_tolerance(1e-10)), other(estimated.model, {});
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_NO_FATAL_FAILURE(run(&other, &estimated));
    ASSERT_EQ(scene.data->nefc, theirs.data->nefc);
    double change = 0;
    for (int i = 0; i < theirs.data->nefc; ++i) {
      EXPECT_EQ(scene.data->efc_R[i], theirs.data->efc_R[i]);
      EXPECT_EQ(scene.data->efc_D[i], theirs.data->efc_D[i]);
      EXPECT_EQ(scene.data->efc_diagA[i], theirs.data->efc_diagA[i]);
      change = std::max(change, std::abs(scene.data->efc_force[i] - estimated.data->efc_force[i]));
    }
    EXPECT_GT(change, 1e-2) << "the flag does nothing";
  }
}

TEST(DryFriction, CreepsBelowItsBoundAsTheoryPredicts) {
  // eps = max(v_s, sigma J M^-1 J^T dt f); the creep at the fraction rho of the bound is
  // eps rho / sqrt(1 - rho^2), in the row's own velocity.
  for (const bool on_tendon : {false, true}) {
    const double coef = on_tendon ? 3 : 1;
    for (const double loss : {4.0, 2000.0}) {
      for (const double rho : {0.3, 0.9}) {
        Scene scene = make_dry(loss, on_tendon);
        Stepper stepper(scene.model, with_tolerance(1e-12));
        scene.data->qfrc_applied[0] = rho * coef * loss;
        run(&stepper, &scene, 2000);
        const double eps = std::max(1e-4, 1e-3 * coef * coef / 2 * kStep * loss);
        const double creep = eps * rho / std::sqrt(1 - rho * rho);
        EXPECT_NEAR(coef * scene.data->qvel[0], creep, 1e-6 * creep) << loss << " " << rho;
      }
    }
  }
}

TEST(DryFriction, SlipsAboveItsBoundWithTheRestOfTheForce) {
  for (const bool on_tendon : {false, true}) {
    const double coef = on_tendon ? 3 : 1;
    Scene scene = make_dry(4, on_tendon);
    Stepper stepper(scene.model, with_tolerance(1e-12));
    scene.data->qfrc_applied[0] = coef * 4 + 10;
    scene.data->qvel[0] = 1;
    run(&stepper, &scene, 1);
    // At 1e4 tolerances friction lacks 1 / (2 * 1e4^2) of its bound.
    EXPECT_NEAR((scene.data->qvel[0] - 1) / kStep, 10.0 / 2, coef * 4 * 1e-8);
  }
}

TEST(DryFriction, BringsASlideToRest) {
  Scene scene = make_dry(4, false);
  Stepper stepper(scene.model, with_tolerance(1e-10));
  scene.data->qvel[0] = 1;
  // Constant deceleration f / m = 2 m/s^2: to rest in 0.5 s over 0.25 m.
  run(&stepper, &scene, 240);
  EXPECT_NEAR(scene.data->qvel[0], 1 - 2 * 240 * kStep, 1e-6);
  run(&stepper, &scene, 260);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-6);
  EXPECT_NEAR(scene.data->qpos[0], 0.25,
              0.5 * kStep + 1e-4);  // symplectic: less half a step's travel
}

}  // namespace
}  // namespace stiction::sim::constraints_test
