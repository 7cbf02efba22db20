#include "stiction/io/drake_properties.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/io/material_assignment.hpp"
#include "support/scene.hpp"

namespace stiction::io::drake_properties_test {
namespace {

/// Returns a URDF with one link and one collision, which has the properties.
std::string make_urdf(const std::string& properties) {
  return R"(<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="l">
<collision name="c"><geometry><sphere radius="1"/></geometry>
<drake:proximity_properties>
)" + properties +
         "\n</drake:proximity_properties></collision></link></robot>";
}

ContactProperties parse_urdf(const std::string& properties) {
  return parse_drake_properties(make_urdf(properties), "r.urdf", true);
}

std::string fault_of(const std::string& text, bool is_urdf) {
  try {
    parse_drake_properties(text, is_urdf ? "r.urdf" : "r.sdf", is_urdf);
  } catch (const Error& e) {
    return e.what();
  }
  return "no fault";
}

constexpr const char* kSdf = R"(<?xml version="1.0"?>
<sdf version="1.7" xmlns:drake="drake.mit.edu"><world name="w">
<model name="gripper">
  <link name="finger">
    <collision name="pad">
      <geometry><mesh><uri>pad.vtk</uri></mesh></geometry>
      <drake:proximity_properties>
        <drake:compliant_hydroelastic/>
        <drake:hydroelastic_modulus> 1e5 </drake:hydroelastic_modulus>
        <drake:mesh_resolution_hint>0.04</drake:mesh_resolution_hint>
        <drake:hunt_crossley_dissipation>
          5
        </drake:hunt_crossley_dissipation>
        <drake:relaxation_time>0.1</drake:relaxation_time>
        <drake:point_contact_stiffness>1e4</drake:point_contact_stiffness>
        <drake:mu_static>1.0</drake:mu_static>
        <drake:mu_dynamic>0.8</drake:mu_dynamic>
      </drake:proximity_properties>
    </collision>
    <collision name="rim"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
  </link>
  <link name="palm">
    <collision name="plate"><drake:proximity_properties>
      <drake:rigid_hydroelastic/><drake:mu_static>0.3</drake:mu_static>
    </drake:proximity_properties></collision>
  </link>
</model></world></sdf>)";

TEST(DrakeProperties, AreReadFromSdf) {
  const ContactProperties p = parse_drake_properties(kSdf, "g.sdf", false, "/models");
  ASSERT_EQ(p.materials.size(), 2u);
  EXPECT_EQ(p.materials[0].name, "finger::pad");
  EXPECT_EQ(p.materials[0].source, "g.sdf:5");
  const plant::Material& pad = p.materials[0].values;
  EXPECT_EQ(pad.hydroelastic_modulus, 1e5);
  EXPECT_EQ(pad.resolution_hint, 0.04);
  EXPECT_EQ(pad.law.dissipation, 5);
  EXPECT_EQ(pad.law.relaxation_time, 0.1);
  EXPECT_EQ(pad.law.stiffness, 1e4);
  EXPECT_EQ(pad.friction, 0.8);
  EXPECT_EQ(pad.static_friction, 1.0);
  EXPECT_EQ(pad.pressure_field, "/models/pad.vtk");
  EXPECT_FALSE(pad.rigid);
  const plant::Material& plate = p.materials[1].values;
  EXPECT_TRUE(plate.rigid);
  EXPECT_EQ(plate.friction, 0.3);
  EXPECT_TRUE(std::isnan(plate.static_friction));  // it is that of what slides, too
  EXPECT_TRUE(std::isnan(plate.hydroelastic_modulus));
  ASSERT_EQ(p.rules.size(), 2u);
  EXPECT_EQ(p.rules[0].selector, "finger::pad");
  EXPECT_EQ(p.rules[1].selector, "palm::plate");
  EXPECT_EQ(p.rules[1].source, "g.sdf:23");
  EXPECT_TRUE(p.warnings.empty());
}

