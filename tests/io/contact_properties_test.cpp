#include "stiction/io/contact_properties.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "io/properties_text.hpp"
#include "stiction/base/error.hpp"
#include "stiction/contact/custom_law.hpp"

namespace stiction::io::contact_properties_test {
namespace {

TEST(ContactPropertiesFile, HasMaterialsAndRulesWithTheirLines) {
  const ContactProperties p = parse(R"(materials:
  bubble: {dissipation: 5, friction: 1.0}
  steel:
    stiffness: 1e7
    relaxation_time: 1e-4
    hertz_stiffness: 3e9
    barrier_stiffness: .inf
    barrier_thickness: 1e-4
geoms: {"*_pad": bubble, floor: steel}
)");
  ASSERT_EQ(p.materials.size(), 2u);
  EXPECT_EQ(p.materials[0].name, "bubble");
  EXPECT_EQ(p.materials[0].source, "pads.contact.yaml:2");
  EXPECT_EQ(p.materials[0].values.law.dissipation, 5);
  EXPECT_EQ(p.materials[0].values.friction, 1);
  EXPECT_TRUE(std::isnan(p.materials[0].values.law.stiffness));
  EXPECT_TRUE(std::isnan(p.materials[0].values.law.relaxation_time));
  EXPECT_EQ(p.materials[1].values.law.stiffness, 1e7);
  EXPECT_EQ(p.materials[1].values.law.relaxation_time, 1e-4);
  EXPECT_EQ(p.materials[1].values.law.hertz_stiffness, 3e9);
  EXPECT_EQ(p.materials[1].values.law.barrier_stiffness, contact::kInfinity);
  EXPECT_EQ(p.materials[1].values.law.barrier_thickness, 1e-4);
  EXPECT_EQ(p.materials[1].source, "pads.contact.yaml:3");
  ASSERT_EQ(p.rules.size(), 2u);
  EXPECT_EQ(p.rules[0].selector, "*_pad");
  EXPECT_EQ(p.rules[0].material, "bubble");
  EXPECT_EQ(p.rules[1].source, "pads.contact.yaml:9");
}

TEST(ContactPropertiesFile, HasSurfacesOfPressureFieldContact) {
  const ContactProperties p = parse_contact_properties(R"(materials:
  gel: {hydroelastic_modulus: 1e5, resolution_hint: 0.01, slab_thickness: 0.1}
  steel: {rigid: true}
  wood: {rigid: false, friction: 1}
  part: {pressure_field: meshes/../part.vtk}
  other: {pressure_field: /other.vtk}
)",
                                                       "file", true, "/folder");
  ASSERT_EQ(p.materials.size(), 5u);
  EXPECT_EQ(p.materials[0].values.hydroelastic_modulus, 1e5);
  EXPECT_EQ(p.materials[0].values.resolution_hint, 0.01);
  EXPECT_EQ(p.materials[0].values.slab_thickness, 0.1);
  EXPECT_FALSE(p.materials[0].values.rigid);
  EXPECT_TRUE(p.materials[1].values.rigid);
  EXPECT_TRUE(std::isnan(p.materials[1].values.hydroelastic_modulus));
  EXPECT_FALSE(p.materials[2].values.rigid);
  EXPECT_EQ(p.materials[2].values.pressure_field, "");
  EXPECT_EQ(p.materials[3].values.pressure_field, "/folder/part.vtk");
  EXPECT_EQ(p.materials[4].values.pressure_field, "/other.vtk");
}

TEST(ContactPropertiesFile, TakesNumbersAsYamlAndCWriteThem) {
  for (const char* text : {".inf", "+.inf", "inf", "Infinity", ".INF", "\".inf\""})
    EXPECT_EQ(parse("materials: {m: {stiffness: " + std::string(text) + "}}")
                  .materials[0]
                  .values.law.stiffness,
              contact::kInfinity)
        << text;
  EXPECT_EQ(parse("materials: {m: {stiffness: +1.5e+6}}").materials[0].values.law.stiffness, 1.5e6);
  EXPECT_EQ(parse("materials: {m: {friction: 0}}").materials[0].values.friction, 0);
}

TEST(ContactPropertiesFile, MayBeEmpty) {
  for (const char* text : {"", "# nothing\n", "{}", "materials:\ngeoms:\n"})
    EXPECT_TRUE(parse(text).empty()) << text;
  EXPECT_EQ(parse("materials: {plain: }\ngeoms: {floor: plain}").materials.size(), 1u);
}

TEST(ContactPropertiesFile, HasLawsOfTheUser) {
  const ContactProperties p = parse(R"(normal_law:
  penetration: [-1e-3, 0, 1e-3]
  force: [0, 1, 100]
  rate: [-1, 1]
  factor: [0, 2]
friction_law: {slip: [0, 1], friction: [0, 1]}
)");
  EXPECT_FALSE(p.empty());
  sim::StepOptions options;
  apply_laws(p, &options);
  ASSERT_EQ(options.parameters.normal_law, contact::NormalLawKind::custom);
  EXPECT_EQ(options.parameters.custom_law->calc_force(1e-3, 0.5).f, 150);
  EXPECT_EQ(options.parameters.custom_law->reach(), 1e-3);
  ASSERT_EQ(options.parameters.friction_law, contact::FrictionRegularizationKind::custom);
  EXPECT_EQ(options.parameters.custom_friction->calc(0.3).f_over_s, 1);
  EXPECT_NO_THROW(validate(options));
  // The caller's choice of another law counts.
  sim::StepOptions chosen;
  chosen.parameters.normal_law = contact::NormalLawKind::hertz;
  apply_laws(p, &chosen);
  EXPECT_EQ(chosen.parameters.normal_law, contact::NormalLawKind::hertz);
}

TEST(ContactPropertiesFile, ReportsFaultsOfLaws) {
  const auto fault_of = [](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(fault_of("normal_law: {forces: [0]}").find("no list 'forces' (did you mean 'force'?)"),
            std::string::npos);
  EXPECT_NE(fault_of("normal_law: {force: 1}").find("force is '1', must be a list of numbers"),
            std::string::npos);
  EXPECT_NE(
      fault_of("normal_law: {force: [a], penetration: [0]}").find("has 'a', must be a number"),
      std::string::npos);
  EXPECT_NE(fault_of("normal_law: {force: [0, 2, 1], penetration: [0, 1, 2]}")
                .find("normal_law: force: entry 2 is 1, must be at least the entry before it, 2"),
            std::string::npos);
  EXPECT_NE(fault_of("friction_law: {slip: [0, 1], friction: [0, 0.5]}").find("friction[-1]"),
            std::string::npos);
  EXPECT_NE(fault_of("normal_law: 3").find("normal_law is '3', must be a mapping"),
            std::string::npos);
}

TEST(ContactPropertiesFile, HasElasticity) {
  const ContactProperties p = parse(R"(materials:
  gel: {youngs_modulus: 1e5, poissons_ratio: 0.5, compliant: true, slab_thickness: 0.1}
  steel: {youngs_modulus: 2.1e11, rigid: true, compliant: false}
)");
  EXPECT_EQ(p.materials[0].values.youngs_modulus, 1e5);
  EXPECT_EQ(p.materials[0].values.poissons_ratio, 0.5);
  EXPECT_TRUE(p.materials[0].values.compliant);
  EXPECT_TRUE(std::isnan(p.materials[0].values.hydroelastic_modulus));
  EXPECT_TRUE(std::isnan(p.materials[1].values.poissons_ratio));
  EXPECT_FALSE(p.materials[1].values.compliant);
}

TEST(ContactPropertiesFile, ReportsInvalidValues) {
  const struct {
    const char* value;
    const char* message;
  } cases[] = {
      {"barrier_thickness: 0", "barrier_thickness is '0', must be a finite number above 0 in m"},
      {"barrier_thickness: .inf", "barrier_thickness is '.inf', must be a finite number"},
      {"hertz_stiffness: -1", "hertz_stiffness is '-1', must be a number above 0 in N/m^1.5"},
      {"stiffness: 0", "stiffness is '0', must be a number above 0 in N/m"},
      {"stiffness: -.inf", "stiffness is '-.inf', must be"},
      {"stiffness: .nan", "stiffness is '.nan', must be"},
      {"stiffness: 1e5 N/m", "stiffness is '1e5 N/m', must be a number"},
      {"stiffness: 1e999", "stiffness is '1e999', must be"},
      {"stiffness: --1", "stiffness is '--1', must be"},
      {"dissipation: -1", "dissipation is '-1', must be a finite number of at least 0 in s/m"},
      {"dissipation: .inf", "dissipation is '.inf', must be a finite number"},
      {"relaxation_time: [1, 2]", "relaxation_time is a list, must be"},
      {"friction: {a: 1}", "friction is a mapping, must be"},
      {"friction: ", "friction is empty, must be"},
      {"friction: high", "friction is 'high', must be"},
      {"friction: true", "friction is 'true', must be"},
      {"disipation: 3", "there is no property 'disipation' (did you mean 'dissipation'?)"},
      {"hydroelastic_modulus: 0", "hydroelastic_modulus is '0', must be a finite number above 0"},
      {"hydroelastic_modulus: .inf", "in Pa; a rigid surface has 'rigid: true'"},
      {"hydroelastic_modulus: 1e5 Pa", "hydroelastic_modulus is '1e5 Pa', must be"},
      {"resolution_hint: 0", "resolution_hint is '0', must be a finite number above 0 in m"},
      {"slab_thickness: -1", "slab_thickness is '-1', must be a finite number above 0 in m"},
      {"slab_thickness: 0.1", "slab_thickness needs a hydroelastic_modulus"},
      {"youngs_modulus: 0", "youngs_modulus is '0', must be a finite number above 0 in Pa"},
      {"youngs_modulus: 1, poissons_ratio: 0.6",
       "poissons_ratio is '0.6', must be a number from 0"},
      {"youngs_modulus: 1, poissons_ratio: -0.1", "must be a number from 0 to 0.5"},
      {"poissons_ratio: 0.3", "poissons_ratio has no meaning without a youngs_modulus"},
      {"static_friction: -1", "static_friction is '-1', must be a finite number of at least 0"},
      {"static_friction: 0.5", "static_friction is 0.5, but there is no friction, the coefficient"},
      {"friction: 0.5, static_friction: 0.4",
       "static_friction is 0.4, but must be at least friction, which is 0.5; raise it"},
      {"friction: 0, static_friction: 0.4", "friction is 0; give a friction above 0"},
      {"compliant: 1", "compliant is '1', must be true or false"},
      {"compliant: true", "'compliant: true' needs a youngs_modulus, or a hydroelastic_modulus"},
      {"rigid: true, youngs_modulus: 1, compliant: true", "compliant makes a surface compliant"},
      {"rigid: 1", "rigid is '1', must be true or false"},
      {"rigid: ", "rigid is empty, must be true or false"},
      {"rigid: true, hydroelastic_modulus: 1e5",
       "hydroelastic_modulus makes a surface compliant, but this one has 'rigid: true'"},
      {"rigid: true, pressure_field: a.vtk", "pressure_field makes a surface compliant"},
      {"rigid: true, slab_thickness: 1", "slab_thickness makes a surface compliant"},
      {"pressure_field: ''", "pressure_field is empty, must be the name of a tet mesh"},
      {"pressure_field: \"a\\0b.vtk\"",
       "is 'a\\0b.vtk', must be the name of a tet mesh in a VTK "
       "file, without null characters"},
      {"pressure_field: [a.vtk]", "pressure_field is a list, must be the name"},
      {"pressure_fild: a.vtk", "(did you mean 'pressure_field'?)"},
      {"friction: 1, friction: 2", "material 'm' has 'friction' twice"},
  };
  for (const auto& c : cases) {
    const std::string message = message_of("materials:\n  m: {" + std::string(c.value) + "}\n");
    EXPECT_NE(message.find("pads.contact.yaml:2: material 'm'"), std::string::npos) << message;
    EXPECT_NE(message.find(c.message), std::string::npos) << c.value << " gave " << message;
  }
}

TEST(ContactPropertiesFile, ReportsInvalidStructure) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"matreials: {}", ":1: there is no section 'matreials' (did you mean 'materials'?)"},
      {"[1, 2]", "pads.contact.yaml:1: the file is a list, must be a mapping"},
      {"just text", "the file is 'just text', must be a mapping"},
      {"materials: [steel]", "materials is a list, must be a mapping"},
      {"materials: {steel: 3}", "material 'steel' is '3', must be a mapping"},
      {"materials: {? [a] : {}}", "materials has a list as a key; use a name"},
      {"materials: {a: {}}\nmaterials: {b: {}}", ":2: the file has 'materials' twice"},
      {"materials:\n  a: {}\n  a: {}", "pads.contact.yaml:3: materials has 'a' twice"},
      {"materials: {steel: {}}\ngeoms:\n  f: steal",
       ":3: geoms 'f': there is no material 'steal' (did you mean 'steel'?)"},
      {"geoms: {f: steel}", "geoms 'f': there is no material 'steel'"},
      {"materials: {s: {}}\ngeoms: {f: [s]}", "geoms 'f': is a list, must be the name"},
      {"materials: {s: {}}\ngeoms: {f: }", "geoms 'f': is empty, must be the name"},
      {"materials: {s: {}}\ngeoms: {f: s, f: s}", "geoms has 'f' twice"},
      {"classes: {c: 1}", "class 'c': is '1', must be a list of geom ids"},
      {"classes: {c: [1.5]}", "class 'c': '1.5' is not a geom id"},
      {"materials: {\n\n a: [", "is not YAML"},
      {"a: 1\n---\nb: 1", "has more than one YAML document"},
      {"materials: *nowhere", "is not YAML"},
  };
  for (const auto& c : cases) {
    const std::string message = message_of(c.text);
    EXPECT_NE(message.find(c.message), std::string::npos) << c.text << "\ngave " << message;
  }
}

