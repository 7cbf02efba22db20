// Taxels read the contact forces of a step: they conserve forces and torques, and they are MuJoCo's
// sensordata.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::taxels_test {
namespace {

using contact::ContactModel;
using math::Vec3;
using support::Scene;

constexpr double kGravity = 9.81, kMass = 0.3;

Vec3 read(const std::vector<double>& values, std::size_t row) {
  return {values[3 * row], values[3 * row + 1], values[3 * row + 2]};
}

struct Wrench {
  Vec3 force, torque;  // about the origin of the world
};

/// Sums the forces on the first geom of patches and points, about the origin.
Wrench sum_contacts(const StepReport& report, int geom) {
  Wrench sum;
  const auto add = [&](const int* geoms, const Vec3& at, const Vec3& f, const Vec3& t) {
    const double sign = geoms[1] == geom ? 1 : geoms[0] == geom ? -1 : 0;
    sum.force += sign * f;
    sum.torque += sign * (cross(at, f) + t);
  };
  const PatchReport& patches = report.patches;
  const ContactReport& contacts = report.contacts;
  const bool has_faces = report.statistics.num_parts == 1;
  for (int p = 0; has_faces && p < patches.size(); ++p)
    add(&patches.geoms[2 * p], read(patches.center, p), read(patches.force, p),
        read(patches.torque, p));
  for (int c = 0; c < contacts.size(); ++c)
    if (!has_faces || contacts.patch[c] < 0)
      add(&contacts.geoms[2 * c], read(contacts.point, c),
          read(contacts.impulse, c) * (1 / contacts.time_step),
          read(contacts.torque_impulse, c) * (1 / contacts.time_step));
  return sum;
}

Wrench sum_taxels(const TaxelReport& taxels, int sensor) {
  Wrench sum;
  for (int i = taxels.start[sensor]; i < taxels.start[sensor + 1]; ++i) {
    sum.force += read(taxels.force, i);
    sum.torque += cross(taxels.position(sensor, i), read(taxels.force, i)) + read(taxels.torque, i);
  }
  return sum;
}

/// A pad that lies face up, and a body that is pressed on it.
struct Pad {
  explicit Pad(const std::string& body, ContactModel model = ContactModel::lagged,
               bool is_soft = true, const std::string& more = "", StepOptions options = {})
      : scene(support::make_mjcf(
            R"(timestep="0.002")",
            R"(<worldbody><geom name="pad" type="box" size="0.02 0.025 0.01" pos="0.1 0.2 0.3"
               euler="0 0 25"/><body name="body" pos="0.101 0.203 0.316" euler="3 5 40">
               <freejoint/><geom name="body" mass="0.3" )" +
                body + "/></body></worldbody>" + more)),
        materials(plant::make_default_materials(scene.model)) {
    if (is_soft) {
      materials.geoms[scene.geom("pad")].hydroelastic_modulus = 1e6;
      materials.geoms[scene.geom("pad")].law.dissipation = 20;
      materials.geoms[scene.geom("body")].rigid = true;
      materials.geoms[scene.geom("body")].resolution_hint = 0.003;
    }
    options.contact_model = model;
    options.tolerance = 1e-12;
    stepper.emplace(scene.model, options, materials);
    stepper->set_taxels(std::vector<plant::TaxelGrid>{{.name = "skin",
                                                       .geom = scene.geom("pad"),
                                                       .pos = {0, 0, 0.01},
                                                       .size = {0.04, 0.05},
                                                       .shape = {20, 25}}});
  }

  /// Takes steps, and expects of each that the taxels have the wrench of the contacts.
  void run(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      stepper->step(scene.data, 1, &report);
      ASSERT_TRUE(report.ok()) << report.message;
      const Wrench contacts = sum_contacts(report, scene.geom("pad"));
      const Wrench taxels = sum_taxels(report.read_taxels(), report.read_taxels().size() - 1);
      EXPECT_LT(norm(taxels.force - contacts.force), 1e-12) << i;
      EXPECT_LT(norm(taxels.torque - contacts.torque), 1e-12) << i;
      largest = std::max(largest, norm(contacts.force));
    }
  }

  Scene scene;
  plant::MaterialTable materials;
  std::optional<Stepper> stepper;
  StepReport report;
  double largest = 0;  // force [N]
};

