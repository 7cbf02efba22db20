#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::sim {

/// The normal forces of the contact points of the last step, which bound the friction of the lagged
/// models in this one.
///
/// A law evaluated at the state in which the last step ended gives the same force, as far as the
/// gaps changed in this step as the velocities at its end predict. Other changes are of second
/// order, a dt^2: a mocap body accelerates, or bodies move along a curve. But a near-rigid spring
/// turns a dt^2 into 39 times the force of the acceleration a, so that the force of the state is 0
/// where surfaces accelerate apart, and far too large where they accelerate towards each other.
/// [theory:lagged-impulse]
///
/// Points of two geoms are matched by their positions relative to a body, because their order may
/// change. Points of patches are not remembered: their springs are soft.
class LaggedImpulses {
 public:
  /// Begins a step, or begins it again.
  /// @param goes_on true if the step begins with the state in which the last one ended
  void start(bool goes_on);
  /// Finds the points of the problem, and writes the impulses of those that the last step knows to
  /// ContactProblem::lagged_impulse.
  /// @param data the contacts to which the problem's refer
  void write(const mjModel* model, const mjData* data, contact::ContactProblem* problem);
  /// Records the solution of the problem of the last call of write.
  void record(const contact::ContactProblem& problem, const contact::ContactSolution& solution);
  /// Forgets the points of the geoms for which is_left_out(geom A, geom B) is true.
  template <class F>
  void leave_out(F&& is_left_out) {
    std::erase_if(now_.pairs,
                  [&](const Pair& pair) { return is_left_out(pair.geoms[0], pair.geoms[1]); });
  }
  /// Ends a step that succeeded.
  void finish();
  /// True if points were recorded in this step.
  bool is_any() const { return !now_.points.empty(); }

  /// Appends what the next step remembers.
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write_memory; the memory is then undefined
  void read_memory(const mjModel* model, std::span<const std::uint64_t>* words);

 private:
  struct Point {
    std::array<double, 3> position{};  // relative to a body of the pair, in the world frame [m]
    double force = 0;                  // [N], >= 0
  };
  /// The points of two geoms.
  struct Pair {
    std::array<int, 2> geoms{};
    int first_point = 0;
    int num_points = 0;
  };
  /// The points of a step, in the order of its contacts.
  struct Step {
    std::vector<Pair> pairs;
    std::vector<Point> points;
    void clear();
    void reserve(int num_points);
  };
  std::span<const Point> find_before(const std::array<int, 2>& geoms);
  void write_pair(const Pair& pair, int first_contact, contact::ContactProblem* problem);

  Step before_, now_;
  bool goes_on_ = false;
  std::size_t next_ = 0;     // the pair of before_ that probably is the next one of this step
  std::vector<int> sorted_;  // the pairs of before_ by their geoms; empty until it is needed
};

}  // namespace stiction::sim
