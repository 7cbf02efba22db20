#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "sim/step/stepping.hpp"
#include "support/random_scene.hpp"

/// Random clusters of bodies, and their motion read from the state.
namespace stiction::sim {

using Vector = Eigen::Vector3d;
using Vectors = std::vector<Vector>;

/// Returns row i of an array of vectors.
inline Vector at(const std::vector<double>& values, int i) { return Vector(&values[3 * i]); }

inline int find_body(const support::Scene& scene, int number) {
  char name[16];
  std::snprintf(name, sizeof name, "b%d", number);
  return scene.body(name);
}

/// The states of free bodies in the world frame, by number of the body: positions, velocities,
/// angular velocities and orientations.
struct Motion {
  Vectors p, v, w;
  std::vector<Eigen::Quaterniond> q;
};

inline Motion read_motion(const support::Scene& scene, int num_bodies) {
  Motion out;
  for (int i = 0; i < num_bodies; ++i) {
    const int body = find_body(scene, i);
    const mjtNum* qpos = scene.data->qpos + scene->jnt_qposadr[scene->body_jntadr[body]];
    const mjtNum* qvel = scene.data->qvel + scene->body_dofadr[body];
    out.p.emplace_back(qpos);
    out.q.emplace_back(qpos[3], qpos[4], qpos[5], qpos[6]);
    out.v.emplace_back(qvel);
    out.w.push_back(out.q.back() * Vector(qvel + 3));
  }
  return out;
}

/// Returns the velocities after a step at the poses before it, where contacts act. The state has
/// angular velocities in the body's frame, which turns within the step.
inline Motion read_motion_at(const Motion& before, const support::Scene& scene) {
  Motion out = read_motion(scene, static_cast<int>(before.p.size()));
  for (std::size_t i = 0; i < before.p.size(); ++i)
    out.w[i] = before.q[i] * (out.q[i].conjugate() * out.w[i]);
  out.p = before.p;
  out.q = before.q;
  return out;
}

/// Sets random velocities of the bodies of a random scene. They depend on the seed only, and are
/// rotated with the scene.
/// @param size    standard deviation [m/s], [rad/s]
/// @param options the options of the scene
inline void set_velocities(support::Scene* scene, std::uint64_t seed, double size,
                           const support::RandomSceneOptions& options) {
  std::mt19937_64 rng(seed + 1000);
  std::normal_distribution<double> normal;
  for (int i = 0; i < options.num_bodies; ++i) {
    const int body = find_body(*scene, i);
    mjtNum* qvel = scene->data->qvel + scene->model->body_dofadr[body];
    double v[3];
    for (double& x : v) x = size * normal(rng);
    mju_rotVecQuat(qvel, v, options.rotation.data());
    for (int k = 3; k < 6; ++k) qvel[k] = size * normal(rng);  // in the body's frame
  }
}

}  // namespace stiction::sim
