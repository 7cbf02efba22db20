#pragma once

#include <string>
#include <vector>

#include "campaign/dice.hpp"
#include "campaign/view.hpp"

/// The elements of random worlds, as MJCF text.
namespace stiction::campaign {

/// The names of what bodies have, from which tendons, actuators and equalities choose.
struct Parts {
  std::string assets, sensors;
  std::vector<std::string> bodies;         // all
  std::vector<std::string> scalar_joints;  // hinges and slides
  std::vector<std::string> roots;          // the first body of each tree
  std::vector<std::string> wraps;          // geoms around which tendons may wrap
  int num_geoms = 0;
};

/// Random elements that belong to bodies. Every function adds names to the Parts.
class PartMaker {
 public:
  PartMaker(const View& view, bool is_calm, Dice* dice, Parts* parts)
      : view_(view), is_calm_(is_calm), dice_(*dice), parts_(*parts) {}

  /// Returns a geom of a body, about 0.1 m in size.
  std::string make_geom(double mass);
  /// Returns a joint of a type: "hinge", "slide" or "ball".
  std::string make_joint(const std::string& type, bool is_passive);
  /// Returns a body with its geoms, joints, site and children, and adds its sensors.
  /// @param depth 0 for the first body of a tree
  std::string make_body(int depth, bool is_passive);
  std::string make_quat();

 private:
  std::string make_shape();
  std::string make_polyhedron();
  std::string make_joints(int depth, bool is_passive);

  const View& view_;
  bool is_calm_;
  Dice& dice_;
  Parts& parts_;
};

}  // namespace stiction::campaign
