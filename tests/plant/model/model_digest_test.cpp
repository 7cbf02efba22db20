// Every array of a model changes its digest, or is named here with the reason why it does not.
#include "stiction/plant/model/model_digest.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <mujoco/mjxmacro.h>

#include "support/scene.hpp"

namespace stiction::plant::model_digest_test {
namespace {

using support::Scene;

/// A scene in which hardly any array is empty.
constexpr const char* kScene = R"(
<asset><mesh name="m" vertex="-.1 -.1 -.1  .1 -.1 -.1  -.1 .1 -.1  0 0 .1"/>
<texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="paint" texture="t"/>
<hfield name="h" nrow="3" ncol="3" size="1 1 1 0.1" elevation="1 1 1 1 0 1 1 1 1"/></asset>
<worldbody>
  <light name="lamp" pos="0 0 3"/><camera name="eye" pos="0 0 3"/>
  <geom name="floor" type="plane" size="9 9 1" material="paint"/>
  <geom type="hfield" hfield="h" pos="3 0 -0.5"/>
  <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
    <site name="s" size=".2"/></body>
  <body name="mesh" pos="0.05 0 0.3"><freejoint/><geom name="upper" type="mesh" mesh="m"/></body>
  <body mocap="true" pos="0 1 0.5"><geom size="0.05"/></body>
  <body name="arm" pos="0 -1 0.5"><joint name="a"/><geom size="0.03"/><site name="t" pos="0.3 0 0"/></body>
</worldbody>
<contact><pair geom1="floor" geom2="upper"/><exclude body1="box" body2="arm"/></contact>
<equality><weld body1="arm" body2="box"/></equality>
<tendon><fixed name="x"><joint joint="a" coef="1"/></fixed>
  <spatial name="y"><site site="s"/><site site="t"/></spatial></tendon>
<actuator><position joint="a" kp="5" timeconst="0.1"/></actuator>
<sensor><jointpos joint="a"/></sensor>
<keyframe><key time="1"/></keyframe>)";

Scene make_scene() { return Scene(support::make_mjcf(R"(timestep="0.002")", kScene)); }

/// Arrays without effect on the digest, by the reason. A "*" stands for any beginning or end.
const std::vector<std::pair<const char*, std::vector<std::string>>> kLeftOut = {
    {"lights, materials, textures and skins", {"light_*", "mat_*", "tex_*", "skin_*"}},
    {"numbers and texts of the user", {"numeric_*", "text_*", "tuple_*"}},
    {"names and paths", {"name*", "paths"}},
    {"MuJoCo forbids to change meshes and their volumes", {"mesh_*", "bvh_*", "oct_*"}},
    {"models with flexes are refused", {"flex*", "efm*"}},
    {"trees with plugins never sleep", {"plugin*"}},
    {"only a reset reads them", {"key_*"}},
    {"the layout of sparse matrices, which follows from the bodies and joints",
     {"B_*", "M_*", "D_*", "mapM2*", "mapD2M"}},
};

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern.front() == '*') return name.ends_with(pattern.substr(1));
  return pattern.back() == '*' ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                               : name == pattern;
}

bool is_left_out(const std::string& name) {
  // tests/sim/sleep/waking_test.cpp shows that a step reads none of these.
  if (std::ranges::find(ModelDigest::left_out(), name) != ModelDigest::left_out().end())
    return true;
  return std::ranges::any_of(kLeftOut, [&](const auto& row) {
    return std::ranges::any_of(row.second, [&](const auto& p) { return matches(p, name); });
  });
}

/// Returns true if the digest changes with one bit of a value, and by its copy, too.
template <class T>
bool tells(ModelDigest& digest, T* value) {
  const std::uint64_t before = digest.calc();
  EXPECT_TRUE(digest.has(before));
  auto* const byte = reinterpret_cast<unsigned char*>(value);
  *byte ^= 1;
  const bool is_other = digest.calc() != before;
  EXPECT_EQ(digest.has(before), !is_other);
  *byte ^= 1;
  return is_other && digest.calc() == before && digest.has(before);
}

TEST(ModelDigest, TellsAChangeOfEveryArray) {
  Scene scene = make_scene();
  mjModel* m = scene.model;
  ModelDigest digest(m);
  int num_told = 0;
  const auto check = [&](const std::string& name, auto* values, mjtSize size) {
    if (size == 0) return;
    EXPECT_NE(tells(digest, values), is_left_out(name)) << name;
    EXPECT_NE(tells(digest, values + size - 1), is_left_out(name)) << name << " at its end";
    num_told += !is_left_out(name);
  };
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns) check(#name, m->name, m->rows*(columns));
  MJMODEL_POINTERS
#undef X
  EXPECT_GT(num_told, 200);
}

TEST(ModelDigest, TellsAChangeOfEveryOption) {
  Scene scene = make_scene();
  mjModel* m = scene.model;
  ModelDigest digest(m);
#define X(type, name, n) EXPECT_TRUE(tells(digest, &m->opt.name)) << #name;
#define XVEC(type, name, n) EXPECT_TRUE(tells(digest, &m->opt.name[n - 1])) << #name;
  MJOPTION_FIELDS
#undef XVEC
#undef X
  EXPECT_TRUE(tells(digest, &m->flg_gravcomp));
  EXPECT_TRUE(tells(digest, &m->flg_surfacevel));
  EXPECT_TRUE(tells(digest, &m->flg_adhesion));
  EXPECT_TRUE(tells(digest, &m->stat.meaninertia));
}

/// A flat height field of 64 x 64 elevations with a wall.
class Elevations : public testing::Test {
 protected:
  Elevations()
      : scene(support::make_mjcf(
            "", R"(<asset><hfield name="h" nrow="64" ncol="64" size="2 2 1 .1"/></asset>
<worldbody><geom type="hfield" hfield="h"/></worldbody>)")),
        digest(scene.model),
        data(scene.model->hfield_data, 64 * 64) {
    std::ranges::fill(data, 0);
    std::fill_n(data.begin() + 8 * 64, 8 * 64, 0.5F);
  }
  Scene scene;
  ModelDigest digest;
  std::span<float> data;
};

TEST_F(Elevations, ThatChangePlacesAreTold) {
  std::vector<std::uint64_t> seen = {digest.calc()};
  // Each shift by one elevation more, around the whole field.
  for (int shift = 1; shift < 64 * 64; ++shift) {
    std::rotate(data.begin(), data.begin() + 1, data.end());
    seen.push_back(digest.calc());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST_F(Elevations, OfWhichPairsChangeSignsAreTold) {
  std::ranges::fill(data, 0.5F);
  std::vector<std::uint64_t> seen = {digest.calc()};
  for (int first = 0; first < 32; ++first) {
    for (int second = first + 1; second < 64 * 64; second += 16) {
      data[first] = data[second] = -0.5F;
      seen.push_back(digest.calc());
      data[first] = data[second] = 0.5F;
    }
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

}  // namespace
}  // namespace stiction::plant::model_digest_test
