// Contact problems under every contact model: random problems whose numbers are scaled, or replaced
// by arbitrary numbers. Every solve ends, and a solve that reports success has finite results.
#include <cmath>
#include <random>
#include <vector>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/random_problem.hpp"

namespace stiction::fuzz {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Row;
using contact::SolveStatus;

/// Most inputs are small, because faults need few contacts and the solvers of polygons take a time
/// that is cubic in them.
ContactProblem make_problem(Input* input) {
  support::RandomProblemOptions options;
  const bool is_large = input->integer(0, 15) == 0;
  options.num_bodies = input->integer(0, is_large ? 4 : 2);
  options.num_trees = input->integer(options.num_bodies == 0 ? 1 : 0, is_large ? 2 : 1);
  options.num_pairs = input->integer(0, is_large ? 6 : 2);
  options.num_rows = input->integer(0, is_large ? 4 : 3);
  options.near_rigid = input->flag();
  std::mt19937_64 rng(input->integer(0, 94));
  return support::make_random_problem(options, &rng);
}

/// Returns a pointer to each number of the problem, except the time step, which every caller must
/// choose above 0.
std::vector<double*> list_numbers(ContactProblem* problem) {
  std::vector<double*> out;
  for (auto* values : {&problem->A, &problem->v0, &problem->free_impulse, &problem->columns,
                       &problem->row_columns})
    for (double& x : *values) out.push_back(&x);
  for (Contact& c : problem->contacts) {
    for (auto* x : {&c.spin_bias, &c.fn0, &c.phi0}) out.push_back(x);
    for (double& x : c.offset) out.push_back(&x);
    for (double& x : c.bias) out.push_back(&x);
    for (double& x : c.friction) out.push_back(&x);
    for (const auto member : contact::kLawProperties<double>) out.push_back(&(c.law.*member));
  }
  for (Row& r : problem->rows)
    for (auto* x : {&r.regularization, &r.target, &r.bound, &r.slip_tolerance, &r.position})
      out.push_back(x);
  return out;
}

/// Scales a body's inertia, a contact's stiffness or gap, or all velocities, by up to 1e12.
void scale_part(ContactProblem* problem, Input* input) {
  const double factor = input->log_uniform(1e-12, 1e12);
  const int kind = input->integer(0, 3);
  if (kind == 0) {
    const int block = input->integer(0, problem->num_blocks() - 1);
    if (!problem->is_rigid_body[block]) return;  // scaling a coupled block can make A indefinite
    for (int i = 0; i < 36; ++i) problem->diagonal(block)[i] *= factor;
  } else if (kind == 1) {
    for (double& v : problem->v0) v *= factor;
  } else if (problem->num_contacts() > 0) {
    Contact& c = problem->contacts[input->integer(0, problem->num_contacts() - 1)];
    if (kind == 2) c.law.stiffness *= factor, c.fn0 *= factor;
    if (kind == 3) c.phi0 *= factor, c.fn0 *= factor;
  }
}

void replace_number(ContactProblem* problem, Input* input) {
  const std::vector<double*> numbers = list_numbers(problem);
  const std::size_t index = 256 * input->integer(0, 255) + input->integer(0, 255);
  *numbers[index % numbers.size()] = input->raw_number();
}

/// Requires finite velocities of the islands that the solver claims to have solved. Other dofs have
/// the velocity v*, which follows from the caller's numbers alone.
void require_finite(const ContactProblem& problem, const contact::Islands& islands,
                    const ContactSolution& solution) {
  for (int i = 0; i < islands.size(); ++i) {
    const SolveStatus status = solution.islands[i].status;
    if (status != SolveStatus::kConverged && status != SolveStatus::kStagnated) continue;
    for (const int block : islands.blocks(i))
      for (int dof = problem.dof_start[block]; dof < problem.dof_start[block + 1]; ++dof)
        require(std::isfinite(solution.v[dof]));
  }
}

void solve(ContactModel model, ContactProblem* problem, Input* input) {
  formulations::SolverOptions options;
  options.max_iterations = 30;
  options.parameters.normal_law = static_cast<contact::NormalLawKind>(input->integer(0, 4));
  options.parameters.lcp_solver = static_cast<numerics::LcpSolver>(input->integer(0, 3));
  // A solve beyond its budget is given up, as in a step with the option iteration_budget.
  base::WorkLimits limits;
  limits.max_iterations = 1000;
  limits.begin_call();
  limits.begin_step();
  contact::MomentumFactor factor;
  if (!factor.calc_derived(1, problem)) return;
  contact::Islands islands;
  islands.find(*problem);
  ContactSolution solution;
  const auto solver = formulations::make_contact_solver(model);
  try {
    const base::LimitedTask task(&limits, true);
    solver->solve(*problem, islands, options, {}, nullptr, &solution);
  } catch (const base::WorkStopped&) {
    return;
  }
  require_finite(*problem, islands, solution);
  (void)certificate::Certifier().certify({.problem = *problem,
                                          .islands = islands,
                                          .model = model,
                                          .parameters = options.parameters,
                                          .relative_tolerance = options.relative_tolerance,
                                          .absolute_tolerance = options.absolute_tolerance,
                                          .solution = solution},
                                         &factor);
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  fuzz::Input input(data, size);
  const auto models = contact::contact_models();
  const auto& model = models[input.integer(0, static_cast<int>(models.size()) - 1)];
  if (model.is_mj_step) return 0;
  contact::ContactProblem problem = fuzz::make_problem(&input);
  const bool is_raw = input.flag();
  for (int i = input.integer(0, 7); i > 0; --i)
    is_raw ? fuzz::replace_number(&problem, &input) : fuzz::scale_part(&problem, &input);
  if (!is_raw) contact::validate(problem);  // these problems meet all requirements
  fuzz::require(contact::find_index_fault(problem).empty());
  fuzz::solve(model.model, &problem, &input);
  return 0;
}
