#include "stiction/formulations/convex_solver.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/formulations/elimination.hpp"
#include "stiction/formulations/island_problem.hpp"
#include "stiction/formulations/lagged.hpp"
#include "stiction/formulations/lagged_regularized.hpp"
#include "stiction/formulations/sap.hpp"
#include "stiction/formulations/similar.hpp"

namespace stiction::formulations {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::IslandStatistics;

contact::SolveStatus to_solve_status(numerics::NewtonStatus status) {
  switch (status) {
    case numerics::NewtonStatus::kConverged: return contact::SolveStatus::kConverged;
    case numerics::NewtonStatus::kStagnated: return contact::SolveStatus::kStagnated;
    case numerics::NewtonStatus::kMaxIterations: return contact::SolveStatus::kMaxIterations;
    case numerics::NewtonStatus::kNotPositiveDefinite:
      return contact::SolveStatus::kNotPositiveDefinite;
    case numerics::NewtonStatus::kNotFinite: return contact::SolveStatus::kNotFinite;
  }
  return contact::SolveStatus::kNotFinite;
}

template <ConvexFormulation F>
class ConvexSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    eliminations_.update(problem, islands);
    arrays_.layout.update(problem, islands, eliminations_, TakesTorsion<F>);
    arrays_.dofs.resize(arrays_.layout.num_dofs);
    arrays_.contacts.resize(arrays_.layout.num_contacts);
    arrays_.torsions.resize(arrays_.layout.num_torsions);
    solution->v.assign(problem.v_star.begin(), problem.v_star.end());
    solution->impulses.resize(problem.num_contacts());
    solution->contact_velocities.resize(problem.num_contacts());
    solution->slipping.resize(problem.num_contacts());
    solution->row_impulses.resize(problem.num_rows());
    solution->islands.resize(islands.size());

