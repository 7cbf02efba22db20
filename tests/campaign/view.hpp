#pragma once

#include <array>
#include <string>
#include <vector>

#include "support/scene.hpp"

/// The same world seen in another way: mirrored, moved, or with its bodies in another order.
namespace stiction::campaign {

/// A world is written in a view, and the state of the plain view is carried over to it. A law of
/// physics then says that a step ends in the same state, carried over in the same way.
struct View {
  std::string name = "plain";
  bool is_mirrored = false;                       // y becomes -y, in every frame
  std::array<double, 4> rotation = {1, 0, 0, 0};  // of the whole world, with gravity
  std::array<double, 3> translation = {};         // [m]
  bool is_reversed = false;                       // the bodies of the world in reverse order

  /// Returns the components of a vector in this view, as MJCF text with all digits. Vectors are
  /// those of a frame that belongs to the world; wrap_world turns the world as a whole.
  std::string polar(double x, double y, double z) const;
  /// Returns the same for a vector that does not change sign in a mirror, such as the axis of a
  /// hinge.
  std::string axial(double x, double y, double z) const;
  std::string quat(const std::array<double, 4>& q) const;
  /// Returns a frame that turns and moves elements of the world.
  std::string wrap_world(const std::string& elements) const;
  /// Returns the components of a vector of the world frame, such as gravity or a force.
  std::array<double, 3> turn(const double v[3]) const;
  /// Returns the same for a torque.
  std::array<double, 3> turn_axial(const double v[3]) const;
};

/// Sets the state and inputs of a world in another view to those of `plain`. Joints, bodies and
/// actuators are found by name.
void carry_state(const support::Scene& plain, const View& view, support::Scene* other);

/// Returns the velocities of a world in a view in the plain view, in the order of `plain`.
std::vector<double> carry_velocities_back(const support::Scene& plain, const View& view,
                                          const support::Scene& other);

}  // namespace stiction::campaign
