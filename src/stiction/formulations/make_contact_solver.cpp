#include "stiction/formulations/contact_solver.hpp"

#include "stiction/formulations/convex/convex_solver.hpp"
#include "stiction/formulations/convex/coulomb.hpp"
#include "stiction/formulations/convex/lagged.hpp"
#include "stiction/formulations/convex/lagged_regularized.hpp"
#include "stiction/formulations/convex/sap.hpp"
#include "stiction/formulations/convex/similar.hpp"
#include "stiction/formulations/rigid/rigid_solver.hpp"
#include "stiction/formulations/tamsi/tamsi_solver.hpp"

namespace stiction::formulations {

using contact::ContactModel;

std::unique_ptr<ContactSolver> make_contact_solver(ContactModel model) {
  switch (model) {
    case ContactModel::sap: return std::make_unique<ConvexSolver<Sap>>();
    case ContactModel::lagged: return std::make_unique<SolverWithLaws<LaggedWith>>();
    case ContactModel::lagged_regularized:
      return std::make_unique<SolverWithLaws<LaggedRegularizedWith>>();
    case ContactModel::similar: return std::make_unique<SolverWithLaws<SimilarWith>>();
    case ContactModel::tamsi: return make_tamsi_solver();
    case ContactModel::coulomb: return std::make_unique<SolverWithLaws<CoulombWith>>();
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
