#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {

/// Solves the reduced problems of an island with the model's law. If constraints conflict, some of
/// them are relaxed, level by level. Corrections of overlaps and limits are dropped first.
/// Corrections of equalities are relaxed after them, because an equality may lead a robot. Then
/// rows that are almost redundant are dropped too: two contacts at almost the same place would
/// prevent a body from spinning by extremely large impulses. Last, the law itself is replaced, see
/// `drop_friction`. The first level that has a solution is used for the rest of the step. An object
/// reuses its memory.
class ConflictFallbacks {
 public:
  /// The constraints that are left, in the order of the fallbacks.
  enum class Level {
    kAllCorrections,
    kEqualities,         // overlaps and violated limits are not corrected
    kRelaxedEqualities,  // equalities are corrected as far as other constraints allow
    kNoCorrections,
    kWideRank,      // no corrections; rows within kWideRankTolerance of others count as redundant
    kFrictionless,  // no corrections and no friction of contacts
  };

  /// The place where a conflict of constraints was first found in this step.
  struct Conflict {
    bool is_found = false;
    int contact = -1;  // index in the problem; -1: not at a contact, or not known
    int row = -1;      // index in the problem; -1: not at a row, or not known
  };

  enum class Slowdown {
    kNotNeeded,
    kSlowed,
    kFailed,  // it does not help; corrections must be dropped
  };

  /// Starts a step with all corrections.
  void start(RigidLaw* law);

  /// Eliminates bilateral constraints and solves with the law, level by level until there is a
  /// solution. The system must be whitened.
  /// @param y       the motion without the constraints: that of the system, or a later one
  /// @param iterate in and out: the levels reduce its corrections
  numerics::LcpReport solve(const RigidTerms& terms, std::span<const double> y,
                            RigidIterate* iterate, ReducedSystem* system);

  /// Goes to the next level and clears the law's guess.
  /// @param row the unilateral row where a conflict was found; -1: not known
  /// @return false if there is no further level
  bool relax(int row, const RigidTerms& terms, RigidIterate* iterate, ReducedSystem* system);

  /// Goes to the very last level, after a failure of the level before it. There, contacts have no
  /// friction, and a solution counts only if friction could not act. All laws then ask for the same
  /// motion. Pivoting finds it even if limits squeeze a body from opposite sides by extremely large
  /// impulses.
  /// @param failed what `solve` reports if that fails too
  /// @return false if the level before it was not reached, or for too many contacts and limits
  bool drop_friction(const numerics::LcpReport& failed, const RigidTerms& terms);

  /// Slows all corrections down if together they make bodies faster than calc_fastest allows, as in
  /// a wedge or a tall pile. Overlaps then take more steps to part.
  /// @param y of the motion that solve found
  /// @return kSlowed if the problem must be solved again
  Slowdown slow_corrections(std::span<const double> y, const RigidTerms& terms,
                            RigidIterate* iterate, ReducedSystem* system);

  LawSolver& law_solver() { return law_solver_; }
  const LawSolver& law_solver() const { return law_solver_; }
  Level level() const { return level_; }
  bool has_corrections() const { return level_ < Level::kNoCorrections; }
  double rank_tolerance() const {
    return level_ == Level::kWideRank ? kWideRankTolerance : kRankTolerance;
  }
  const Conflict& conflict() const { return conflict_; }
  /// The share of corrections that is left.
  double share() const { return share_; }
  /// Notes that an equality of RigidTerms drives bodies too fast.
  void note_overdriven(int equality, const RigidTerms& terms);

 private:
  void note_conflict(int row, const RigidTerms& terms);
  bool has_active_friction(const RigidTerms& terms) const;
  bool relax_equalities(const RigidTerms& terms, const RigidIterate& iterate,
                        const ReducedSystem& system);

  LawSolver law_solver_;
  Level level_ = Level::kAllCorrections;
  Conflict conflict_;
  numerics::LcpReport failed_;  // of the level before kFrictionless
  double share_ = 1;            // of the corrections, after slow_corrections
  int num_slowdowns_ = 0;
  // Scratch of relax_equalities.
  ReducedSystem soft_;                 // the island with springs in place of its equalities
  std::vector<double> stiffness_;      // of the springs [kg, kg m^2]
  FrictionConstants without_coulomb_;  // only viscous and dry friction
  std::vector<double> soft_v_;         // velocities of the soft island
  std::vector<double> relaxed_;        // constants of equalities that these velocities meet
};

}  // namespace stiction::formulations
