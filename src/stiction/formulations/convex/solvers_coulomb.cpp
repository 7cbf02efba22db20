#include "stiction/formulations/convex/convex_solver.hpp"
#include "stiction/formulations/convex/coulomb.hpp"

namespace stiction::formulations {

template std::unique_ptr<ContactSolver> make_solver<SolverWithLaws<CoulombWith>>();

}  // namespace stiction::formulations
