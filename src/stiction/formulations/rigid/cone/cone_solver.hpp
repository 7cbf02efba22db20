#pragma once

#include <limits>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone/cone_newton.hpp"
#include "stiction/formulations/rigid/cone/cone_path.hpp"
#include "stiction/formulations/rigid/cone/cone_sweeps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {

/// Chooses the stiffness of the springs from one proximal step of ConeSolver to the next, in units
/// of 1 / mobility. Soft springs are easy to solve, and stiff springs come nearer to the solution.
class SpringSchedule {
 public:
  explicit SpringSchedule(double first_stiffness) : stiffness_(first_stiffness) {}

  double stiffness() const { return stiffness_; }
  bool is_usual() const { return stiffness_ <= kUsualConeStiffness; }
  /// True if a step was solved.
  bool has_solved() const { return solved_ > 0; }
  /// True if the last steps hardly came nearer.
  bool is_slow() const { return num_slow_ >= kConeStepsBeforeSkip; }

  /// Notes the residual after a step that was solved.
  void note_solved(double residual);
  /// Forgets that steps were slow, because the last ones were taken many at once.
  void restart() { num_slow_ = 0; }
  /// Stiffens the springs after a step that was solved.
  /// @return false if steps with the stiffest springs do not come nearer
  [[nodiscard]] bool stiffen();
  /// Softens the springs after a step that was not solved.
  /// @return false if too many steps were not solved
  [[nodiscard]] bool soften();

 private:
  double stiffness_;
  double growth_ = kConeStiffnessGrowth;  // from step to step
  double solved_ = 0;                     // stiffness of the last step that was solved
  double nearest_ = std::numeric_limits<double>::infinity();  // least residual [m/s, rad/s]
  int num_slow_ = 0, num_failures_ = 0;
};

/// Finds corrections of overlaps that friction jams, as in a wedge that is too steep. Let a motion
/// u keep w = G u + b in the dual cones of all contacts, where friction can only help. Then each
/// set of impulses r within the cones gives 0 <= r . w, so that
///
///     |u| >= -(b . r) / |G^T r|.
///
/// Impulses that nearly cancel each other thus prove that such a motion would have to be fast. If
/// there is no such motion, the law may have no solution. Keeps its memory.
/// Source: [acary2011]; [theory:friction-cone-jam].
class ConeJam {
 public:
  /// @param blocks must outlive the calls
  void start(const ConeBlocks& blocks);

  /// Returns the least speed that the corrections need, relative to that of the motion without
  /// impulses and of each correction alone; 0 if the impulses prove nothing.
  /// @param r one impulse per block; those outside their cones are projected
  double calc_leverage(std::span<const BlockVector> r);

 private:
  const ConeBlocks* blocks_ = nullptr;
  double usual_speed_ = 0;    // [sqrt(J)]
  std::vector<double> push_;  // G^T r
};

/// How ConeSolver finds impulses. Contact models use kHybrid; benchmarks compare the methods.
enum class ConeMethod {
  kHybrid,  // proximal Newton steps; where these fail, sweeps, and then the path of springs
  kNewton,  // proximal Newton steps alone
  kSweeps,  // sweeps alone
};

/// The outcome of a solve.
struct ConeReport {
  bool is_solved = false;
  /// Friction jams the corrections, see ConeJam: no slow motion is known that satisfies them.
  bool has_conflict = false;
  int worst_block = -1;  // the block that misses its law by most
  double residual = 0;   // of that block [m/s, rad/s]
  int proximal_steps = 0, newton_steps = 0, sweeps = 0;
};

/// Finds impulses and a motion that satisfy the laws of all blocks. A proximal step solves the
/// problem with a spring at every block that carries the impulses of the step before at rest. The
/// first step has none, so that redundant contacts share a load as equal springs would. The
/// solution is the best point found, if its residual is accepted.
/// Keeps its memory. Source: [theory:friction-cone-newton].
class ConeSolver {
 public:
  /// @param blocks must outlive the solve
  ConeReport solve(const ConeBlocks& blocks, ConeMethod method = ConeMethod::kHybrid);

  /// The best impulses found, and their motion.
  std::span<const BlockVector> impulses() const { return best_.r; }
  std::span<const double> motion() const { return best_.u; }

 private:
  /// Impulses, their motion, and the block that misses its law by most.
  struct Point {
    std::vector<BlockVector> r;
    std::vector<double> u;
    int worst_block = -1;
    double residual = 0;
    double speed = 1;  // of the fastest contact or limit, or 1 [m/s, rad/s]
  };

  void start(const ConeBlocks& blocks);
  void start_without_impulses();
  void search(ConeMethod method);
  bool take_proximal_steps(double first_stiffness, bool may_sweep);
  bool take_step(double stiffness, int num_sweeps, int max_sweeps);
  bool is_jammed();
  bool skip_steps();
  void polish();
  bool take_turns(bool may_step);
  void follow_path();
  void take_impulses(std::span<const BlockVector> r);
  void extrapolate(double growth, std::vector<BlockVector>* r);
  void sweep(double compliance, int count);
  void judge(Point* point) const;
  bool keep_if_best();
  bool is_accepted() const;

  const ConeBlocks* blocks_ = nullptr;
  double tolerance_ = 0, round_off_ = 0, near_ = 0;  // residuals [m/s, rad/s]
  double largest_accepted_ = 0;  // residual accepted where no search comes nearer [m/s, rad/s]
  ConeReport report_;
  Point at_, best_, trial_;
  // The impulses before a proximal step or at the last stiffness of the path; what a step adds.
  std::vector<BlockVector> p_, change_;
  std::vector<double> motion_;
  double best_at_skip_ = 0;      // the best residual at the last skip [m/s, rad/s]
  int num_fruitless_skips_ = 0;  // in succession, without a better point
  ConeSprings springs_;
  ConeNewton newton_;
  ConePath path_;
  ConeSweeps sweeps_;
  ConeJam jam_;
};

}  // namespace stiction::formulations
