#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/sim/memory/walk.hpp"

namespace stiction::sim {

/// Two bodies whose contacts have lost springs, since they first did in the window. A force f that
/// springs with the total stiffness K hold and then forget lets the bodies move by f / K, so the
/// way of one body on the other is the sum of three:
///   way = change of the stretch + yielded + forgotten
/// Only the first is bounded, and only the second needs friction at its bound.
struct LosingBodies {
  std::array<int, 2> bodies{};  // sorted; welded bodies are one
  std::array<int, 2> geoms{};   // that lost a spring last
  double forgotten = 0;         // [m]
  double yielded = 0;           // slip of springs at their bound, weighted by stiffness [m]
  double turned = 0;            // sum of the relative rotations of the steps [rad]
  double largest_stretch = 0;   // of the contacts of geoms that lost springs [m]
  /// Sums over the contacts of the present step; not remembered.
  struct Step {
    double lost_force = 0;      // [N]
    double stiffness = 0;       // [N/m]
    double yielding_force = 0;  // stiffness times slip [N]
    double turn = 0;            // [rad]
  } step{};
};

/// Finds bodies that creep although friction could hold them: bodies whose springs are lost so
/// often that they move by this rather than by yielding. It judges windows of a second, and of
/// kLeastSteps at least. Source: [theory:anchors].
class CreepWatch {
 public:
  static constexpr double kWindow = 1;         // [s]
  static constexpr int kLeastSteps = 100;      // of a window
  static constexpr double kMostLosses = 20;    // of all springs in a window, without a warning
  static constexpr double kMostTurn = 0.1;     // in a window; bodies beyond it roll [rad]
  static constexpr double kLeastSpeed = 1e-9;  // below it a body counts as held [m/s]

  struct Creep {
    std::array<int, 2> geoms{};
    double speed = 0;    // [m/s]
    bool walks = false;  // they lose no springs, see WalkWatch
  };

  /// Makes room for this many pairs of bodies.
  void reserve(int num_pairs) {
    losing_.reserve(num_pairs);
    walk.reserve(num_pairs);
  }
  /// Tells that geoms have lost springs between the last step and this one, or in this one.
  /// @param bodies  of the geoms, sorted
  /// @param force   that the springs no longer hold [N]
  /// @param stretch the largest one of the geoms' contacts [m]
  void lose(const std::array<int, 2>& bodies, const std::array<int, 2>& geoms, double force,
            double stretch);
  /// True if no bodies have lost springs in the window.
  bool is_empty() const { return losing_.empty(); }
  /// Adds what the contacts of two bodies do in this step, if these have lost springs.
  /// @param contacts indices in the problem; those that do not press do not count
  void add_contacts(const std::array<int, 2>& bodies, const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution, std::span<const int> contacts);
  /// Ends a step. Bodies without a contact that presses have parted and lose nothing.
  /// @param dt [s]
  /// @return the fastest creep of a window that ends, if the window before had none
  std::optional<Creep> end_step(double dt);

  WalkWatch walk;

  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the object is then undefined
  void read(const mjModel* model, base::WordReader* words);

 private:
  std::optional<Creep> end_losses(double dt);

  std::vector<LosingBodies> losing_;  // sorted by their bodies
  double time_ = 0;                   // since the window began [s]
  int num_steps_ = 0;
  bool is_warned_ = false;  // bodies crept in the last window
};

}  // namespace stiction::sim
