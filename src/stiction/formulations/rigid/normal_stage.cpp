#include "stiction/formulations/rigid/rigid_stage.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {
namespace {

class NormalStage final : public RigidLaw {
 public:
  explicit NormalStage(numerics::LcpSolver solver) : solver_(solver) {}

  numerics::LcpReport solve(const RigidStage& stage, StageImpulses* out) override {
    out->z.resize(stage.num_unilateral);
    out->u.resize(stage.num_columns);
    out->tangents.clear();
    out->dry.clear();
    const numerics::GramLcp lcp{stage.num_unilateral, stage.num_columns, stage.N.data(),
                                stage.b.data(), stage.u_hat.data()};
    const numerics::LcpReport report = solver_.solve(lcp, stage.guess, out->z, out->u);
    out->active.assign(solver_.active().begin(), solver_.active().end());
    return report;
  }

 private:
  numerics::AnyLcpSolver solver_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_normal_stage(numerics::LcpSolver solver) {
  return std::make_unique<NormalStage>(solver);
}

}  // namespace stiction::formulations
