#include "stiction/plant/collision/conservative_advancement.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/random_scene.hpp"
#include "support/scene.hpp"

namespace stiction::plant::motion_bounds_test {
namespace {

using support::Scene;

/// Returns the point at `offset` in each body's frame after mj_integratePos has moved it for a
/// time.
std::vector<double> find_points(const Scene& scene, const std::vector<mjtNum>& qpos,
                                const std::vector<mjtNum>& qvel, double time,
                                const double offset[3]) {
  Scene other(scene);
  std::copy(qpos.begin(), qpos.end(), other.data->qpos);
  if (time != 0) mj_integratePos(other.model, other.data->qpos, qvel.data(), time);
  mj_kinematics(other.model, other.data);
  std::vector<double> points(3 * static_cast<std::size_t>(scene->nbody));
  for (int body = 0; body < scene->nbody; ++body) {
    mju_mulMatVec3(points.data() + 3 * body, other.data->xmat + 9 * body, offset);
    mju_addTo3(points.data() + 3 * body, other.data->xpos + 3 * body);
  }
  return points;
}

TEST(MotionBounds, HoldForEveryBodyOfAMovingTree) {
  const support::Doll doll = support::make_doll("d", 0, 0, 0.5);
  const Scene scene(support::make_mjcf("", R"(<worldbody>
<body pos="1 0 0.5"><joint type="slide" axis="1 0 0"/><joint axis="0 1 0" pos="0.1 0 0.2"/><geom size="0.1"/>
<body pos="0.3 0 0"><joint type="ball" pos="0 0.1 0"/><geom size="0.1"/><body pos="0 0.2 0.1"><joint type="slide" axis="0 1 1"/>
<geom size="0.1"/></body></body></body>)" + doll.body +
                                               "</worldbody>"));
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  const double duration = 0.2, step = 1e-4, offset[3] = {0.1, -0.2, 0.05};
  double tightest = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<mjtNum> qpos(scene->qpos0, scene->qpos0 + scene->nq), qvel(scene->nv);
    for (mjtNum& v : qvel) v = 3 * normal(rng);
    mj_integratePos(scene.model, qpos.data(), qvel.data(), 0.3);
    for (mjtNum& v : qvel) v = 3 * normal(rng);
    MotionBounds bounds;
    bounds.calc(scene.model, qpos.data(), qvel.data(), duration);
    for (double t = 0.01; t < duration; t += 0.03) {
      const std::vector<double> before = find_points(scene, qpos, qvel, t - step, offset),
                                at = find_points(scene, qpos, qvel, t, offset),
                                after = find_points(scene, qpos, qvel, t + step, offset);
      for (int body = 1; body < scene->nbody; ++body) {
        double a[3];
        for (int k = 0; k < 3; ++k)
          a[k] =
              (after[3 * body + k] - 2 * at[3 * body + k] + before[3 * body + k]) / (step * step);
        const double bound = bounds.calc_acceleration(body, mju_norm3(offset));
        EXPECT_LE(mju_norm3(a), bound * (1 + 1e-6) + 1e-5) << "body " << body << " at " << t;
        tightest = std::max(tightest, mju_norm3(a) / bound);
      }
    }
  }
  EXPECT_GT(tightest, 0.5);  // the bounds are not much larger than the accelerations
}

TEST(MotionBounds, PointsOfFreeBodiesAccelerateBySpinOnly) {
  const Scene scene(support::make_mjcf(
      "", R"(<worldbody><body><freejoint/><geom size="0.1"/></body></worldbody>)"));
  const std::vector<mjtNum> qvel = {5, 6, 7, 0, 0, 2};
  MotionBounds bounds;
  bounds.calc(scene.model, scene->qpos0, qvel.data(), 1);
  EXPECT_EQ(bounds.calc_acceleration(1, 0), 0);
  EXPECT_DOUBLE_EQ(bounds.calc_acceleration(1, 0.5), 2);  // w^2 r
}

}  // namespace
}  // namespace stiction::plant::motion_bounds_test
