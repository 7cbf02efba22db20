// Random pairs of convex geoms at a given distance.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "plant/repairs/separation_search.hpp"
#include "support/scene.hpp"

namespace stiction::support {

using Direction = Vector;
using Rng = std::mt19937_64;

inline double draw(Rng* rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*rng);
}

inline Direction draw_direction(Rng* rng) {
  std::normal_distribution<double> normal;
  Direction n;
  for (double& x : n) x = normal(*rng);
  return normalize(n);
}

inline const std::vector<std::string> kGeomTypes = {"sphere", "capsule", "ellipsoid", "cylinder",
                                                    "box",    "mesh",    "brick",     "disc"};

/// Returns the vertices of a mesh: those of a box, or 12 on an ellipsoid.
inline std::string make_vertices(bool is_brick, Rng* rng) {
  std::string vertices;
  const double size[3] = {draw(rng, 0.02, 0.08), draw(rng, 0.02, 0.08), draw(rng, 0.02, 0.08)};
  for (int i = 0; i < (is_brick ? 8 : 12); ++i) {
    const Direction n = is_brick
                            ? Direction{i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0}
                            : draw_direction(rng);
    for (int k = 0; k < 3; ++k) vertices += std::to_string(size[k] * n[k]) + " ";
  }
  return vertices;
}

inline std::string make_geom(const std::string& type, int index) {
  const std::string mesh = "mesh\" mesh=\"m" + std::to_string(index);
  return type == "mesh" || type == "brick" ? mesh : type == "disc" ? "cylinder" : type;
}

/// Makes two free bodies whose geoms have a gap.
inline std::string make_pair(const std::string& type1, const std::string& type2, double gap,
                             Rng* rng) {
  std::string meshes, bodies;
  for (int i = 0; i < 2; ++i) {
    const std::string& type = i == 0 ? type1 : type2;
    meshes += "<mesh name=\"m" + std::to_string(i) + "\" vertex=\"" +
              make_vertices(type == "brick", rng) + "\"/>";
    std::string size;
    for (int k = 0; k < 3; ++k) size += std::to_string(draw(rng, 0.02, 0.08)) + " ";
    if (type == "disc") size = "0.06 0.004";
    bodies += "<body><freejoint/><geom type=\"" + make_geom(type, i) + "\" size=\"" + size +
              "\" gap=\"" + std::to_string(0.5 * gap) + "\"/></body>";
  }
  return make_mjcf("", "<asset>" + meshes + "</asset><worldbody>" + bodies + "</worldbody>");
}

/// Sets orientations: random ones, or axes that are parallel up to a small angle, for which MuJoCo
/// makes several contacts.
inline void draw_orientations(Scene* scene, Rng* rng) {
  std::normal_distribution<double> normal;
  const bool is_aligned = draw(rng, 0, 1) < 0.5;
  const double angle = std::pow(10, draw(rng, -8, -1));
  for (const int adr : {3, 10}) {
    mjtNum* q = scene->data->qpos + adr;
    for (int i = 0; i < 4; ++i) q[i] = (is_aligned ? angle : 1) * normal(*rng);
    if (is_aligned) {
      q[0] += std::numbers::sqrt2 / 2;
      q[draw(rng, 0, 1) < 0.5 ? 0 : 1 + static_cast<int>(draw(rng, 0, 3))] +=
          std::numbers::sqrt2 / 2;
    }
    mju_normalize4(q);
  }
}

/// Moves the second body until the geoms are about a distance apart.
inline void place(Scene* scene, double distance, Rng* rng) {
  mjtNum* x = scene->data->qpos;
  Direction side = draw_direction(rng);
  if (draw(rng, 0, 1) < 0.5) side = {0, 0, 1};
  const double aside = draw(rng, 0, 1) < 0.3 ? 0.03 : 0;
  const Direction step = draw_direction(rng);
  for (int i = 0; i < 3; ++i) {
    x[i] = 0;
    x[7 + i] = 0.3 * side[i] + aside * step[i];
  }
  mj_kinematics(scene->model, scene->data);
  const SeparationSearch::Nearest nearest =
      SeparationSearch(scene->model, scene->data, 0, 1).find();
  for (int i = 0; i < 3; ++i) x[7 + i] += (distance - nearest.distance) * nearest.n[i];
  mj_kinematics(scene->model, scene->data);
  mj_comPos(scene->model, scene->data);
}

}  // namespace stiction::support