constexpr const char* kBall = R"(type="ellipsoid" size="0.015 0.012 0.0065")";
constexpr const char* kBlock = R"(type="box" size="0.012 0.009 0.006")";

TEST(Taxels, AddUpToTheWrenchOfPatches) {
  for (const char* body : {kBall, kBlock}) {
    Pad pad(body);
    pad.scene.data->qvel[0] = 0.05;
    pad.run(200);
    EXPECT_EQ(pad.report.patches.size(), 1);
    EXPECT_GT(pad.largest, kMass * kGravity);
  }
}

TEST(Taxels, AddUpToTheWrenchOfPatchesWithThreePointsPerFace) {
  StepOptions options;
  options.surfaces.quadrature = geometry::Quadrature::moment_exact;
  Pad pad(kBlock, ContactModel::lagged, true, "", options);
  pad.run(100);
  EXPECT_GT(pad.largest, kMass * kGravity);
}

TEST(Taxels, AddUpToTheWrenchOfPoints) {
  for (const ContactModel model :
       {ContactModel::lagged, ContactModel::anitescu_potra, ContactModel::mujoco}) {
    Pad pad(std::string(kBlock) + R"( condim="6" friction="0.8 0.01 0.001")", model, false);
    pad.run(100);
    EXPECT_GT(pad.largest, 0);
  }
}

TEST(Taxels, AddUpToTheWrenchOfAStepInParts) {
  const std::pair<Integrator, ContactModel> cases[] = {
      {Integrator::event_driven, ContactModel::drumwright_shell},
      {Integrator::rk4, ContactModel::viscous}};
  for (const auto& [integrator, model] : cases) {
    StepOptions options;
    options.integrator = integrator;
    Pad pad(kBlock, model, false, "", options);
    pad.run(60);
    EXPECT_GT(pad.largest, 0);
  }
}

TEST(Taxels, AddUpToTheWeightOfABodyAtRest) {
  Pad pad(kBlock);
  pad.run(3000);
  double force = 0, normal = 0;
  const TaxelReport& taxels = pad.report.read_taxels();
  for (int i = 0; i < taxels.num_taxels(); ++i) {
    force += taxels.force[3 * i + 2];
    normal += taxels.traction[3 * i] * taxels.area[i];
  }
  EXPECT_NEAR(force, -kMass * kGravity, 1e-9);
  EXPECT_NEAR(normal, kMass * kGravity, 1e-9);  // the pad faces up
}

TEST(Taxels, ReadThePressureWhereThePatchIs) {
  Pad pad(kBlock);
  pad.run(1500);
  const TaxelReport& taxels = pad.report.read_taxels();
  const Vec3 center = read(pad.report.patches.center, 0);
  int num_pressed = 0;
  for (int i = 0; i < taxels.num_taxels(); ++i) {
    const Vec3 away = taxels.position(0, i) - center;
    const bool is_pressed = taxels.traction[3 * i] > 0;
    num_pressed += is_pressed;
    // The block has a half diagonal of 15 mm, and a taxel of 1.4 mm.
    const double distance = std::hypot(away.x, away.y);
    if (distance > 0.0165 || distance < 0.0075) {
      EXPECT_EQ(is_pressed, distance < 0.0075) << i;
    }
  }
  // The area of the block over that of a taxel, 108, and those that it covers in part.
  EXPECT_NEAR(num_pressed, 0.024 * 0.018 / (0.002 * 0.002), 30);
}

TEST(Taxels, DoNotReadASurfaceThatFacesAway) {
  Pad pad(kBall);  // no face of its patch is steep
  pad.stepper->set_taxels(std::vector<plant::TaxelGrid>{{.name = "below",
                                                         .geom = pad.scene.geom("pad"),
                                                         .pos = {0, 0, -0.01},
                                                         .normal = {0, 0, -1},
                                                         .size = {0.04, 0.05},
                                                         .shape = {2, 2}}});
  pad.stepper->step(pad.scene.data, 200, &pad.report);
  ASSERT_EQ(pad.report.patches.size(), 1);
  for (const double x : pad.report.read_taxels().force) EXPECT_EQ(x, 0);
}

constexpr const char* kTactile = R"(
<asset><mesh name="plate" vertex="-.02 -.02 .01  .02 -.02 .01  .02 .02 .01  -.02 .02 .01  0 0 -.01"
  face="0 1 2  0 2 3  1 0 4  2 1 4  3 2 4  0 3 4"/></asset>
