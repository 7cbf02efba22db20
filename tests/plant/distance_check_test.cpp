#include "stiction/plant/distance_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/plant/support_function.hpp"
#include "support/scene.hpp"
#include "support/trials.hpp"

namespace stiction::plant {
namespace {

using support::Scene;
using Direction = std::array<double, 3>;
using Rng = std::mt19937_64;

double draw(Rng* rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*rng);
}

Direction normalize(Direction n) {
  mju_normalize3(n.data());
  return n;
}

Direction draw_direction(Rng* rng) {
  std::normal_distribution<double> normal;
  Direction n;
  for (double& x : n) x = normal(*rng);
  return normalize(n);
}

// ---- the reference: the largest separation over all directions ----

/// The surface of a geom in its frame, as the largest coordinate along a direction. It is written
/// from the definitions of the shapes and shares nothing with support_function.cpp.
double calc_reference_support(const mjModel* m, int geom, const Direction& u) {
  const mjtNum* s = m->geom_size + 3 * geom;
  const auto dot = [&](double x, double y, double z) { return x * u[0] + y * u[1] + z * u[2]; };
  double highest = -mjMAXVAL;
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return s[0];
    case mjGEOM_CAPSULE: return s[0] + std::max(dot(0, 0, s[1]), dot(0, 0, -s[1]));
    case mjGEOM_BOX:
      for (int i = 0; i < 8; ++i)
        highest = std::max(highest,
                           dot(i & 1 ? s[0] : -s[0], i & 2 ? s[1] : -s[1], i & 4 ? s[2] : -s[2]));
      return highest;
    case mjGEOM_CYLINDER: {
      const double angle = std::atan2(u[1], u[0]);  // of the farthest point of the rim
      const double x = s[0] * std::cos(angle), y = s[0] * std::sin(angle);
      return std::max(dot(x, y, s[1]), dot(x, y, -s[1]));
    }
    case mjGEOM_MESH: {
      const int mesh = m->geom_dataid[geom];
      const float* x = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
      for (int i = 0; i < m->mesh_vertnum[mesh]; ++i, x += 3)
        highest = std::max(highest, dot(x[0], x[1], x[2]));
      return highest;
    }
    default: break;
  }
  // The point of an ellipsoid whose normal is u.
  const double length = std::hypot(s[0] * u[0], s[1] * u[1], s[2] * u[2]);
  return dot(s[0] * s[0] * u[0] / length, s[1] * s[1] * u[1] / length, s[2] * s[2] * u[2] / length);
}

double calc_reference_separation(const Scene& scene, int a, int b, const Direction& n) {
  const auto support = [&](int geom, double sign) {
    const mjtNum* R = scene.data->geom_xmat + 9 * geom;
    Direction u;
    for (int i = 0; i < 3; ++i) u[i] = sign * (R[i] * n[0] + R[3 + i] * n[1] + R[6 + i] * n[2]);
    return sign * mju_dot3(scene.data->geom_xpos + 3 * geom, n.data()) +
           calc_reference_support(scene.model, geom, u);
  };
  return -support(a, 1) - support(b, -1);
}

struct Nearest {
  double distance = -mjMAXVAL;
  Direction n{};
};

/// Improves a direction by random steps of decreasing length.
Nearest refine(const Scene& scene, int a, int b, Nearest best) {
  Rng rng(1);
  for (double length = 0.05; length > 1e-7; length *= 0.5) {
    for (int i = 0; i < 25; ++i) {
      const Direction step = draw_direction(&rng);
      const Direction n = normalize({best.n[0] + length * step[0], best.n[1] + length * step[1],
                                     best.n[2] + length * step[2]});
      const double distance = calc_reference_separation(scene, a, b, n);
      if (distance > best.distance) best = {distance, n};
    }
  }
  return best;
}

