// Joints with frictionloss in scenes, under all rigid models.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/base/error.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/trials.hpp"

namespace stiction::sim::dry_joints_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// A chain of hinges in the air.
/// @param axes the hinges' axes, repeated from the root on
std::string make_chain(int num_links, std::initializer_list<const char*> axes) {
  std::string open, close;
  for (int i = 0; i < num_links; ++i) {
    open += std::string("<body pos='") + (i > 0 ? "0.2" : "0") + " 0 0'><joint axis='" +
            axes.begin()[i % axes.size()] +
            "' frictionloss='0.1' damping='0.01'/><geom type='capsule' fromto='0 0 0 0.2 0 0' "
            "size='0.02' contype='0' conaffinity='0'/>";
    close += "</body>";
  }
  return support::make_mjcf(R"(timestep="0.002")", "<worldbody>" + open + close + "</worldbody>");
}

/// A body in the air on three slides and three hinges.
std::string make_floating_body() {
  std::string joints;
  for (const char* type : {"slide", "hinge"})
    for (const char* axis : {"1 0 0", "0 1 0", "0 0 1"})
      joints += std::string("<joint type='") + type + "' axis='" + axis + "' frictionloss='0.01'/>";
  return support::make_mjcf(R"(timestep="0.002")",
                            "<worldbody><body>" + joints +
                                "<geom type='capsule' size='.02 .1' pos='.05 0 .03' mass='.25'/>"
                                "</body></worldbody>");
}

double calc_energy(const Scene& scene) {
  mj_energyPos(scene.model, scene.data);
  mj_energyVel(scene.model, scene.data);
  return scene.data->energy[0] + scene.data->energy[1];
}

class DryJointScene : public testing::TestWithParam<ContactModel> {};

TEST_P(DryJointScene, ChainsSwingAndLoseEnergy) {
  for (const std::string& mjcf :
       {make_chain(3, {"0 1 0"}), make_chain(5, {"0 1 0", "1 0 0", "0 0 1"}),
        make_chain(8, {"0 1 0"}), make_floating_body()}) {
    for (int seed = 0; seed < 5; ++seed) {
      Scene scene(mjcf);
      std::mt19937_64 rng(seed);
      std::normal_distribution<double> normal(0, 2);
      for (int i = 0; i < scene.model->nv; ++i) scene.data->qvel[i] = normal(rng);
      Stepper stepper(scene.model, make_options(GetParam()));
      mj_forward(scene.model, scene.data);
      const double before = calc_energy(scene);
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 300)) << "seed " << seed;
      mj_forward(scene.model, scene.data);
      EXPECT_LT(calc_energy(scene), before);
    }
  }
}

TEST_P(DryJointScene, AThrownHammerComesToRest) {
  std::string joints;
  for (const char* type : {"slide", "hinge"})
    for (const char* axis : {"1 0 0", "0 1 0", "0 0 1"})
      joints += std::string("<joint type='") + type + "' axis='" + axis +
                "' frictionloss='0.001' damping='" + (type[0] == 'h' ? "0.1" : "0") + "'/>";
  const std::string mjcf =
      support::make_mjcf(R"(timestep="0.002")",
                         "<worldbody><geom type='box' size='1 1 .1' pos='0 0 -.1'/>"
                         "<body pos='0 0 0.06'>" +
                             joints +
                             "<geom type='cylinder' size='.015 .14' euler='0 90 0' mass='.1'/>"
                             "<geom type='cylinder' size='.025 .05' pos='.14 0 0' "
                             "euler='90 0 0' mass='.15'/></body></worldbody>");
  for (int seed = 0; seed < 6; ++seed) {
    Scene scene(mjcf);
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal(0, 2);
    scene.data->qpos[2] = 0.05;
    for (int i = 3; i < 6; ++i) scene.data->qvel[i] = normal(rng);
    Stepper stepper(scene.model, make_options(GetParam()));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500)) << "seed " << seed;
  }
}

/// A chain of three to nine capsules that falls on a floor. Its joints are hinges and balls, and
/// its links differ in thickness by up to a factor of ten, so that thin ones spin fast.
std::string make_falling_chain(std::mt19937_64* rng) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  const int num_links = 3 + static_cast<int>((*rng)() % 7);
  std::string open, close;
  for (int i = 0; i < num_links; ++i) {
    double axis[3];
    for (double& x : axis) x = normal(*rng);
    const bool is_ball = (*rng)() % 2;
    const double length = 0.05 + 0.35 * uniform(*rng);
    const double radius = std::pow(10, -2 + uniform(*rng));
    const double friction = std::pow(10, -3 + 3 * uniform(*rng));
    open += i == 0 ? "<body pos='0 0 0.3'><freejoint/>"
                   : "<body pos='0.2 0 0'><joint type='" + std::string(is_ball ? "ball" : "hinge") +
                         "' axis='" + std::to_string(axis[0]) + " " + std::to_string(axis[1]) +
                         " " + std::to_string(axis[2]) + "' frictionloss='" +
                         std::to_string(friction) + "' damping='0.01'/>";
    open += "<geom type='capsule' fromto='0 0 0 " + std::to_string(length) + " 0 0' size='" +
            std::to_string(radius) + "'/>";
    close += "</body>";
  }
  return support::make_mjcf(R"(timestep="0.002")", "<worldbody><geom type='plane' size='5 5 .1'/>" +
                                                       open + close + "</worldbody>");
}

