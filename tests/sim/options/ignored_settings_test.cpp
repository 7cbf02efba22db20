#include "stiction/sim/options/ignored_settings.hpp"

#include <gtest/gtest.h>

#include "support/models.hpp"
#include "support/scene.hpp"

namespace stiction::sim::ignored_settings_test {
namespace {

using contact::ContactModel;
using support::compliant_models;
using support::Scene;

constexpr const char* kPlain = R"(<worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body><freejoint/><geom name="ball" size="0.1"/></body></worldbody>)";

std::vector<std::string> find(const Scene& scene, ContactModel model,
                              const plant::MaterialTable* table = nullptr) {
  StepOptions options;
  options.contact_model = model;
  return find_ignored_settings(
      scene.model, table ? *table : plant::make_default_materials(scene.model), options);
}

TEST(IgnoredSettings, AreEmptyIfNothingIsSet) {
  const Scene scene(support::make_mjcf("", kPlain));
  for (const auto& traits : contact::contact_models())
    EXPECT_TRUE(find(scene, traits.model).empty()) << traits.name;
}

TEST(IgnoredSettings, IncludeDissipationThatTheModelDoesNotUse) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.sources[0].material = table.sources[1].material = "gel";
  table.sources[0].law.dissipation = table.sources[1].law.dissipation = "file:3, material 'gel'";
  table.sources[1].law.relaxation_time = "file:4, material 'gel'";
  using Texts = std::vector<std::string>;
  EXPECT_EQ(find(scene, ContactModel::sap, &table),
            Texts{"dissipation (file:3, material 'gel') has no effect under 'sap', which uses "
                  "relaxation_time"});
  for (const ContactModel model : compliant_models()) {
    if (contact::traits(model).uses.relaxation_time) continue;
    const Texts texts = find(scene, model, &table);
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_TRUE(texts[0].starts_with("relaxation_time (file:4, material 'gel') has no effect"));
  }
  const Texts texts = find(scene, ContactModel::mujoco, &table);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with("contact properties of geom 'floor' and 1 more have no effect"));
}

TEST(IgnoredSettings, IncludeMeshPropertiesOfGeomsWithoutAPressureField) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1].resolution_hint = 0.01;
  table.sources[1].resolution_hint = "file:3, material 'gel'";
  const std::vector<std::string> texts = find(scene, ContactModel::lagged, &table);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with(
      "resolution_hint (file:3, material 'gel') has no effect: the geom touches in points"));
  table.geoms[1].hydroelastic_modulus = 1e5;
  EXPECT_TRUE(find(scene, ContactModel::lagged, &table).empty());
}

TEST(IgnoredSettings, IncludeAYoungsModulusThatNothingReads) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1].youngs_modulus = 1e6;
  table.sources[1].youngs_modulus = "f:3";
  const std::vector<std::string> texts = find(scene, ContactModel::coulomb, &table);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with("youngs_modulus (f:3) has no effect under 'coulomb'; it gives"))
      << texts[0];
  StepOptions options;
  options.contact_model = ContactModel::coulomb;
  options.parameters.normal_law = contact::NormalLawKind::hertz;
  EXPECT_TRUE(find_ignored_settings(scene.model, table, options).empty());
  table.geoms[1].law.hertz_stiffness = 1e8;
  EXPECT_EQ(find_ignored_settings(scene.model, table, options).size(), 1u);
  table.geoms[1].compliant = true;
  EXPECT_TRUE(find(scene, ContactModel::coulomb, &table).empty());
  EXPECT_EQ(find(scene, ContactModel::no_slip, &table).size(), 1u);
}

/// A setting of one friction law names the laws under which it has an effect, not the model.
TEST(IgnoredSettings, NameTheFrictionLawThatDoesNotReadThem) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1].law.tangential_stiffness = 1e6;
  table.sources[1].law.tangential_stiffness = "f:3";
  StepOptions options;
  options.contact_model = ContactModel::lagged;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(find_ignored_settings(scene.model, table, options),
            Texts{"tangential_stiffness (f:3) has no effect under the friction law 'soft'; it has "
                  "one under 'elastic'"});
  options.contact_model = ContactModel::sap;  // it has no friction laws
  const Texts of_sap = find_ignored_settings(scene.model, table, options);
  ASSERT_EQ(of_sap.size(), 1u);
  EXPECT_EQ(of_sap[0],
            "tangential_stiffness (f:3) has no effect under 'sap', which has dry friction");

  options.contact_model = ContactModel::coulomb;
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  EXPECT_TRUE(find_ignored_settings(scene.model, table, options).empty());
  options.parameters.stiction_tolerance = 1e-3;
  options.parameters.friction_regularization = 0;
  const Texts texts = find_ignored_settings(scene.model, table, options);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0],
            "stiction_tolerance has no effect on contacts under the friction law 'elastic', whose "
            "contacts stick by springs; it has one under the other friction laws");
  EXPECT_TRUE(texts[1].starts_with("friction_regularization has no effect on contacts under the "));
}

