#include "stiction/formulations/tamsi/tamsi_island.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/solver_base.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Islands;
using contact::SolveStatus;
using math::Vector3;

void TamsiIsland::assemble(const contact::ContactProblem& problem, const contact::Islands& islands,
                           int island, std::span<const int> first_dof, const SolverOptions& options,
                           std::span<const double> guess) {
  island_.assemble(problem, islands, island, first_dof);
  options_ = options;
  time_step_ = problem.time_step;
  island_.gather(problem.v0, &fixed_.v0);
  island_.gather(guess.empty() ? std::span<const double>(problem.v0) : guess, &fixed_.guess);
  island_.gather(problem.v_star, &fixed_.free_change);
  fixed_.free_change -= fixed_.v0;
  fixed_.free_impulse.noalias() = island_.A() * fixed_.free_change;
  fixed_.inv_sqrt_diagonal = island_.A().diagonal().array().rsqrt();

  contacts_.clear();
  for (const int i : island_.contacts()) {
    const contact::Contact& c = problem.contacts[i];
    ContactTerms& terms = contacts_.emplace_back();
    terms.fe0 = c.fn0;
    terms.bias = Vector3(c.bias[0], c.bias[1], c.bias[2]);
    terms.parameters = Tamsi::make_parameters(c, time_step_, options.parameters);
  }
  rows_.clear();
  for (const int i : island_.rows()) rows_.push_back({problem.rows[i], {}, 0});
}

contact::IslandStatistics TamsiIsland::solve(numerics::NewtonTrace* trace) {
  contact::IslandStatistics out;
  out.num_dofs = island_.num_dofs();
  out.num_contacts = island_.num_contacts();
  out.num_rows = island_.num_rows();
  // Try the whole step, then divide it into more and more sub-steps.
  Outcome whole_step, outcome;
  for (int n = 1; n <= kMaxSubsteps; ++n) {
    outcome = take_substeps(n, trace);
    out.iterations += outcome.iterations;
    if (n == 1) {
      whole_step = outcome;
      v_whole_step_ = v_;
    }
    // Without any iteration the problem itself is not finite, and sub-steps cannot help.
    if (outcome.ok() || out.iterations == 0) break;
  }
  if (!outcome.ok()) {
    fall_back(&whole_step);
    outcome = whole_step;
  }
  out.status = outcome.status;
  out.num_substeps = num_substeps_;
  out.residual = outcome.residual;
  out.scale = outcome.scale;
  return out;
}

/// Restores the last iterate of the whole step.
void TamsiIsland::fall_back(Outcome* whole_step) {
  start_substeps(1);
  if (v_whole_step_.allFinite()) v_ = v_whole_step_;
  calc_residual(whole_step);
  for (ContactTerms& c : contacts_) c.sum = c.gamma;
  for (RowTerms& row : rows_) row.sum = row.impulse.gamma;
  whole_step->status =
      std::isfinite(whole_step->residual) ? SolveStatus::kMaxIterations : SolveStatus::kNotFinite;
}

/// Solves sub-steps until one fails. The residual is that of the worst one.
TamsiIsland::Outcome TamsiIsland::take_substeps(int num_substeps, numerics::NewtonTrace* trace) {
  Outcome all;
  start_substeps(num_substeps);
  for (int s = 0; s < num_substeps; ++s) {
    const Outcome one = find_velocities(trace);
    all.iterations += one.iterations;
    if (one.status != SolveStatus::kConverged) all.status = one.status;
    if (one.residual * all.scale >= all.residual * one.scale) {
      all.residual = one.residual;
      all.scale = one.scale;
    }
    if (!one.ok()) break;
    finish_substep();
  }
  return all;
}

