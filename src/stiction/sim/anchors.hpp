#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/plant/surface_motion.hpp"
#include "stiction/sim/step_report.hpp"

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
/// drifts outwards, because velocities follow the chord of an arc. Source: [theory:anchors].
class Anchors {
 public:
  /// Begins a step, or begins it again. Anchors of another time or other positions than those of
  /// data have no effect.
  void start(const mjModel* model, const mjData* data);

  /// Finds the contacts of the problem again, and writes ContactProblem::anchors. Call it after
  /// MomentumFactor::calc_derived, which computes near-rigid stiffnesses.
  /// @param data the contacts to which the problem's refer
  void write(const mjModel* model, const mjData* data, std::span<const plant::PatchPair> patches,
             contact::ContactProblem* problem);

  /// Records the stretches at the end of the step, for the problem of the last call of write.
  void record(const contact::ContactProblem& problem, const contact::ContactSolution& solution);

  /// Keeps the anchors of the last step for which sleeps(geom A, geom B) is true. Their contacts
  /// take no part in this step.
  template <class F>
  void keep(F&& sleeps) {
    for (const Pair& pair : before_.pairs)
      if (goes_on_ && sleeps(pair.geoms[0], pair.geoms[1]) && !now_.knows(pair.geoms))
        now_.copy(pair, before_);
  }

  /// Ends a step that succeeded.
  /// @param data the state at the end of the step
  void finish(const mjModel* model, const mjData* data);
  /// Forgets all anchors, so that every contact begins again without a stretch.
  void forget();
  /// True if the anchors are those of the state of data.
  bool belong_to(const mjModel* model, const mjData* data) const;
  /// True if the step that was started goes on with the anchors of the last one.
  bool go_on() const { return goes_on_; }

  /// True if anchors were recorded in this step.
  bool is_any() const { return !now_.points.empty(); }
  const AnchorSummary& summary() const { return summary_; }

  /// Appends what the next step remembers.
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write_memory; the memory is then undefined
  void read_memory(const mjModel* model, std::span<const std::uint64_t>* words);

 private:
  /// A contact at the start of its last step, with its stretch at the end of that step.
  struct Point {
    math::Vec3 position{};      // world [m]
    math::Vec3 normal{};        // from A into B
    math::Vec3 stretch{};       // in the tangent plane, of B relative to A [m]
    math::Vec3 twist{};         // torsion about the normal and rolling [rad]
    math::Vec3 displacement{};  // dt v_t of the step, without moving surfaces [m]
    double stiffness = 0;       // k_t [N/m]; of a face: per area [Pa/m]
    double area = 1;            // of a face [m^2]; 1 for a point
    std::uint64_t feature = 0;  // the elements that meet in a face; 0 for a point
    /// True if the contact sticks, and its slip is the motion of the bodies alone.
    bool sticks = false;
  };
  /// The points of two geoms.
  struct Pair {
    std::array<int, 2> geoms{};
    std::array<plant::BodyPose, 2> poses{};  // of the geoms' bodies at the start of the step
    int first_point = 0;
    int num_points = 0;
  };
  /// The anchors of a step.
  struct Step {
    std::vector<Pair> pairs;
    std::vector<Point> points;
    void clear();
    void reserve(int num_points);
    bool knows(const std::array<int, 2>& geoms) const;
    void copy(const Pair& pair, const Step& from);
  };
  /// Two points of the last step and of this one that may be the same contact.
  struct Candidate {
    double distance = 0;  // [m]
    int before = 0, now = 0;
  };

  void reserve(int num_contacts);
  const Pair* find_before(const std::array<int, 2>& geoms) const;
  void add_pair(const mjModel* m, const mjData* d, int first_contact, int count,
                const plant::PatchPair* patch, const contact::ContactProblem& problem);
  void find_again(const Pair& before, const Pair& now);
  void match_points(const plant::SurfaceMotion& motion, const Pair& before, const Pair& now);
  void match_faces(const Pair& before, const Pair& now);
  void carry(const plant::SurfaceMotion& motion, const Point& before, Point* now) const;
  void share_lost(const plant::SurfaceMotion& motion, const Pair& before, const Pair& now);
  void write_springs(const Pair& pair, contact::ContactProblem* problem) const;
  void record_point(const contact::Contact& contact, const contact::Anchor& anchor,
                    const contact::ContactSolution& solution, int index,
                    const math::Vec3& surface_velocity, double dt, Point* point);

  Step before_, now_;
  Step open_;              // scratch: the contacts of the step, also those that do not press
  std::uint64_t end_ = 0;  // hash of the state at the end of the last step; 0: none
  bool goes_on_ = false;
  std::vector<int> contacts_;   // index in the problem of each point of now_
  std::vector<int> match_;      // for each point of a pair in the last step, its index now, or -1
  std::vector<bool> is_taken_;  // for each point of a pair in this step
  std::vector<Candidate> candidates_;
  std::vector<math::Vec3> surface_speed_;  // moving surfaces at each point of now_ [m/s]
  AnchorSummary summary_;
};

}  // namespace stiction::sim