TEST(IgnoredSettings, NameStaticFrictionUnderLawsWithoutMemory) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1].friction = 0.4;
  table.geoms[1].static_friction = 0.5;
  table.sources[1].friction = table.sources[1].static_friction = "f:3";
  StepOptions options;
  options.contact_model = ContactModel::coulomb;
  options.parameters.friction_law = contact::FrictionRegularizationKind::soft;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(find_ignored_settings(scene.model, table, options),
            Texts{"static_friction (f:3) has no effect under the friction law 'soft'; it has one "
                  "under 'elastic'"});
  options.contact_model = ContactModel::sap;
  const Texts of_sap = find_ignored_settings(scene.model, table, options);
  ASSERT_EQ(of_sap.size(), 1u);
  EXPECT_TRUE(of_sap[0].starts_with("static_friction (f:3) has no effect under 'sap', whose "))
      << of_sap[0];
  options.contact_model = ContactModel::lagged;
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  EXPECT_TRUE(find_ignored_settings(scene.model, table, options).empty());
}

struct Case {
  const char* option;
  const char* body;
  const char* text;
};

TEST(IgnoredSettings, IncludeSettingsOfMuJoCosContactAndSolver) {
  const Case cases[] = {
      {"integrator='RK4' impratio='10'", kPlain,
       "integrator 'RK4', impratio of the MJCF's <option> have no effect under '"},
      {"integrator='implicit'", kPlain,
       "integrator 'implicit' of the MJCF's <option> has no effect"},
      {"noslip_iterations='3'", kPlain, "noslip_iterations"},
      {"", "<worldbody><geom name='a' size='1' solref='0.01 1'/></worldbody>",
       "solref and solimp of geom 'a' have no effect on contacts under '"},
      {"", "<worldbody><geom name='a' size='1' solimp='0.8'/></worldbody>", "of geom 'a'"},
      {"o_solref='0.01 1'", "<option><flag override='enable'/></option>", "o_solref and o_solimp"},
      {"", R"(<worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body>
</worldbody><contact><pair name="p" geom1="a" geom2="b" solref="0.01 1"/></contact>)",
       "of pair 'p'"},
      {"", R"(<worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body>
</worldbody><contact><pair name="q" geom1="a" geom2="b" solreffriction="0.01 1"/></contact>)",
       "of pair 'q'"},
  };
  const Scene tuned(support::make_mjcf(
      "cone='elliptic' solver='CG' iterations='7' tolerance='0' integrator='implicitfast'",
      kPlain));
  EXPECT_TRUE(find(tuned, ContactModel::lagged).empty());
  for (const Case& c : cases) {
    const Scene scene(support::make_mjcf(c.option, c.body));
    for (const ContactModel model : compliant_models()) {
      const std::vector<std::string> texts = find(scene, model);
      ASSERT_EQ(texts.size(), 1u) << c.text;
      EXPECT_NE(texts[0].find(c.text), std::string::npos) << texts[0];
    }
    EXPECT_TRUE(find(scene, ContactModel::mujoco).empty());
  }
}

TEST(IgnoredSettings, DoNotCountGeomsThatNeverCollide) {
  const Scene scene(support::make_mjcf("", R"(<worldbody>
<geom size="1" solref="0.01 1" condim="6" contype="0" conaffinity="0"/></worldbody>)"));
  for (const ContactModel model : compliant_models()) EXPECT_TRUE(find(scene, model).empty());
}

TEST(IgnoredSettings, IncludeFrictionThatTheModelDoesNotSupport) {
  const Case cases[] = {
      {"", "<worldbody><geom name='a' size='1' condim='4'/></worldbody>", "condim of geom 'a'"},
      {"", R"(<worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body>
</worldbody><contact><pair name="p" geom1="a" geom2="b" condim="6"/></contact>)",
       "condim of pair 'p'"},
      {"", R"(<worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body>
</worldbody><contact><pair name="p" geom1="a" geom2="b" friction="1 0.5"/></contact>)",
       "friction of pair 'p' differs between the tangents; their mean is used under '"},
  };
  const auto lacks_torsion = [](const contact::ContactModelTraits& m) {
    return !m.takes_torsion && !m.is_mj_step;
  };
  for (const Case& c : cases) {
    const Scene scene(support::make_mjcf(c.option, c.body));
    for (const ContactModel model : support::list_models(lacks_torsion)) {
      const std::vector<std::string> texts = find(scene, model);
      // Models without Coulomb friction have no tangents that differ.
      const bool is_condim = std::string_view(c.text).starts_with("condim");
      ASSERT_EQ(texts.size(), is_condim || contact::traits(model).uses_friction ? 1u : 0u)
          << c.text << ", " << contact::traits(model).name;
      for (const std::string& text : texts) EXPECT_NE(text.find(c.text), std::string::npos) << text;
    }
    for (const ContactModel model :
         support::list_models([](const contact::ContactModelTraits& m) { return m.takes_torsion; }))
      EXPECT_TRUE(find(scene, model).empty());
  }
}