void TamsiIsland::start_substeps(int num_substeps) {
  STICTION_ASSERT(1 <= num_substeps && num_substeps <= kMaxSubsteps);
  num_substeps_ = num_substeps;
  for (ContactTerms& c : contacts_) {
    c.parameters.normal.dt = time_step_ / num_substeps;
    c.parameters.normal.fe0 = c.fe0;
    c.sum.setZero();
  }
  for (RowTerms& row : rows_) row.sum = 0;
  v_begin_ = fixed_.v0;
  v_ = fixed_.guess;
  history_.clear();
}

/// Adds up the impulses and moves on to the start of the next sub-step.
void TamsiIsland::finish_substep() {
  for (ContactTerms& c : contacts_) {
    c.sum += c.gamma;
    c.parameters.normal.fe0 -= c.parameters.normal.dt * c.parameters.normal.k * c.v_c.z();
  }
  for (RowTerms& row : rows_) row.sum += row.impulse.gamma;
  v_begin_ = v_;
  history_.insert(history_.end(), v_.data(), v_.data() + v_.size());
}

/// Solves the balance of one sub-step from v_begin_ by Newton's method, with the initial guess v_.
TamsiIsland::Outcome TamsiIsland::find_velocities(numerics::NewtonTrace* trace) {
  const double settled_speed = Tamsi::kRelativeEpsilon * options_.parameters.stiction_tolerance;
  Outcome out;
  double last_residual = std::numeric_limits<double>::infinity();
  bool is_settled = false;
  if (trace) trace->begin_run();
  for (;;) {
    calc_residual(&out);
    if (trace) trace->add_iterate(out.residual);
    if (!std::isfinite(out.residual)) {
      out.status = SolveStatus::kNotFinite;
      return out;
    }
    const double tolerance = options_.absolute_tolerance + options_.relative_tolerance * out.scale;
    if (is_settled && out.residual <= tolerance) return out;
    const int limit = is_settled ? kMaxIterations + kMaxRefinements : kMaxIterations;
    if (out.iterations >= std::min(limit, options_.max_iterations)) {
      out.status = SolveStatus::kMaxIterations;
      return out;
    }
    base::count_iteration();
    if (!calc_direction()) {
      out.status = SolveStatus::kNotPositiveDefinite;
      return out;
    }
    ++out.iterations;
    // This close, Newton's method converges quadratically; a residual not halved is round-off.
    constexpr double kNear = 1e-9;
    const double length = newton_.dv.cwiseQuotient(fixed_.inv_sqrt_diagonal).norm();
    if (is_settled && out.residual > 0.5 * last_residual &&
        length <= std::max(kNear * out.scale, calc_rounding_step())) {
      out.status = SolveStatus::kStagnated;
      return out;
    }
    last_residual = out.residual;
    const Change change = calc_change();
    v_ += change.alpha * newton_.dv;
    if (trace) trace->add_step(change.alpha);
    is_settled = change.speed < settled_speed;
  }
}

/// Returns the length |dv|_D of a step that corrects rounding errors of v alone [sqrt(J)].
double TamsiIsland::calc_rounding_step() const {
  constexpr double kUnit = 64 * std::numeric_limits<double>::epsilon();
  return kUnit * fixed_.inv_sqrt_diagonal.cwiseProduct(balance_.momentum).norm();
}

