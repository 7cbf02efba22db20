#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"
#include "stiction/sim/memory/anchor_springs.hpp"
#include "stiction/sim/memory/contact_matching.hpp"
#include "stiction/sim/memory/joint_anchors.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// The tangential stiffness of contacts whose material gives none, relative to their normal
/// stiffness: 2 (1 - nu) / (2 - nu) of smooth elastic bodies with Poisson's ratio 0.26.
inline constexpr double kTangentialShare = 0.85;

/// The anchors of the friction law `elastic`, from step to step: the stretch of the tangential
/// spring of every contact that presses, and of the springs of JointAnchors.
///
/// A contact is found again by its place on either body. Its stretch moves with the surfaces: by
/// the elastic part of the slip that the step computed, and by the difference between the true
/// motion of the two bodies and that linear one. Without the second part, what a turning body holds
/// drifts outwards, because velocities follow the chord of an arc.
///
/// If MuJoCo lists other contact points of two geoms than before, the new ones share the force of
/// all anchors there, see AnchorSharing. Source: [theory:anchors].
class Anchors final : public Memory {
 public:
  explicit Anchors(const mjModel* model) : Memory(model, "the anchors of contacts") {}

  void begin(const StepStart& start) override;
  void end_part() override;
  void end(const StepEnd& end) override;
  void restore(mjData*) override { steps_.restore(); }
  std::uint32_t used() const override { return lacks_memory() ? kAnchors : 0u; }
  void write(base::WordWriter* words) const override { before_.write(words); }
  void read(base::WordReader* words) override { before_.read(m_, words); }

  /// Carries the anchors of the last step to the contacts of the problem, and writes
  /// ContactProblem::anchors. Contacts that have not yielded get their static friction. Call it
  /// after MomentumFactor::calc_derived, which computes near-rigid stiffnesses.
  /// @param data  the contacts to which the problem's refer
  /// @param mocap the motion of the step; a jump of a mocap body stretches no spring
  /// @param reference_step the time step of near-rigid springs [s]
  void carry_to(const mjModel* model, const mjData* data, const plant::MaterialTable& materials,
                std::span<const plant::PatchPair> patches, const plant::MocapMotion& mocap,
                double reference_step, contact::ContactProblem* problem);

  /// True if the problem of the last call of carry_to has springs of joints or tendons.
  bool has_joints() const { return !steps_.now.joints.empty(); }
  /// See JointAnchors::stop_held, for the problem of the last call of carry_to.
  bool stop_held_joints(const contact::ContactProblem& problem, std::span<double> v) const {
    return JointAnchors::stop_held(problem, steps_.now.joints, v);
  }

  /// Records the stretches at the end of the step, for the problem of the last call of carry_to.
  /// @return bodies that creep because they lose springs, if a warning is due
  std::optional<CreepWatch::Creep> record(const contact::ContactProblem& problem,
                                          const contact::ContactSolution& solution);

  /// Keeps the anchors of the last step for which sleeps(geom A, geom B) is true, unless their
  /// geoms touch in this step. Call it after record.
  template <class F>
  void keep(F&& sleeps) {
    for (std::size_t i = 0; i < before_.step.pairs.size(); ++i) {
      const AnchorPair& pair = before_.step.pairs[i];
      if (!is_met_[i] && kept_.has_geoms(m_, pair.geoms) && sleeps(pair.geoms[0], pair.geoms[1]))
        keep_pair(pair);
    }
  }
  /// Keeps the springs of joints and tendons of the last step for which sleeps(tree) is true.
  template <class F>
  void keep_joints(F&& sleeps) {
    for (const JointAnchor& joint : before_.joints) {
      if (!sleeps(joint.tree) || !is_kept(m_, kept_, joint.key)) continue;
      std::vector<JointAnchor>& now = steps_.now.joints;
      now.insert(std::ranges::lower_bound(now, joint.key, {}, &JointAnchor::key), joint);
      summary_.energy += joint.energy();
    }
  }