/// Returns the signed distance of two convex geoms: the largest separation over all directions.
/// @param further directions to begin from, besides those on a spiral over the sphere
Nearest find_nearest(const Scene& scene, int a, int b, const std::vector<Direction>& further = {}) {
  constexpr int kNumDirections = 800, kNumRefined = 4;
  std::vector<Nearest> starts;
  for (int i = 0; i < kNumDirections; ++i) {
    const double z = 1 - (2 * i + 1.0) / kNumDirections, r = std::sqrt(1 - z * z);
    const double angle = std::numbers::pi * (1 + std::sqrt(5.0)) * i;
    const Direction n = {r * std::cos(angle), r * std::sin(angle), z};
    starts.push_back({calc_reference_separation(scene, a, b, n), n});
  }
  std::partial_sort(starts.begin(), starts.begin() + kNumRefined, starts.end(),
                    [](const Nearest& x, const Nearest& y) { return x.distance > y.distance; });
  starts.resize(kNumRefined);
  for (const Direction& n : further)
    starts.push_back({calc_reference_separation(scene, a, b, n), n});
  Nearest best;
  for (const Nearest& start : starts) {
    const Nearest found = refine(scene, a, b, start);
    if (found.distance > best.distance) best = found;
  }
  return best;
}

// ---- random pairs of geoms ----

const std::vector<std::string> kTypes = {"sphere",   "capsule", "ellipsoid",
                                         "cylinder", "box",     "mesh"};

std::string make_mesh(int index, Rng* rng) {
  std::string vertices;
  const double size[3] = {draw(rng, 0.02, 0.08), draw(rng, 0.02, 0.08), draw(rng, 0.02, 0.08)};
  for (int i = 0; i < 12; ++i) {
    const Direction n = draw_direction(rng);
    for (int k = 0; k < 3; ++k) vertices += std::to_string(size[k] * n[k]) + " ";
  }
  return "<mesh name=\"m" + std::to_string(index) + "\" vertex=\"" + vertices + "\"/>";
}

std::string make_geom(const std::string& type, int index, Rng* rng) {
  std::string size;
  for (int k = 0; k < 3; ++k) size += std::to_string(draw(rng, 0.02, 0.08)) + " ";
  return "<body><freejoint/><geom type=\"" + type + "\" gap=\"0.005\" " +
         (type == "mesh" ? "mesh=\"m" + std::to_string(index) : "size=\"" + size) + "\"/></body>";
}

std::string make_pair(const std::string& type1, const std::string& type2, Rng* rng) {
  std::string meshes = make_mesh(0, rng) + make_mesh(1, rng);
  return support::make_mjcf("", "<asset>" + meshes + "</asset><worldbody>" +
                                    make_geom(type1, 0, rng) + make_geom(type2, 1, rng) +
                                    "</worldbody>");
}

/// Sets orientations: random ones, or axes that are parallel up to a small angle, for which MuJoCo
/// makes several contacts.
void draw_orientations(Scene* scene, Rng* rng) {
  std::normal_distribution<double> normal;
  const bool is_aligned = draw(rng, 0, 1) < 0.5;
  const double angle = std::pow(10, draw(rng, -8, -1));
  for (const int adr : {3, 10}) {
    mjtNum* q = scene->data->qpos + adr;
    for (int i = 0; i < 4; ++i) q[i] = (is_aligned ? angle : 1) * normal(*rng);
    if (is_aligned) {
      q[0] += std::numbers::sqrt2 / 2;
      q[1 + static_cast<int>(draw(rng, 0, 3))] += std::numbers::sqrt2 / 2;
    }
    mju_normalize4(q);
  }
}

/// Moves the second body until the geoms are about a distance apart.
/// @return the direction between the nearest points
Direction place(Scene* scene, double distance, Rng* rng) {
  mjtNum* x = scene->data->qpos;
  Direction side = draw_direction(rng);
  if (draw(rng, 0, 1) < 0.5) side = {0, 0, 1};
  for (int i = 0; i < 3; ++i) {
    x[i] = 0;
    x[7 + i] = 0.3 * side[i];
  }
  mj_kinematics(scene->model, scene->data);
  const Nearest nearest = find_nearest(*scene, 0, 1);
  for (int i = 0; i < 3; ++i) x[7 + i] += (distance - nearest.distance) * nearest.n[i];
  mj_kinematics(scene->model, scene->data);
  mj_comPos(scene->model, scene->data);
  return nearest.n;
}