/// Computes the impulses, the residual and its scale at v_.
void TamsiIsland::calc_residual(Outcome* outcome) {
  const double share = 1.0 / num_substeps_;  // h / dt
  balance_.force.setZero(v_.size());
  for (int i = 0; i < island_.num_contacts(); ++i) {
    ContactTerms& c = contacts_[i];
    const DenseJacobian<3> J = island_.contact_jacobian(i);
    c.v_c = J.multiply(v_) + c.bias;
    c.gamma = Tamsi::calc_impulse(c.parameters, c.v_c, &c.state);
    J.add_force(c.gamma, &balance_.force);
  }
  for (int i = 0; i < island_.num_rows(); ++i) {
    RowTerms& row = rows_[i];
    const DenseJacobian<1> J = island_.row_jacobian(i);
    row.impulse = laws::calc_row_impulse(row.row, J.multiply(v_)[0] + row.row.bias);
    row.impulse.gamma *= share;
    row.impulse.stiffness *= share;
    J.add_force(DenseJacobian<1>::Vector(row.impulse.gamma), &balance_.force);
  }
  // r = J^T gamma + p h/dt - A (v - v_begin)
  balance_.change = v_ - v_begin_;
  balance_.inertial.noalias() = island_.A() * balance_.change;
  balance_.residual = balance_.force + share * fixed_.free_impulse - balance_.inertial;
  balance_.momentum.noalias() = island_.A() * v_;
  const Eigen::VectorXd& D = fixed_.inv_sqrt_diagonal;
  outcome->residual = D.cwiseProduct(balance_.residual).norm();
  outcome->scale = std::max(
      {share * D.cwiseProduct(fixed_.free_impulse).norm(), D.cwiseProduct(balance_.force).norm(),
       contact::kResolvedMomentum * D.cwiseProduct(balance_.momentum).norm()});
}

/// Solves (A + J^T G J) dv = r.
/// @return false if dv is not finite
bool TamsiIsland::calc_direction() {
  newton_.matrix = island_.A();
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const ContactTerms& c = contacts_[i];
    if (c.state.normal.n > 0)
      island_.contact_jacobian(i).add_gradient(Tamsi::calc_gradient(c.parameters, c.state),
                                               &newton_.matrix);
  }
  for (int i = 0; i < island_.num_rows(); ++i)
    island_.row_jacobian(i).add_gradient(DenseJacobian<1>::Matrix(rows_[i].impulse.stiffness),
                                         &newton_.matrix);
  newton_.lu.factor(&newton_.matrix);
  newton_.dv = balance_.residual;
  newton_.lu.solve(&newton_.dv);
  return newton_.dv.allFinite();
}

/// Computes the fraction alpha of the Newton step, and the change of constraint velocities.
TamsiIsland::Change TamsiIsland::calc_change() const {
  Change out;
  double tangential2 = 0, other2 = 0;
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const ContactTerms& c = contacts_[i];
    const Vector3 dv_c = island_.contact_jacobian(i).multiply(newton_.dv);
    tangential2 += dv_c.head<2>().squaredNorm();
    other2 += dv_c.z() * dv_c.z();
    out.alpha = std::min(out.alpha, calc_limit(c, dv_c));
  }
  for (int i = 0; i < island_.num_rows(); ++i) {
    const contact::Row& row = rows_[i].row;
    const DenseJacobian<1> J = island_.row_jacobian(i);
    const double dv_r = J.multiply(newton_.dv)[0];
    other2 += dv_r * dv_r;
    // The limiter treats dry friction as slip in one dimension.
    const double v_r = J.multiply(v_)[0] + row.bias;
    if (row.kind == contact::RowKind::kFriction)
      out.alpha = std::min(out.alpha, calc_slip_limit({v_r, 0}, {dv_r, 0}, row.slip_tolerance));
    else if (contact::is_spring(row))
      out.alpha = std::min(
          out.alpha,
          calc_spring_limit(row.target - row.regularization * row.impulse_range[1],
                            row.target - row.regularization * row.impulse_range[0], v_r, dv_r));
  }
  out.speed = std::sqrt(std::max(tangential2, other2));
  return out;
}

/// Returns the fraction of a step that the limiter allows for one contact.
double TamsiIsland::calc_limit(const ContactTerms& c, const Vector3& dv_c) const {
  if (c.parameters.mu == 0) return 1;
  // n does not increase with v_n: if 0 at both ends, it is 0 between them, without friction.
  if (c.state.normal.n == 0 && c.parameters.normal.calc_impulse(c.v_c.z() + dv_c.z()).n == 0)
    return 1;
  return calc_slip_limit({c.v_c.x(), c.v_c.y()}, {dv_c.x(), dv_c.y()},
                         c.parameters.stiction_tolerance);
}

