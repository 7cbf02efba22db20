// Speculative contacts: a contact that may close within a step takes part in it with its gap.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::first_touch_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81;

using GeomPairs = std::set<std::pair<int, int>>;

/// Returns the pairs of geoms of all contacts of a step, or only of the contacts that touched.
GeomPairs find_reported(const StepReport& report, bool only_touching) {
  GeomPairs pairs;
  for (int i = 0; i < report.contacts.size(); ++i) {
    const int* geom = report.contacts.geoms.data() + 2 * static_cast<std::size_t>(i);
    if (!only_touching || report.contacts.normal_impulse[i] > 0)
      pairs.insert(std::minmax(geom[0], geom[1]));
  }
  return pairs;
}

/// Returns the pairs of geoms that overlap by more than `depth` in the present state, found by
/// MuJoCo alone.
GeomPairs find_overlaps(const Scene& scene, double depth) {
  Scene other(scene);
  mj_kinematics(other.model, other.data);
  mj_comPos(other.model, other.data);
  mj_collision(other.model, other.data);
  GeomPairs pairs;
  for (int i = 0; i < other.data->ncon; ++i) {
    const mjContact& con = other.data->contact[i];
    if (con.dist < -depth) pairs.insert(std::minmax(con.geom[0], con.geom[1]));
  }
  return pairs;
}

class FirstTouch : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, FirstTouch, testing::ValuesIn(convex_models()), model_name);

double calc_spin(const Scene& scene, int geom) {
  mjtNum V[6];
  mj_objectVelocity(scene.model, scene.data, mjOBJ_BODY, scene->geom_bodyid[geom], V, 0);
  return mju_norm3(V);
}

TEST_P(FirstTouch, ContactsThatOverlapAfterAStepTookPartInIt) {
  int num_begun = 0;
  for (int seed = 0; seed < 4; ++seed) {
    support::RandomSceneOptions options;
    options.num_bodies = 16;
    options.spacing = 0.3;  // apart
    options.num_hinged = 4;
    Scene scene(support::make_random_scene(seed, options));
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal;
    for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = (i % 6 < 3 ? 5 : 1) * normal(rng);
    Stepper stepper(scene.model, make_options(GetParam()));
    GeomPairs before = find_overlaps(scene, 0);
    for (int step = 0; step < 200; ++step) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      for (const auto& pair : find_reported(report, true)) num_begun += !before.contains(pair);
      const GeomPairs reported = find_reported(report, false);
      for (const auto& pair : find_overlaps(scene, 1e-4)) {
        // A step extrapolates along straight lines. Bodies that together turn by more than 0.02 rad
        // within it may touch at other points than expected.
        if (reported.contains(pair)) continue;
        EXPECT_GT(calc_spin(scene, pair.first) + calc_spin(scene, pair.second), 10)
            << "seed " << seed << " step " << step << " geoms " << pair.first << " " << pair.second;
      }
      before = find_overlaps(scene, 0);
    }
  }
  EXPECT_GT(num_begun, 1000);
}