TEST(ContactPropertiesFile, ListsAllFaultsAtOnce) {
  const std::string message = message_of(R"(materials:
  a: {stiffness: -1, disipation: 2}
  b: {friction: nan}
geoms: {x: c}
)");
  for (const char* part : {":2: material 'a': stiffness", ":2: material 'a': there is no property",
                           ":3: material 'b': friction", ":4: geoms 'x'"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ContactPropertiesFile, LongListOfFaultsIsTruncated) {
  std::string text = "materials:\n";
  for (int i = 0; i < 1000; ++i) text += "  m" + std::to_string(i) + ": {friction: -1}\n";
  const std::string message = message_of(text);
  EXPECT_NE(message.find("'m0'"), std::string::npos);
  EXPECT_LT(std::count(message.begin(), message.end(), '\n'), 60);
}

TEST(ContactPropertiesFile, LongListOfUnknownMaterialsIsTruncated) {
  std::string text = "geoms:\n";
  for (int i = 0; i < 1000; ++i) text += "  g" + std::to_string(i) + ": steel\n";
  const std::string message = message_of(text);
  EXPECT_NE(message.find("geoms 'g0': there is no material 'steel'"), std::string::npos);
  EXPECT_LT(std::count(message.begin(), message.end(), '\n'), 60);
}

TEST(ContactPropertiesFile, AliasesThatGrowExponentiallyAreRejected) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 64; ++i) {
    const std::string last = std::to_string(i - 1), n = std::to_string(i);
    text += "a" + n + ": &a" + n + " [*a" + last + ", *a" + last + "]\n";
  }
  EXPECT_NE(message_of(text).find("there is no section"), std::string::npos);
  EXPECT_NE(message_of("materials: &m {a: *m}"), "");
}

