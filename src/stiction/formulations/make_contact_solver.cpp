#include "stiction/formulations/convex/convex_solver.hpp"
#include "stiction/formulations/convex/coulomb.hpp"
#include "stiction/formulations/convex/lagged.hpp"
#include "stiction/formulations/convex/sap.hpp"
#include "stiction/formulations/convex/similar.hpp"
#include "stiction/formulations/solver_base.hpp"

namespace stiction::formulations {

using contact::ContactModel;

// Compiled by convex/solvers_*.cpp. A model that is not listed here is compiled in this file.
extern template std::unique_ptr<ContactSolver> make_solver<ConvexSolver<Sap>>();
extern template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<LaggedWith>>();
extern template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<LaggedRegularizedWith>>();
extern template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<SimilarWith>>();
extern template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<CoulombWith>>();

std::unique_ptr<ContactSolver> make_contact_solver(ContactModel model) {
  switch (model) {
    case ContactModel::sap: return make_solver<ConvexSolver<Sap>>();
    case ContactModel::lagged: return make_solver<SolverWithLaws<LaggedWith>>();
    case ContactModel::lagged_regularized:
      return make_solver<SolverWithLaws<LaggedRegularizedWith>>();
    case ContactModel::similar: return make_solver<SolverWithLaws<SimilarWith>>();
    case ContactModel::tamsi: return make_tamsi_solver();
    case ContactModel::coulomb: return make_solver<SolverWithLaws<CoulombWith>>();
    case ContactModel::no_slip:
    case ContactModel::viscous:
    case ContactModel::stewart_trinkle:
    case ContactModel::anitescu_potra:
    case ContactModel::drumwright_shell:
    case ContactModel::rigid_coulomb: return make_rigid_solver(model);
    case ContactModel::mujoco: return nullptr;
  }
  return nullptr;
}

}  // namespace stiction::formulations
