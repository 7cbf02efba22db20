#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/least_energy_program.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::formulations {
namespace {

using numerics::LcpReport;

/// Finds the impulses that leave the least kinetic energy, among all that keep bodies apart and do
/// not separate them faster than frictionless impulses would. Phase 1 is the frictionless LCP, with
/// kappa = 1^T (N u + b_n) at its solution. Phase 2 is LeastEnergyProgram for the contacts that
/// have an impulse in phase 1. Other contacts are added one at a time, first the one whose
/// impulse removes the most energy. Source: [drumwright2010]; [theory:least-energy].
class LeastEnergyLaw final : public RigidLaw {
 public:
  explicit LeastEnergyLaw(int num_directions) : program_(num_directions) {}

  LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    LcpReport report = solve_frictionless(problem, out);
    int pivots = report.pivots;
    if (!report.is_solved()) return report;
    const double kappa = calc_separation(problem, out->u);
    is_chosen_.assign(problem.num_contacts, 0);
    for (int i = 0; i < problem.num_contacts; ++i) is_chosen_[i] = out->impulses.unilateral[i] > 0;
    for (int round = 0; round <= kMaxContactsAdded; ++round) {
      if (program_.choose_variables(problem, is_chosen_) > kMaxDenseSize) {
        if (round > 0) break;  // keep the solution of the round before
        return {.status = numerics::LcpStatus::kTooLarge};
      }
      const LcpReport last = report;
      report = program_.solve(problem, kappa);
      pivots += report.pivots;
      if (round > 0 && !report.is_solved()) {
        report = last;
        break;
      }
      program_.read_out(problem, out);
      if (!report.is_solved() || !choose_next(problem, out->u)) break;
    }
    report.pivots = pivots;
    report.row = -1;
    return report;
  }

 private:
  /// Solves phase 1. Its active set is the guess for the next problem.
  LcpReport solve_frictionless(const ReducedProblem& problem, ReducedSolution* out) {
    RigidImpulses& impulses = out->impulses;
    impulses.unilateral.resize(problem.num_unilateral);
    impulses.tangents.assign(static_cast<std::size_t>(2) * problem.num_contacts, 0.0);
    impulses.dry.assign(problem.dry_bounds.size(), 0.0);
    out->u.resize(problem.num_columns);
    const numerics::GramLcp lcp{.num_rows = problem.num_unilateral,
                                .num_columns = problem.num_columns,
                                .N = problem.N.data(),
                                .b = problem.b_n.data(),
                                .u_hat = problem.u_hat.data()};
    const LcpReport report = pivoting_.solve(lcp, problem.guess, impulses.unilateral, out->u);
    out->active.assign(pivoting_.active().begin(), pivoting_.active().end());
    return report;
  }

  /// Computes kappa, the sum of the separation speeds of contacts [m/s].
  static double calc_separation(const ReducedProblem& problem, const std::vector<double>& u) {
    const int n = problem.num_columns;
    double sum = 0;
    for (int i = 0; i < problem.num_contacts; ++i)
      sum += problem.b_n[i] +
             math::dot(n, u.data(), problem.N.data() + static_cast<std::size_t>(i) * n);
    return sum;
  }

  /// Adds the contact whose impulse would remove the most energy.
  /// @return false if no impulse would remove any
  bool choose_next(const ReducedProblem& problem, const std::vector<double>& u) {
    const int n = problem.num_columns;
    const auto velocity = [&](std::span<const double> rows, int i) {
      return math::dot(n, rows.data() + static_cast<std::size_t>(i) * n, u.data());
    };
    const auto slip = [&](int tangent) {
      return std::abs(velocity(problem.T, tangent) + problem.b_t[tangent]);
    };
    int best = -1;
    double most = kLeastEnergyGain;
    for (int i = 0; i < problem.num_contacts; ++i) {
      if (is_chosen_[i]) continue;
      const double gain =
          problem.mu[i] * std::max(slip(2 * i), slip(2 * i + 1)) - velocity(problem.N, i);
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    if (best >= 0) is_chosen_[best] = 1;
    return best >= 0;
  }

  std::vector<char> is_chosen_;  // contacts that may have impulses in phase 2
  LeastEnergyProgram program_;
  numerics::RatioPivoting pivoting_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_least_energy_law(int num_directions) {
  return std::make_unique<LeastEnergyLaw>(num_directions);
}

}  // namespace stiction::formulations