  /// Tells that bodies have been moved at the end of a step, before the end of this memory. Their
  /// contacts stay where they are, but their poses do not tell the arcs of the step.
  void mark_moved() { steps_.now.is_moved = true; }
  /// Forgets all anchors, so that every contact begins again without a stretch.
  void forget() { before_ = {}; }
  /// True if contacts or joints that stick began without a stretch in this step, because there are
  /// no anchors of its start.
  bool lacks_memory() const;
  const AnchorSummary& summary() const { return summary_; }

  /// The anchors of the last step.
  const AnchorMemory& memory() const { return before_; }
  void set_memory(AnchorMemory memory) { before_ = std::move(memory); }

 private:
  void keep_pair(const AnchorPair& pair);
  void reserve(int num_contacts);
  const AnchorPair* find_before(const std::array<int, 2>& geoms);
  void add_pair(const mjData* d, const GeomContacts& contacts, const plant::PatchPair* patch,
                const contact::ContactProblem& problem);
  void find_again(const AnchorPair& before, const std::array<bool, 2>& jumps, bool turns_far,
                  AnchorPair* now, const contact::ContactProblem& problem);
  void expect_arc(double dt_before, AnchorPair* now) const;
  double carry(const plant::SurfaceMotion& motion, const AnchorPoint& before,
               const SpringRatios& ratios, AnchorPoint* now);
  void release_lost(const plant::SurfaceMotion& motion, std::span<const int> match,
                    const AnchorPair& before, const SpringRatios& ratios, double* work);
  int count_forgotten() const;
  std::array<int, 2> find_bodies(const AnchorPair& pair) const;
  void lose(const AnchorPair& pair, std::span<const AnchorPoint> points, double force);
  void lose_unmet();
  std::optional<CreepWatch::Creep> watch_creep(const contact::ContactProblem& problem,
                                               const contact::ContactSolution& solution);
  void share(const AnchorPair& now, const contact::ContactProblem& problem);
  double calc_gain(const AnchorPair& before, const AnchorPair& now, const SpringRatios& ratios,
                   double work);
  double find_strength(int point, const contact::ContactProblem& problem) const;
  std::span<AnchorPoint> points_of(const AnchorPair& pair) {
    return std::span(now_.points).subspan(pair.first_point, pair.num_points);
  }
  std::span<const int> contacts_of(const AnchorPair& pair) const {
    return std::span(contacts_).subspan(pair.first_point, pair.num_points);
  }
  void write_springs(const AnchorPair& pair, contact::ContactProblem* problem) const;
  double record_point(const contact::Contact& contact, const contact::Anchor& anchor,
                      const contact::ContactSolution& solution, int index,
                      const math::Vec3& surface_velocity, double dt, AnchorPoint* point);

  MemoryBuffers<AnchorMemory> steps_;
  AnchorMemory& before_ = steps_.before;
  AnchorStep& now_ = steps_.now.step;
  /// The way of B on A beyond dt v, for the pair being found again.
  struct Arc {
    math::Vec3 expected{};     // AnchorPair::arc and arc_of_last of the last step
    math::Vec3 earlier{};      // [m/s^2]
    math::Vec3 last_sum{};     // as poses tell it, over the points that tell it [m]
    math::Vec3 earlier_sum{};  // carried to the new tangent planes [m/s^2]
    int num_points = 0;
  } arc_;
  bool keeps_slip_ = false;  // poses do not tell the slip of the pair being found again
  double lost_force_ = 0;    // of the springs of faces that have shrunk, for that pair [N]
  AnchorStep open_;          // scratch: the contacts of the step, also those that do not press
  KeptTrees kept_{m_};
  std::vector<bool> is_met_;   // for each pair of the last step: its geoms touch in this one
  std::vector<bool> touches_;  // for each body: it has contacts in this step
  std::vector<int> contacts_;  // index in the problem of each point of now_
  AnchorMatching matching_;
  AnchorSharing sharing_;
  JointAnchors joints_;
  std::vector<math::Vec3> surface_speed_;  // moving surfaces at each point of now_ [m/s]
  AnchorSummary summary_;
};

}  // namespace stiction::sim
