// Grids of taxels in contact properties.
#include "stiction/io/taxel_assignment.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/properties_text.hpp"
#include "support/scene.hpp"

namespace stiction::io::taxel_assignment_test {
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
}  // namespace stiction::io::taxel_assignment_test