/// Collides two geoms, and returns the normals of their contacts and the least distance.
double collide(Scene* scene, DistanceCheck* check, std::vector<Direction>* normals) {
  mj_collision(scene->model, scene->data);
  check->correct(scene->model, scene->data);
  double distance = mjMAXVAL;
  for (int i = 0; i < scene->data->ncon; ++i) {
    const mjContact& con = scene->data->contact[i];
    const double sign = con.geom[0] == 0 ? 1 : -1;
    normals->push_back({sign * con.frame[0], sign * con.frame[1], sign * con.frame[2]});
    distance = std::min(distance, static_cast<double>(con.dist));
  }
  return distance;
}

TEST(SupportFunction, AgreesWithTheDefinitionsOfTheShapes) {
  Rng rng(1);
  for (const std::string& type : kTypes) {
    Scene scene(make_pair(type, type, &rng));
    draw_orientations(&scene, &rng);
    place(&scene, 0.01, &rng);
    for (int i = 0; i < 100; ++i) {
      const Direction n = draw_direction(&rng);
      EXPECT_NEAR(calc_separation(scene.model, scene.data, 0, 1, n.data()),
                  calc_reference_separation(scene, 0, 1, n), 1e-15)
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
    EXPECT_NEAR(
        calc_support(scene.model, scene.data, 0, n.data()),
        mju_dot3(scene.data->geom_xpos, n.data()) + calc_reference_support(scene.model, 0, u),
        1e-6);  // qhull merges facets that are flat within single precision
  }
}

/// The error that is left, relative to the smaller geom: that of several contacts, and their part
/// of it that the check does not see because they agree with each other.
constexpr double kTolerance = std::max(DistanceCheck::kLargestErrorOfSeveral, DistanceCheck::kDeep);

TEST(DistanceCheck, DistancesOfRandomPairsAreThoseOfAnIndependentSearch) {
  Rng rng(3);
  int num_corrected = 0;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    for (std::size_t k = i; k < kTypes.size(); ++k) {
      // MuJoCo has formulas for all pairs without these types.
      if (k != 2 && k != 3 && k != 5 && i != 2 && i != 3) continue;
      for (int trial = 0; trial < support::num_trials(5); ++trial) {
        Scene scene(make_pair(kTypes[i], kTypes[k], &rng));
        const double size = std::min(scene->geom_rbound[0], scene->geom_rbound[1]);
        for (int pose = 0; pose < 8; ++pose) {
          draw_orientations(&scene, &rng);
          const double depth = std::pow(10, draw(&rng, -6, -2));
          const Direction n = place(&scene, draw(&rng, 0, 1) < 0.8 ? -depth : depth, &rng);
          DistanceCheck check;
          std::vector<Direction> normals = {n};
          const double distance = collide(&scene, &check, &normals);
          num_corrected += check.num_corrected();
          const double expected = find_nearest(scene, 0, 1, normals).distance;
          if (distance == mjMAXVAL) {
            EXPECT_GE(expected, 0.01 - kTolerance * size) << kTypes[i] << " " << kTypes[k];
            continue;
          }
          EXPECT_NEAR(distance, expected, kTolerance * size)
              << kTypes[i] << " " << kTypes[k] << ", trial " << trial << ", pose " << pose;
        }
      }
    }
  }
  if (!support::kSanitized) {
    EXPECT_GT(num_corrected, 10) << "MuJoCo alone has all distances right";
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
  DistanceCheck check;
  std::vector<Direction> normals;
  EXPECT_NEAR(collide(&scene, &check, &normals), find_nearest(scene, 0, 1).distance, 1e-6);
  EXPECT_EQ(check.num_corrected(), 1);
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
  DistanceCheck check;
  check.correct(scene.model, scene.data);
  ASSERT_EQ(check.num_corrected(), 1);
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
}  // namespace stiction::plant