TEST(ContactPropertiesFile, DeepNestingIsAnErrorAndDoesNotOverflowTheStack) {
  EXPECT_NE(message_of(std::string(100000, '[')), "");
  EXPECT_NE(message_of("materials: " + std::string(100000, '{')), "");
}

TEST(ContactPropertiesFile, TextOnWhichYamlCppLoopsForeverIsAnError) {
  EXPECT_NE(message_of("a: 1\n--- !!ma, *x]\n? {a: b}\n: |\n p {'k: 'v'}\n"), "");
}

TEST(ContactPropertiesFile, IsReadFromDisk) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "read.yaml";
  std::ofstream(path) << "materials: {a: {friction: 0.5}}\n";
  const ContactProperties p = read_contact_properties(path);
  std::filesystem::remove(path);
  EXPECT_EQ(p.materials[0].values.friction, 0.5);
  EXPECT_EQ(p.materials[0].source, path.string() + ":1");
}

TEST(ContactPropertiesFile, MissingFileIsAnError) {
  for (const std::string& path : {testing::TempDir() + "/none.yaml", testing::TempDir()}) {
    try {
      read_contact_properties(path);
      FAIL() << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kFileNotFound);
      EXPECT_EQ(e.where(), path);
    }
  }
}

}  // namespace
}  // namespace stiction::io::contact_properties_test