void TamsiIsland::read_out(const contact::ContactProblem& problem,
                           contact::ContactSolution* solution) const {
  island_.scatter(v_, solution->v);
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const ContactTerms& c = contacts_[i];
    const int at = island_.contacts()[i];
    solution->impulses[at] = {c.sum.x(), c.sum.y(), c.sum.z(), 0, 0, 0};
    solution->contact_velocities[at] = {c.v_c.x(), c.v_c.y(), c.v_c.z()};
    solution->slipping[at] = solution->beyond_tolerance[at] =
        Tamsi::is_slipping(c.parameters, c.state);
  }
  for (int i = 0; i < island_.num_rows(); ++i)
    solution->row_impulses[island_.rows()[i]] = rows_[i].sum;
  for (int s = 0; s < num_substeps_ - 1; ++s)
    for (int i = 0; i < island_.num_dofs(); ++i)
      solution->substep_v[s * problem.num_dofs() + island_.dofs()[i]] =
          history_[s * island_.num_dofs() + i];
}

namespace {

class TamsiSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             contact::ContactSolution* solution) override {
    begin_solution(problem, islands, options, guess, solution);
    if (islands_.size() < static_cast<std::size_t>(islands.size())) islands_.resize(islands.size());
    place_blocks(problem, islands, &first_dof_);
    allot_memory(problem, islands, options.parameters);
    solution->traces.resize(options.trace ? islands.size() : 0);
    solution->substep_v.resize((TamsiIsland::kMaxSubsteps - 1) * problem.num_dofs());

    auto solve_one = [&](int i) {
      if (!memory_.is_granted(i)) return refuse(problem, islands, i, solution);
      islands_[i].assemble(problem, islands, i, first_dof_, options, guess);
      numerics::NewtonTrace* const trace = options.trace ? &solution->traces[i] : nullptr;
      if (trace) trace->clear();
      solution->islands[i] = islands_[i].solve(trace);
      islands_[i].read_out(problem, solution);
    };
    base::run_tasks(threads, islands.size(), solve_one);
  }

 private:
  /// Shares the memory among the islands, and releases what is kept if both exceed the limit.
  void allot_memory(const ContactProblem& problem, const Islands& islands,
                    const contact::ModelParameters& parameters) {
    required_bytes_.assign(islands.size(), 0.0);
    for (int i = 0; i < islands.size(); ++i) {
      double num_dofs = 0;
      for (const int block : islands.blocks(i)) num_dofs += problem.block_size(block);
      required_bytes_[i] = 2 * sizeof(double) * num_dofs * num_dofs;  // A, and the Newton matrix
    }
    if (memory_.allot(required_bytes_, parameters.max_memory_gb)) return;
    islands_.clear();
    islands_.resize(islands.size());
  }

  /// Leaves an island unsolved for lack of memory. It moves as if it had no contacts and rows.
  void refuse(const ContactProblem& problem, const Islands& islands, int island,
              contact::ContactSolution* solution) const {
    contact::IslandStatistics& statistics = solution->islands[island];
    statistics = {.status = contact::SolveStatus::kTooLarge,
                  .required_bytes = required_bytes_[island]};
    for (const int block : islands.blocks(island)) statistics.num_dofs += problem.block_size(block);
    for (const int p : islands.pairs(island)) {
      const contact::BodyPair& pair = problem.pairs[p];
      statistics.num_contacts += pair.num_contacts;
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        solution->impulses[i] = {};
        solution->contact_velocities[i] = {};
        solution->slipping[i] = solution->beyond_tolerance[i] = 0;
      }
    }
    for (const int r : islands.rows(island)) solution->row_impulses[r] = 0;
    statistics.num_rows = static_cast<int>(islands.rows(island).size());
  }

  std::vector<int> first_dof_;
  std::vector<double> required_bytes_;
  MemoryAllotment memory_;
  std::vector<TamsiIsland> islands_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_tamsi_solver() { return std::make_unique<TamsiSolver>(); }

}  // namespace stiction::formulations
