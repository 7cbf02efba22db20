#include "stiction/formulations/rigid/cone/cone_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone/cone_sweeps.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::formulations {

void SpringSchedule::note_solved(double residual) {
  num_slow_ = residual < kConeProgress * nearest_ ? 0 : num_slow_ + 1;
  nearest_ = std::min(nearest_, residual);
  const bool has_grown = stiffness_ > solved_;
  if (!has_grown) growth_ = std::min(kConeGrowthRecovery * growth_, kConeStiffnessGrowth);
  solved_ = stiffness_;
}

bool SpringSchedule::stiffen() {
  double limit = kUsualConeStiffness;
  if (num_slow_ >= kMaxSlowConeSteps && stiffness_ >= limit) {
    // As under a heavy body on a light one: try stiffer springs than usual.
    if (stiffness_ >= kLargestConeStiffness || num_failures_ > 0) return false;
    limit = kLargestConeStiffness;
    num_slow_ = 0;
    nearest_ = std::numeric_limits<double>::infinity();
  }
  if (stiffness_ < limit) stiffness_ = std::min(growth_ * stiffness_, limit);
  return true;
}

bool SpringSchedule::soften() {
  if (!has_solved() || ++num_failures_ > kMaxFailedConeSteps) return false;
  num_slow_ = 0;
  growth_ = std::max(kLeastConeGrowth, std::sqrt(growth_));
  const bool was_stiffer = stiffness_ > kLeastConeGrowth * solved_;
  stiffness_ = was_stiffer ? growth_ * solved_ : kConeSoftening * stiffness_;
  return true;
}

namespace {

/// Returns the nearest point of the cone |r_t| <= mu r_n.
BlockVector project_on_cone(double mu, const BlockVector& r) {
  const double friction = math::hypot(r[1], r[2]);
  if (friction <= mu * r[0]) return r;
  const double normal = std::max(0.0, (r[0] + mu * friction) / (1 + mu * mu));
  const double scale = mu * normal / friction;
  return {normal, scale * r[1], scale * r[2]};
}

/// Returns the nearest impulse that may act whatever the motion; dry friction proves nothing.
BlockVector project(const ConeBlock& block, const BlockVector& r) {
  if (block.mobility == 0 || block.set == BlockSet::kInterval) return {};
  if (block.set == BlockSet::kHalfLine) return {std::max(0.0, r[0]), 0, 0};
  return project_on_cone(block.bound, r);
}

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

void ConeJam::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  double squares = 0;
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    if (block.mobility > 0 && block.b[0] < 0) squares += block.b[0] * block.b[0] / block.mobility;
  }
  usual_speed_ = math::hypot(math::norm(blocks.u_hat()), std::sqrt(squares));
}

double ConeJam::calc_leverage(std::span<const BlockVector> r) {
  const ConeBlocks& blocks = *blocks_;
  STICTION_ASSERT(static_cast<int>(r.size()) == blocks.size());
  push_.assign(blocks.num_dofs(), 0.0);
  double normal = 0, tangential = 0;  // parts of b . r
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const BlockVector allowed = project(block, r[i]);
    blocks.add_impulse(block, allowed, push_);
    normal += block.b[0] * allowed[0];
    tangential += block.b[1] * allowed[1] + block.b[2] * allowed[2];
  }
  // A surface that moves along its tangents jams nothing, because contacts may slip on it.
  const double needed = -normal - std::max(0.0, tangential);
  if (!(needed > 0)) return 0;
  const double usual = math::norm(push_) * usual_speed_;
  return usual > 0 ? needed / usual : std::numeric_limits<double>::infinity();
}

ConeReport ConeSolver::solve(const ConeBlocks& blocks, ConeMethod method) {
  start(blocks);
  if (!keep_if_best()) {
    springs_.start(blocks);
    newton_.start(&springs_);
    path_.start(blocks, &springs_);
    sweeps_.start(blocks);
    jam_.start(blocks);
    search(method);
    report_.newton_steps = newton_.iterations() + path_.iterations();
  }
  report_.worst_block = best_.worst_block;
  report_.residual = best_.residual;
  report_.is_solved = is_accepted() || best_.residual <= largest_accepted_;
  if (report_.is_solved) report_.has_conflict = false;
  return report_;
}

void ConeSolver::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  report_ = {};
  best_.r.clear();
  start_without_impulses();
  trial_ = at_;  // room, so that swaps of points never make one smaller
  change_.reserve(at_.r.size());
  const FreeSpeeds speeds = find_free_speeds(blocks);
  tolerance_ = kConeTolerance * speeds.row;
  round_off_ = kConeResidualRoundOff * speeds.row;
  near_ = kNearConeResidual * std::max(1.0, speeds.part);
  largest_accepted_ = kAcceptedConeResidual * std::max(1.0, speeds.part);
}