/// Returns the speed, after a time, of a mass that cannot turn and starts `height` above the floor.
/// If the mass is at rest vertically in the end, the floor has given it the momentum m (g t + v),
/// and friction has taken mu times this momentum, whatever the landing is like.
double slide_for(ContactModel model, double dt, double duration, double height, double speed,
                 double fall_speed = 0) {
  Scene scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(
<worldbody><geom type="plane" size="50 50 1" friction="0.5"/><body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1" friction="0.5"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(model));
  scene.data->qvel[0] = speed;
  scene.data->qvel[1] = -fall_speed;
  scene.data->qpos[1] = height;
  run(&stepper, &scene, static_cast<int>(std::lround(duration / dt)));
  return scene.data->qvel[0];
}

TEST(Landing, CostsASlidingMassMuTimesItsNormalImpulse) {
  for (const ContactModel model : {ContactModel::lagged, ContactModel::lagged_regularized})
    for (const double dt : {0.005, 0.002, 0.0005})
      for (const double height : {0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.1})
        for (const double fall_speed : {0.0, 0.3, 1.0, 5.0}) {
          const double loss = 10 - slide_for(model, dt, 0.25, height, 10, fall_speed);
          // The first step on the floor has no friction. The remaining error, from the penetration
          // at rest and from rounding the height to a step, was measured below 3 % of this
          // friction.
          const double friction_of_a_step = 0.5 * kGravity * dt;
          const double exact = 0.5 * (kGravity * 0.25 + fall_speed);
          EXPECT_NEAR(loss, exact - friction_of_a_step, 0.05 * friction_of_a_step)
              << contact::traits(model).name << " dt " << dt << " height " << height << " falls "
              << fall_speed;
        }
}

/// A sphere of 0.5 kg that slides onto a floor and rolls: [castro2023] section IX.B.
struct FallingSphere {
  static constexpr double kStep = 0.002, kMu = 0.5, kTau = 1e-3;
  Scene scene{support::make_mjcf(R"(timestep="0.002")", R"(
<worldbody><geom type="plane" size="9 9 1" friction="0.5"/><body pos="0 0 0.05"><freejoint/>
<geom size="0.025" mass="0.5" friction="0.5"/></body></worldbody>)")};
  Stepper stepper;
  double touch_time = 0, rolling_time = 0;
  double normal_velocity = 0, height = 0, slip = 0;  // at 0.09 s, while it slides

  explicit FallingSphere(ContactModel model) : stepper(make_stepper(model)) {
    scene.data->qvel[0] = 2;
    for (int i = 1; i <= 100; ++i) {
      const StepReport& report = stepper.step(scene.data);
      EXPECT_TRUE(report.ok()) << report.message;
      const double time = i * kStep;
      const double u = scene.data->qvel[0] - 0.025 * scene.data->qvel[4];
      if (touch_time == 0 && report.contacts.size() > 0 && report.contacts.normal_impulse[0] > 0)
        touch_time = time;
      if (rolling_time == 0 && std::abs(u) < 1e-3) rolling_time = time;
      if (i == 45) {
        normal_velocity = scene.data->qvel[2];
        height = scene.data->qpos[2] - 0.025;
        slip = std::abs(report.contacts.slip_velocity[0]);
      }
    }
  }

  Stepper make_stepper(ContactModel model) const {
    StepOptions options = make_options(model, 1e-8);
    options.parameters.near_rigid_factor = 0;
    return {
        scene.model, options,
        make_materials(
            scene, {.law = {.stiffness = 2e7, .dissipation = 500, .relaxation_time = kTau / 2}})};
  }
};

TEST(FallingSphere, SlidesAtTheDistanceOfItsModel) {
  // Friction takes the slip at mu g (1 + m r^2 / I) = 7/2 mu g, and at the start 2 m/s of it: it
  // rolls at 2 U0 / (7 mu g). The gap T mu |v_t| closes at T mu times that, T = dt or dt + tau.
  constexpr double kMu = FallingSphere::kMu, kDeceleration = 3.5 * kMu * kGravity;
  constexpr double kDt = FallingSphere::kStep, kRolling = 2 / kDeceleration;
  struct Expected {
    ContactModel model;
    double T;
    double touch_time;  // [theory:falling-sphere]
  };
  for (const auto& [model, T, touch_time] :
       {Expected{ContactModel::lagged, 0, 0.072},
        Expected{ContactModel::lagged_regularized, 0, 0.072},
        Expected{ContactModel::similar, kDt, 0.068},
        Expected{ContactModel::sap, kDt + FallingSphere::kTau, 0.066}}) {
    const FallingSphere sphere(model);
    EXPECT_NEAR(sphere.touch_time, touch_time, kDt + 1e-9);
    EXPECT_NEAR(sphere.rolling_time, kRolling, 2 * kDt);
    // The contact point is halfway across the gap, which takes some of the slip: a tenth at 0.7 mm.
    const double sinking = -T * kMu * kDeceleration;
    EXPECT_NEAR(sphere.normal_velocity, sinking, 0.1 * std::abs(sinking) + 1e-6);
    const double v_n = T > 0 ? sphere.normal_velocity : 0;
    EXPECT_NEAR(sphere.height, T * (kMu * sphere.slip - v_n) + kDt * v_n, 1e-6);
  }
}

TEST(Belt, LiftsASlippingBoxAsTheModelPredicts) {
  // A belt that swings by 0.2 m at 1 Hz under a mass of 1 kg, mu = 0.7, from belt speed:
  // [castro2023] section IX.A. Figures of an independent program: [theory:conveyor].
  struct Expected {
    ContactModel model;
    double min_force, max_force, max_velocity;
  };
  for (const auto& [model, min_force, max_force, max_velocity] :
       {Expected{ContactModel::lagged, 9.81, 9.81, 0},
        Expected{ContactModel::similar, 9.53, 10.98, 1.7e-2},
        Expected{ContactModel::sap, 9.50, 11.05, 1.8e-2}}) {
    constexpr double kDt = 0.01;
    Scene scene(support::make_mjcf(R"(timestep="0.01")", R"(
<worldbody><geom type="plane" size="9 9 1" friction="0.7" surfacevel="1 0 0 0 0 0"/>
<body pos="0 0 0.025"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
<geom size="0.025" mass="1" friction="0.7"/></body></worldbody>)"));
    StepOptions options = make_options(model, 1e-8);
    options.parameters.near_rigid_factor = 0;
    Stepper stepper(
        scene.model, options,
        make_materials(scene,
                       {.law = {.stiffness = 2e7, .dissipation = 500, .relaxation_time = 5e-4}}));
    const auto belt = [](double t) { return 0.2 * std::sin(2 * std::numbers::pi * t); };
    scene.data->qpos[2] = -kGravity / 1e7;
    scene.data->qvel[0] = 0.2 * 2 * std::numbers::pi;
    double lowest = 1e9, highest = 0, fastest = 0;
    for (int i = 0; i < 200; ++i) {
      const double t = i * kDt;
      scene->geom_surfacevel[0] = (belt(t + kDt) - belt(t)) / kDt;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      ASSERT_EQ(report.contacts.size(), 1);
      const double force = report.contacts.normal_impulse[0] / kDt;
      lowest = std::min(lowest, force);
      highest = std::max(highest, force);
      fastest = std::max(fastest, std::abs(scene.data->qvel[2]));
    }
    EXPECT_NEAR(lowest, min_force, 0.02) << contact::traits(model).name;
    EXPECT_NEAR(highest, max_force, 0.02);
    EXPECT_NEAR(fastest, max_velocity, 1e-3);
  }
}

/// A ball of 1 kg and 0.1 m above a floor, with attributes of its geom and more elements.
Scene make_ball(double height, const std::string& attributes = "", const std::string& more = "") {
  return Scene(support::make_mjcf(
      R"(timestep="0.002" cone="elliptic")",
      R"(<worldbody><geom name="floor" type="plane" size="9 9 1"/><body name="ball" pos="0 0 )" +
          std::to_string(0.1 + height) + R"("><freejoint/><geom name="ball" size="0.1" mass="1" )" +
          attributes + "/></body></worldbody>" + more));
}

TEST(SpeculativeContact, IsListedInDataOnlyIfItTouched) {
  Scene scene = make_ball(5e-3);
  Stepper stepper(scene.model, {});
  scene.data->qvel[2] = -2;
  // The ball falls 4 mm per step: it is near after the first step and touches in the second.
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(scene.data->ncon, 0);
  EXPECT_EQ(scene.data->nefc, 0);
  run(&stepper, &scene);
  ASSERT_EQ(scene.data->ncon, 1);
  const mjContact& con = scene.data->contact[0];
  EXPECT_EQ(con.exclude, 0);
  EXPECT_NEAR(con.dist, 1e-3 - kGravity * 4e-6, 1e-9);
  ASSERT_EQ(con.efc_address, 0);
  EXPECT_EQ(scene.data->efc_id[0], 0);
  EXPECT_NEAR(scene.data->efc_force[0] * 0.002, report.contacts.normal_impulse[0], 1e-12);
  EXPECT_NEAR(report.contacts.distance[0], con.dist, 1e-15);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-5);
}

