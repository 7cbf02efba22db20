#include "stiction/formulations/rigid/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone_solver.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::formulations {
namespace {

using numerics::LcpReport;
using numerics::LcpStatus;

/// Coulomb friction within circular cones, with u = u_hat + sum G_i^T r_i of all blocks,
///
///     K* contains G_i u + b_i + mu |slip| e_n,  orthogonal to  r_i in K.
///
/// Source: [desaxce1998]; [theory:friction-cone].
class FrictionConeLaw final : public RigidLaw {
 public:
  LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    blocks_.assemble(problem);
    const ConeReport report = solver_.solve(blocks_);
    blocks_.read_out(solver_.impulses(), problem, &out->impulses);
    out->u.assign(solver_.motion().begin(), solver_.motion().end());
    numerics::find_positive(out->impulses.unilateral, &out->active);

    LcpReport law;
    law.pivots = report.newton_steps + report.sweeps;
    law.residual = report.residual;
    if (report.is_solved) return law;
    law.status = report.has_conflict ? LcpStatus::kInfeasible : LcpStatus::kMaxPivots;
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
