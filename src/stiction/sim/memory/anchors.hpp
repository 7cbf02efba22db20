#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"
#include "stiction/sim/memory/anchor_matching.hpp"
#include "stiction/sim/memory/anchor_memory.hpp"
#include "stiction/sim/memory/anchor_sharing.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// The tangential stiffness of contacts whose material gives none, relative to their normal
/// stiffness: 2 (1 - nu) / (2 - nu) of smooth elastic bodies with Poisson's ratio 0.26.
inline constexpr double kTangentialShare = 0.85;

/// The anchors of the friction law `elastic`, from step to step: the stretch of the tangential
/// spring of every contact that presses.
///
/// A contact is found again by its place on either body. Its stretch moves with the surfaces: by
/// the elastic part of the slip that the step computed, and by the difference between the true
/// motion of the two bodies and that linear one. Without the second part, what a turning body holds
/// drifts outwards, because velocities follow the chord of an arc.
///
/// Where MuJoCo lists other contact points of two geoms, the new ones share the force of all
/// anchors there, see AnchorSharing. Source: [theory:anchors].
class Anchors {
 public:
  /// Begins a step, or begins it again. Anchors of another time or other positions than those of
  /// data have no effect.
  void start(const mjModel* model, const mjData* data);

  /// Finds the contacts of the problem again, and writes ContactProblem::anchors. Call it after
  /// MomentumFactor::calc_derived, which computes near-rigid stiffnesses.
  /// @param data  the contacts to which the problem's refer
  /// @param mocap the motion of the step; a jump of a mocap body stretches no spring
  void write(const mjModel* model, const mjData* data, std::span<const plant::PatchPair> patches,
             const plant::MocapMotion& mocap, contact::ContactProblem* problem);

  /// Records the stretches at the end of the step, for the problem of the last call of write.
  /// @return true if anchors were lost in many of the last steps, and no warning has been given
  bool record(const contact::ContactProblem& problem, const contact::ContactSolution& solution);

  /// Keeps the anchors of the last step for which sleeps(geom A, geom B) is true, unless their
  /// geoms touch in this step. Call it after record.
  template <class F>
  void keep(F&& sleeps) {
    if (!goes_on_) return;
    for (std::size_t i = 0; i < before_.step.pairs.size(); ++i) {
      const AnchorPair& pair = before_.step.pairs[i];
      if (!is_met_[i] && sleeps(pair.geoms[0], pair.geoms[1])) keep_pair(pair);
    }
  }

  /// Ends a step that succeeded.
  /// @param data the state at the end of the step
  void finish(const mjModel* model, const mjData* data);
  /// Forgets all anchors, so that every contact begins again without a stretch.
  void forget();
  /// True if the anchors are those of the state of data.
  bool belong_to(const mjModel* model, const mjData* data) const;
  /// True if there are no anchors, because no step was taken or they were forgotten.
  bool is_none() const { return before_.end == 0; }
  /// True if the step that was started goes on with the anchors of the last one.
  bool go_on() const { return goes_on_; }

  /// True if anchors were recorded in this step.
  bool is_any() const { return !now_.points.empty(); }
  const AnchorSummary& summary() const { return summary_; }
  /// Returns the two geoms that lost an anchor last.
  const std::array<int, 2>& losing_geoms() const { return losing_geoms_; }

  /// What the next step remembers.
  const AnchorMemory& memory() const { return before_; }
  void set_memory(const AnchorMemory& memory) { before_ = memory; }
  /// Appends what the next step remembers.
  void write_memory(std::vector<std::uint64_t>* words) const { before_.write(words); }
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write_memory; the memory is then undefined
  void read_memory(const mjModel* model, std::span<const std::uint64_t>* words) {
    before_.read(model, words);
  }

 private:
  void keep_pair(const AnchorPair& pair);
  void reserve(int num_contacts);
  const AnchorPair* find_before(const std::array<int, 2>& geoms);
  void add_pair(const mjModel* m, const mjData* d, int first_contact, int count,
                const plant::PatchPair* patch, const contact::ContactProblem& problem);
  void find_again(const AnchorPair& before, const std::array<bool, 2>& jumps, bool turns_far,
                  AnchorPair* now, const contact::ContactProblem& problem);
  double carry(const plant::SurfaceMotion& motion, const AnchorPoint& before,
               const SpringRatios& ratios, AnchorPoint* now) const;
  void release_lost(const plant::SurfaceMotion& motion, std::span<const int> match,
                    const AnchorPair& before, const SpringRatios& ratios, double* work);
  void share(const AnchorPair& now, const contact::ContactProblem& problem);
  double calc_gain(const AnchorPair& before, const AnchorPair& now, const SpringRatios& ratios,
                   double work);
  double find_strength(int point, const contact::ContactProblem& problem) const;
  std::span<AnchorPoint> points_of(const AnchorPair& pair) {
    return std::span(now_.points).subspan(pair.first_point, pair.num_points);
  }
  void write_springs(const AnchorPair& pair, contact::ContactProblem* problem) const;
  double record_point(const contact::Contact& contact, const contact::Anchor& anchor,
                      const contact::ContactSolution& solution, int index,
                      const math::Vec3& surface_velocity, double dt, AnchorPoint* point);

  AnchorMemory before_;  // of the last step
  AnchorStep now_;
  bool keeps_slip_ = false;            // poses do not tell the slip of the pair being found again
  LossCounter losses_;                 // with this step
  bool has_lost_holding_ = false;      // a contact that stuck was lost in this step
  std::array<int, 2> losing_geoms_{};  // of the last such contact
  AnchorStep open_;  // scratch: the contacts of the step, also those that do not press
  bool goes_on_ = false;
  std::vector<bool> is_met_;   // for each pair of the last step: its geoms touch in this one
  std::vector<int> contacts_;  // index in the problem of each point of now_
  AnchorMatching matching_;
  AnchorSharing sharing_;
  std::vector<math::Vec3> surface_speed_;  // moving surfaces at each point of now_ [m/s]
  AnchorSummary summary_;
};

}  // namespace stiction::sim
