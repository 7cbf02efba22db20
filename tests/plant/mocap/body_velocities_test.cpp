#include "stiction/plant/mocap/body_velocities.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/random_scene.hpp"
#include "support/scene.hpp"

namespace stiction::plant::body_velocities_test {
namespace {

using support::Scene;

/// Returns a scene of a doll, hinged bodies and free bodies. Some of them slide on a moving
/// surface.
Scene make_scene() {
  const support::Doll doll = support::make_doll("d", 0, 0, 0.2);
  return Scene(support::make_mjcf(
      "", R"(<worldbody><geom type="plane" size="9 9 1" gap="1" surfacevel="0.3 0.4 0 0 0 0"/>
<body pos="1 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/><body pos="0.2 0 0"><joint type="ball"/><geom size="0.1"/></body></body>)" +
              doll.body + "</worldbody>"));
}

TEST(BodyVelocities, EqualMuJoCosCvel) {
  Scene scene = make_scene();
  std::mt19937_64 rng(1);
  scene.randomize(0.3, &rng);
  mj_forward(scene.model, scene.data);
  BodyVelocities velocities;
  velocities.calc(scene.model, scene.data, scene.data->qvel);
  for (int body = 0; body < scene->nbody; ++body)
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(velocities.of_body(body)[k], scene.data->cvel[6 * body + k], 1e-12) << body;
}

TEST(BodyVelocities, AtAContactFollowFromMuJoCosPointJacobian) {
  Scene scene = make_scene();
  std::mt19937_64 rng(2);
  int num_checked = 0;
  for (int trial = 0; trial < 5; ++trial) {
    scene.randomize(0.3, &rng);
    mj_forward(scene.model, scene.data);
    BodyVelocities velocities;
    velocities.calc(scene.model, scene.data, scene.data->qvel);
    for (int i = 0; i < scene.data->ncon; ++i, ++num_checked) {
      const mjContact& con = scene.data->contact[i];
      double v[3] = {};
      for (int side = 0; side < 2; ++side) {
        std::vector<mjtNum> J(3 * static_cast<std::size_t>(scene->nv));
        mj_jac(scene.model, scene.data, J.data(), nullptr, con.pos,
               scene->geom_bodyid[con.geom[side]]);
        for (int k = 0; k < 3; ++k)
          for (int dof = 0; dof < scene->nv; ++dof)
            v[k] += (side == 0 ? -1 : 1) * J[k * scene->nv + dof] * scene.data->qvel[dof];
      }
      // The floor is the first of two geoms, and its surface moves at (0.3, 0.4).
      if (scene->geom_type[con.geom[0]] == mjGEOM_PLANE) {
        v[0] -= 0.3;
        v[1] -= 0.4;
      }
      const double v_n = mju_dot3(v, con.frame);
      const BodyVelocities::AtContact found =
          velocities.calc_at_contact(scene.model, scene.data, con);
      EXPECT_NEAR(found.normal, v_n, 1e-12);
      EXPECT_NEAR(found.slip, std::sqrt(std::max(0.0, mju_dot3(v, v) - v_n * v_n)), 1e-7);
    }
  }
  EXPECT_GT(num_checked, 20);
}

}  // namespace
}  // namespace stiction::plant::body_velocities_test
