#include "campaign/world_parts.hpp"

#include <array>

#include <mujoco/mujoco.h>

namespace stiction::campaign {

std::string PartMaker::make_quat() {
  std::array<double, 4> q;
  for (double& x : q) x = dice_.normal();
  mju_normalize4(q.data());
  return attribute("quat", view_.quat(q));
}

/// Returns a mesh of eight points near a sphere, whose convex hull collides.
std::string PartMaker::make_polyhedron() {
  const std::string name = "mesh" + std::to_string(parts_.num_geoms);
  std::string vertices;
  for (int i = 0; i < 8; ++i) {
    // The corners of a cube, moved at random, so that every hull is a solid.
    double p[3];
    for (int k = 0; k < 3; ++k) p[k] = 0.06 * ((i >> k & 1) ? 1 : -1) + dice_.uniform(-0.02, 0.02);
    vertices += view_.polar(p[0], p[1], p[2]) + " ";
  }
  parts_.assets += "<mesh" + attribute("name", name) + attribute("vertex", vertices) + "/>";
  return attribute("type", "mesh") + attribute("mesh", name);
}

std::string PartMaker::make_shape() {
  const double a = dice_.uniform(0.04, 0.1), b = dice_.uniform(0.04, 0.1),
               c = dice_.uniform(0.04, 0.1);
  const std::string two = text(0.6 * a) + " " + text(b);
  const std::string three = text(a) + " " + text(b) + " " + text(c);
  switch (is_calm_ ? 4 * dice_.below(2) + 1 : dice_.below(6)) {
    case 0: return attribute("type", "sphere") + attribute("size", a);
    case 1: return attribute("type", "box") + attribute("size", three);
    case 2: return attribute("type", "capsule") + attribute("size", two);
    case 3: return attribute("type", "cylinder") + attribute("size", two);
    case 4: return attribute("type", "ellipsoid") + attribute("size", three);
    default: return make_polyhedron();
  }
}

std::string PartMaker::make_geom(double mass) {
  constexpr const char* kDims[] = {"1", "3", "3", "3", "4", "6"};
  std::string out = "<geom" + attribute("name", "g" + std::to_string(parts_.num_geoms));
  out += make_shape() + attribute("mass", mass);
  const int dim = dice_.below(6);
  const double friction = dice_.chance(0.1) ? 1e-5 : dice_.uniform(0.1, 1.5);
  out += attribute("condim", is_calm_ ? "3" : kDims[dim]);
  const double rolling = dice_.log_uniform(1e-5, 1e-3);
  const double torsion = dice_.log_uniform(1e-4, 1e-2);
  out += attribute("friction",
                   text(is_calm_ ? 0.8 : friction) + " " + text(torsion) + " " + text(rolling));
  if (dice_.chance(0.15)) {
    const double damping = dice_.uniform(0.5, 2);
    const double time = dice_.log_uniform(5e-3, 0.1);
    out += attribute("solref", text(time) + " " + text(damping));
  }
  if (dice_.chance(0.15)) out += attribute("margin", dice_.uniform(0, 0.01));
  if (dice_.chance(0.1)) out += attribute("priority", "1");
  ++parts_.num_geoms;
  return out + "/>";
}

std::string PartMaker::make_joint(const std::string& type, bool is_passive) {
  const std::string name = "j" + type + std::to_string(parts_.bodies.size()) + "_" +
                           std::to_string(parts_.scalar_joints.size());
  double axis[3];
  for (double& x : axis) x = dice_.normal();
  const auto vector = type == "slide" ? view_.polar(axis[0], axis[1], axis[2])
                                      : view_.axial(axis[0], axis[1], axis[2]);
  std::string out = "<joint" + attribute("type", type) + attribute("name", name);
  if (type != "ball") {
    out += attribute("axis", vector);
    parts_.scalar_joints.push_back(name);
  }
  const double low = dice_.uniform(-0.4, 0.02), high = low + dice_.log_uniform(1e-3, 0.6);
  const bool is_limited = dice_.chance(0.4);
  const bool has_margin = dice_.chance(0.2), has_damping = dice_.chance(0.3);
  const bool has_spring = dice_.chance(0.2), is_dry = dice_.chance(0.25);
  const bool has_armature = dice_.chance(0.3), is_soft = dice_.chance(0.3);
  if (has_armature) out += attribute("armature", dice_.log_uniform(1e-4, 1e-1));
  if (is_passive) return out + "/>";
  if (is_limited)
    out += attribute("limited", "true") +
           attribute("range", text(type == "ball" ? 0 : low) + " " +
                                  text(type == "ball" ? high - low : high));
  if (is_limited && has_margin) out += attribute("margin", 0.01);
  if (is_soft) out += attribute("solreflimit", text(dice_.log_uniform(5e-3, 0.1)) + " 1");
  if (has_damping) out += attribute("damping", dice_.log_uniform(1e-3, 3));
  if (has_spring) out += attribute("stiffness", dice_.log_uniform(0.1, 100));
  if (has_spring && type != "ball") out += attribute("springref", dice_.uniform(-0.3, 0.3));
  if (is_dry) out += attribute("frictionloss", dice_.log_uniform(1e-3, 1));
  return out + "/>";
}

std::string PartMaker::make_joints(int depth, bool is_passive) {
  const int kind = dice_.below(10);
  const std::string free =
      "<freejoint name=\"jfree" + std::to_string(parts_.bodies.size()) + "\"/>";
  if (depth == 0 && (is_calm_ || kind < 7)) return free;
  switch (kind % 5) {
    case 0: return make_joint("slide", is_passive);
    case 1: return make_joint("ball", is_passive);
    case 2: {
      const std::string hinge = make_joint("hinge", is_passive);
      return make_joint("slide", is_passive) + hinge;
    }
    case 3: return depth == 0 ? make_joint("hinge", is_passive) : "";  // welded to its parent
    default: return make_joint("hinge", is_passive);
  }
}

std::string PartMaker::make_body(int depth, bool is_passive) {
  const std::string name = "b" + std::to_string(parts_.bodies.size());
  const int index = static_cast<int>(parts_.roots.size());
  const double spread = dice_.uniform(0.12, 0.22);
  double p[3];
  for (double& x : p) x = dice_.uniform(-0.03, 0.03);
  if (depth == 0) {
    p[0] += spread * (index % 2);
    p[1] += spread * (index / 2 % 2);
    p[2] += dice_.uniform(0.03, 0.13);
    parts_.roots.push_back(name);
  } else {
    p[0] += dice_.chance(0.5) ? 0.13 : -0.13;
  }
  std::string out = "<body" + attribute("name", name) +
                    attribute("pos", view_.polar(p[0], p[1], p[2])) + make_quat() + ">";
  out += make_joints(depth, is_passive);
  parts_.bodies.push_back(name);
  const double mass = is_calm_ ? 1 : dice_.log_uniform(0.1, 10);
  out += make_geom(mass);
  if (!is_calm_ && dice_.chance(0.2)) out += make_geom(0.3 * mass);
  if (!is_calm_ && dice_.chance(0.2)) {
    out += "<geom" + attribute("name", "wrap" + name) +
           " size=\"0.02\" contype=\"0\" conaffinity=\"0\" mass=\"0\"/>";
    parts_.wraps.push_back("wrap" + name);
  }
  out += "<site" + attribute("name", "s" + name) + attribute("pos", view_.polar(0.02, 0.03, 0.01)) +
         "/><site" + attribute("name", "all" + name) + attribute("size", "9") + "/>";
  parts_.sensors += "<touch" + attribute("name", name) + attribute("site", "all" + name) + "/>" +
                    "<framelinacc objtype=\"body\"" + attribute("objname", name) + "/>";
  if (!is_calm_ && depth < 2 && dice_.chance(0.35)) out += make_body(depth + 1, is_passive);
  return out + "</body>";
}

}  // namespace stiction::campaign
