#include "stiction/sim/options/pair_explanation.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "support/scene.hpp"

namespace stiction::sim::pair_explanation_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr const char* kScene = R"(
<worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.4"/>
  <body name="a"><freejoint/><geom name="pad" size=".1" condim="6"/></body>
  <body name="b"><freejoint/><geom name="cube" size=".1" friction="0.7"/></body>
</worldbody>
<contact><pair name="p" geom1="pad" geom2="floor" friction="0.2 0.3" condim="3"/></contact>)";

class Explanation : public testing::Test {
 protected:
  std::optional<ExplainedNumber> find(const char* a, const char* b, const std::string& name) {
    for (const ExplainedNumber& number :
         explain_pair(scene_.model, table_, options_, scene_.geom(a), scene_.geom(b)).numbers)
      if (number.name == name) return number;
    return std::nullopt;
  }

  Scene scene_{support::make_mjcf("timestep='0.01'", kScene)};
  plant::MaterialTable table_ = plant::make_default_materials(scene_.model);
  StepOptions options_;
};

TEST_F(Explanation, HasTheNumbersAndSourcesOfAssignedMaterials) {
  const int pad = scene_.geom("pad");
  table_.geoms[pad] = {.law = {.stiffness = 1e5, .dissipation = 10, .relaxation_time = 0.03},
                       .friction = 0.5};
  table_.sources[pad] = {
      .law = {.stiffness = "f:1", .dissipation = "f:2", .relaxation_time = "f:3"},
      .friction = "f:4",
      .material = "gel",
      .selector = "'*' (f:9)"};
  const auto k = find("pad", "cube", "stiffness");
  EXPECT_EQ(k->value, 1e5);
  EXPECT_NE(k->from.find("1e+05 (f:1) and inf (default)"), std::string::npos) << k->from;
  EXPECT_EQ(find("pad", "cube", "dissipation")->value, 10);
  EXPECT_EQ(find("pad", "cube", "relaxation_time")->value, 0.04);
  const auto mu = find("pad", "cube", "friction");
  EXPECT_DOUBLE_EQ(mu->value, 2 * 0.5 * 0.7 / 1.2);
  EXPECT_NE(mu->from.find("0.5 (f:4) and 0.7 (MJCF friction of geom 'cube')"), std::string::npos)
      << mu->from;
}

TEST_F(Explanation, HasTheStaticFrictionIfItIsGiven) {
  EXPECT_FALSE(find("pad", "cube", "static_friction"));
  const int pad = scene_.geom("pad");
  table_.geoms[pad].friction = 0.5;
  table_.geoms[pad].static_friction = 0.6;
  table_.sources[pad].static_friction = "f:4";
  const auto without_memory = find("pad", "cube", "static_friction");
  EXPECT_FALSE(without_memory->is_used);
  EXPECT_EQ(without_memory->note, "friction_law 'elastic' uses it");
  options_.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  const auto mu = find("pad", "cube", "static_friction");
  EXPECT_TRUE(mu->is_used);
  EXPECT_DOUBLE_EQ(mu->value, 2 * 0.6 * 0.7 / 1.3);
  EXPECT_NE(mu->from.find("0.6 (f:4) and 0.7 (MJCF friction of geom 'cube')"), std::string::npos)
      << mu->from;
}

TEST_F(Explanation, SpringsReplaceTheSlipTolerance) {
  for (const char* name : {"stiction_tolerance", "friction_regularization"}) {
    options_.parameters.friction_law = contact::FrictionRegularizationKind::soft;
    EXPECT_TRUE(find("pad", "cube", name)->is_used) << name;
    options_.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
    const auto number = find("pad", "cube", name);
    EXPECT_FALSE(number->is_used) << name;
    EXPECT_EQ(number->note, "not used by friction_law 'elastic', whose contacts stick by springs");
  }
}

TEST_F(Explanation, NamesTheMjcfElementOfTheFriction) {
  const auto larger = find("pad", "cube", "friction");
  EXPECT_EQ(larger->value, 1);
  EXPECT_NE(larger->from.find("larger of 1 (MJCF friction of geom 'pad') and 0.7"),
            std::string::npos);
  scene_->geom_priority[scene_.geom("cube")] = 3;
  const auto preferred = find("pad", "cube", "friction");
  EXPECT_EQ(preferred->value, 0.7);
  EXPECT_EQ(preferred->from, "MJCF friction of geom 'cube', whose priority is higher");
  scene_->opt.enableflags |= mjENBL_OVERRIDE;
  EXPECT_EQ(find("pad", "cube", "friction")->from, "MJCF o_friction of <option>");
}

TEST_F(Explanation, ShowsBothTangentsOfAPair) {
  EXPECT_EQ(find("pad", "floor", "friction, first tangent")->value, 0.2);
  EXPECT_EQ(find("pad", "floor", "friction, second tangent")->from, "MJCF friction of pair 'p'");
  options_.contact_model = ContactModel::sap;
  EXPECT_NE(find("pad", "floor", "friction, first tangent")->note.find("mean, 0.25"),
            std::string::npos);
}

