#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"

namespace stiction::sim {

/// Finds geoms that walk on each other although friction could hold them: in many steps some of
/// their contacts slip while the others stick, and what has slipped does not come back. Loads that
/// swing near the bound do that, because contacts at their bound hand their share on to the others.
/// It judges windows of a second, and of kLeastSteps at least. Source: [theory:anchors].
class WalkWatch {
 public:
  static constexpr double kWindow = 1;           // [s]
  static constexpr int kLeastSteps = 100;        // of a window
  static constexpr int kLeastWindows = 3;        // in which they walk in the same direction
  static constexpr double kLargestRatio = 0.95;  // of the friction to its bound where some slip
  static constexpr double kLeastShare = 0.1;     // of the steps in which some slip
  static constexpr double kLeastSpeed = 1e-8;    // [m/s]
  static constexpr double kMostTurn = 0.1;       // in these steps of a window; others roll [rad]

  /// The geoms that walk, and their speed [m/s].
  struct Walk {
    std::array<int, 2> geoms{};
    double speed = 0;
  };

  /// Makes room for this many pairs of geoms.
  void reserve(int num_pairs) { pairs_.reserve(num_pairs); }
  /// Adds the contacts of two geoms in this step.
  /// @param body     pose of the body of geom A
  /// @param contacts indices in the problem; where one does not press, the bodies rock or part
  void add(const std::array<int, 2>& geoms, const plant::BodyPose& body,
           const contact::ContactProblem& problem, const contact::ContactSolution& solution,
           std::span<const int> contacts);
  /// Ends a step.
  /// @param dt [s]
  /// @return the fastest walk of a window that ends, if the window before had none
  std::optional<Walk> end_step(double dt);

  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the object is then undefined
  void read(const mjModel* model, base::WordReader* words);

 private:
  /// Two geoms some of whose contacts have slipped while the others stuck.
  struct Pair {
    std::array<int, 2> geoms{};
    int num_steps = 0;    // of this window in which they did
    bool lifts = false;   // a contact did not press in a step of this window
    int num_windows = 0;  // before this one in which they walked, in the same direction
    double turned = 0;    // sum of the relative rotations of these steps [rad]
    math::Vec3 way{};     // slip of B on A in this window, in the frame of A's body [m]
    math::Vec3 before{};  // the same in the last window [m]
  };
  std::vector<Pair>::iterator find(const std::array<int, 2>& geoms);
  void end_window(Pair* pair) const;

  std::vector<Pair> pairs_;  // sorted by their geoms
  double time_ = 0;          // since the window began [s]
  int num_steps_ = 0;
  bool is_warned_ = false;  // geoms walked in the last window
};

}  // namespace stiction::sim
