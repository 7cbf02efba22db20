#include "stiction/formulations/rigid/cone_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/cone_law.hpp"
#include "stiction/formulations/rigid/cone_skip.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The fastest velocities if there are no impulses [m/s, rad/s].
struct FreeSpeeds {
  double row = 0;   // G u_hat + b
  double part = 0;  // G u_hat, without the speeds at which gaps close
};

FreeSpeeds find_free_speeds(const ConeBlocks& blocks) {
  FreeSpeeds out;
  for (int i = 0; i < blocks.size(); ++i) {
    const BlockVector w = blocks.calc_velocity(blocks[i], blocks.u_hat());
    for (int k = 0; k < 3; ++k) {
      out.row = std::max(out.row, std::abs(w[k]));
      out.part = std::max(out.part, std::abs(w[k] - blocks[i].b[k]));
    }
  }
  return out;
}

}  // namespace

ConeReport ConeSolver::solve(const ConeBlocks& blocks, ConeMethod method) {
  blocks_ = &blocks;
  report_ = {};
  best_.r.clear();
  at_.r.assign(blocks.size(), BlockVector{});
  at_.u.assign(blocks.u_hat().begin(), blocks.u_hat().end());
  trial_ = at_;  // room, so that swaps of points never make one smaller
  change_.reserve(at_.r.size());
  const FreeSpeeds speeds = find_free_speeds(blocks);
  tolerance_ = kConeTolerance * speeds.row;
  round_off_ = kConeResidualRoundOff * speeds.row;
  near_ = kNearConeResidual * std::max(1.0, speeds.part);
  accepted_ = kAcceptedConeResidual * std::max(1.0, speeds.part);

  if (!keep_if_best()) {
    newton_.start(blocks);
    sweeps_.start(blocks);
    const bool may_sweep = method == ConeMethod::kHybrid;
    bool is_found = false;
    for (const double stiffness : kFirstConeStiffnesses) {
      if (is_found || report_.has_conflict || method == ConeMethod::kSweeps) break;
      at_.r.assign(blocks.size(), BlockVector{});
      at_.u.assign(blocks.u_hat().begin(), blocks.u_hat().end());
      is_found = take_proximal_steps(stiffness, may_sweep);
    }
    if (!is_found && !report_.has_conflict && method != ConeMethod::kNewton)
      (void)take_turns(may_sweep);
    report_.newton_steps = newton_.iterations();
  }
  report_.worst_block = best_.worst_block;
  report_.residual = best_.residual;
  report_.is_solved = is_accepted();
  if (report_.is_solved) report_.has_conflict = false;
  return report_;
}

/// Takes proximal steps from the impulses at_.r.
/// @param may_sweep true: sweeps help where Newton's method fails
/// @return true if every law is met
bool ConeSolver::take_proximal_steps(double stiffness, bool may_sweep) {
  double nearest = kInfinity, largest = kLargestConeStiffness, last = 0;
  int num_slow = 0, num_softer = 0;
  change_.clear();
  for (int k = 0; k < kMaxProximalSteps; ++k) {
    p_ = at_.r;
    ++report_.proximal_steps;
    const int num_sweeps = k == 0 && may_sweep ? kFirstConeSweeps : 0;
    const bool is_usual = stiffness <= kUsualConeStiffness;
    const bool is_found = find_spring_motion(stiffness, num_sweeps, may_sweep && is_usual);
    if (!is_found) {
      if (last == 0) break;
      at_.r = p_;
      blocks_->calc_motion(at_.r, &at_.u);
      judge(&at_);
      num_slow = 0;
      if (stiffness >= kLeastConeGrowth * last) {
        // Go on with the springs of the last step, which were softer.
        largest = std::sqrt(stiffness * last);
        stiffness = last;
      } else if (!skip_steps()) {
        // A step changes the states of too many contacts: take shorter ones.
        if (++num_softer > kMaxSofterConeSprings) break;
        stiffness *= kConeSoftening;
        largest = stiffness;
      }
      continue;
    }
    if (keep_if_best()) return true;
    if (best_.residual <= round_off_) return polish();
    last = stiffness;
    num_slow = at_.residual < kConeProgress * nearest ? 0 : num_slow + 1;
    nearest = std::min(nearest, at_.residual);
    note_change();
    if (num_slow >= kConeStepsBeforeSkip && skip_steps()) num_slow = 0;
    double limit = std::min(largest, kUsualConeStiffness);
    if (num_slow == kMaxSlowConeSteps) {
      if (stiffness == largest) {
        report_.has_conflict = stiffness == kLargestConeStiffness && !is_accepted();
        break;
      }
      limit = largest;
      num_slow = 0;
      nearest = kInfinity;
    }
    if (stiffness < limit) stiffness = std::min(stiffness * kConeStiffnessGrowth, limit);
  }
  return is_accepted() && polish();
}

