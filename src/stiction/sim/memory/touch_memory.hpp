#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// What two geoms that touch remember of the last step: their near-rigid stiffness, and the normal
/// forces of their points, which bound the friction of the lagged models.
///
/// A near-rigid stiffness follows the mobility of the pose at which the geoms begin to touch, and
/// stays while they do. If it followed the pose, the spring would have no potential, and links that
/// overlap for good would be a motor: they are pressed together where the spring is soft, and pushed
/// apart where it is stiff.
///
/// A compliant law gives nearly the same force if it is evaluated at the state in which the last
/// step ended. The difference is the part of the motion that the velocities at the end of the step
/// do not predict, a dt^2 for an acceleration a: a mocap body accelerates, or bodies move along a
/// curve. A near-rigid spring turns a dt^2 into 39 times the force of the acceleration. Its force
/// would be 0 where surfaces accelerate apart, and far too large where they accelerate towards each
/// other. [theory:lagged-impulse]
///
/// Points of two geoms are matched by their positions relative to a body. Patches are not
/// remembered, because their springs are soft.
class TouchMemory final : public Memory {
 public:
  explicit TouchMemory(const mjModel* model)
      : Memory(model, "the contact forces of the last step") {}

  void begin(const StepStart& start) override;
  void end_part() override;
  void end(const StepEnd&) override { steps_.end(); }
  void restore(mjData*) override { steps_.restore(); }
  std::uint32_t used() const override { return steps_.now.points.empty() ? 0u : kContactForces; }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// Writes what the last step knows to ContactProblem::near_rigid_mass and lagged_impulse. Call it
  /// before MomentumFactor::calc_derived.
  /// @param data the contacts to which the problem's refer
  /// @param has_impulses false: the impulses have no effect
  void carry_to(const mjData* data, bool has_impulses, contact::ContactProblem* problem);
  /// Records the solution of the problem of the last call of carry_to.
  void record(const contact::ContactProblem& problem, const contact::ContactSolution& solution);
  /// Forgets the points of the geoms for which is_left_out(geom A, geom B) is true.
  template <class F>
  void leave_out(F&& is_left_out) {
    std::erase_if(steps_.now.pairs,
                  [&](const Pair& pair) { return is_left_out(pair.geoms[0], pair.geoms[1]); });
  }

 private:
  struct Point {
    math::Vec3 position;  // relative to a body of the pair, in the world frame [m]
    double force = 0;     // [N], >= 0
  };
  /// The points of two geoms.
  struct Pair {
    std::array<int, 2> geoms{};
    int first_point = 0;
    int num_points = 0;
    double near_rigid_mass = 0;  // [kg]; 0: they do not touch, or have no near-rigid contact
  };
  /// The points of a step, in the order of its contacts.
  struct Step {
    std::vector<Pair> pairs;
    std::vector<Point> points;
    void clear() {
      pairs.clear();
      points.clear();
    }
    void reserve(int num_points) {
      pairs.reserve(num_points);
      points.reserve(num_points);
    }
    std::span<const Point> points_of(const Pair& pair) const {
      return std::span(points).subspan(pair.first_point, pair.num_points);
    }
  };
  const Pair* find_before(const std::array<int, 2>& geoms);

  MemoryBuffers<Step> steps_;
  bool goes_on_ = false;
  std::vector<std::array<int, 2>> ranges_;  // first and number of the contacts of each pair now
  std::size_t next_ = 0;     // the pair of the last step that probably is the next one of this step
  std::vector<int> sorted_;  // its pairs by their geoms; empty until it is needed
};

}  // namespace stiction::sim
