#include "stiction/plant/repairs/collision_repair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plant/repairs/separation_search.hpp"
#include "support/scene.hpp"
#include "support/trials.hpp"

namespace stiction::plant::plane_check_test {
namespace {

using support::add;
using support::dot;
using support::Scene;
using support::Vector;
using Rng = std::mt19937_64;

double draw(Rng* rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*rng);
}

/// A plane that is tilted, and a free geom.
std::string make_scene(const std::string& geom, const std::string& gap, Rng* rng) {
  std::string quat;
  for (int i = 0; i < 4; ++i) quat += std::to_string(draw(rng, -1, 1)) + " ";
  return support::make_mjcf("", R"(<asset><mesh name="m" vertex="-.05 -.07 -.03 .05 -.07 -.03
 -.05 .07 -.03 .05 .07 -.03 -.05 -.07 .03 .05 -.07 .03 -.05 .07 .03 .05 .07 .03"/></asset>
<worldbody><geom type="plane" size="1 1 1" pos=".1 -.2 .3" gap=")" +
                                    gap + "\" quat=\"" + quat + R"("/><body><freejoint/><geom )" +
                                    geom + "/></body></worldbody>");
}

Vector get_axis(const mjtNum* R, int i) { return {R[i], R[3 + i], R[6 + i]}; }

/// Stands the geom on the plane: one of its axes is along the normal up to a tilt, with a yaw.
void draw_orientation(Scene* scene, double tilt, int axis, Rng* rng) {
  mjtNum* q = scene->data->qpos + 3;
  const auto turn = [&](double angle, double x, double y, double z) {
    mjtNum r[4], product[4];
    const mjtNum unit[3] = {x, y, z};
    mju_axisAngle2Quat(r, unit, angle);
    mju_mulQuat(product, q, r);
    mju_copy4(q, product);
  };
  mju_mat2Quat(q, scene->data->geom_xmat);
  turn(draw(rng, -4, 4), 0, 0, 1);
  const double direction = draw(rng, -4, 4);
  turn(tilt, std::cos(direction), std::sin(direction), 0);
  if (axis != 2) turn(std::numbers::pi / 2, axis == 1 ? 1 : 0, axis == 0 ? 1 : 0, 0);
  if (draw(rng, 0, 1) < 0.5) turn(std::numbers::pi, 1, 0, 0);
  turn(draw(rng, -4, 4), 0, 0, 1);
  mju_normalize4(q);
}

/// Moves the geom to a distance from the plane, and returns the distance that it has then.
double place_on_plane(Scene* scene, double distance, Rng* rng) {
  mjData* d = scene->data;
  for (int i = 0; i < 3; ++i) d->qpos[i] = draw(rng, -0.3, 0.3);
  const auto measure = [&] {
    mj_kinematics(scene->model, d);
    const Vector n = get_axis(d->geom_xmat, 2);
    const mjtNum* R = d->geom_xmat + 9;
    const Vector u = {-dot(n, get_axis(R, 0)), -dot(n, get_axis(R, 1)), -dot(n, get_axis(R, 2))};
    double height = -dot(u, support::find_farthest(scene->model, 1, u));
    for (int i = 0; i < 3; ++i) height += n[i] * (d->geom_xpos[3 + i] - d->geom_xpos[i]);
    return height;
  };
  const double height = measure();
  for (int i = 0; i < 3; ++i) d->qpos[i] += (distance - height) * d->geom_xmat[3 * i + 2];
  const double result = measure();
  mj_comPos(scene->model, d);
  return result;
}

/// Returns how far a point of a cylinder is from its surface.
double calc_distance_to_cylinder(const Scene& scene, const Vector& x) {
  const mjtNum* R = scene.data->geom_xmat + 9;
  const mjtNum* size = scene.model->geom_size + 3;
  Vector r;
  for (int i = 0; i < 3; ++i) r[i] = x[i] - scene.data->geom_xpos[3 + i];
  const double radial = std::hypot(dot(r, get_axis(R, 0)), dot(r, get_axis(R, 1))) - size[0];
  const double axial = std::abs(dot(r, get_axis(R, 2))) - size[1];
  return std::abs(std::max(radial, axial));
}

/// True if the polygon of points, seen along n, contains x.
bool contains(const std::vector<Vector>& points, const Vector& n, const Vector& x) {
  const Vector t = support::normalize(
      support::cross(n, std::abs(n[0]) < 0.6 ? Vector{1, 0, 0} : Vector{0, 1, 0}));
  const Vector s = support::cross(n, t);
  std::vector<double> angles;
  for (const Vector& point : points) {
    const Vector r = add(point, -1, x);
    angles.push_back(std::atan2(dot(r, s), dot(r, t)));
  }
  std::sort(angles.begin(), angles.end());
  angles.push_back(angles.front() + 2 * std::numbers::pi);
  for (std::size_t i = 1; i < angles.size(); ++i)
    if (angles[i] - angles[i - 1] >= std::numbers::pi) return false;
  return true;
}

