#include "stiction/io/material_assignment.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "io/properties_text.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/stepper.hpp"
#include "support/models.hpp"
#include "support/scene.hpp"
#include "support/vtk_files.hpp"

namespace stiction::io::material_assignment_test {
namespace {

constexpr const char* kScene = R"(<mujoco>
<default>
  <default class="hand"><geom size="0.1"/>
    <default class="pads"><geom friction="2"/></default>
  </default>
</default>
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="finger_left" childclass="hand"><freejoint/>
    <geom name="left_link"/><geom name="left_pad" class="pads"/><geom/>
  </body>
  <body name="finger_right"><freejoint/>
    <geom name="right_pad" class="pads"/><geom name="body:x" size="0.1"/>
  </body>
</worldbody></mujoco>)";

class Assignment : public testing::Test {
 protected:
  /// Assigns the materials a, b, c with the frictions 1, 2, 3 to selectors.
  plant::MaterialTable assign(const std::string& geoms) {
    ContactProperties p = parse_contact_properties(
        "materials: {a: {friction: 1}, b: {friction: 2}, c: {friction: 3}}\ngeoms: {" + geoms + "}",
        "file");
    p.classes = classes_;
    return assign_materials(scene_.model, p);
  }
  /// Returns the friction assigned to each geom; 0 if none is assigned.
  std::vector<double> frictions(const std::string& geoms) {
    std::vector<double> out;
    for (const plant::Material& material : assign(geoms).geoms)
      out.push_back(std::isnan(material.friction) ? 0 : material.friction);
    return out;
  }
  std::string fault(const std::string& geoms) {
    try {
      assign(geoms);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  support::Scene scene_{kScene};
  std::map<std::string, std::vector<int>> classes_;
};

using Values = std::vector<double>;

TEST_F(Assignment, SelectsByNameGlobAndBody) {
  EXPECT_EQ(frictions(""), (Values{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(frictions("floor: a"), (Values{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(frictions("'*_pad': a"), (Values{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(frictions("'left_[pl]*': a"), (Values{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(frictions("'body:finger_left': a"), (Values{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(frictions("'body:finger_*': a"), (Values{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frictions("'body:world': a"), (Values{1, 0, 0, 0, 0, 0}));
}

TEST_F(Assignment, UnnamedGeomsAreSelectedByStarAndBody) {
  EXPECT_EQ(frictions("'*': a")[3], 1);
  EXPECT_EQ(frictions("'?*': a")[3], 0);
  EXPECT_EQ(frictions("'body:finger_left': a")[3], 1);
}

TEST_F(Assignment, ANameMayLookLikeASelector) {
  EXPECT_EQ(frictions("'body:x': a"), (Values{0, 0, 0, 0, 0, 1}));
}

TEST_F(Assignment, MoreSpecificSelectorsWinInAnyOrder) {
  EXPECT_EQ(frictions("left_pad: a, '*_pad': b, 'body:*': c"), (Values{3, 3, 1, 3, 2, 3}));
  EXPECT_EQ(frictions("'body:*': c, '*_pad': b, left_pad: a"), (Values{3, 3, 1, 3, 2, 3}));
  EXPECT_EQ(frictions("'*': c, 'body:finger_left': b"), (Values{3, 2, 2, 2, 3, 3}));
  EXPECT_EQ(frictions("'body:finger_left': b, 'body:*': a"), (Values{1, 2, 2, 2, 1, 1}));
}

TEST_F(Assignment, AmongEqualSelectorsTheLastWins) {
  EXPECT_EQ(frictions("'*_pad': a, 'left_*': b")[2], 2);
  EXPECT_EQ(frictions("'left_*': b, '*_pad': a")[2], 1);
}

TEST_F(Assignment, ClassesIncludeNestedOnes) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "classes.xml";
  std::ofstream(path) << kScene;
  ContactProperties p =
      parse_contact_properties("materials: {a: {}}\ngeoms: {'class:pads': a}", "file");
  resolve_classes(path, &p);
  std::filesystem::remove(path);
  classes_ = p.classes;
  EXPECT_EQ(frictions("'class:pads': a"), (Values{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(frictions("'class:hand': a"), (Values{0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(frictions("'class:main': a"), (Values{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frictions("'class:hand': b, 'body:finger_left': a, '*': c"),
            (Values{3, 1, 1, 1, 2, 3}));
  EXPECT_NE(fault("'class:pad': a").find("did you mean 'pads'?"), std::string::npos);
}

TEST_F(Assignment, ClassesNeedTheScenesFile) {
  EXPECT_NE(fault("'class:pads': a").find("load the scene from its file"), std::string::npos);
  classes_ = {{"pads", {2, 77}}};
  EXPECT_NE(fault("'class:pads': a").find("no geom 77, the model has 6"), std::string::npos);
}

TEST_F(Assignment, NamesEverySelectorThatSelectsNothing) {
  const std::string message =
      fault("flor: a, '*_tip': a, 'body:finger_lft': b, '': c, 'body:nobody*': b");
  for (const char* part :
       {"file:2: geoms 'flor': no geom has this name (did you mean 'floor'?)",
        "geoms '*_tip': no geom has this name", "(did you mean 'finger_left'?)",
        "geoms '': no geom has this name", "geoms 'body:nobody*': no body with geoms"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(Assignment, RecordsTheSourceOfEachValue) {
  const plant::MaterialTable table = assign_materials(
      scene_.model, parse_contact_properties(
                        "materials:\n  pad: {stiffness: 1e5}\ngeoms:\n  '*_pad': pad\n", "file"));
  EXPECT_EQ(table.geoms[2].law.stiffness, 1e5);
  EXPECT_EQ(table.sources[2].law.stiffness, "file:2, material 'pad'");
  EXPECT_EQ(table.sources[2].selector, "'*_pad' (file:4)");
  EXPECT_EQ(table.geoms[2].law.dissipation, plant::kDefaultMaterial.law.dissipation);
  EXPECT_EQ(table.sources[2].law.dissipation, "default");
  EXPECT_EQ(table.sources[2].friction, "MJCF");
  EXPECT_EQ(table.sources[0].material, "");
}

TEST_F(Assignment, AssignsPropertiesOfPressureFieldContact) {
  const plant::MaterialTable table = assign_materials(
      scene_.model,
      parse_contact_properties(
          "materials:\n  gel: {hydroelastic_modulus: 1e5, resolution_hint: 0.01}\n"
          "  slab: {hydroelastic_modulus: 1e6, slab_thickness: 0.2}\n  steel: {rigid: true}\n"
          "geoms: {left_pad: gel, floor: slab, right_pad: steel}",
          "file"));
  EXPECT_EQ(table.geoms[0].slab_thickness, 0.2);
  EXPECT_EQ(table.sources[0].slab_thickness, "file:3, material 'slab'");
  EXPECT_EQ(table.geoms[2].hydroelastic_modulus, 1e5);
  EXPECT_EQ(table.sources[2].hydroelastic_modulus, "file:2, material 'gel'");
  EXPECT_EQ(table.geoms[2].resolution_hint, 0.01);
  EXPECT_EQ(table.sources[2].resolution_hint, "file:2, material 'gel'");
  EXPECT_FALSE(table.geoms[2].rigid);
  EXPECT_EQ(table.sources[2].rigid, "default");
  EXPECT_TRUE(table.geoms[4].rigid);
  EXPECT_EQ(table.sources[4].rigid, "file:4, material 'steel'");
  EXPECT_TRUE(std::isnan(table.geoms[4].hydroelastic_modulus));
  EXPECT_FALSE(table.geoms[1].rigid);
}

/// Materials with pressure fields in files of a temporary folder.
class PressureFields : public Assignment {
 protected:
  void SetUp() override {
    // Each test has its own folder, because CTest runs tests in parallel processes.
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("fields_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder_);
    write("extent.vtk", support::kFan42);
    write("pressure.vtk", support::kFan51);
    write("none.vtk", support::kFan42.substr(0, support::kFan42.find("POINT_DATA")));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const char* name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  plant::MaterialTable assign_fields(const std::string& a, const std::string& geoms) {
    return assign_materials(scene_.model, parse_contact_properties("materials:\n  a: {" + a +
                                                                       "}\ngeoms: {" + geoms + "}",
                                                                   "file", true, folder_));
  }
  std::string fault_of(const std::string& a) {
    try {
      assign_fields(a, "floor: a");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path folder_;
};

TEST_F(PressureFields, AreReadOnceForAMaterial) {
  const plant::MaterialTable table =
      assign_fields("hydroelastic_modulus: 1e5, pressure_field: extent.vtk", "'*_pad': a");
  ASSERT_NE(table.pressure_fields[2], nullptr);
  EXPECT_EQ(table.pressure_fields[2], table.pressure_fields[4]);
  EXPECT_EQ(table.pressure_fields[0], nullptr);
  EXPECT_EQ(table.pressure_fields[2]->pressure, (std::vector<double>{0, 0, 0, 0, 1e5}));
  EXPECT_EQ(table.pressure_fields[2]->mesh.tets.size(), 4u);
}

TEST_F(PressureFields, WithoutAFieldFollowFromTheDistanceToTheBoundary) {
  const plant::MaterialTable table =
      assign_fields("hydroelastic_modulus: 3e5, pressure_field: none.vtk", "floor: a");
  EXPECT_EQ(table.pressure_fields[0]->pressure, (std::vector<double>{0, 0, 0, 0, 3e5}));
}

TEST_F(PressureFields, WithPressuresNeedNoModulus) {
  const plant::MaterialTable table = assign_fields("pressure_field: pressure.vtk", "floor: a");
  EXPECT_EQ(table.pressure_fields[0]->pressure[4], 2e5);
  EXPECT_EQ(table.geoms[0].hydroelastic_modulus, 2e5);
  EXPECT_TRUE(table.sources[0].hydroelastic_modulus.starts_with("largest pressure of "));
  EXPECT_NE(fault_of("hydroelastic_modulus: 1e7, pressure_field: pressure.vtk")
                .find("remove one of the two"),
            std::string::npos);
}

TEST_F(PressureFields, FaultsNameMaterialAndFile) {
  const std::string file = (folder_ / "extent.vtk").string();
  EXPECT_EQ(fault_of("pressure_field: extent.vtk"),
            "file:2: material 'a': " + file +
                ": has no pressure; give the material a hydroelastic_modulus, or a "
                "youngs_modulus and 'compliant: true'");
  EXPECT_NE(fault_of("pressure_field: nowhere.vtk").find("there is no such tet mesh file"),
            std::string::npos);
  std::string inverted = support::kFan42;
  write("inverted.vtk", inverted.replace(inverted.find("4 4 1 2 3"), 9, "4 1 4 2 3"));
  EXPECT_NE(fault_of("hydroelastic_modulus: 1, pressure_field: inverted.vtk").find("tet 0"),
            std::string::npos);
}

TEST(ContactProperties, DecideWhereABallComesToRest) {
  // Two springs of 2e4 N/m in series are compressed by m g / k under every compliant model.
  for (const contact::ContactModel model : support::compliant_models()) {
    support::Scene scene(support::make_mjcf("timestep='0.002'", R"(<worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" mass="1"/></body></worldbody>)"));
    const ContactProperties properties = parse_contact_properties(
        "materials: {soft: {stiffness: 2e4, relaxation_time: 0.05}}\ngeoms: {'*': soft}", "file");
    sim::StepOptions options;
    options.contact_model = model;
    sim::Stepper stepper(scene.model, options, assign_materials(scene.model, properties));
    ASSERT_TRUE(stepper.step(scene.data, 3000).ok());
    EXPECT_NEAR(scene.data->qpos[2], 0.1 - 9.81 / 1e4, 1e-7);  // 1e-4 of the way
  }
}

}  // namespace

// Grids of taxels in contact properties.
namespace {

support::Scene make_scene() {
  return support::Scene(support::make_mjcf(
      "", "<worldbody><geom name='left_pad' size='1'/><geom size='1'/></worldbody>"));
}

std::string message_of_assignment(const std::string& text) {
  try {
    assign_taxels(make_scene().model, parse(text));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(TaxelSection, HasGridsWithTheirDefaults) {
  const ContactProperties p = parse(R"(taxels:
  tip: {geom: left_pad, size: [0.02, 2.5e-2], shape: [20, 25]}
  side:
    geom: "#1"
    size: [1, 2]
    shape: [1, 2]
    pos: [0, 0, 0.5]
    normal: [0, -1, 0]
    first_axis: [0, 0, 1]
)");
  EXPECT_FALSE(p.empty());
  const std::vector<plant::TaxelGrid> grids = assign_taxels(make_scene().model, p);
  ASSERT_EQ(grids.size(), 2u);
  EXPECT_EQ(p.taxels[0].source, "pads.contact.yaml:2");
  EXPECT_EQ(grids[0].name, "tip");
  EXPECT_EQ(grids[0].geom, 0);
  EXPECT_EQ(grids[0].size, (std::array{0.02, 0.025}));
  EXPECT_EQ(grids[0].shape, (std::array{20, 25}));
  EXPECT_EQ(grids[0].pos, (math::Vec3{}));
  EXPECT_EQ(grids[0].normal, (math::Vec3{0, 0, 1}));
  EXPECT_EQ(grids[0].first_axis, (math::Vec3{1, 0, 0}));
  EXPECT_EQ(grids[1].geom, 1);
  EXPECT_EQ(grids[1].pos, (math::Vec3{0, 0, 0.5}));
  EXPECT_EQ(grids[1].normal, (math::Vec3{0, -1, 0}));
  EXPECT_EQ(grids[1].first_axis, (math::Vec3{0, 0, 1}));
}

TEST(TaxelSection, MayBeEmpty) {
  EXPECT_TRUE(parse("taxels:\n").empty());
  EXPECT_TRUE(parse("taxels: {}\n").empty());
}

TEST(TaxelSection, FaultsAreReportedTogetherWithTheirLines) {
  const std::string message = message_of(R"(taxels:
  a: {geom: pad, size: [0.02, 0], shape: [2, 2]}
  b: {geom: pad, size: [1, 1], shape: [2, 2.5]}
  c: {geom: pad, size: [1, 1]}
  d: {geom: pad, size: [1, 1], shape: [1, 1], normal: [1, 0, 0]}
  e: {geom: pad, size: [1, 1], shape: [1, 1], norml: [1, 0, 0]}
  f: [1, 2]
  g: {geom: [pad], size: [1, 1], shape: [1, 1]}
  h: {geom: pad, size: [1, 1], shape: [2000, 2000]}
  i: {geom: pad, size: [1, 1, 1], shape: [1, 1]}
  j: {geom: pad, size: [1, 1], shape: [1, 1], pos: [0, .inf, 0]}
)");
  for (const char* part :
       {"pads.contact.yaml:2: taxels 'a': size is [0.02, 0], must be 2 lengths from 1e-9 to 1e9 m",
        "pads.contact.yaml:3: taxels 'b': shape is [2, 2.5], must be 2 whole numbers",
        "pads.contact.yaml:4: taxels 'c' has no shape; give one",
        "pads.contact.yaml:5: taxels 'd': normal and first_axis are parallel",
        "pads.contact.yaml:6: taxels 'e': there is no key 'norml' (did you mean 'normal'?)",
        "pads.contact.yaml:7: taxels 'f' is [1, 2], must be a mapping",
        "pads.contact.yaml:8: taxels 'g': geom is [pad], must be the name of a geom",
        "pads.contact.yaml:9: taxels 'h': shape", "pads.contact.yaml:10: taxels 'i': size",
        "pads.contact.yaml:11: taxels 'j': pos is [0, .inf, 0], must be a list of 3 finite "
        "numbers"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}

TEST(TaxelSection, RefusesLengthsWhoseSquaresAreNotNumbers) {
  for (const char* length : {"1e-300", "1e-160", "1e-10", "1e10", "1e160", "1e300"}) {
    const std::string text = length;
    EXPECT_NE(message_of("taxels:\n  a: {geom: pad, size: [" + text + ", 1], shape: [1, 1]}\n")
                  .find("size is [" + text + ", 1], must be 2 lengths"),
              std::string::npos);
  }
  EXPECT_NE(
      message_of("taxels:\n  a: {geom: pad, size: [1, 1], shape: [1, 1], pos: [0, 0, 1e200]}\n")
          .find("pos is [0, 0, 1e200], must be"),
      std::string::npos);
  EXPECT_NE(message_of("taxels:\n  '': {geom: pad, size: [1, 1], shape: [1, 1]}\n")
                .find("the name is empty"),
            std::string::npos);
}

TEST(TaxelAssignment, NamesAllGridsWhoseGeomsAreMissing) {
  const std::string message = message_of_assignment(R"(taxels:
  a: {geom: lft_pad, size: [1, 1], shape: [1, 1]}
  b: {geom: "#2", size: [1, 1], shape: [1, 1]}
)");
  EXPECT_NE(message.find("pads.contact.yaml:2: taxels 'a': no geom has the name 'lft_pad' (did you "
                         "mean 'left_pad'?)"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("pads.contact.yaml:3: taxels 'b': no geom has the name '#2'"),
            std::string::npos)
      << message;
}

TEST(TaxelAssignment, NamesAllGridsWithTheNameOfATactileSensor) {
  const support::Scene scene(
      support::make_mjcf("",
                         "<asset><mesh name='skin' builtin='plate' params='4 3' scale='0.02 0.015 "
                         "0.01'/></asset><worldbody>"
                         "<geom name='pad' type='mesh' mesh='skin' contype='0' "
                         "conaffinity='0'/><geom size='0.01'/></worldbody><sensor>"
                         "<clock name='time'/><tactile name='touch' geom='pad' mesh='skin'/>"
                         "<tactile geom='pad' mesh='skin'/></sensor>"));
  std::string message;
  try {
    assign_taxels(scene.model, parse(R"(taxels:
  touch: {geom: pad, size: [1, 1], shape: [1, 1]}
  time: {geom: pad, size: [1, 1], shape: [1, 1]}
  "#2": {geom: pad, size: [1, 1], shape: [1, 1]}
)"));
  } catch (const Error& e) {
    message = e.what();
  }
  for (const char* part : {"pads.contact.yaml:2: taxels 'touch': tactile sensor 1 of MJCF has the",
                           "pads.contact.yaml:4: taxels '#2': tactile sensor 2 of MJCF has the"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  EXPECT_EQ(message.find("'time'"), std::string::npos) << message;
}

}  // namespace

}  // namespace stiction::io::material_assignment_test