TEST(SpeculativeContact, RowsNameTheirContactsAfterOthersWereRemoved) {
  // Three balls over the floor: the first and the last touch, the second only nears.
  std::string balls;
  for (const double z : {0.1, 0.104, 0.1})
    balls += R"(<body pos=")" + std::to_string(balls.size() / 50.0) + " 0 " + std::to_string(z) +
             R"("><freejoint/><geom size="0.1" mass="1"/></body>)";
  Scene scene(support::make_mjcf(
      R"(timestep="0.002" cone="elliptic")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + balls + "</worldbody>"));
  Stepper stepper(scene.model, make_options(ContactModel::sap));
  for (int i = 0; i < 3; ++i) scene.data->qvel[6 * i + 2] = i == 1 ? -0.1 : -1;
  run(&stepper, &scene);
  ASSERT_EQ(scene.data->ncon, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(scene.data->contact[i].geom[1], i == 0 ? 1 : 3);
    for (int row = 0; row < 3; ++row)
      EXPECT_EQ(scene.data->efc_id[scene.data->contact[i].efc_address + row], i);
    mjtNum force[6];
    mj_contactForce(scene.model, scene.data, i, force);
    EXPECT_GT(force[0], 400);
  }
}

TEST(SpeculativeContact, RespectsFiltersPairsMarginsAndGaps) {
  struct Case {
    const char *attributes, *more;
    bool is_contact;
  };
  for (const Case& c :
       {Case{"", "", true}, Case{R"(contype="0" conaffinity="0")", "", false},
        Case{"", R"(<contact><exclude body1="world" body2="ball"/></contact>)", false},
        Case{R"(contype="0" conaffinity="0")",
             R"(<contact><pair geom1="floor" geom2="ball"/></contact>)", true}}) {
    Scene scene = make_ball(3e-3, c.attributes, c.more);
    Stepper stepper(scene.model, {});
    scene.data->qvel[2] = -2;
    const StepReport& report = stepper.step(scene.data);
    EXPECT_EQ(report.contacts.size(), c.is_contact) << c.attributes << c.more;
    const double end = c.is_contact ? 0.1 : 0.103 - 0.004 - kGravity * 4e-6;
    EXPECT_NEAR(scene.data->qpos[2], end, 1e-5);
  }
  for (const char* attributes : {R"(margin="0.01")", R"(margin="0.01" gap="0.001")"}) {
    Scene scene = make_ball(0.013, attributes);
    Stepper stepper(scene.model, {});
    scene.data->qvel[2] = -2;
    run(&stepper, &scene);
    EXPECT_NEAR(scene.data->qpos[2], 0.11, 1e-5) << attributes;
  }
}

TEST(SpeculativeContact, IsFoundUnderAppliedForces) {
  // From rest, by F dt^2 / m = 4 mm and by T dt^2 r / I.
  for (const bool has_wrench : {true, false}) {
    Scene scene = make_ball(3e-3);
    Stepper stepper(scene.model, {});
    (has_wrench ? scene.data->xfrc_applied + 6 : scene.data->qfrc_applied)[2] = -1000;
    const StepReport& report = stepper.step(scene.data);
    EXPECT_EQ(report.contacts.size(), 1) << has_wrench;
    EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-5);
  }
}

