#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone_jam.hpp"
#include "stiction/formulations/rigid/cone_newton.hpp"
#include "stiction/formulations/rigid/cone_path.hpp"
#include "stiction/formulations/rigid/cone_springs.hpp"
#include "stiction/formulations/rigid/cone_sweeps.hpp"

namespace stiction::formulations {

/// How ConeSolver finds impulses. Contact models use kHybrid; benchmarks compare the methods.
enum class ConeMethod {
  kHybrid,  // proximal Newton steps; where these fail, sweeps, and then the path of springs
  kNewton,  // proximal Newton steps alone
  kSweeps,  // sweeps alone
};

/// The outcome of a solve.
struct ConeReport {
  bool is_solved = false;
  /// Friction jams the corrections, see ConeJam: no slow motion is known to satisfy the
  /// constraints.
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
