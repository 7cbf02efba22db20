// The friction law `elastic` in a pile: it makes no energy, and no step fails.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"

namespace stiction::sim::anchor_energy_test {
namespace {

using contact::ContactModel;
using support::Scene;

double calc_energy(const Scene& scene) {
  // A step leaves the kinematics of its start.
  mj_fwdKinematics(scene.model, scene.data);
  mj_makeM(scene.model, scene.data);
  mj_energyPos(scene.model, scene.data);
  mj_energyVel(scene.model, scene.data);
  return scene.data->energy[0] + scene.data->energy[1];
}

/// Lets a pile fall, and expects that no step makes energy.
/// @return the number of springs that were lost
int expect_no_gain(Scene scene, ContactModel model, const plant::MaterialTable& materials) {
  Stepper stepper(scene.model, make_elastic(model), materials);
  run(&stepper, &scene);
  const double start = calc_energy(scene);
  int num_lost = 0;
  for (int i = 0; i < 700; ++i) {
    const StepReport& report = stepper.step(scene.data);
    EXPECT_TRUE(report.ok()) << report.message << " in step " << i;
    EXPECT_LE(calc_energy(scene) + report.anchors.energy, start * (1 + 1e-9)) << "step " << i;
    EXPECT_LE(report.certificate.max_friction_work, 1e-12);
    // Energy that shows only beside that of the fall is no proof, so each step is checked. Sharing
    // sums springs that cancel, which leaves some 1e-12 J.
    EXPECT_LE(report.anchors.energy_gain, 1e-10 * (report.anchors.energy + 1e-3)) << "step " << i;
    num_lost += report.anchors.num_lost;
    if (testing::Test::HasFailure()) break;
  }
  return num_lost;
}

TEST(AnchorEnergy, APileGainsNone) {
  int num_lost = 0;
  for (const double damping : {0.0, 1.0}) {
    for (const double k : {0.0, 1e5, 1e8}) {
      for (const ContactModel model : support::models_with_anchors()) {
        const Scene scene(make_pile(2e-3));
        plant::MaterialTable materials = make_stiff(scene, k);
        for (plant::Material& m : materials.geoms) m.law.tangential_damping = damping;
        num_lost += expect_no_gain(scene, model, materials);
      }
    }
  }
  EXPECT_GT(num_lost, 0);  // springs were shared
}

TEST(AnchorEnergy, APileGainsNoneWhereTorsionHasTheLargestCoefficient) {
  int num_lost = 0;
  for (const ContactModel model : support::models_with_anchors()) {
    const Scene scene(make_pile(2e-3, "0.2 0.5 0.1"));
    num_lost += expect_no_gain(scene, model, make_stiff(scene, 1e5));
  }
  EXPECT_GT(num_lost, 0);
}

/// The tangents of a contact with a plane are fixed in space, while the spring turns with the
/// bodies. So the stretch of a ball that spins about the normal comes nearer to the stiffer
/// tangent.
TEST(AnchorEnergy, ABallThatSpinsGainsNoneWhereCoefficientsAreUnequal) {
  for (const char* friction : {"0.05 0.5 0 0 0", "0.5 0.05 0 0 0"}) {
    for (const ContactModel model : support::models_with_anchors()) {
      const std::string pair = "<pair geom1='floor' geom2='ball' condim='3' friction='";
      Scene scene(
          "<mujoco><option timestep='1e-3'/><worldbody>"
          "<geom name='floor' type='plane' size='5 5 1'/><body pos='0 0 0.0499'>"
          "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
          "<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 0 1'/>"
          "<geom name='ball' size='0.05' mass='1'/></body></worldbody><contact>" +
          pair + friction + "'/></contact></mujoco>");
      Stepper stepper(scene.model, make_elastic(model), make_stiff(scene, 1e4));
      const double speed = 3e-3, spin = 30;
      scene.data->qvel[1] = speed;
      scene.data->qvel[3] = spin;
      const double start = 0.5 * speed * speed;
      double largest = 0;
      for (int i = 0; i < 2000; ++i) {
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << report.message;
        const double* v = scene.data->qvel;
        largest = std::max(largest, 0.5 * (v[0] * v[0] + v[1] * v[1]) + report.anchors.energy);
        EXPECT_LE(report.anchors.energy_gain, 1e-12 * start) << "step " << i;
        if (testing::Test::HasFailure()) return;
      }
      EXPECT_LE(largest, start * (1 + 1e-9)) << friction;
      EXPECT_GT(largest, 0.5 * start);  // the spring took up the motion
      EXPECT_NEAR(scene.data->qvel[3], spin, 1e-9);
    }
  }
}

TEST(AnchorEnergy, StiffnessesAndStepsOfAnySizeSucceed) {
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

}  // namespace
}  // namespace stiction::sim::anchor_energy_test
