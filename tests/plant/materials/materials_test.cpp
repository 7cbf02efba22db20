#include "stiction/plant/materials/materials.hpp"

#include <gtest/gtest.h>

#include "stiction/laws/barrier.hpp"
#include "support/scene.hpp"

namespace stiction::plant::materials_test {
namespace {

class Materials : public testing::Test {
 protected:
  static Material make_material(double stiffness, double dissipation, double relaxation_time,
                                double friction) {
    return {.law = {.stiffness = stiffness,
                    .dissipation = dissipation,
                    .relaxation_time = relaxation_time},
            .friction = friction};
  }

  PairProperties combine(const Material& a, const Material& b,
                         contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley) {
    table_.geoms = {a, b};
    return combine_materials(scene_.model, table_, 0, 1, 0.33, law);
  }

  double combine_static(const Material& a, const Material& b) {
    table_.geoms = {a, b};
    return combine_static_friction(scene_.model, table_, 0, 1);
  }

  support::Scene scene_{support::make_mjcf("", R"(<worldbody><geom size="1" friction="0.4"/>
<geom size="1" friction="0.9"/></worldbody>)")};
  MaterialTable table_ = make_default_materials(scene_.model);
};

TEST_F(Materials, CombineAsSpringsInSeries) {
  const PairProperties p =
      combine(make_material(1e5, 10, 0.01, 0.5), make_material(3e5, 50, 0.02, 1.0));
  EXPECT_DOUBLE_EQ(p.law.stiffness, 0.75e5);
  EXPECT_DOUBLE_EQ(p.law.dissipation, 0.75 * 10 + 0.25 * 50);  // the softer side weighs more
  EXPECT_DOUBLE_EQ(p.law.relaxation_time, 0.03);
  EXPECT_DOUBLE_EQ(p.friction, 2 * 0.5 * 1.0 / 1.5);
  EXPECT_TRUE(p.friction_is_ours);
  EXPECT_DOUBLE_EQ(p.share_of_first, 0.75);
}

TEST_F(Materials, CombineTheSameInEitherOrder) {
  const Material a = make_material(1e5, 10, 0.01, 0.5), b = make_material(3e6, 50, 0.02, 1.0);
  const PairProperties ab = combine(a, b), ba = combine(b, a);
  EXPECT_DOUBLE_EQ(ab.law.stiffness, ba.law.stiffness);
  EXPECT_DOUBLE_EQ(ab.law.dissipation, ba.law.dissipation);
  EXPECT_DOUBLE_EQ(ab.friction, ba.friction);
  EXPECT_DOUBLE_EQ(ab.share_of_first, 1 - ba.share_of_first);
}

TEST_F(Materials, RigidSideTakesNoCompression) {
  const Material rigid = make_material(contact::kInfinity, 5, 0, 0.5),
                 soft = make_material(1e4, 30, 0, 0.5);
  const PairProperties p = combine(rigid, soft);
  EXPECT_EQ(p.law.stiffness, 1e4);
  EXPECT_EQ(p.law.dissipation, 30);
  EXPECT_EQ(p.share_of_first, 0);
  EXPECT_EQ(combine(soft, rigid).share_of_first, 1);
  const PairProperties both = combine(rigid, rigid);
  EXPECT_EQ(both.law.stiffness, contact::kInfinity);
  EXPECT_EQ(both.law.dissipation, 5);
  EXPECT_EQ(both.share_of_first, 0.5);
}

TEST_F(Materials, FrictionWithoutPropertiesIsMuJoCos) {
  const PairProperties p = combine(kDefaultMaterial, kDefaultMaterial);
  EXPECT_EQ(p.friction, 0.33);
  EXPECT_FALSE(p.friction_is_ours);
}

TEST_F(Materials, FrictionOfOneSideMeetsTheOthersMjcfCoefficient) {
  Material a = kDefaultMaterial;
  a.friction = 0.6;
  EXPECT_DOUBLE_EQ(combine(a, kDefaultMaterial).friction, 2 * 0.6 * 0.9 / 1.5);
  EXPECT_DOUBLE_EQ(combine(kDefaultMaterial, a).friction, 2 * 0.4 * 0.6 / 1.0);
  EXPECT_TRUE(std::isnan(combine_static(a, kDefaultMaterial)));
  a.static_friction = 0.8;  // the other geom has its MJCF friction for both
  EXPECT_DOUBLE_EQ(combine_static(a, kDefaultMaterial), 2 * 0.8 * 0.9 / 1.7);
  EXPECT_DOUBLE_EQ(combine_static(a, a), 0.8);
  a.friction = 0;
  EXPECT_EQ(combine(a, kDefaultMaterial).friction, 0);
  EXPECT_EQ(combine(a, a).friction, 0);  // 0 / 0
}

TEST_F(Materials, HertzCompressionsAdd) {
  Material a = kDefaultMaterial, b = kDefaultMaterial;
  a.law.hertz_stiffness = 3e8;
  b.law.hertz_stiffness = 7e9;
  a.law.dissipation = 4;
  b.law.dissipation = 1;
  const PairProperties p = combine(a, b, contact::NormalLawKind::hertz);
  // One force compresses each by (f / k)^(2/3).
  const double f = 123, x_a = std::pow(f / 3e8, 2.0 / 3), x_b = std::pow(f / 7e9, 2.0 / 3);
  EXPECT_NEAR(p.law.hertz_stiffness * std::pow(x_a + x_b, 1.5), f, 1e-12 * f);
  EXPECT_NEAR(p.share_of_first, x_a / (x_a + x_b), 1e-14);
  EXPECT_NEAR(p.law.dissipation, (x_a * 4 + x_b * 1) / (x_a + x_b), 1e-14);
  // Under another law the compressions of that law weight the dissipation.
  EXPECT_EQ(combine(a, b).law.dissipation, 2.5);
  b.law.hertz_stiffness = contact::kInfinity;
  EXPECT_NEAR(combine(a, b).law.hertz_stiffness, 3e8, 1e-6);
  EXPECT_EQ(combine(a, b, contact::NormalLawKind::hertz).share_of_first, 1);
  EXPECT_EQ(combine(b, b).law.hertz_stiffness, contact::kInfinity);
}

TEST_F(Materials, YoungsModuliCombineAsHertzsLawDoes) {
  Material a = kDefaultMaterial, b = kDefaultMaterial;
  a.youngs_modulus = 2e9;
  a.poissons_ratio = 0.2;
  b.youngs_modulus = 5e9;
  b.poissons_ratio = 0.4;
  a.law.dissipation = 4;
  b.law.dissipation = 1;
  const double G = 4.0 / 3 * std::sqrt(0.07);
  const auto combine_at = [&](const Material& first, const Material& second) {
    table_.geoms = {first, second};
    return combine_materials(scene_.model, table_, 0, 1, 0.33, contact::NormalLawKind::hertz, G);
  };
  const double c_a = (1 - 0.04) / 2e9, c_b = (1 - 0.16) / 5e9;  // compliances
  const PairProperties p = combine_at(a, b);
  EXPECT_NEAR(p.law.hertz_stiffness, G / (c_a + c_b), 1e-12 * G / c_a);
  EXPECT_NEAR(p.share_of_first, c_a / (c_a + c_b), 1e-14);
  EXPECT_NEAR(p.law.dissipation, (c_a * 4 + c_b * 1) / (c_a + c_b), 1e-14);
  // A near-rigid surface does not deform.
  EXPECT_NEAR(combine_at(a, kDefaultMaterial).law.hertz_stiffness, G / c_a, 1e-12 * G / c_a);
  EXPECT_EQ(combine_at(kDefaultMaterial, a).share_of_first, 0);
  // A given stiffness counts instead of the modulus, and is in series by its own rule.
  b.law.hertz_stiffness = 3e8;
  EXPECT_FALSE(has_elastic_stiffness(b));
  const PairProperties mixed = combine_at(a, b);
  const double f = 50, x = std::pow(f * c_a / G, 2.0 / 3) + std::pow(f / 3e8, 2.0 / 3);
  EXPECT_NEAR(mixed.law.hertz_stiffness * std::pow(x, 1.5), f, 1e-12 * f);
  // Other laws, and callers that do not know the place of the contact, do not use the modulus.
  EXPECT_EQ(combine(a, kDefaultMaterial, contact::NormalLawKind::hertz).law.hertz_stiffness,
            contact::kInfinity);
  EXPECT_EQ(combine(a, kDefaultMaterial).law.stiffness, contact::kInfinity);
}

TEST_F(Materials, ElasticityGivesTheModulusOfCompliantSurfaces) {
  Material a = kDefaultMaterial;
  a.youngs_modulus = 3e6;
  EXPECT_TRUE(std::isnan(find_hydroelastic_modulus(a)));
  a.compliant = true;
  EXPECT_DOUBLE_EQ(find_hydroelastic_modulus(a), 3e6 / (1 - 0.09)) << "nu is 0.3 by default";
  a.poissons_ratio = 0.5;
  EXPECT_DOUBLE_EQ(find_hydroelastic_modulus(a), 4e6);
  a.hydroelastic_modulus = 7;
  EXPECT_EQ(find_hydroelastic_modulus(a), 7);
}

TEST_F(Materials, BarriersAreLayersInSeries) {
  // If k times the thickness is the same for both layers, each layer takes a constant share of the
  // gap.
  Material a = kDefaultMaterial, b = kDefaultMaterial;
  a.law.barrier_stiffness = 2e5;
  a.law.barrier_thickness = 1e-3;
  b.law.barrier_stiffness = 5e5;
  b.law.barrier_thickness = 4e-4;
  const auto law = contact::NormalLawKind::ipc_barrier;
  const PairProperties p = combine(a, b, law);
  const laws::IpcBarrierForce<double> of_a{2e5, 1e-3}, of_b{5e5, 4e-4};
  const laws::IpcBarrierForce<double> of_pair{p.law.barrier_stiffness, p.law.barrier_thickness};
  const laws::LogBarrierForce<double> log_a{2e5, 1e-3};
  const laws::LogBarrierForce<double> log_pair{p.law.barrier_stiffness, p.law.barrier_thickness};
  EXPECT_DOUBLE_EQ(p.law.barrier_thickness, 1.4e-3);
  for (const double part : {0.01, 0.3, 0.9}) {
    const double gap_a = part * 1e-3, gap_b = part * 4e-4;
    const double f = of_a.calc(-gap_a).f;
    EXPECT_NEAR(of_b.calc(-gap_b).f, f, 1e-12 * f);
    EXPECT_NEAR(of_pair.calc(-gap_a - gap_b).f, f, 1e-12 * f);
    EXPECT_NEAR(log_pair.calc(-gap_a - gap_b).f, log_a.calc(-gap_a).f, 1e-12 * f);
    EXPECT_NEAR(p.share_of_first, gap_a / (gap_a + gap_b), 1e-14);
  }
  const PairProperties standard = combine(kDefaultMaterial, kDefaultMaterial, law);
  EXPECT_EQ(standard.law.barrier_stiffness, contact::kInfinity);
  EXPECT_EQ(standard.law.barrier_thickness, 1e-3);
  EXPECT_EQ(combine(kDefaultMaterial, kDefaultMaterial, contact::NormalLawKind::log_barrier)
                .law.barrier_thickness,
            1e-6);
}

}  // namespace
}  // namespace stiction::plant::materials_test
