#include "stiction/formulations/rigid_stage.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::formulations {
namespace {

class NormalStage final : public RigidLaw {
 public:
  numerics::LcpReport solve(const RigidStage& stage, StageImpulses* out) override {
    out->z.resize(stage.num_unilateral);
    out->u.resize(stage.num_columns);
    out->tangents.clear();
    const numerics::GramLcp lcp{stage.num_unilateral, stage.num_columns, stage.N.data(),
                                stage.b.data(), stage.u_hat.data()};
    const numerics::LcpReport report = pivoting_.solve(lcp, stage.guess, out->z, out->u);
    out->active.assign(pivoting_.active().begin(), pivoting_.active().end());
    return report;
  }

 private:
  numerics::RatioPivoting pivoting_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_normal_stage(numerics::LcpSolver solver) {
  (void)solver;
  return std::make_unique<NormalStage>();
}

}  // namespace stiction::formulations