void ConeSolver::start_without_impulses() {
  at_.r.assign(blocks_->size(), BlockVector{});
  at_.u.assign(blocks_->u_hat().begin(), blocks_->u_hat().end());
}

bool ConeSolver::is_accepted() const {
  return best_.residual <= kAcceptedConeResidual * best_.speed;
}

/// Takes proximal steps from several stiffnesses, in turns with sweeps, and from a path's end.
void ConeSolver::search(ConeMethod method) {
  const bool may_step = method != ConeMethod::kSweeps, may_sweep = method != ConeMethod::kNewton;
  if (may_step) {
    for (const double stiffness : kFirstConeStiffnesses) {
      start_without_impulses();
      if (take_proximal_steps(stiffness, may_sweep)) return;
    }
  }
  if (may_sweep && take_turns(may_step)) return;
  if (may_step && may_sweep) follow_path();
}

/// Takes proximal steps from the impulses at_.r.
/// @param may_sweep true: sweeps help where Newton's method fails
/// @return true if the search is over: the best point is accepted, or corrections are jammed
bool ConeSolver::take_proximal_steps(double first_stiffness, bool may_sweep) {
  SpringSchedule springs(first_stiffness);
  best_at_skip_ = kInfinity;
  num_fruitless_skips_ = 0;
  for (int k = 0; k < kMaxProximalSteps; ++k) {
    const int max_sweeps = springs.has_solved() ? kMaxSpringSweeps : kMaxFirstSpringSweeps;
    if (!take_step(springs.stiffness(), k == 0 && may_sweep ? kFirstConeSweeps : 0,
                   may_sweep && springs.is_usual() ? max_sweeps : 0)) {
      if (!springs.soften()) break;
      continue;
    }
    if (keep_if_best()) return true;
    if (best_.residual <= round_off_) break;
    if (is_jammed()) return true;
    springs.note_solved(at_.residual);
    if (springs.is_slow() && skip_steps()) springs.restart();
    if (is_accepted() && num_fruitless_skips_ >= kMaxFruitlessSkips) break;
    if (!springs.stiffen()) break;
  }
  if (!is_accepted()) return false;
  polish();
  return true;
}

/// Takes one proximal step: solves the problem with springs that carry the impulses at_.r at rest.
/// @param num_sweeps before Newton's method
/// @param max_sweeps of the whole step; 0: none where Newton's method fails
/// @return false if Newton's method fails; at_ is then as before
bool ConeSolver::take_step(double stiffness, int num_sweeps, int max_sweeps) {
  ++report_.proximal_steps;
  p_ = at_.r;
  for (int total = num_sweeps;;) {
    sweep(1 / stiffness, num_sweeps);
    motion_ = at_.u;
    if (newton_.solve(stiffness, p_, &motion_)) break;
    if (total >= max_sweeps) {
      take_impulses(p_);
      return false;
    }
    num_sweeps = std::max(kFirstConeSweeps, 2 * num_sweeps);
    total += num_sweeps;
  }
  take_impulses(newton_.impulses());
  change_.resize(p_.size());
  for (std::size_t i = 0; i < p_.size(); ++i)
    for (int k = 0; k < 3; ++k) change_[i][k] = at_.r[i][k] - p_[i][k];
  return true;
}

/// True if the impulses, or the last step's change of them, prove that corrections are jammed.
bool ConeSolver::is_jammed() {
  if (at_.residual <= near_) return false;
  report_.has_conflict =
      jam_.calc_leverage(change_) > kJamLeverage || jam_.calc_leverage(at_.r) > kJamLeverage;
  return report_.has_conflict;
}

/// Takes as many steps with the change of the last one as the bounds of the impulses allow, or a
/// part of them, so that the residual keeps small. Where rows depend on each other, these steps
/// hardly change the motion.
/// @return false if the point is not near a solution, or if there are no such steps
bool ConeSolver::skip_steps() {
  if (at_.residual > near_) return false;
  const bool is_better = best_.residual < kConeProgress * best_at_skip_;
  num_fruitless_skips_ = is_better ? 0 : num_fruitless_skips_ + 1;
  best_at_skip_ = best_.residual;

  double count = count_steps_to_bound(*blocks_, at_.r, change_);
  for (int k = 0; k < kMaxConeSkipTrials && count < kInfinity; ++k, count /= 4) {
    add_steps(*blocks_, count, at_.r, change_, &trial_.r);
    blocks_->calc_motion(trial_.r, &trial_.u);
    judge(&trial_);
    if (trial_.residual > near_) continue;
    std::swap(at_, trial_);
    (void)keep_if_best();
    return true;
  }
  return false;
}

