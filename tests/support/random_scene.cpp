#include "support/random_scene.hpp"

#include <cmath>
#include <cstdio>
#include <random>
#include <sstream>

#include <mujoco/mujoco.h>

namespace stiction::support {
namespace {

using Generator = std::mt19937_64;

/// Returns numbers as text with all digits, so that the parsed numbers have the same bits.
template <class... Numbers>
std::string text(Numbers... numbers) {
  std::string out;
  char buffer[32];
  ((std::snprintf(buffer, sizeof buffer, "%.17g ", static_cast<double>(numbers)), out += buffer),
   ...);
  return out;
}

double uniform(double low, double high, Generator* rng) {
  return std::uniform_real_distribution<double>(low, high)(*rng);
}

std::string make_geom(const RandomSceneOptions& options, Generator* rng) {
  const double a = uniform(0.06, 0.1, rng), b = uniform(0.06, 0.1, rng),
               c = uniform(0.06, 0.1, rng);
  switch (std::uniform_int_distribution<int>(0, options.isotropic ? 1 : 3)(*rng)) {
    case 0: return "size=\"" + text(a) + "\"";
    case 1:
      return "type=\"box\" size=\"" + (options.isotropic ? text(a, a, a) : text(a, b, c)) + "\"";
    case 2: return "type=\"capsule\" size=\"" + text(0.6 * a, 0.6 * b) + "\"";
    default: return "type=\"ellipsoid\" size=\"" + text(a, b, c) + "\"";
  }
}

/// Returns the attributes of a pose (p, q) after the rotation of the scene.
std::string make_pose(const RandomSceneOptions& options, const double p[3], const double q[4]) {
  double rotated_p[3], rotated_q[4];
  mju_rotVecQuat(rotated_p, p, options.rotation.data());
  mju_mulQuat(rotated_q, options.rotation.data(), q);
  return "pos=\"" + text(rotated_p[0], rotated_p[1], rotated_p[2]) + "\" quat=\"" +
         text(rotated_q[0], rotated_q[1], rotated_q[2], rotated_q[3]) + "\"";
}

/// Makes body i on a jittered grid of layers of three by three bodies. The lowest layer overlaps
/// the floor slightly.
std::string make_body(int i, const RandomSceneOptions& options, Generator* rng) {
  const double spacing = options.spacing;
  const double p[3] = {spacing * (i % 3) + uniform(-0.01, 0.01, rng),
                       spacing * (i / 3 % 3) + uniform(-0.01, 0.01, rng),
                       spacing * (0.47 + i / 9) + uniform(-0.01, 0.01, rng)};
  double q[4];
  for (double& x : q) x = std::normal_distribution<double>()(*rng);
  mju_normalize4(q);
  const double mass = std::pow(options.mass_ratio, uniform(0, 1, rng));
  const double friction = options.max_friction * uniform(0, 1, rng);
  std::string xml = "<body name=\"b" + std::to_string(i) + "\" " + make_pose(options, p, q) +
                    "><freejoint/><geom " + make_geom(options, rng) + " mass=\"" + text(mass) +
                    "\" friction=\"" + text(friction) + " 0.005 0.0001\"/>";
  if (i < options.num_hinged)
    xml +=
        R"(<body pos="0.12 0 0"><joint axis="0 1 0" range="-10 10" frictionloss="0.05" damping="0.01"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0" mass=")" +
        text(0.1 * mass) + "\"/></body>";
  return xml + "</body>";
}

}  // namespace

std::string make_random_scene(std::uint64_t seed, const RandomSceneOptions& options) {
  Generator rng(seed);
  std::vector<std::string> bodies;
  for (int i = 0; i < options.num_bodies; ++i) bodies.push_back(make_body(i, options, &rng));
  const double down[3] = {0, 0, -options.gravity};
  double g[3];
  mju_rotVecQuat(g, down, options.rotation.data());
  std::string xml = "<mujoco><option timestep=\"" + text(options.time_step) + "\" gravity=\"" +
                    text(g[0], g[1], g[2]) + "\"/><worldbody>";
  const double origin[3] = {0, 0, 0}, identity[4] = {1, 0, 0, 0};
  if (options.has_floor)
    xml += "<geom type=\"plane\" size=\"9 9 1\" " + make_pose(options, origin, identity) + "/>";
  for (int i = 0; i < options.num_bodies; ++i)
    xml += bodies[options.order.empty() ? i : options.order[i]];
  return xml + "</worldbody></mujoco>";
}

Doll make_doll(const std::string& name, double x, double y, double z) {
  // Operands of << are evaluated from left to right, so that every compiler numbers the joints
  // alike.
  std::ostringstream body, actuators;
  const auto joint = [&](const std::string& joint, const char* axis, const char* range) {
    actuators << "<position joint=\"" << name << joint << R"(" kp="20" kv="1" ctrlrange="-1 1"/>)";
    return "<joint name=\"" + name + joint + "\" axis=\"" + axis + "\" range=\"" + range +
           R"(" damping="0.5" armature="0.01" frictionloss="0.1"/>)";
  };
  body << "<body pos=\"" << text(x, y, z)
       << R"("><freejoint/><geom type="capsule" size="0.1" fromto="0 -0.1 0 0 0.1 0"/>
<geom size="0.09" pos="0 0 0.35"/><body pos="0 0 0.15">)"
       << joint("waist", "0 0 1", "-45 45") << joint("bend", "0 1 0", "-75 30")
       << R"(<geom type="capsule" size="0.08" fromto="0 -0.06 0 0 0.06 0"/></body>)";
  for (const int side : {-1, 1}) {
    const std::string s = side < 0 ? "l" : "r";
    body << "<body pos=\"" << text(0, 0.2 * side, 0.1) << "\">"
         << joint(s + "shoulder1", "0 1 0", "-85 60") << joint(s + "shoulder2", "1 0 0", "-85 60")
         << R"(<geom type="capsule" size="0.04" fromto="0 0 0 0.2 0 0"/><body pos="0.2 0 0">)"
         << joint(s + "elbow", "0 1 0", "-90 50")
         << R"(<geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/></body></body>)";
    body << "<body pos=\"" << text(0, 0.1 * side, -0.1) << "\">"
         << joint(s + "hip1", "1 0 0", "-25 5") << joint(s + "hip2", "0 0 1", "-60 35")
         << joint(s + "hip3", "0 1 0", "-110 20")
         << R"(<geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.3"/><body pos="0 0 -0.35">)"
         << joint(s + "knee", "0 -1 0", "-160 -2")
         << R"(<geom type="capsule" size="0.045" fromto="0 0 0 0 0 -0.3"/><body pos="0 0 -0.35">)"
         << joint(s + "ankle1", "0 1 0", "-50 50") << joint(s + "ankle2", "1 0 0", "-50 50")
         << R"(<geom type="capsule" size="0.027" fromto="-0.07 0.02 0 0.14 0.04 0"/>
<geom type="capsule" size="0.027" fromto="-0.07 -0.02 0 0.14 -0.04 0"/></body></body></body>)";
  }
  body << "</body>";
  return {body.str(), actuators.str()};
}

}  // namespace stiction::support