// While the tolerance of the solver followed the fastest joint instead of the fastest contact, 14
// of 300 such chains stopped. One is left, with contacts that contradict each other by 16 um/s.
TEST(DryJointChain, RandomChainsFallUnderTrueCones) {
  int num_stops = 0;
  for (int seed = 0; seed < support::num_trials(100); ++seed) {
    std::mt19937_64 rng(seed);
    Scene scene(make_falling_chain(&rng));
    std::normal_distribution<double> normal(0, 2);
    for (int i = 0; i < scene.model->nv; ++i) scene.data->qvel[i] = normal(rng);
    Stepper stepper(scene.model, make_options(ContactModel::rigid_coulomb));
    // Explicit Coriolis forces of links that turn by more than 0.3 rad in a step would add energy.
    const double* v = scene.data->qvel;
    const auto is_fast = [](double x) { return std::abs(x) > 150; };
    bool is_ok = true;
    for (int i = 0; is_ok && i < 100 && std::none_of(v, v + scene.model->nv, is_fast); ++i) {
      const StepReport& report = stepper.step(scene.data, 1);
      is_ok = report.ok();
      if (!is_ok) std::printf("seed %d: %s\n", seed, report.message.c_str());
    }
    num_stops += !is_ok;
  }
  EXPECT_LE(num_stops, 1);
}

/// A hammer on three slides and three hinges, on a floor.
std::string make_lying_hammer(const char* damping) {
  std::string joints;
  for (const char* type : {"slide", "hinge"})
    for (const char* axis : {"1 0 0", "0 1 0", "0 0 1"})
      joints += std::string("<joint type='") + type + "' axis='" + axis +
                "' frictionloss='0.001' damping='" + damping + "'/>";
  return support::make_mjcf(R"(timestep="0.002")",
                            "<worldbody><geom type='plane' size='1 1 .1'/><body>" + joints +
                                "<geom type='capsule' fromto='-.14 0 0 .14 0 0' size='.015' "
                                "mass='.1'/><geom type='capsule' fromto='.14 -.05 0 .14 .05 0' "
                                "size='.025' mass='.15'/></body></worldbody>");
}

/// Steps once from a random state in which the hammer touches the floor near a gimbal lock.
StepReport step_near_lock(Scene* scene, ContactModel model, numerics::LcpSolver solver, int seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  mjData* d = scene->data;
  mj_resetData(scene->model, d);
  const double digits = 1 + 8 * uniform(rng);
  d->qpos[3] = 6 * uniform(rng);
  d->qpos[4] = 1.5707963267948966 + std::pow(10, -digits);
  d->qpos[5] = 6 * uniform(rng);
  mj_kinematics(scene->model, d);
  double lowest = 0;
  for (int g = 1; g <= 2; ++g) {
    const double* size = scene->model->geom_size + 3 * g;
    const double reach = std::abs(d->geom_xmat[9 * g + 8]) * size[1] + size[0];
    lowest = std::min(lowest, d->geom_xpos[3 * g + 2] - reach);
  }
  d->qpos[2] = -lowest - (seed % 2 ? 1e-5 : 0);
  for (int i = 0; i < 6; ++i) d->qvel[i] = seed % 3 * normal(rng);
  d->qvel[3] *= 1e-3;
  d->qvel[5] *= 1e-3;
  StepOptions options = make_options(model);
  options.parameters.lcp_solver = solver;
  return Stepper(scene->model, options).step(d, 1);
}

// Two of the hinges turn against each other with hardly any energy near a gimbal lock, so their LCP
// is ill-conditioned.
TEST(DryJointGimbalLock, TheDefaultSolverSucceedsWhereLemkeDoes) {
  Scene damped(make_lying_hammer("1e-5")), undamped(make_lying_hammer("0"));
  constexpr int kNumSeeds = support::num_trials(300);
  int num_lemke = 0;
  for (Scene* scene : {&damped, &undamped})
    for (const ContactModel model : {ContactModel::no_slip, ContactModel::viscous}) {
      int num_ok = 0, num_ok_by_lemke = 0;
      for (int seed = 0; seed < kNumSeeds; ++seed) {
        const StepReport report =
            step_near_lock(scene, model, numerics::LcpSolver::ppm_ratio, seed);
        const StepReport by_lemke = step_near_lock(scene, model, numerics::LcpSolver::lemke, seed);
        num_ok += report.ok();
        num_ok_by_lemke += by_lemke.ok();
        num_lemke += report.statistics.num_lemke;
        EXPECT_EQ(by_lemke.statistics.num_lemke, 0);
        // A solution of Lemke's method may still fail its certificate.
        if (by_lemke.ok()) {
          EXPECT_EQ(report.status & kNotConverged, 0u) << "seed " << seed << ": " << report.message;
        }
      }
      EXPECT_GE(num_ok, num_ok_by_lemke);
      if (scene == &damped) {
        EXPECT_EQ(num_ok, kNumSeeds);
      }
    }
  EXPECT_GT(num_lemke, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, DryJointScene, testing::ValuesIn(rigid_models()), model_name);

TEST(DryJointOptions, ActiveSetRefusesDryFrictionAndNamesTheJoint) {
  if (!numerics::ActiveSetQp::is_available()) GTEST_SKIP() << "this build has no DAQP";
  const Scene scene(make_chain(2, {"0 1 0"}));
  StepOptions options = make_options(ContactModel::no_slip);
  options.parameters.lcp_solver = numerics::LcpSolver::active_set;
  try {
    const Stepper stepper(scene.model, options);
    ADD_FAILURE() << "the model was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("joint"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("ppm_ratio"), std::string::npos) << error.what();
  }
  // Other models do not read the option.
  options.contact_model = ContactModel::stewart_trinkle;
  EXPECT_NO_THROW(Stepper(scene.model, options));
}

}  // namespace
}  // namespace stiction::sim::dry_joints_test