/// Keeps what the last proximal step added to the impulses.
void ConeSolver::note_change() {
  change_.resize(p_.size());
  for (std::size_t i = 0; i < p_.size(); ++i)
    for (int k = 0; k < 3; ++k) change_[i][k] = at_.r[i][k] - p_[i][k];
}

/// Takes as many steps with the change of the last one as the bounds of the impulses allow, or a
/// part of them, so that the residual keeps small. Where rows depend on each other, these steps
/// hardly change the motion.
/// @return false if the point is not near a solution, or if there are no such steps
bool ConeSolver::skip_steps() {
  if (change_.empty() || at_.residual > near_) return false;
  double count = count_steps_to_bound(*blocks_, at_.r, change_);
  bool is_near = false;
  for (int k = 0; k < kMaxConeSkipTrials && count < kInfinity && !is_near; ++k, count /= 4) {
    add_steps(*blocks_, count, at_.r, change_, &trial_.r);
    blocks_->calc_motion(trial_.r, &trial_.u);
    judge(&trial_);
    is_near = trial_.residual <= near_;
  }
  change_.clear();
  if (!is_near) return false;
  std::swap(at_, trial_);
  (void)keep_if_best();
  return true;
}

/// Takes proximal steps with soft springs from the best impulses, whose residual is small. What is
/// left may be the round-off of stiff springs.
/// @return true
bool ConeSolver::polish() {
  at_ = best_;
  double last = kInfinity;
  for (int k = 0; k < kMaxPolishSteps && at_.residual < kPolishProgress * last; ++k) {
    last = at_.residual;
    p_ = at_.r;
    ++report_.proximal_steps;
    if (!find_spring_motion(kLastConeStiffness, 0, false) || keep_if_best()) break;
  }
  return true;
}

/// Solves the problem with springs that carry p_ at rest, from at_.
/// @param num_sweeps before Newton's method
/// @return false if Newton's method fails; at_ is then what sweeps lead to
bool ConeSolver::find_spring_motion(double stiffness, int num_sweeps, bool may_sweep) {
  for (int total = num_sweeps;;) {
    sweep(1 / stiffness, num_sweeps);
    motion_ = at_.u;
    if (newton_.solve(stiffness, p_, &motion_)) {
      at_.r.assign(newton_.impulses().begin(), newton_.impulses().end());
      blocks_->calc_motion(at_.r, &at_.u);
      return true;
    }
    if (!may_sweep || total >= kMaxSpringSweeps) return false;
    num_sweeps = std::max(kFirstConeSweeps, 2 * num_sweeps);
    total += num_sweeps;
  }
}

/// Makes sweeps without springs, and proximal steps from where these lead, in turns.
/// @return true if every law is met
bool ConeSolver::take_turns(bool may_step) {
  for (int turn = 0, count = kFirstConeSweeps; turn < kMaxConeTurns; ++turn, count *= 2) {
    at_ = best_;
    for (int done = 0; done < count; done += kFirstConeSweeps) {
      sweep(0, kFirstConeSweeps);
      if (keep_if_best()) return true;
    }
    if (may_step && take_proximal_steps(kTurnConeStiffness, false)) return true;
    report_.has_conflict = false;
  }
  return false;
}

/// Makes sweeps from at_.
/// @param compliance of the springs that carry p_ at rest, see ConeSweeps
void ConeSolver::sweep(double compliance, int count) {
  p_.resize(blocks_->size());
  for (int k = 0; k < count; ++k) {
    base::count_iteration();
    sweeps_.sweep(compliance, p_, at_.u, at_.r);
  }
  report_.sweeps += count;
  if (count > 0) blocks_->calc_motion(at_.r, &at_.u);  // without the round-off of the sweeps' sums
}

/// Computes how far a point is from the laws.
void ConeSolver::judge(Point* point) const {
  point->worst_block = -1;
  point->residual = 0;
  for (int i = 0; i < blocks_->size(); ++i) {
    const ConeBlock& block = (*blocks_)[i];
    double residual =
        calc_block_residual(block, point->r[i], blocks_->calc_velocity(block, point->u));
    if (std::isnan(residual)) residual = kInfinity;
    if (residual <= point->residual) continue;
    point->residual = residual;
    point->worst_block = i;
  }
}

/// Keeps the present point if it is the best so far.
/// @return true if it meets every law
bool ConeSolver::keep_if_best() {
  judge(&at_);
  if (best_.r.empty() || at_.residual < best_.residual) best_ = at_;
  return at_.residual <= tolerance_;
}

}  // namespace stiction::formulations