TEST(DrakeProperties, AreReadFromUrdf) {
  const ContactProperties p = parse_urdf(
      "<drake:compliant_hydroelastic/><drake:mu_dynamic value=' 0.5'/>"
      "<drake:mu_static value='0.9'/><drake:hydroelastic_modulus value='+2e6'/>");
  ASSERT_EQ(p.materials.size(), 1u);
  EXPECT_EQ(p.materials[0].name, "l::c");
  EXPECT_EQ(p.materials[0].values.friction, 0.5);
  EXPECT_EQ(p.materials[0].values.hydroelastic_modulus, 2e6);
}

TEST(DrakeProperties, StaticFrictionIsReadIfItDiffersAndMustNotBeLess) {
  const auto read = [](const char* mu_static) {
    return parse_urdf("<drake:mu_dynamic value='0.5'/><drake:mu_static value='" +
                      std::string(mu_static) + "'/>")
        .materials[0]
        .values.static_friction;
  };
  EXPECT_EQ(read("0.9"), 0.9);
  EXPECT_TRUE(std::isnan(read("0.5")));
  const std::string fault =
      fault_of(make_urdf("<drake:mu_dynamic value='0.5'/><drake:mu_static value='0.4'/>"), true);
  EXPECT_NE(fault.find("collision 'c' of link 'l': static_friction is 0.4, but must be at least "
                       "friction, which is 0.5"),
            std::string::npos)
      << fault;
}

TEST(DrakeProperties, CompliantWithoutAModulusHasDrakesDefault) {
  EXPECT_EQ(parse_urdf("<drake:compliant_hydroelastic/>").materials[0].values.hydroelastic_modulus,
            1e7);
}

TEST(DrakeProperties, ModulusAloneDoesNotMakeASurfaceCompliant) {
  for (const auto& [tag, reason] :
       {std::pair{"", "is not compliant_hydroelastic"},
        std::pair{"<drake:rigid_hydroelastic/>", "the surface is rigid"}}) {
    const ContactProperties p =
        parse_urdf(std::string(tag) + "<drake:hydroelastic_modulus value='1e5'/>");
    EXPECT_TRUE(std::isnan(p.materials[0].values.hydroelastic_modulus));
    ASSERT_EQ(p.warnings.size(), 1u);
    EXPECT_NE(p.warnings[0].find(reason), std::string::npos) << p.warnings[0];
    EXPECT_TRUE(p.warnings[0].starts_with("r.urdf:3: collision 'c' of link 'l': hydroelastic"));
  }
}

TEST(DrakeProperties, MarginGivesAWarning) {
  EXPECT_EQ(parse_urdf("<drake:hydroelastic_margin value='0.01'/>").warnings.size(), 1u);
  EXPECT_TRUE(parse_urdf("<drake:hydroelastic_margin value='0'/>").warnings.empty());
}

TEST(DrakeProperties, ListsAllFaultsAtOnce) {
  const std::string fault = fault_of(make_urdf(R"(<drake:hunt_crosley_dissipation value="5"/>
<drake:relaxation_time value="-1"/>
<drake:mu_dynamic>0.5</drake:mu_dynamic>
<drake:hydroelastic_modulus value="inf"/>
<drake:rigid_hydroelastic/><drake:compliant_hydroelastic/>)"),
                                     true);
  for (const char* part :
       {"r.urdf:4: collision 'c' of link 'l': there is no property "
        "'drake:hunt_crosley_dissipation' (did you mean 'drake:hunt_crossley_dissipation'?)",
        "r.urdf:5: collision 'c' of link 'l': relaxation_time is '-1', must be a finite number",
        "r.urdf:6: collision 'c' of link 'l': mu_dynamic is ''", "a URDF gives it as value=",
        "r.urdf:7: collision 'c' of link 'l': hydroelastic_modulus is 'inf'",
        "is both rigid_hydroelastic and compliant_hydroelastic"})
    EXPECT_NE(fault.find(part), std::string::npos) << part << " is not in " << fault;
}

TEST(DrakeProperties, NeedAWellFormedFileOfItsKind) {
  EXPECT_NE(fault_of("<robot><link></robot>", true).find("r.urdf:1: is not well-formed XML"),
            std::string::npos);
  EXPECT_NE(fault_of("<sdf/>", true).find("the root is <sdf>, must be <robot>"), std::string::npos);
  EXPECT_NE(fault_of("<robot/>", false).find("must be <sdf>"), std::string::npos);
  EXPECT_NE(fault_of("", false), "no fault");
  EXPECT_THROW(read_contact_properties("/nowhere/a.sdf"), Error);
}

