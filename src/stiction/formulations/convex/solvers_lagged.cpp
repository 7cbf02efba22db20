#include "stiction/formulations/convex/convex_solver.hpp"
#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<LaggedWith>>();
template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<LaggedRegularizedWith>>();

}  // namespace stiction::formulations