<sensor><clock name="clock"/><tactile name="touch" geom="pad" mesh="plate"/>
<tactile name="limited" geom="pad" mesh="plate" cutoff="500"/><clock name="last"/></sensor>)";

TEST(Taxels, AreTheDataOfTactileSensors) {
  Pad pad(kBlock, ContactModel::lagged, true, kTactile);
  pad.run(500);
  const TaxelReport& taxels = pad.report.read_taxels();
  ASSERT_EQ(taxels.names, (std::vector<std::string>{"touch", "limited", "skin"}));
  const auto find = [&](const char* name) {
    return pad.scene.data->sensordata + pad.scene->sensor_adr[pad.scene.sensor(name)];
  };
  double normal = 0, largest = 0;
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double traction = taxels.traction[3 * i + k];
      EXPECT_EQ(find("touch")[5 * k + i], traction);
      EXPECT_EQ(find("limited")[5 * k + i], std::clamp(traction, -500.0, 500.0));
      largest = std::max(largest, std::abs(traction));
    }
    normal += norm(read(taxels.force, i));
  }
  EXPECT_GT(largest, 500);
  EXPECT_GT(normal, 0.5 * kMass * kGravity);
  EXPECT_NEAR(*find("last"), pad.scene.data->time - 0.002, 1e-12);  // neighbors are not touched
}

TEST(Taxels, AreReadByForwardAsByTheNextStep) {
  Pad pad(kBlock, ContactModel::lagged, true, kTactile);
  pad.run(300);
  StepReport forward, step;
  pad.stepper->forward(pad.scene.data, &forward);
  const std::vector<double> sensordata(pad.scene.data->sensordata,
                                       pad.scene.data->sensordata + pad.scene->nsensordata);
  pad.stepper->step(pad.scene.data, 1, &step);
  EXPECT_EQ(forward.read_taxels().traction, step.read_taxels().traction);
  EXPECT_EQ(forward.read_taxels().force, step.read_taxels().force);
  for (std::size_t i = 0; i < sensordata.size(); ++i)
    EXPECT_EQ(sensordata[i], pad.scene.data->sensordata[i]);
}

TEST(Taxels, StayThoseOfTheirStepIfTheyAreReadLater) {
  Pad pad(kBlock);
  pad.run(100);
  StepReport late;
  std::vector<mjtNum> state(mj_stateSize(pad.scene.model, mjSTATE_INTEGRATION));
  mj_getState(pad.scene.model, pad.scene.data, state.data(), mjSTATE_INTEGRATION);
  const auto memory = pad.stepper->get_state();
  pad.stepper->step(pad.scene.data, 1, &pad.report);
  const TaxelReport expected = pad.report.read_taxels();
  mj_setState(pad.scene.model, pad.scene.data, state.data(), mjSTATE_INTEGRATION);
  pad.stepper->set_state(memory);
  pad.stepper->step(pad.scene.data, 1, &late);
  pad.stepper->step(pad.scene.data, 50, &pad.report);
  pad.scene->geom_pos[3 * pad.scene.geom("pad")] += 1;
  mj_forward(pad.scene.model, pad.scene.data);
  EXPECT_EQ(late.read_taxels().force, expected.force);
  EXPECT_EQ(late.read_taxels().traction, expected.traction);
  EXPECT_GT(pad.largest, 0);
}

TEST(Taxels, ReadNothingAfterACallThatFailed) {
  Pad pad(kBlock);
  pad.run(100);
  pad.scene.data->qvel[0] = NAN;
  pad.stepper->step(pad.scene.data, 1, &pad.report);
  ASSERT_FALSE(pad.report.ok());
  const TaxelReport& taxels = pad.report.read_taxels();
  EXPECT_EQ(taxels.names, (std::vector<std::string>{"skin"}));
  for (const double x : taxels.force) EXPECT_EQ(x, 0);
}

TEST(Taxels, AreMissingWithoutSensors) {
  Pad pad(kBlock);
  pad.stepper->set_taxels({});
  pad.stepper->step(pad.scene.data, 1, &pad.report);
  EXPECT_EQ(pad.report.read_taxels().size(), 0);
  EXPECT_EQ(pad.report.read_taxels().num_taxels(), 0);
}

}  // namespace
}  // namespace stiction::sim::taxels_test