    auto solve_one = [&](int island) {
      prepare(problem, options, guess, island);
      solution->islands[island] = solve_island(problem, options, island);
      read_out(island, solution);
    };
    if (threads)
      threads->run(islands.size(), solve_one);
    else
      for (int i = 0; i < islands.size(); ++i) solve_one(i);
  }

  std::vector<contact::PairHessian> calc_pair_hessians(
      const ContactProblem& problem) const override {
    std::vector<contact::PairHessian> out(problem.pairs.size());
    for (std::size_t p = 0; p < out.size(); ++p) {
      const auto is_same = [&](const PairSlice& slice) {
        return slice.first_source == problem.pairs[p].first_contact;
      };
      const auto pair =
          std::find_if(arrays_.layout.pairs.begin(), arrays_.layout.pairs.end(), is_same);
      if (pair == arrays_.layout.pairs.end()) return {};
      math::SixBySix G = math::SixBySix::zero();
      for (int c = pair->contact_begin; c < pair->contact_end; ++c) {
        const auto& contact = arrays_.contacts[c];
        contact.add_hessian(F::calc_hessian(contact.row, contact.state), &G);
      }
      if constexpr (TakesTorsion<F>) {
        for (int t = pair->torsion_begin; t < pair->torsion_end; ++t) {
          const auto& torsion = arrays_.torsions[t];
          torsion.add_hessian(F::Torsion::calc_hessian(torsion.row, torsion.state), &G);
        }
      }
      for (int column = 0; column < 6; ++column) G.column[column].store(out[p].data() + 6 * column);
    }
    return out;
  }

 private:
  /// Fills an island's dofs and contacts: everything fixed during its solve, and the guess.
  void prepare(const ContactProblem& problem, const SolverOptions& options,
               std::span<const double> guess, int island) {
    const IslandRange& range = arrays_.layout.islands[island];
    // The laws read the contacts' velocities at v0; the guess comes after them.
    prepare_dofs(problem, range);
    const IslandProblem<F> island_problem(problem, range, &arrays_, &eliminations_.hessian(island));
    for (int p = range.pair_begin; p < range.pair_end; ++p) {
      const PairSlice& pair = arrays_.layout.pairs[p];
      const math::Six V0 = island_problem.pair_velocity(pair, arrays_.dofs.v.data());
      prepare_contacts(problem, options.parameters, pair, V0);
    }
    if (guess.empty()) return;
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.layout.blocks[b];
      std::copy_n(guess.data() + block.problem_dof, block.size, arrays_.dofs.v.data() + block.dof);
    }
  }

  void prepare_dofs(const ContactProblem& problem, const IslandRange& range) {
    DofArrays& dofs = arrays_.dofs;
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.layout.blocks[b];
      const double* A = problem.diagonal(block.block);
      for (int i = 0; i < block.size; ++i) {
        dofs.v[block.dof + i] = problem.v0[block.problem_dof + i];
        dofs.v_star[block.dof + i] = problem.v_star[block.problem_dof + i];
        dofs.inv_sqrt_diagonal[block.dof + i] = 1 / std::sqrt(A[i * (block.size + 1)]);
      }
    }
  }

  void prepare_contacts(const ContactProblem& problem, const contact::ModelParameters& parameters,
                        const PairSlice& pair, const math::Six& V0) {
    int c = pair.contact_begin, t = pair.torsion_begin;
    const int num = pair.contact_end - c + pair.torsion_end - t;
    for (int source = pair.first_source; source < pair.first_source + num; ++source) {
      const Contact& contact = problem.contacts[source];
      const double w = problem.delassus[source];
      if constexpr (TakesTorsion<F>) {
        if (needs_torsion_law(contact)) {
          auto& torsion = arrays_.torsions[t++];
          torsion.set_jacobian(contact);
          torsion.source = source;
          const Vector3 v_c0 = (torsion.multiply(V0) + torsion.bias).template head<3>();
          torsion.row = F::make_torsion_row({contact, v_c0, w, problem.time_step}, parameters);
          continue;
        }
      }
      auto& solver_contact = arrays_.contacts[c++];
      solver_contact.set_jacobian(contact);
      solver_contact.source = source;
      const Vector3 v_c0 = solver_contact.multiply(V0) + solver_contact.bias;
      solver_contact.row = F::make_row({contact, v_c0, w, problem.time_step}, parameters);
    }
  }

  IslandStatistics solve_island(const ContactProblem& problem, const SolverOptions& options,
                                int island) {
    const IslandRange& range = arrays_.layout.islands[island];
    IslandProblem<F> island_problem(problem, range, &arrays_, &eliminations_.hessian(island));
    numerics::NewtonOptions newton;
    newton.relative_tolerance = options.relative_tolerance;
    newton.absolute_tolerance = options.absolute_tolerance;
    newton.max_iterations = options.max_iterations;
    island_problem.start();
    const numerics::NewtonResult result = numerics::minimize(island_problem, newton);

    IslandStatistics statistics;
    statistics.status = to_solve_status(result.status);
    statistics.num_dofs = range.num_dofs;
    for (int p = range.pair_begin; p < range.pair_end; ++p) {
      const PairSlice& pair = arrays_.layout.pairs[p];
      statistics.num_contacts +=
          pair.contact_end - pair.contact_begin + pair.torsion_end - pair.torsion_begin;
    }
    statistics.num_rows = range.row_end - range.row_begin;
    statistics.iterations = result.iterations;
    statistics.line_search_evaluations = result.line_search_evaluations;
    statistics.residual = result.residual.norm;
    statistics.scale = result.residual.scale;
    return statistics;
  }

  /// Copies the island's result to its place in the solution.
  void read_out(int island, ContactSolution* solution) const {
    const IslandRange& range = arrays_.layout.islands[island];
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.layout.blocks[b];
      std::copy_n(arrays_.dofs.v.data() + block.dof, block.size,
                  solution->v.data() + block.problem_dof);
    }
    const auto put = [&]<class Law>(const auto& c, Law) {
      std::array<double, 6>& impulse = solution->impulses[c.source];
      impulse.fill(0);
      std::copy_n(c.gamma.data(), c.gamma.size(), impulse.data());
      std::copy_n(c.v_c.data(), 3, solution->contact_velocities[c.source].data());
      solution->slipping[c.source] = Law::is_slipping(c.state);
    };
    for (int p = range.pair_begin; p < range.pair_end; ++p) {
      const PairSlice& pair = arrays_.layout.pairs[p];
      for (int c = pair.contact_begin; c < pair.contact_end; ++c) put(arrays_.contacts[c], F{});
      if constexpr (TakesTorsion<F>)
        for (int c = pair.torsion_begin; c < pair.torsion_end; ++c)
          put(arrays_.torsions[c], typename F::Torsion{});
    }
    for (int r = range.row_begin; r < range.row_end; ++r)
      solution->row_impulses[arrays_.layout.rows[r].row] = arrays_.layout.rows[r].impulse.gamma;
  }

  SolverArrays<F> arrays_;
  EliminationCache eliminations_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_contact_solver(ContactModel model) {
  switch (model) {
    case ContactModel::sap: return std::make_unique<ConvexSolver<Sap>>();
    case ContactModel::lagged: return std::make_unique<ConvexSolver<Lagged>>();
    case ContactModel::lagged_regularized:
      return std::make_unique<ConvexSolver<LaggedRegularized>>();
    case ContactModel::similar: return std::make_unique<ConvexSolver<Similar>>();
    case ContactModel::mujoco: return nullptr;
  }
  return nullptr;
}

}  // namespace stiction::formulations
