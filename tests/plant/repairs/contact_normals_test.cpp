#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plant/repairs/random_pair.hpp"
#include "plant/repairs/separation_search.hpp"
#include "stiction/plant/repairs/collision_repair.hpp"
#include "support/scene.hpp"
#include "support/trials.hpp"

namespace stiction::plant::contact_normals_test {
namespace {

using support::draw;
using support::kGeomTypes;
using support::Scene;
using support::SeparationSearch;
using support::Vector;
using Rng = std::mt19937_64;

const mjContact& find_nearest_contact(const mjData* d) {
  return *std::min_element(d->contact, d->contact + d->ncon,
                           [](const auto& a, const auto& b) { return a.dist < b.dist; });
}

/// Returns the normal of a contact from geom 0 to geom 1.
Vector get_normal(const mjContact& con) {
  const double sign = con.geom[0] == 0 ? 1 : -1;
  return {sign * con.frame[0], sign * con.frame[1], sign * con.frame[2]};
}

/// Checks random poses of a pair of geoms whose distance is up to 1 mm. No direction has a larger
/// separation than the distance, so a normal is right if it has this separation.
/// @return the number of normals that MuJoCo has wrong
int check_normals(Scene* scene, Rng* rng) {
  constexpr double kTolerance = 2e-6, kLargestErrorOfEpa = 5e-5;
  int num_wrong = 0;
  for (int pose = 0; pose < 6; ++pose) {
    SCOPED_TRACE("pose " + std::to_string(pose));
    support::draw_orientations(scene, rng);
    const double depth = std::pow(10, draw(rng, -9, -3));
    support::place(scene, draw(rng, 0, 1) < 0.7 ? -depth : depth, rng);
    mj_collision(scene->model, scene->data);
    if (scene->data->ncon == 0) continue;
    const SeparationSearch search(scene->model, scene->data, 0, 1);
    const Vector given = get_normal(find_nearest_contact(scene->data));
    const bool is_corrected = CollisionRepair().run(scene->model, scene->data) > 0;
    if (scene->data->ncon == 0) continue;
    const Vector n = get_normal(find_nearest_contact(scene->data));
    const double expected = search.find({given, n}).distance;
    // A single contact of MuJoCo stays if its depth is the separation along its normal.
    const double tolerance = is_corrected ? kTolerance : kLargestErrorOfEpa;
    EXPECT_GE(search.calc_separation(n), expected - tolerance);
    num_wrong += search.calc_separation(given) < expected - kLargestErrorOfEpa ? 1 : 0;
  }
  return num_wrong;
}

TEST(ContactNormals, OfRandomPairsHaveTheLargestSeparation) {
  Rng rng(7);
  int num_wrong = 0;
  for (std::size_t i = 0; i < kGeomTypes.size(); ++i) {
    for (std::size_t k = i; k < kGeomTypes.size(); ++k) {
      for (int trial = 0; trial < support::num_trials(3); ++trial) {
        SCOPED_TRACE(kGeomTypes[i] + " " + kGeomTypes[k] + ", trial " + std::to_string(trial));
        const double gap = std::array{0.0, 1e-4, 1e-3, 1e-2}[rng() % 4];
        Scene scene(support::make_pair(kGeomTypes[i], kGeomTypes[k], gap, &rng));
        num_wrong += check_normals(&scene, &rng);
      }
    }
  }
  EXPECT_GT(num_wrong, 5) << "MuJoCo alone has all normals right";
}

/// A mesh that stands on another one keeps the contacts of its face, along the face's normal.
TEST(ContactNormals, FacesThatTouchKeepTheirContacts) {
  Rng rng(8);
  const std::string body = "<body><freejoint/><geom type=\"mesh\" mesh=\"m\" gap=\"5e-4\"/></body>";
  Scene scene(support::make_mjcf("", R"(<asset><mesh name="m" vertex="-.05 -.07 -.03 .05 -.07 -.03
 -.05 .07 -.03 .05 .07 -.03 -.05 -.07 .03 .05 -.07 .03 -.05 .07 .03 .05 .07 .03"/></asset>
<worldbody>)" + body + body + "</worldbody>"));
  mjtNum* q = scene.data->qpos;
  for (int pose = 0; pose < support::num_trials(200); ++pose) {
    const double distance = draw(&rng, 0, 1) < 0.7 ? -std::pow(10, draw(&rng, -12, -4)) : 1e-5;
    const double tilt = std::pow(10, draw(&rng, -17, -1)) * std::abs(distance) / 0.07;
    const double yaw = draw(&rng, -4, 4);
    q[7] = draw(&rng, -0.03, 0.03);
    q[8] = draw(&rng, -0.03, 0.03);
    q[9] = 0.06 + distance;
    q[10] = std::cos(yaw);
    q[11] = 0.5 * tilt;
    q[13] = std::sin(yaw);
    mju_normalize4(q + 10);
    mj_kinematics(scene.model, scene.data);
    mj_comPos(scene.model, scene.data);
    mj_collision(scene.model, scene.data);
    CollisionRepair().run(scene.model, scene.data);
    SCOPED_TRACE("pose " + std::to_string(pose) + ", distance " + std::to_string(distance));
    EXPECT_GE(scene.data->ncon, 3);
    for (int i = 0; i < scene.data->ncon; ++i) {
      EXPECT_NEAR(std::abs(scene.data->contact[i].frame[2]), 1, 1e-6);
      EXPECT_NEAR(scene.data->contact[i].dist, distance, 2e-6 + 0.2 * std::abs(distance));
    }
  }
}

/// Returns how far the common area of two rectangles reaches along a direction, from its points on
/// a grid of 1 mm. The boxes stand on each other, so that it is seen from above.
double find_reach(const mjModel* m, const mjData* d, const double u[2]) {
  const auto covers = [&](int box, const double point[2]) {
    const mjtNum* R = d->geom_xmat + 9 * box;
    const double x = point[0] - d->geom_xpos[3 * box], y = point[1] - d->geom_xpos[3 * box + 1];
    return std::abs(R[0] * x + R[3] * y) <= m->geom_size[3 * box] &&
           std::abs(R[1] * x + R[4] * y) <= m->geom_size[3 * box + 1];
  };
  double reach = -1;
  for (int i = -100; i <= 100; ++i)
    for (int k = -100; k <= 100; ++k) {
      const double point[2] = {1e-3 * i, 1e-3 * k};
      if (covers(0, point) && covers(1, point))
        reach = std::max(reach, u[0] * point[0] + u[1] * point[1]);
    }
  return reach;
}

// A box that stands on a part of another one, tilted by up to 1 mrad, has contacts wherever they
// share an area.
TEST(ContactNormals, FacesOfBoxesHaveAllTheirCorners) {
  Rng rng(11);
  int num_completed = 0;
  for (int trial = 0; trial < support::num_trials(200); ++trial) {
    const std::string gap = R"( gap=".001")";
    Scene scene(support::make_mjcf(
        "", R"(<worldbody><geom type="box" size=".1 .05 .05" pos="0 0 -.05")" + gap +
                R"(/><body pos="0 0 .04"><freejoint/><geom type="box" size=".06 .05 .04")" + gap +
                "/></body></worldbody>"));
    mjtNum* const q = scene.data->qpos;
    q[0] = draw(&rng, -.14, .14);
    q[1] = trial % 2 ? draw(&rng, -.08, .08) : 0;
    const double tilt = std::pow(10, draw(&rng, -7, -3));
    const mjtNum yaw = trial % 3 ? draw(&rng, -3, 3) : 0, around[3] = {0, 0, 1};
    const mjtNum axis[3] = {draw(&rng, -1, 1), draw(&rng, -1, 1), 0};
    mjtNum turn[4], lean[4];
    mju_axisAngle2Quat(turn, around, yaw);
    mju_axisAngle2Quat(lean, axis, tilt);
    mju_mulQuat(q + 3, lean, turn);
    mj_fwdPosition(scene.model, scene.data);
    const int listed = scene.data->ncon;
    CollisionRepair().run(scene.model, scene.data);
    const mjData* d = scene.data;
    num_completed += d->ncon > listed ? 1 : 0;
    for (int k = 0; k < 16; ++k) {
      const double u[2] = {std::cos(k * .39), std::sin(k * .39)};
      const double reach = find_reach(scene.model, d, u);
      if (reach < 0) continue;
      double found = -1;
      for (int c = 0; c < d->ncon; ++c)
        found = std::max(found, u[0] * d->contact[c].pos[0] + u[1] * d->contact[c].pos[1]);
      EXPECT_NEAR(found, reach, 3e-3) << "trial " << trial << ", direction " << k;
    }
  }
  EXPECT_GT(num_completed, 0);
}

}  // namespace
}  // namespace stiction::plant::contact_normals_test