TEST(IgnoredSettings, NameAllModelsWithTorsionalFriction) {
  const Scene scene(
      support::make_mjcf("", "<worldbody><geom name='a' size='1' condim='4'/></worldbody>"));
  const std::vector<std::string> texts = find(scene, ContactModel::sap);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].ends_with("use one of the models lagged, lagged_regularized, coulomb"))
      << texts[0];
}

TEST(IgnoredSettings, IncludeParametersOfOtherModels) {
  const Scene scene(support::make_mjcf("", kPlain));
  const auto count = [&](ContactModel model, contact::ModelParameters parameters) {
    StepOptions options;
    options.contact_model = model;
    options.parameters = parameters;
    return find_ignored_settings(scene.model, plant::make_default_materials(scene.model), options)
        .size();
  };
  EXPECT_EQ(count(ContactModel::sap, {.stiction_tolerance = 1e-3}), 1u);
  EXPECT_EQ(count(ContactModel::lagged, {.stiction_tolerance = 1e-3}), 0u);
  EXPECT_EQ(count(ContactModel::lagged, {.friction_regularization = 0}), 1u);
  EXPECT_EQ(count(ContactModel::similar, {.friction_regularization = 0}), 0u);
  EXPECT_EQ(count(ContactModel::sap, {.near_rigid_factor = 0}), 0u);
  EXPECT_EQ(count(ContactModel::similar, {.near_rigid_factor = 0}), 1u);
  EXPECT_EQ(count(ContactModel::tamsi, {.stiction_tolerance = 1e-3}), 0u);
  EXPECT_EQ(count(ContactModel::tamsi, {.friction_regularization = 0}), 1u);
}

TEST(IgnoredSettings, IncludePropertiesThatTheLawDoesNotUse) {
  const Scene scene(support::make_mjcf("", kPlain));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.sources[1].material = "steel";
  table.sources[1].law.stiffness = "f:1";
  table.sources[1].law.dissipation = "f:2";
  table.sources[1].law.hertz_stiffness = "f:3";
  table.sources[1].law.barrier_thickness = "f:4";
  const auto find_under = [&](contact::NormalLawKind law, ContactModel model) {
    StepOptions options;
    options.contact_model = model;
    options.parameters.normal_law = law;
    return find_ignored_settings(scene.model, table, options);
  };
  using Texts = std::vector<std::string>;
  using contact::NormalLawKind;
  const std::string hertz = " has no effect under 'lagged' with the normal law 'hertz', ";
  EXPECT_EQ(find_under(NormalLawKind::hertz, ContactModel::lagged),
            (Texts{"stiffness (f:1)" + hertz + "which uses hertz_stiffness",
                   "barrier_thickness (f:4)" + hertz + "which uses hertz_stiffness"}));
  const std::string ipc = " has no effect under 'similar' with the normal law 'ipc_barrier', ";
  const std::string barrier = "which uses barrier_stiffness and barrier_thickness";
  EXPECT_EQ(find_under(NormalLawKind::ipc_barrier, ContactModel::similar),
            (Texts{"stiffness (f:1)" + ipc + barrier, "hertz_stiffness (f:3)" + ipc + barrier,
                   "dissipation (f:2)" + ipc + "which does not dissipate"}));
  // sap has its own law, so the option normal_law and the properties of other laws have no effect.
  const Texts sap = find_under(NormalLawKind::hertz, ContactModel::sap);
  ASSERT_EQ(sap.size(), 4u);
  EXPECT_EQ(sap[0],
            "normal_law has no effect on contacts under 'sap'; it has one under lagged, "
            "lagged_regularized, similar, coulomb");
  EXPECT_EQ(sap[1], "hertz_stiffness (f:3) has no effect under 'sap', which uses stiffness");
}

TEST(IgnoredSettings, IncludeOptionsOfOtherModels) {
  const Scene scene(support::make_mjcf("", kPlain));
  const auto find_option = [&](ContactModel model, auto&& change) {
    StepOptions options;
    options.contact_model = model;
    change(&options);
    return find_ignored_settings(scene.model, plant::make_default_materials(scene.model), options);
  };
  const auto tessellate = [](StepOptions* o) {
    o->surfaces.tessellation = geometry::Tessellation::triangle;
  };
  const auto integrate = [](StepOptions* o) {
    o->surfaces.quadrature = geometry::Quadrature::moment_exact;
  };
  const auto keep = [](StepOptions* o) { o->parameters.drop_separating = false; };
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    const std::string under = " has no effect on contacts under '" + std::string(traits.name) + "'";
    const auto expect = [&](bool is_used, const char* option, auto&& change) {
      const std::vector<std::string> texts = find_option(traits.model, change);
      ASSERT_EQ(texts.size(), is_used ? 0u : 1u) << option << under;
      if (!is_used) {
        EXPECT_EQ(texts[0].rfind(option + under + "; it has one under ", 0), 0) << texts[0];
      }
    };
    expect(traits.takes_patches, "tessellation", tessellate);
    expect(traits.takes_patches, "quadrature", integrate);
    expect(traits.options.drop_separating, "drop_separating", keep);
  }
}

}  // namespace
}  // namespace stiction::sim::ignored_settings_test
