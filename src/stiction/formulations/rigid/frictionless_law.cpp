#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {
namespace {

/// The LCP of unilateral impulses z,
///
///     u = u_hat + N^T z,   0 <= z  _|_  N u + b_n >= 0,
///
/// whose matrix N N^T is symmetric positive semidefinite. Source: [drumwright2015];
/// [theory:projection].
class FrictionlessLaw final : public RigidLaw {
 public:
  explicit FrictionlessLaw(numerics::LcpSolver solver) : solver_(solver) {}

  numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    STICTION_ASSERT(problem.dry_bounds.empty() && problem.mu.empty());
    RigidImpulses& impulses = out->impulses;
    impulses.unilateral.resize(problem.num_unilateral);
    impulses.tangents.clear();
    impulses.dry.clear();
    out->u.resize(problem.num_columns);
    const numerics::GramLcp lcp{.num_rows = problem.num_unilateral,
                                .num_columns = problem.num_columns,
                                .N = problem.N.data(),
                                .b = problem.b_n.data(),
                                .u_hat = problem.u_hat.data()};
    const numerics::LcpReport report =
        solver_.solve(lcp, problem.guess, impulses.unilateral, out->u);
    out->active.assign(solver_.active().begin(), solver_.active().end());
    return report;
  }

 private:
  numerics::AnyLcpSolver solver_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_frictionless_law(numerics::LcpSolver solver) {
  return std::make_unique<FrictionlessLaw>(solver);
}

}  // namespace stiction::formulations
