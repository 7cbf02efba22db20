#pragma once

#include <compare>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/rows/row_mobility.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// The spring of the dry friction of a dof or tendon under the friction law `elastic`, at the end
/// of a step.
struct JointAnchor {
  /// The row of MuJoCo that has this friction in every step.
  struct Key {
    int type = 0;  // mjCNSTR_FRICTION_DOF or mjCNSTR_FRICTION_TENDON
    int id = 0;    // of the dof or tendon
    auto operator<=>(const Key&) const = default;
  };

  Key key;
  int tree = 0;             // of the first dof that the row moves
  double stretch = 0;       // [m] or [rad]
  double stiffness = 0;     // [N/m] or [N m/rad]
  double position = 0;      // at the start of the step [m] or [rad]
  double displacement = 0;  // dt v_r of the step [m] or [rad]
  /// The way of a tendon beyond dt J v that the step expected, over dt^2: that of the step before
  /// [m/s^2].
  double arc = 0;
  double time_step = 0;  // [s]
  bool slips = false;

  double energy() const { return 0.5 * stiffness * stretch * stretch; }
};

/// True if the trees that a row of dry friction moves are where the last step left them.
bool is_kept(const mjModel* model, const KeptTrees& kept, const JointAnchor::Key& key);

/// Lets the dry friction of joints and tendons stick by springs, as Anchors does for contacts.
///
/// A spring is near-rigid: its period against the inertia that the row moves is a time step. It is
/// stiffer where its stretch at the bound would be more than kMostStretch. It is damped critically,
/// and keeps its stiffness until it slips. Source: [theory:dry-friction].
class JointAnchors {
 public:
  /// Gives the rows of dry friction the springs of the last step, and new ones to the others.
  /// @param data           with the rows to which those of the problem refer
  /// @param reference_step the time step of near-rigid springs [s]
  /// @param before         sorted by their keys
  /// @param kept           the trees whose springs go on
  /// @param is_moved       the last step ended elsewhere than its velocities tell
  void carry_to(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap,
                double reference_step, std::span<const JointAnchor> before, const KeptTrees& kept,
                bool is_moved, contact::ContactProblem* problem, std::vector<JointAnchor>* now);

  /// Sets slow velocities of dofs that are held to 0 in an initial guess. A solver that finds its
  /// guess within the tolerance keeps it, so that a joint would otherwise never quite come to rest.
  /// @param v size num_dofs
  /// @return true if any velocity has changed
  static bool stop_held(const contact::ContactProblem& problem, std::span<const JointAnchor> now,
                        std::span<double> v);

  /// Records the stretches at the end of the step, for the problem of the last call of carry_to, by
  /// return mapping.
  static void record(const contact::ContactProblem& problem,
                     const contact::ContactSolution& solution, std::span<JointAnchor> now);

 private:
  /// The largest stretch at the bound, unless the spring is then a thousand times as stiff as a
  /// near-rigid one [m] or [rad].
  static constexpr double kMostStretch = 1e-5;

  plant::RowMobility mobility_;
};

void write(std::span<const JointAnchor> anchors, base::WordWriter* words);
/// Reads the words of write.
/// @throws Error if they are others
void read(const mjModel* model, base::WordReader* words, std::vector<JointAnchor>* anchors);

}  // namespace stiction::sim
