#include "stiction/plant/materials/material_properties.hpp"

#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stiction::plant::material_properties_test {
namespace {

using contact::kInfinity;
using contact::NormalLawKind;

const MaterialProperty& find(std::string_view name) { return *find_material_property(name); }

TEST(MaterialProperties, EachHasAMemberOfItsOwn) {
  std::set<const void*> values, sources;
  Material material;
  MaterialSource source;
  for (const MaterialProperty& property : material_properties()) {
    EXPECT_TRUE(values.insert(&property.value(material)).second) << property.name;
    EXPECT_TRUE(sources.insert(&property.source(source)).second) << property.name;
    EXPECT_EQ(find_material_property(property.name), &property);
  }
  EXPECT_EQ(law_properties().size(), static_cast<std::size_t>(contact::kNumLawProperties));
  EXPECT_EQ(find_material_property("stifness"), nullptr);
}

TEST(MaterialProperties, EmptyMaterialHasNoValues) {
  const Material material;
  const MaterialSource source;
  for (const MaterialProperty& property : material_properties()) {
    EXPECT_TRUE(std::isnan(property.value(material))) << property.name;
    EXPECT_EQ(property.source(source), property.name == "friction" ? "MJCF" : "default");
  }
}

TEST(MaterialProperties, RangesAgreeWithTheirDescriptions) {
  const auto expect = [](std::string_view name, const std::string& words, bool takes_zero,
                         bool takes_infinity, double most) {
    const MaterialProperty& property = find(name);
    EXPECT_EQ(describe_range(property), words);
    EXPECT_EQ(is_in_range(property, 0), takes_zero) << name;
    EXPECT_EQ(is_in_range(property, kInfinity), takes_infinity) << name;
    EXPECT_EQ(is_in_range(property, 1e6), most > 1e6) << name;
    EXPECT_TRUE(is_in_range(property, 0.5)) << name;
    EXPECT_FALSE(is_in_range(property, -1)) << name;
    EXPECT_FALSE(is_in_range(property, std::nan(""))) << name;
  };
  expect("stiffness", "a number above 0 in N/m, or .inf for near-rigid", false, true, kInfinity);
  expect("dissipation", "a finite number of at least 0 in s/m", true, false, kInfinity);
  expect("barrier_thickness", "a finite number above 0 in m", false, false, kInfinity);
  expect("tangential_stiffness",
         "a number above 0 and at most 1e+12 in N/m, or .inf for 0.85 times the normal stiffness",
         false, true, 1e12);
  EXPECT_TRUE(is_in_range(find("tangential_stiffness"), 1e12));
  EXPECT_FALSE(is_in_range(find("tangential_stiffness"), 1.1e12));
  expect("friction", "a finite number of at least 0", true, false, kInfinity);
  expect("restitution", "a number from 0 to 1", true, false, 1);
  expect("poissons_ratio", "a number from 0 to 0.5", true, false, 0.5);
  expect("hydroelastic_modulus", "a finite number above 0 in Pa; a rigid surface has 'rigid: true'",
         false, false, kInfinity);
}

TEST(MaterialProperties, DefaultOfTheLawIsUsedIfTheMaterialGivesNoValue) {
  const MaterialProperty& thickness = find("barrier_thickness");
  Material material;
  EXPECT_EQ(find_value(thickness, material, NormalLawKind::ipc_barrier), 5e-4);
  EXPECT_EQ(find_value(thickness, material, NormalLawKind::log_barrier), 5e-7);
  material.law.barrier_thickness = 1e-3;
  EXPECT_EQ(find_value(thickness, material, NormalLawKind::log_barrier), 1e-3);
}

TEST(MaterialProperties, StiffnessOfALawIsTheOneThatTheLawReads) {
  EXPECT_EQ(find_stiffness(NormalLawKind::hunt_crossley).name, "stiffness");
  EXPECT_EQ(find_stiffness(NormalLawKind::linear).name, "stiffness");
  EXPECT_EQ(find_stiffness(NormalLawKind::hertz).name, "hertz_stiffness");
  EXPECT_EQ(find_stiffness(NormalLawKind::ipc_barrier).name, "barrier_stiffness");
  EXPECT_EQ(find_stiffness(NormalLawKind::custom).name, "stiffness") << "reads none";
}

}  // namespace
}  // namespace stiction::plant::material_properties_test
