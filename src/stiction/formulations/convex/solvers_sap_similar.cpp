#include "stiction/formulations/convex/convex_solver.hpp"
#include "stiction/formulations/convex/sap.hpp"
#include "stiction/formulations/convex/similar.hpp"

namespace stiction::formulations {

template std::unique_ptr<ContactSolver> make_solver<ConvexSolver<Sap>>();
template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<SimilarWith>>();

}  // namespace stiction::formulations