TEST(PlaneCheck, ContactsOfACylinderAreOnItsRimAtTheirDistance) {
  constexpr double kRounding = 1e-10;  // the sizes are 0.1 m and less
  Rng rng(1);
  int num_corrected = 0;
  for (int trial = 0; trial < support::num_trials(40); ++trial) {
    const double R = draw(&rng, 0.02, 0.1), h = draw(&rng, 0.01, 0.1);
    const bool has_gap = trial % 2 == 1;
    Scene scene(
        make_scene("type=\"cylinder\" size=\"" + std::to_string(R) + " " + std::to_string(h) + "\"",
                   has_gap ? "1e-3" : "0", &rng));
    mj_kinematics(scene.model, scene.data);
    for (int pose = 0; pose < 100; ++pose) {
      const double tilt = std::pow(10, draw(&rng, -17, 0));
      SCOPED_TRACE("trial " + std::to_string(trial) + ", pose " + std::to_string(pose));
      draw_orientation(&scene, tilt, pose % 5 == 0 ? 0 : 2, &rng);
      const double depth = std::pow(10, draw(&rng, -9, -3));
      const double exact =
          place_on_plane(&scene, has_gap && pose % 2 == 1 ? 0.9 * depth : -depth, &rng);
      mj_collision(scene.model, scene.data);
      num_corrected += CollisionRepair().run(scene.model, scene.data);
      const Vector n = get_axis(scene.data->geom_xmat, 2);
      double nearest = mjMAXVAL;
      std::vector<Vector> points;
      for (int i = 0; i < scene.data->ncon; ++i) {
        const mjContact& con = scene.data->contact[i];
        ASSERT_EQ(con.geom[0], 0);
        Vector on_plane{con.pos[0], con.pos[1], con.pos[2]};
        EXPECT_NEAR(dot(n, Vector{con.frame[0], con.frame[1], con.frame[2]}), 1, 1e-15);
        const Vector point = add(on_plane, 0.5 * con.dist, n);
        on_plane = add(on_plane, -0.5 * con.dist, n);
        EXPECT_NEAR(calc_distance_to_cylinder(scene, point), 0, kRounding);
        double height = 0;
        for (int k = 0; k < 3; ++k) height += n[k] * (on_plane[k] - scene.data->geom_xpos[k]);
        EXPECT_NEAR(height, 0, kRounding);
        EXPECT_EQ(con.exclude, con.dist < con.includemargin ? 0 : 1);
        nearest = std::min(nearest, static_cast<double>(con.dist));
        points.push_back(point);
      }
      EXPECT_NEAR(nearest, exact, kRounding);
      const double reach = has_gap ? 1e-3 : 0;
      if (pose % 5 == 0 || exact + 2.1 * R * tilt > reach) continue;
      EXPECT_GE(points.size(), 3U);  // all of the lower rim is in reach
      if (points.empty()) continue;
      const mjtNum* x = scene.data->geom_xpos + 3;
      EXPECT_TRUE(contains(points, n, {x[0], x[1], x[2]}));
    }
  }
  EXPECT_GT(num_corrected, 10) << "MuJoCo alone has all contacts right";
}

/// MuJoCo's other formulas are right, and none of their bits changes.
TEST(PlaneCheck, OtherGeomsKeepTheirContacts) {
  Rng rng(2);
  for (const char* geom :
       {R"(type="sphere" size=".05")", R"(type="capsule" size=".05 .04")",
        R"(type="ellipsoid" size=".05 .07 .03")", R"(type="box" size=".05 .07 .03")",
        R"(type="mesh" mesh="m")", R"(type="cylinder" size=".05 .04")"}) {
    for (int trial = 0; trial < support::num_trials(5); ++trial) {
      Scene scene(make_scene(geom, "1e-3", &rng));
      mj_kinematics(scene.model, scene.data);
      const bool is_cylinder = scene->geom_type[1] == mjGEOM_CYLINDER;
      for (int pose = 0; pose < 100; ++pose) {
        const double tilt = std::pow(10, draw(&rng, is_cylinder ? -5 : -17, 0));
        draw_orientation(&scene, tilt, pose % 3, &rng);
        const double exact = place_on_plane(&scene, draw(&rng, -1e-3, 0.9e-3), &rng);
        mj_collision(scene.model, scene.data);
        const std::vector<mjContact> before(scene.data->contact,
                                            scene.data->contact + scene.data->ncon);
        ASSERT_FALSE(before.empty());
        EXPECT_EQ(CollisionRepair().run(scene.model, scene.data), 0) << geom;
        ASSERT_EQ(scene.data->ncon, static_cast<int>(before.size()));
        double nearest = mjMAXVAL;
        for (std::size_t i = 0; i < before.size(); ++i) {
          EXPECT_EQ(scene.data->contact[i].dist, before[i].dist);
          nearest = std::min(nearest, static_cast<double>(before[i].dist));
        }
        EXPECT_NEAR(nearest, exact, 1e-8) << geom;
      }
    }
  }
}

/// Contacts of any geom that are wrong by whatever fault get the exact distance.
TEST(PlaneCheck, WrongContactsOfAllGeomsAreCorrected) {
  Rng rng(3);
  for (const char* geom : {R"(type="sphere" size=".05")", R"(type="capsule" size=".05 .04")",
                           R"(type="ellipsoid" size=".05 .07 .03")",
                           R"(type="box" size=".05 .07 .03")", R"(type="mesh" mesh="m")"}) {
    Scene scene(make_scene(geom, "1e-3", &rng));
    mj_kinematics(scene.model, scene.data);
    for (const double wrong : {-0.01, 0.0009}) {
      draw_orientation(&scene, 0.3, 2, &rng);
      const double exact = place_on_plane(&scene, -2e-4, &rng);
      mj_collision(scene.model, scene.data);
      ASSERT_GT(scene.data->ncon, 0);
      for (int i = 0; i < scene.data->ncon; ++i) scene.data->contact[i].dist = wrong;
      EXPECT_EQ(CollisionRepair().run(scene.model, scene.data), 1) << geom;
      double nearest = mjMAXVAL;
      for (int i = 0; i < scene.data->ncon; ++i)
        nearest = std::min(nearest, static_cast<double>(scene.data->contact[i].dist));
      EXPECT_NEAR(nearest, exact, 1e-8) << geom << " " << wrong;
    }
  }
}

}  // namespace
}  // namespace stiction::plant::plane_check_test
