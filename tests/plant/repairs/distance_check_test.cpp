#include "stiction/plant/repairs/collision_repair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plant/repairs/random_pair.hpp"
#include "plant/repairs/separation_search.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"
#include "support/scene.hpp"
#include "support/trials.hpp"

namespace stiction::plant::distance_check_test {
namespace {

using support::draw;
using support::draw_direction;
using support::draw_orientations;
using support::kGeomTypes;
using support::make_pair;
using support::place;
using support::Scene;
using support::SeparationSearch;
using Direction = support::Vector;
using Rng = std::mt19937_64;

/// Collides two geoms, and returns the least distance of their contacts; mjMAXVAL if there are
/// none.
double collide(Scene* scene, bool is_corrected, int* num_corrected) {
  mj_collision(scene->model, scene->data);
  if (is_corrected) *num_corrected += CollisionRepair().run(scene->model, scene->data);
  double distance = mjMAXVAL;
  for (int i = 0; i < scene->data->ncon; ++i)
    distance = std::min(distance, static_cast<double>(scene->data->contact[i].dist));
  return distance;
}

/// Returns the signed distance of two geoms. The search also begins from the normals of contacts
/// and from that of mj_geomDistance, which it tests like any other direction.
double find_distance(Scene* scene) {
  mjModel* m = scene->model;
  std::vector<Direction> further;
  for (int i = 0; i < scene->data->ncon; ++i) {
    const mjContact& con = scene->data->contact[i];
    const double sign = con.geom[0] == 0 ? 1 : -1;
    further.push_back({sign * con.frame[0], sign * con.frame[1], sign * con.frame[2]});
  }
  further.resize(std::min<std::size_t>(further.size(), 1));
  mjtNum points[6];
  const double distance = mj_geomDistance(m, scene->data, 0, 1, 0.1, points);
  Direction n;
  for (int i = 0; i < 3; ++i) n[i] = (points[3 + i] - points[i]) / distance;
  further.push_back(support::normalize(n));
  return SeparationSearch(m, scene->data, 0, 1).find(further).distance;
}

TEST(SupportFunction, AgreesWithTheDefinitionsOfTheShapes) {
  Rng rng(1);
  for (const std::string& type : kGeomTypes) {
    Scene scene(make_pair(type, type, 0.01, &rng));
    draw_orientations(&scene, &rng);
    place(&scene, 0.01, &rng);
    const SeparationSearch reference(scene.model, scene.data, 0, 1);
    for (int i = 0; i < 100; ++i) {
      const Direction n = draw_direction(&rng);
      EXPECT_NEAR(calc_separation(scene.model, scene.data, 0, 1, n.data()),
                  reference.calc_separation(n), 1e-15)
          << type;
    }
  }
}

TEST(SupportFunction, ClimbsTheHullOfALargeMesh) {
  Rng rng(2);
  std::string vertices;
  for (int i = 0; i < 300; ++i) {
    const Direction n = draw_direction(&rng);
    const double r = draw(&rng, 0.5, 1);  // some vertices are inside the hull
    for (const double x : n) vertices += std::to_string(r * x) + " ";
  }
  Scene scene(support::make_mjcf(
      "", "<asset><mesh name=\"m\" vertex=\"" + vertices +
              R"("/></asset><worldbody><body><geom type="mesh" mesh="m"/></body></worldbody>)"));
  ASSERT_GE(scene->mesh_graphadr[0], 0);
  mj_kinematics(scene.model, scene.data);
  const mjtNum* R = scene.data->geom_xmat;
  for (int i = 0; i < 300; ++i) {
    const Direction n = draw_direction(&rng);
    Direction u;
    for (int k = 0; k < 3; ++k) u[k] = R[k] * n[0] + R[3 + k] * n[1] + R[6 + k] * n[2];
    EXPECT_NEAR(calc_support(scene.model, scene.data, 0, n.data()),
                mju_dot3(scene.data->geom_xpos, n.data()) +
                    support::dot(support::find_farthest(scene.model, 0, u), u),
                1e-6);  // qhull merges facets that are flat within single precision
  }
}

/// MuJoCo's default ccd_tolerance, the error up to which a distance is accepted [m].
constexpr double kTolerance = 1e-6;
/// EPA may report overlaps that are deeper than they are by a few tolerances. The largest error of
/// 46,080 random pairs was 3.6e-6 m.
constexpr double kToleranceOfDepth = 5 * kTolerance;

TEST(DistanceCheck, DistancesOfRandomPairsAreThoseOfAnIndependentSearch) {
  Rng rng(3);
  int num_corrected = 0, num_wrong_signs = 0;
  for (std::size_t i = 0; i < kGeomTypes.size(); ++i) {
    for (std::size_t k = i; k < kGeomTypes.size(); ++k) {
      for (int trial = 0; trial < support::num_trials(4); ++trial) {
        const double gap = std::array{0.0, 1e-4, 1e-3, 1e-2}[rng() % 4];
        Scene scene(make_pair(kGeomTypes[i], kGeomTypes[k], gap, &rng));
        for (int pose = 0; pose < 6; ++pose) {
          SCOPED_TRACE(kGeomTypes[i] + " " + kGeomTypes[k] + ", trial " + std::to_string(trial) +
                       ", pose " + std::to_string(pose));
          draw_orientations(&scene, &rng);
          const double depth = std::pow(10, draw(&rng, -6, -2));
          place(&scene, draw(&rng, 0, 1) < 0.6 ? -depth : depth, &rng);
          const double mujoco = collide(&scene, false, nullptr);
          const double distance = collide(&scene, true, &num_corrected);
          const double expected = find_distance(&scene);
          if (mujoco != mjMAXVAL && (mujoco > 0) != (expected > 0)) ++num_wrong_signs;
          if (distance == mjMAXVAL) {
            EXPECT_GT(expected, 0) << "an overlap has no contact";
            continue;
          }
          if (std::abs(expected) > 0.01 * kTolerance) {
            EXPECT_EQ(distance > 0, expected > 0) << distance << " is " << expected;
          }
          EXPECT_LE(distance, expected + kTolerance);
          EXPECT_GE(distance, expected - (expected > 0 ? kTolerance : kToleranceOfDepth));
        }
      }
    }
  }
  if (!support::kSanitized) {
    EXPECT_GT(num_corrected, 10) << "MuJoCo alone has all distances right";
    EXPECT_GT(num_wrong_signs, 5) << "MuJoCo alone has all signs right";
  }
}

/// A cylinder and a box in a pile. MuJoCo 4.0.1 makes two contacts with a depth of 43 mm.
constexpr const char* kEdges = R"(<worldbody>
<body pos="0.030608423807064754 -0.012197712292867313 0.08594859515376906"
 quat="-0.49297028247754937 -0.08925596288862984 -0.09495015692874906 -0.8602314464038356">
<freejoint/><geom type="cylinder" size="0.056923106688875236 0.043020653255713005"/></body>
<body pos="-0.025144099717176165 0.006098828086454999 0.023402343415567316"
 quat="-0.12102981670253199 -0.10296072973435359 0.6998769764868484 0.6963641930664928">
<freejoint/><geom type="box" size="0.036187202825832224 0.022458411436171683 0.020991658131711746"/>
</body></worldbody>)";

TEST(DistanceCheck, AnEdgeThatTouchesIsNotDeepInAFace) {
  Scene scene(support::make_mjcf("", kEdges));
  mj_kinematics(scene.model, scene.data);
  mj_comPos(scene.model, scene.data);
  int num_corrected = 0;
  const double distance = collide(&scene, true, &num_corrected);
  EXPECT_NEAR(distance, find_distance(&scene), kTolerance);
  EXPECT_EQ(num_corrected, 1);
}

/// Two cylinders that overlap by 0.1 mm. With a gap, MuJoCo's contacts are at +0.1 mm.
TEST(DistanceCheck, AGapDoesNotPartGeomsThatOverlap) {
  for (const char* gap : {"0", "1e-5", "1e-4", "1e-3", "1e-2"}) {
    const std::string geom = "<freejoint/><geom type=\"cylinder\" size=\".05 .05\" gap=\"" +
                             std::string(gap) + "\"/></body>";
    Scene scene(support::make_mjcf(
        "", "<worldbody><body>" + geom +
                R"(<body pos="0.0410767073650036 -0.0475183055717077 0.0990787949904860"
 quat="0.6882696828690544 0.7251967027518882 -0.016621459818437 0.009915292967189255">)" +
                geom + "</worldbody>"));
    mj_kinematics(scene.model, scene.data);
    mj_comPos(scene.model, scene.data);
    int num_corrected = 0;
    EXPECT_NEAR(collide(&scene, true, &num_corrected), -1.00293e-4, kTolerance) << gap;
  }
}

/// A cylinder whose axis is on an edge of a box. EPA stops at its largest number of iterations, at
/// 24.9965 mm.
TEST(DistanceCheck, AnOverlapThatEpaOnlyBoundsIsTheSeparation) {
  Scene scene(support::make_mjcf("", R"(<worldbody><geom type="box" size=".1 .2 .025"/>
    <body pos="-.1 .2 -.08"><freejoint/><geom type="cylinder" size=".025 .08"/></body></worldbody>)"));
  mj_kinematics(scene.model, scene.data);
  mj_comPos(scene.model, scene.data);
  int num_corrected = 0;
  EXPECT_NEAR(collide(&scene, true, &num_corrected), -0.025, 1e-9);
  const mjtNum* n = scene.data->contact[0].frame;
  EXPECT_NEAR(std::hypot(n[0], n[1]), 1, 1e-6);
}

/// A small cylinder and a plate that are farther apart than the cylinder's radius, but within the
/// gap, keep a contact. MuJoCo's may be wrong, even that of an overlap.
TEST(DistanceCheck, AContactWithinAWideGapIsNotRemoved) {
  for (const bool is_pair : {false, true}) {
    const std::string gap = is_pair ? "" : " gap=\"0.5\"";
    const std::string pair =
        is_pair ? R"(<contact><pair geom1="a" geom2="b" gap="1"/></contact>)" : "";
    Scene scene(support::make_mjcf(
        "", R"(<worldbody><geom name="a" type="box" size="1 1 0.01")" + gap +
                R"(/><body><freejoint/><geom name="b" type="cylinder" size="0.01 0.01")" + gap +
                "/></body></worldbody>" + pair));
    scene.data->qpos[2] = 0.01 + 0.3 + 0.01;
    mj_kinematics(scene.model, scene.data);
    mj_comPos(scene.model, scene.data);
    for (const double wrong : {-0.01, 0.0, 0.1, 0.9}) {
      mj_collision(scene.model, scene.data);
      ASSERT_GT(scene.data->ncon, 0);
      scene.data->ncon = 1;
      scene.data->contact[0].dist = wrong;
      EXPECT_EQ(CollisionRepair().run(scene.model, scene.data), 1);
      ASSERT_EQ(scene.data->ncon, 1) << wrong;
      EXPECT_NEAR(scene.data->contact[0].dist, 0.3, kTolerance) << wrong;
      EXPECT_NEAR(scene.data->contact[0].frame[2], -1, 1e-6) << wrong;  // from b to a
    }
  }
}

/// Two faces that touch have a distance of 0 up to rounding, of either sign.
TEST(DistanceCheck, FacesThatTouchKeepTheirContacts) {
  for (const char* type : {"box", "cylinder"}) {
    for (const double z : {0.2, 0.2 + 1e-12, 0.2 - 1e-12, 0.2 - 1e-5, 0.19}) {
      const std::string geom =
          "<freejoint/><geom type=\"" + std::string(type) + "\" size=\".1 .1 .1\"/></body>";
      Scene scene(
          support::make_mjcf("", "<worldbody><body>" + geom + "<body>" + geom + "</worldbody>"));
      scene.data->qpos[9] = z;
      mj_kinematics(scene.model, scene.data);
      mj_comPos(scene.model, scene.data);
      mj_collision(scene.model, scene.data);
      const int num_contacts = scene.data->ncon;
      EXPECT_EQ(CollisionRepair().run(scene.model, scene.data), 0) << type << " " << z;
      EXPECT_EQ(scene.data->ncon, num_contacts);
    }
  }
}

/// The wrong pair is not the only one: the contacts of others must stay as they are.
TEST(DistanceCheck, ContactsOfOtherPairsStay) {
  const auto make_others = [](int x) {
    const std::string at = "<body pos=\"" + std::to_string(x);
    const std::string box = R"(<freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>)";
    const std::string cylinder = R"(<freejoint/><geom type="cylinder" size="0.1 0.1"/></body>)";
    return "<worldbody>" + at + " 0 0\">" + box + at + " 0 0.1999\">" + box + at + " 1 0\">" +
           cylinder + at + " 1 0.1999\">" + cylinder + "</worldbody>";
  };
  Scene scene(support::make_mjcf("", make_others(1) + kEdges + make_others(2)));
  mj_kinematics(scene.model, scene.data);
  mj_comPos(scene.model, scene.data);
  mj_collision(scene.model, scene.data);
  const std::vector<mjContact> before(scene.data->contact, scene.data->contact + scene.data->ncon);
  ASSERT_EQ(CollisionRepair().run(scene.model, scene.data), 1);
  const auto is_other = [&](const mjContact& con) {
    return (scene->geom_type[con.geom[0]] == mjGEOM_BOX) ==
           (scene->geom_type[con.geom[1]] == mjGEOM_BOX);
  };
  int kept = 0, num_corrected = 0;
  for (const mjContact& con : before) {
    if (!is_other(con)) continue;
    while (kept < scene.data->ncon && !is_other(scene.data->contact[kept])) {
      ++kept;
      ++num_corrected;
    }
    ASSERT_LT(kept, scene.data->ncon);
    EXPECT_EQ(scene.data->contact[kept].dist, con.dist);
    EXPECT_EQ(scene.data->contact[kept].geom[0], con.geom[0]);
    EXPECT_EQ(scene.data->contact[kept].pos[0], con.pos[0]);
    ++kept;
  }
  EXPECT_EQ(scene.data->ncon - kept + num_corrected, 1);
  EXPECT_GT(scene.data->ncon, 8);
  EXPECT_EQ(scene->opt.disableflags & mjDSBL_MULTICCD, 0) << "options are restored";
}

}  // namespace
}  // namespace stiction::plant::distance_check_test