/// Takes proximal steps with soft springs from the best impulses: stiff springs have round-off.
void ConeSolver::polish() {
  at_ = best_;
  double last = kInfinity;
  for (int k = 0; k < kMaxPolishSteps && at_.residual < kPolishProgress * last; ++k) {
    last = at_.residual;
    if (!take_step(kLastConeStiffness, 0, 0) || keep_if_best()) break;
  }
}

/// Makes sweeps without springs, and proximal steps from where these lead, in turns.
/// @return true if the search is over
bool ConeSolver::take_turns(bool may_step) {
  for (int turn = 0, count = kFirstConeSweeps; turn < kMaxConeTurns; ++turn, count *= 2) {
    at_ = best_;
    for (int done = 0; done < count; done += kFirstConeSweeps) {
      sweep(0, kFirstConeSweeps);
      if (keep_if_best()) return true;
    }
    if (may_step && take_proximal_steps(kTurnConeStiffness, false)) return true;
  }
  return is_accepted();
}

/// Follows a path from soft springs to stiff ones. Takes proximal steps from where the springs are
/// as stiff as usual. If these fail, follows the path further, and extrapolates its impulses.
void ConeSolver::follow_path() {
  if (!path_.follow(kUsualConeStiffness)) return;
  take_impulses(path_.impulses());
  if (take_proximal_steps(kUsualConeStiffness, false)) return;
  p_.assign(path_.impulses().begin(), path_.impulses().end());
  for (double stiffness = kUsualConeStiffness; stiffness < kStiffestConePath;) {
    stiffness *= kConePathGrowth;
    if (!path_.follow(stiffness)) return;
    take_impulses(path_.impulses());
    if (keep_if_best()) return;
    extrapolate(kConePathGrowth, &p_);
    if (keep_if_best() || best_.residual <= round_off_) return;
  }
}

void ConeSolver::take_impulses(std::span<const BlockVector> r) {
  at_.r.assign(r.begin(), r.end());
  blocks_->calc_motion(at_.r, &at_.u);
}

/// Sets at_ to the limit for rigid springs, where the compliance, to which the error of impulses is
/// proportional, is 0.
/// @param growth of the stiffness from that of r to that of at_.r
/// @param r in: impulses with softer springs; out: at_.r before the call
void ConeSolver::extrapolate(double growth, std::vector<BlockVector>* r) {
  std::swap(at_.r, *r);
  for (std::size_t i = 0; i < r->size(); ++i)
    for (int k = 0; k < 3; ++k)
      at_.r[i][k] = (*r)[i][k] + ((*r)[i][k] - at_.r[i][k]) / (growth - 1);
  blocks_->calc_motion(at_.r, &at_.u);
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

/// Computes how far a point is from the laws, and how fast its contacts and limits move. Dry
/// joints, which may turn much faster, are left out.
void ConeSolver::judge(Point* point) const {
  point->worst_block = -1;
  point->residual = 0;
  point->speed = 1;
  for (int i = 0; i < blocks_->size(); ++i) {
    const ConeBlock& block = (*blocks_)[i];
    const BlockVector w = blocks_->calc_velocity(block, point->u);
    for (int k = 0; k < block.num_rows && block.set != BlockSet::kInterval; ++k)
      point->speed = std::max(point->speed, std::abs(w[k] - block.b[k]));
    double residual = calc_block_residual(block, point->r[i], w);
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

namespace {

/// Coulomb friction within circular cones, with u = u_hat + sum G_i^T r_i of all blocks,
///
///     K* contains G_i u + b_i + mu |slip| e_n,  orthogonal to  r_i in K.
///
/// Source: [desaxce1998]; [theory:friction-cone].
class FrictionConeLaw final : public RigidLaw {
 public:
  numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    blocks_.assemble(problem);
    const ConeReport report = solver_.solve(blocks_);
    blocks_.read_out(solver_.impulses(), problem, &out->impulses);
    out->u.assign(solver_.motion().begin(), solver_.motion().end());
    numerics::find_positive(out->impulses.unilateral, &out->active);

    numerics::LcpReport law;
    law.pivots = report.newton_steps + report.sweeps;
    law.residual = report.residual;
    if (report.is_solved) return law;
    law.status =
        report.has_conflict ? numerics::LcpStatus::kInfeasible : numerics::LcpStatus::kMaxPivots;
    // The caller knows only the unilateral rows.
    law.row = report.worst_block < problem.num_unilateral ? report.worst_block : -1;
    return law;
  }

 private:
  ConeBlocks blocks_;
  ConeSolver solver_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_friction_cone_law() { return std::make_unique<FrictionConeLaw>(); }

}  // namespace stiction::formulations
