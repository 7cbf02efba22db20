#pragma once

#include <vector>

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {

/// Solves the reduced problems of an island with the model's law. Where constraints conflict, it
/// gives some of them up, level by level. Corrections of positions go first. Corrections of
/// equalities go last among them, because an equality may lead a robot. Rows that are almost
/// redundant follow: two contacts that are almost at one place would hold a body against spinning
/// with impulses beyond measure. The first level that has a solution is taken, and kept for the
/// rest of the step. Keeps its memory.
class ConflictFallbacks {
 public:
  /// The constraints that are left, in the order of the fallbacks.
  enum class Level {
    kAllCorrections,
    kEqualities,         // overlaps and violated limits are not corrected
    kRelaxedEqualities,  // equalities are corrected as far as other constraints allow
    kNoCorrections,
    kWideRank,  // no corrections, and rows within kWideRankTolerance of others are redundant
  };

  /// The place where constraints were first found to conflict in this step.
  struct Conflict {
    bool is_found = false;
    int contact = -1;  // of the problem, -1: not at a contact, or not known
    int row = -1;      // of the problem, -1: not at a row, or not known
  };

  /// Starts a step with all corrections.
  void start(RigidLaw* law);

  /// Eliminates bilateral constraints and solves with the law, level by level until there is a
  /// solution. The system must be whitened.
  /// @param iterate in and out: corrections go with the levels
  numerics::LcpReport solve(const RigidTerms& terms, RigidIterate* iterate, ReducedSystem* system);

  /// Goes to the next level and clears the law's guess.
  /// @param row the unilateral row where a conflict was found; -1: not known
  /// @return false at the last level, where nothing is left to give up
  bool relax(int row, const RigidTerms& terms, RigidIterate* iterate, ReducedSystem* system);

  LawSolver& law_solver() { return law_solver_; }
  const LawSolver& law_solver() const { return law_solver_; }
  Level level() const { return level_; }
  bool has_corrections() const { return level_ < Level::kNoCorrections; }
  double rank_tolerance() const {
    return level_ == Level::kWideRank ? kWideRankTolerance : kRankTolerance;
  }
  const Conflict& conflict() const { return conflict_; }

 private:
  void note_conflict(int row, const RigidTerms& terms);
  bool relax_equalities(const RigidTerms& terms, const RigidIterate& iterate,
                        const ReducedSystem& system);

  LawSolver law_solver_;
  Level level_ = Level::kAllCorrections;
  Conflict conflict_;
  // Scratch of relax_equalities.
  ReducedSystem soft_;                 // the island with springs in place of its equalities
  std::vector<double> stiffness_;      // of the springs [kg, kg m^2]
  FrictionConstants without_coulomb_;  // viscous and dry friction alone
  std::vector<double> soft_v_;         // velocities of the soft island
  std::vector<double> relaxed_;        // constants of equalities that these velocities meet
};

}  // namespace stiction::formulations
