#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/sim/memory/contact_matching.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// What two geoms that touch remember of the last step: the overlap that has no force, and the
/// normal forces of their points, which bound the friction of the lagged models.
///
/// A near-rigid contact may only give back the energy that the motion has put into it. The overlap
/// with which geoms start therefore has no force, nor has one that grows by a change of the normal
/// and not by the motion. It shrinks as they part. If it had the force of a spring, links that
/// overlap for good would be a motor. A given stiffness follows this rule only between links that
/// no joint lets part, with the near-rigid stiffness as its limit. [theory:overlaps]
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
  struct CarryOptions {
    bool has_impulses = false;                // false: the impulses have no effect
    bool has_near_rigid = false;              // the model is compliant; the others have an effect
    contact::StiffnessMember stiffness = {};  // infinite in near-rigid contacts
    bool has_relaxation = false;              // the law has linear dissipation
    double correction_speed = 0;              // at which overlaps part [m/s]
  };

  /// Energy that a contact has given beyond what the motion has put into it.
  struct MadeEnergy {
    std::array<int, 2> geoms{};
    double energy = 0;  // [J]
  };

  explicit TouchMemory(const mjModel* model)
      : Memory(model, "the contact forces and overlaps of the last step") {}

  void begin(const StepStart& start) override;
  void end_part() override;
  void end(const StepEnd&) override { steps_.end(); }
  void restore(mjData*) override { steps_.restore(); }
  std::uint32_t used() const override;
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// Writes the impulses of the last step to ContactProblem::lagged_impulse, and takes the overlaps
  /// that have no force out of the distances. Call it before MomentumFactor::calc_derived.
  /// @param data the contacts to which the problem's refer
  void carry_to(const mjData* data, const CarryOptions& options, contact::ContactProblem* problem);
  /// Undoes what carry_to did to the distances.
  void restore_distances(contact::ContactProblem* problem) const;
  /// Records the solution of the problem of the last call of carry_to.
  /// @return geoms whose normal forces have done as much work, since they touch, as throws the
  ///         lighter of them at 1 m/s, if it became so much in this step
  std::optional<MadeEnergy> record(const contact::ContactProblem& problem,
                                   const contact::ContactSolution& solution);
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
    double rest_overlap = 0;  // that has no force [m]
    double next_overlap = 0;  // to which the motion leads [m]; < 0: a gap
    double work = 0;          // of the normal forces since the geoms touch [J]
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
  void take_rest_overlap(const mjData* data, const GeomContacts& contacts, const Pair* before,
                         const CarryOptions& options, Pair* pair, contact::ContactProblem* problem);

  MemoryBuffers<Step> steps_;
  KeptTrees kept_{m_};
  bool is_known_ = false;                          // the last step was one of this run
  std::vector<std::pair<int, double>> distances_;  // indices of contacts, and their distances
  std::vector<std::array<int, 2>> ranges_;         // first and number of each pair's contacts now
  std::size_t next_ = 0;     // the pair of the last step that probably is the next one of this step
  std::vector<int> sorted_;  // its pairs by their geoms; empty until it is needed
};

}  // namespace stiction::sim