TEST(DrakeProperties, FilesWithoutARootAreFaults) {
  for (const bool is_urdf : {true, false})
    for (const char* text : {"<?xml version=\"1.0\"?>", "<!-- nothing -->", "<!DOCTYPE sdf>",
                             "<?xml version=\"1.0\"?>\n<!-- nothing -->\n"})
      EXPECT_NE(fault_of(text, is_urdf).find("no root element"), std::string::npos) << text;
}

TEST(DrakeProperties, EveryPartOfAFileIsReadOrAFault) {
  const std::string text = kSdf;
  for (std::size_t begin = 0; begin < text.size(); begin += 7)
    for (std::size_t end = begin; end <= text.size(); end += 11)
      (void)fault_of(text.substr(begin, end - begin), end % 2 == 0);
}

TEST(DrakeProperties, MeshesNeedAPlainPath) {
  const std::string sdf = kSdf;
  const auto with_uri = [&](const std::string& uri) {
    return std::string(sdf).replace(sdf.find("<uri>pad.vtk</uri>"), 18, uri);
  };
  for (const char* uri :
       {"<uri>package://p/pad.vtk</uri>", "<uri>pad.vtk</uri><scale>2 2 2</scale>"})
    EXPECT_NE(fault_of(with_uri(uri), false).find("and no scale"), std::string::npos) << uri;
  EXPECT_EQ(parse_drake_properties(with_uri("<uri>package://p/pad.obj</uri>"), "", false)
                .materials[0]
                .values.pressure_field,
            "");
}

// ---- geoms that get the properties -----------------------------------------------------------

/// Returns the friction that the properties assign to each geom; 0 if they assign none.
std::vector<double> find_frictions(const mjModel* model, const ContactProperties& properties) {
  std::vector<double> frictions;
  for (const plant::Material& material : assign_materials(model, properties).geoms)
    frictions.push_back(std::isnan(material.friction) ? 0 : material.friction);
  return frictions;
}

using Values = std::vector<double>;

TEST(DrakeProperties, FindGeomsOfAnMjcfByScopedNameNameOrBody) {
  std::string sdf = kSdf;
  sdf.replace(sdf.find("pad.vtk"), 7, "pad.obj");  // no pressure field
  const ContactProperties p = parse_drake_properties(sdf, "g.sdf", false);
  const auto find = [&](const std::string& geoms) {
    const support::Scene scene("<mujoco><worldbody>" + geoms + "</worldbody></mujoco>");
    return find_frictions(scene.model, p);
  };
  EXPECT_EQ(find("<geom name='finger::pad' size='1'/><geom name='palm::plate' size='1'/>"),
            (Values{0.8, 0.3}));
  EXPECT_EQ(find("<geom name='plate' size='1'/><geom size='1'/><geom name='pad' size='1'/>"),
            (Values{0.3, 0, 0.8}));
  EXPECT_EQ(find("<body name='finger'><geom size='1' contype='0' conaffinity='0'/><geom size='1'/>"
                 "</body><body name='palm'><geom name='x' size='1'/></body>"),
            (Values{0, 0.8, 0.3}));
  try {
    find(
        "<body name='finger'><geom size='1'/><geom size='1'/></body><geom name='plate' size='1'/>");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("g.sdf:5: geoms 'finger::pad': no geom has this name"),
              std::string::npos)
        << e.what();
  }
}