TEST(SpeculativeContact, IsFoundFarOutOnATurntable) {
  // A plane has no size. The turning plane moves at 6 m/s at a distance of 3 m, and `similar` lifts
  // a ball by up to mu dt times this speed, 9.6 mm.
  for (const double height : {0.008, 0.0105}) {
    Scene scene = make_ball(height, R"(friction="0.8" priority="1" pos="3 0 0")");
    scene->flg_surfacevel = 1;
    scene->geom_surfacevel[5] = 2;
    Stepper stepper(scene.model, make_options(ContactModel::similar));
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    const bool is_lifted = report.contacts.size() == 1 && report.contacts.normal_impulse[0] > 0;
    EXPECT_EQ(is_lifted, height < 0.0096) << height;
  }
}

TEST(SpeculativeContact, DoesNotActivateAdhesion) {
  // Adhesion acts if MuJoCo lists a contact, and not if the floor is only near.
  for (const double height : {-1e-4, 3e-3}) {
    Scene scene = make_ball(
        height, "", R"(<actuator><adhesion body="ball" gain="1" ctrlrange="0 1"/></actuator>)");
    Stepper stepper(scene.model, {});
    scene.data->qvel[2] = -2;
    scene.data->ctrl[0] = 1;
    run(&stepper, &scene);
    EXPECT_EQ(std::abs(scene.data->qfrc_actuator[2]) > 0.5, height < 0) << height;
  }
}

TEST_P(FirstTouch, StepsFromAStateAreTheSameInAnyData) {
  // Data that an earlier run left in mjData has no effect on the choice of speculative contacts.
  support::RandomSceneOptions options;
  options.num_hinged = 4;
  options.spacing = 0.25;
  Scene scene(support::make_random_scene(1, options));
  Stepper stepper(scene.model, make_options(GetParam()));
  for (int k = 0; k < 3; ++k) scene.data->qvel[6 * k + k] = 3;
  run(&stepper, &scene, 40);
  Scene fresh(support::make_random_scene(1, options));
  Stepper other(fresh.model, make_options(GetParam()));
  fresh.set_state(scene.state());
  other.set_state(stepper.get_state());
  run(&stepper, &scene, 40);
  run(&other, &fresh, 40);
  const auto one = scene.state(), two = fresh.state();
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(mjtNum)), 0);
}

TEST(SpeculativeContact, IsNotFoundUnderAContactFilterOfTheCaller) {
  // The filter identifies the model by its address, and the model with wider gaps has another one.
  Scene scene = make_ball(3e-3);
  Stepper stepper(scene.model, {});
  scene.data->qvel[2] = -2;
  mjcb_contactfilter = [](const mjModel*, mjData*, int, int) { return 0; };
  const StepReport& report = stepper.step(scene.data);
  mjcb_contactfilter = nullptr;
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(report.contacts.size(), 0);
}

}  // namespace
}  // namespace stiction::sim::first_touch_test