TEST_F(Explanation, MarksNumbersThatTheModelDoesNotUse) {
  for (const auto& traits : contact::contact_models()) {
    if (traits.is_mj_step) continue;
    options_.contact_model = traits.model;
    const contact::PropertyUse use =
        contact::calc_property_use(traits.model, contact::NormalLawKind::hunt_crossley);
    EXPECT_EQ(find("pad", "cube", "dissipation")->is_used, use.dissipation);
    EXPECT_EQ(find("pad", "cube", "relaxation_time")->is_used, use.relaxation_time);
    EXPECT_EQ(find("pad", "cube", "torsional friction")->is_used, traits.takes_torsion);
    EXPECT_EQ(find("pad", "cube", "stiction_tolerance")->is_used,
              traits.options.stiction_tolerance);
  }
  options_.contact_model = ContactModel::mujoco;
  EXPECT_FALSE(find("pad", "cube", "stiffness").has_value());
  EXPECT_EQ(find("pad", "cube", "solref[0]")->value, 0.02);
}

TEST_F(Explanation, HasThePropertiesOfTheLaw) {
  EXPECT_FALSE(find("pad", "cube", "hertz_stiffness").has_value());
  EXPECT_FALSE(find("pad", "cube", "barrier_stiffness").has_value());
  const int pad = scene_.geom("pad");
  table_.geoms[pad].law.hertz_stiffness = 3e8;
  table_.sources[pad].law.hertz_stiffness = "f:5";
  EXPECT_FALSE(find("pad", "cube", "hertz_stiffness")->is_used) << "given, but of another law";
  options_.parameters.normal_law = contact::NormalLawKind::hertz;
  const auto k_h = find("pad", "cube", "hertz_stiffness");
  EXPECT_TRUE(k_h->is_used);
  EXPECT_NEAR(k_h->value, 3e8, 1e-6);
  EXPECT_NE(k_h->from.find("3e+08 (f:5) and inf (default)"), std::string::npos) << k_h->from;
  EXPECT_FALSE(find("pad", "cube", "stiffness")->is_used);
  EXPECT_EQ(find("pad", "cube", "stiffness")->note, "not used by hertz");
  options_.parameters.normal_law = contact::NormalLawKind::ipc_barrier;
  EXPECT_EQ(find("pad", "cube", "barrier_thickness")->value, 1e-3);
  EXPECT_FALSE(find("pad", "cube", "dissipation")->is_used);
}

TEST_F(Explanation, StatesTheStiffnessOfANearRigidContact) {
  const auto k = find("pad", "cube", "stiffness");
  EXPECT_TRUE(std::isinf(k->value));
  EXPECT_NE(k->note.find("3.948e+05 N/m for each kg"), std::string::npos) << k->note;
  options_.time_step = 0.001;
  EXPECT_NE(find("pad", "cube", "stiffness")->note.find("3.948e+07"), std::string::npos);
}

TEST_F(Explanation, StatesHowFarSlidingLiftsABody) {
  // Friction 1; dt = 0.01 s and tau = 0.02 s.
  for (const auto& [model, gap] :
       {std::pair{ContactModel::lagged, 0.0}, std::pair{ContactModel::similar, 0.01},
        std::pair{ContactModel::sap, 0.03}}) {
    options_.contact_model = model;
    EXPECT_DOUBLE_EQ(find("pad", "cube", "gliding gap")->value, gap);
  }
  options_.contact_model = ContactModel::mujoco;
  EXPECT_FALSE(find("pad", "cube", "gliding gap").has_value());
}

TEST_F(Explanation, StatesHowMuchSlipStiffensAContactUnderSimilar) {
  // Friction 1, and the default dissipation of 50 s/m.
  options_.contact_model = ContactModel::similar;
  EXPECT_DOUBLE_EQ(find("pad", "cube", "stiffening by slip")->value, 50);
  options_.parameters.normal_law = contact::NormalLawKind::linear;
  EXPECT_FALSE(find("pad", "cube", "stiffening by slip").has_value());
  options_.parameters.normal_law = contact::NormalLawKind::hunt_crossley;
  for (const ContactModel model : {ContactModel::lagged, ContactModel::sap, ContactModel::tamsi}) {
    options_.contact_model = model;
    EXPECT_FALSE(find("pad", "cube", "stiffening by slip").has_value());
  }
}

TEST_F(Explanation, HasOnlyAReasonIfGeomsDoNotCollide) {
  const PairExplanation out = explain_pair(scene_.model, table_, options_, 1, 1);
  EXPECT_FALSE(out.collides);
  EXPECT_EQ(out.reason, "it is the same geom");
  EXPECT_TRUE(out.numbers.empty());
}

TEST_F(Explanation, NeedsValidGeomIds) {
  EXPECT_THROW(explain_pair(scene_.model, table_, options_, 0, 3), Error);
  EXPECT_THROW(explain_pair(scene_.model, table_, options_, -1, 0), Error);
}

}  // namespace
}  // namespace stiction::sim::pair_explanation_test