TEST(DrakeProperties, NameSharedByTwoLinksDoesNotSelectAGeomAlone) {
  const std::string link = R"(<link name="NAME"><collision name="pad"><drake:proximity_properties>
<drake:mu_dynamic>0.5</drake:mu_dynamic></drake:proximity_properties></collision></link>)";
  const auto named = [&](const char* name) {
    return std::string(link).replace(link.find("NAME"), 4, name);
  };
  const ContactProperties p = parse_drake_properties(
      "<sdf><model>" + named("a") + named("b") + "</model></sdf>", "g.sdf", false);
  const support::Scene right(
      "<mujoco><worldbody><body name='a'><geom name='pad' size='1'/></body>"
      "<body name='b'><geom name='b::pad' size='1'/></body></worldbody></mujoco>");
  EXPECT_EQ(find_frictions(right.model, p), (Values{0.5, 0.5}));
  const support::Scene wrong("<mujoco><worldbody><geom name='pad' size='1'/></worldbody></mujoco>");
  EXPECT_THROW(find_frictions(wrong.model, p), Error);
}

TEST(DrakeProperties, LinkWithEqualCollisionsSelectsItsBody) {
  const std::string collision = R"(<collision name="NAME"><drake:proximity_properties>
<drake:mu_dynamic>0.5</drake:mu_dynamic></drake:proximity_properties></collision>)";
  const auto named = [&](const char* name) {
    return std::string(collision).replace(collision.find("NAME"), 4, name);
  };
  const std::string both = named("x") + named("y");
  const ContactProperties p = parse_drake_properties(
      "<sdf><link name='a'>" + both + "</link><link name='b'>" + both + "</link></sdf>", "", false);
  ASSERT_EQ(p.rules.size(), 2u);
  EXPECT_EQ(p.rules[0].selector, "body:a");
  EXPECT_EQ(p.rules[1].selector, "body:b");
}

/// Returns a collision of a URDF: a sphere whose friction equals its radius.
std::string sphere(const std::string& radius, const std::string& name = "") {
  return "<collision" + (name.empty() ? name : " name='" + name + "'") +
         "><geometry><sphere radius='" + radius +
         "'/></geometry><drake:proximity_properties><drake:mu_dynamic value='" + radius +
         "'/></drake:proximity_properties></collision>";
}

TEST(DrakeProperties, CollisionsOfAUrdfFindTheirGeomsEvenIfNamesAreLost) {
  // MuJoCo keeps the name of the first `pad` only. It moves the geoms of `base` to the world, and
  // the geoms of `tip` to `arm`, so that they precede the geoms of `hand`.
  const std::string inertial =
      "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
      "</inertial>";
  const auto link = [&](const char* name, const std::string& content) {
    return std::string("<link name='") + name + "'>" + inertial + content + "</link>";
  };
  const auto joint = [](const char* type, const char* parent, const char* child) {
    return std::string("<joint name='") + child + "_joint' type='" + type + "'><parent link='" +
           parent + "'/><child link='" + child + "'/><axis xyz='0 0 1'/></joint>";
  };
  const std::string visual = "<visual><geometry><sphere radius='9'/></geometry></visual>";
  for (const char* compiler : {"", "<mujoco><compiler discardvisual='false'/></mujoco>",
                               "<mujoco><compiler fusestatic='false'/></mujoco>"}) {
    const std::string urdf =
        std::string("<robot name='r' xmlns:drake='http://drake.mit.edu'>") + compiler +
        link("base", visual + sphere("0.1") + sphere("0.2")) +
        link("arm", sphere("0.3", "pad") + visual + sphere("0.4")) +
        link("hand", sphere("0.5", "palm")) + link("tip", sphere("0.6", "pad")) +
        joint("continuous", "base", "arm") + joint("continuous", "arm", "hand") +
        joint("fixed", "arm", "tip") + "</robot>";
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "names.urdf";
    std::ofstream(path) << urdf;
    ContactProperties p = read_contact_properties(path);
    resolve_classes(path, &p);
    std::filesystem::remove(path);
    EXPECT_EQ(p.rules.size(), 6u);
    const support::Scene scene(urdf);
    int num_found = 0;
    const std::vector<double> frictions = find_frictions(scene.model, p);
    for (int i = 0; i < scene.model->ngeom; ++i) {
      if (scene.model->geom_contype[i] == 0) continue;
      EXPECT_EQ(frictions[i], scene.model->geom_size[3 * i]) << compiler << " geom " << i;
      ++num_found;
    }
    EXPECT_EQ(num_found, 6);
  }
}

}  // namespace
}  // namespace stiction::io::drake_properties_test
