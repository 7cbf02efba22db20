#include <algorithm>
#include <limits>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {
namespace {

/// The LCP of unilateral impulses z and of the dry friction f of joints,
///
///     u = u_hat + N^T z + F^T f,   0 <= z  _|_  N u + b_n >= 0,
///     f = clamp(-(F u + b_f) / c, -bound, bound),
///
/// where c is the compliance of a dry joint. The matrix is symmetric and positive semidefinite.
/// Source: [drumwright2015]; [theory:projection], [theory:dry-friction].
class FrictionlessLaw final : public RigidLaw {
 public:
  explicit FrictionlessLaw(numerics::LcpSolver solver) : solver_(solver) {}

  numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    STICTION_ASSERT(problem.mu.empty());
    RigidImpulses& impulses = out->impulses;
    const int num_unilateral = problem.num_unilateral;
    impulses.tangents.clear();
    out->u.resize(problem.num_columns);
    numerics::GramLcp lcp{.num_rows = num_unilateral,
                          .num_columns = problem.num_columns,
                          .N = problem.N.data(),
                          .b = problem.b_n.data(),
                          .u_hat = problem.u_hat.data()};
    lcp.largest_residual = problem.accepted_residual;
    if (!problem.dry_bounds.empty()) append_dry_joints(problem, &lcp);
    z_.resize(lcp.num_rows);
    const numerics::LcpReport report = solver_.solve(lcp, problem.guess, z_, out->u);
    impulses.unilateral.assign(z_.begin(), z_.begin() + num_unilateral);
    impulses.dry.assign(z_.begin() + num_unilateral, z_.end());
    read_active(num_unilateral, &out->active);
    if (report.row < num_unilateral) return report;
    numerics::LcpReport unknown = report;
    unknown.row = -1;  // the caller knows only the unilateral rows
    return unknown;
  }

 private:
  /// Stacks the rows of dry joints below the unilateral ones.
  void append_dry_joints(const ReducedProblem& problem, numerics::GramLcp* lcp) {
    rows_.assign(problem.N.begin(), problem.N.end());
    rows_.insert(rows_.end(), problem.F.begin(), problem.F.end());
    constants_.assign(problem.b_n.begin(), problem.b_n.end());
    constants_.insert(constants_.end(), problem.b_f.begin(), problem.b_f.end());
    bounds_.assign(problem.num_unilateral, std::numeric_limits<double>::infinity());
    bounds_.insert(bounds_.end(), problem.dry_bounds.begin(), problem.dry_bounds.end());
    compliance_.assign(problem.num_unilateral, 0.0);
    compliance_.insert(compliance_.end(), problem.dry_compliance.begin(),
                       problem.dry_compliance.end());
    lcp->num_rows = static_cast<int>(constants_.size());
    lcp->N = rows_.data();
    lcp->b = constants_.data();
    lcp->bounds = bounds_.data();
    lcp->compliance = compliance_.data();
  }

  void read_active(int num_unilateral, std::vector<int>* active) const {
    active->clear();
    for (const int row : solver_.active())
      if (row < num_unilateral) active->push_back(row);
  }

  numerics::AnyLcpSolver solver_;
  std::vector<double> rows_, constants_, bounds_, compliance_;
  std::vector<double> z_;  // impulses of the unilateral rows, then of the dry joints
};

}  // namespace

std::unique_ptr<RigidLaw> make_frictionless_law(numerics::LcpSolver solver) {
  return std::make_unique<FrictionlessLaw>(solver);
}

}  // namespace stiction::formulations
