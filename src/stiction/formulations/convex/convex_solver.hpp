#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/formulations/convex/contact_space_island.hpp"
#include "stiction/formulations/convex/coulomb.hpp"
#include "stiction/formulations/convex/island_problem.hpp"
#include "stiction/formulations/convex/solve_coupled.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"
#include "stiction/formulations/solver_base.hpp"

/// The solver of the convex models for a formulation F. Internal: it has SIMD types.
namespace stiction::formulations {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::IslandStatistics;

/// Returns the status of an island for the status of its Newton solve.
inline contact::SolveStatus to_solve_status(numerics::NewtonStatus status) {
  switch (status) {
    case numerics::NewtonStatus::kConverged: return contact::SolveStatus::kConverged;
    case numerics::NewtonStatus::kStagnated: return contact::SolveStatus::kStagnated;
    case numerics::NewtonStatus::kSlow:
    case numerics::NewtonStatus::kMaxIterations: return contact::SolveStatus::kMaxIterations;
    case numerics::NewtonStatus::kNotPositiveDefinite:
      return contact::SolveStatus::kNotPositiveDefinite;
    case numerics::NewtonStatus::kNotFinite: return contact::SolveStatus::kNotFinite;
    case numerics::NewtonStatus::kInfeasible: return contact::SolveStatus::kInfeasible;
  }
  return contact::SolveStatus::kNotFinite;
}

/// Solves the islands of a problem with one formulation. For each island:
///   1. prepare: read v0, v*, and the contacts; make the parameters of their laws;
///   2. minimize: Newton's method on IslandProblem, or the rounds of CoupledRounds. If it suits the
///      island, Newton's method on ContactSpaceIsland comes first and finds the start;
///   3. read_out: copy velocities, impulses and statistics to the solution.
template <ConvexFormulation F>
class ConvexSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    begin_solution(problem, islands, options, guess, solution);
    eliminations_.update(problem, islands);
    arrays_.layout.update(problem, islands, eliminations_, TakesTorsion<F>);
    solution->v_low.assign(problem.v_star.size(), 0.0);
    solution->traces.resize(options.trace ? islands.size() : 0);
    if (islands.size() == 0) return;  // the solution is v*
    arrays_.dofs.resize(arrays_.layout.num_dofs);
    arrays_.batches.resize(arrays_.layout.num_batches);
    arrays_.torsion_batches.resize(arrays_.layout.num_torsion_batches);
    if constexpr (HasNormalBound<F>) coupling_.resize(arrays_.layout);
    if (contact_space_.size() < arrays_.layout.islands.size())
      contact_space_.resize(arrays_.layout.islands.size());
    if constexpr (HasNormalBound<F>) solution->normal_bounds.resize(problem.num_contacts());

    auto solve_one = [&](int island) {
      prepare(problem, options, guess, island);
      numerics::NewtonTrace* const trace = options.trace ? &solution->traces[island] : nullptr;
      if (trace) trace->clear();
      solution->islands[island] = solve_island(problem, options, !guess.empty(), island, trace);
      read_out(island, solution);
    };
    base::run_tasks(threads, islands.size(), solve_one);
  }

  std::vector<contact::PairHessian> calc_pair_hessians(
      const ContactProblem& problem) const override {
    std::vector<contact::PairHessian> out(problem.pairs.size());
    for (std::size_t p = 0; p < out.size(); ++p) {
      // The layout has the pairs island by island, so look for the pair by its first contact.
      const auto is_same = [&](const PairSlice& slice) {
        return slice.contact_begin == problem.pairs[p].first_contact;
      };
      const auto pair =
          std::find_if(arrays_.layout.pairs.begin(), arrays_.layout.pairs.end(), is_same);
      if (pair == arrays_.layout.pairs.end()) return {};
      PairHessianLanes lanes;
      for (int b = pair->batch_begin; b < pair->batch_end; ++b)
        arrays_.batches[b].add_to(&lanes, Curvature::kExact);
      if constexpr (TakesTorsion<F>)
        for (int b = pair->torsion_begin; b < pair->torsion_end; ++b)
          arrays_.torsion_batches[b].add_to(&lanes, Curvature::kExact);
      const math::SixBySix G = lanes.sum();
      for (int column = 0; column < 6; ++column) G.column[column].store(out[p].data() + 6 * column);
    }
    return out;
  }

 private:
  /// Fills the dofs and contacts of an island, which its solve keeps, and the initial guess.
  void prepare(const ContactProblem& problem, const SolverOptions& options,
               std::span<const double> guess, int island) {
    const IslandRange& range = arrays_.layout.islands[island];
    // The laws read velocities at v0, so v is v0 until the contacts are prepared.
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

  /// Reads v0, v* and the diagonal of A.
  void prepare_dofs(const ContactProblem& problem, const IslandRange& range) {
    DofArrays& dofs = arrays_.dofs;
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.layout.blocks[b];
      const double* A = problem.diagonal(block.block);
      for (int i = 0; i < block.size; ++i) {
        dofs.v[block.dof + i] = problem.v0[block.problem_dof + i];
        dofs.v_star[block.dof + i] = problem.v_star[block.problem_dof + i];
        dofs.inv_diagonal[block.dof + i] = 1 / A[i * (block.size + 1)];
      }
    }
  }

  /// Distributes the contacts of a pair to batches and makes their parameters.
  /// @param V0 motion of the pair at v0
  void prepare_contacts(const ContactProblem& problem, const contact::ModelParameters& model,
                        const PairSlice& pair, const math::Six& V0) {
    const PairVelocity V(V0);
    int next = pair.contact_begin;
    const auto is_torsion = [&](int c) {
      return TakesTorsion<F> && pair.torsion_begin < pair.torsion_end &&
             needs_torsion_law(problem.contacts[c]);
    };
    for (int b = pair.batch_begin; b < pair.batch_end; ++b) {
      ContactBatch<F>& batch = arrays_.batches[b];
      batch.source = BatchSource();
      for (; next < pair.contact_end && batch.source.num_contacts < math::kNumLanes; ++next)
        if (!is_torsion(next)) batch.source.contact[batch.source.num_contacts++] = next;
      make_laws_of<F>(
          problem, model, [&](auto* to) { to->calc_velocity(V); }, &batch);
    }
    if constexpr (TakesTorsion<F>) {
      next = pair.contact_begin;
      for (int b = pair.torsion_begin; b < pair.torsion_end; ++b)
        prepare_torsion(problem, model, pair, V, &next, &arrays_.torsion_batches[b]);
    }
  }

  /// Fills a batch with the next contacts of the pair that need the law of six components.
  /// @param next first contact to look at; on return, the first one after those looked at
  void prepare_torsion(const ContactProblem& problem, const contact::ModelParameters& model,
                       const PairSlice& pair, const PairVelocity& V, int* next,
                       auto* batch) requires TakesTorsion<F> {
    batch->source = BatchSource();
    for (; *next < pair.contact_end && batch->source.num_contacts < math::kNumLanes; ++*next) {
      const Contact& contact = problem.contacts[*next];
      if (!needs_torsion_law(contact)) continue;
      const int lane = batch->source.num_contacts++;
      batch->source.contact[lane] = *next;
    }
    make_laws_of<F>(
        problem, model, [&](auto* to) { to->calc_velocity(V); }, batch);
  }

  IslandStatistics solve_island(const ContactProblem& problem, const SolverOptions& options,
                                bool has_guess, int island, numerics::NewtonTrace* trace) {
    const IslandRange& range = arrays_.layout.islands[island];
    IslandProblem<F> island_problem(problem, range, &arrays_, &eliminations_.hessian(island));
    numerics::NewtonOptions newton;
    newton.relative_tolerance = options.relative_tolerance;
    newton.absolute_tolerance = options.absolute_tolerance;
    newton.max_iterations = options.max_iterations;
    newton.trace = trace;
    island_problem.start();
    // A guess may be converged: the sensitivity to rounding is needed before the first Hessian.
    if (has_guess) island_problem.find_stiffness();
    IslandStatistics statistics;
    const numerics::NewtonResult result =
        minimize(problem, options, newton, has_guess, island, &island_problem, &statistics);
    statistics.status = to_solve_status(result.status);
    statistics.num_dofs = range.num_dofs;
    for (int p = range.pair_begin; p < range.pair_end; ++p)
      statistics.num_contacts +=
          arrays_.layout.pairs[p].contact_end - arrays_.layout.pairs[p].contact_begin;
    statistics.num_rows = range.row_end - range.row_begin;
    statistics.iterations = result.iterations;
    statistics.is_compensated = island_problem.is_compensated();
    statistics.line_search_evaluations = result.line_search_evaluations;
    statistics.residual = result.residual.norm;
    statistics.scale = result.residual.scale;
    return statistics;
  }

  /// Minimizes the cost of an island, with HasNormalBound in rounds until the bound agrees.
  numerics::NewtonResult minimize(const ContactProblem& problem, const SolverOptions& options,
                                  const numerics::NewtonOptions& newton, bool has_guess, int island,
                                  IslandProblem<F>* island_problem, IslandStatistics* statistics) {
    numerics::NewtonOptions rest = newton;
    if constexpr (HasNormalBound<F>) {
      const CouplingMemory memory = coupling_.of_island(arrays_.layout, island);
      if (!memory.x.empty()) {
        // A margin for the certificate, which rounds the same sums differently.
        constexpr double kMargin = 0.5;
        const numerics::FixedPointOptions coupling = {
            .tolerance = kMargin * options.coupling_tolerance,
            .max_evaluations = options.max_rounds};
        const double mobility = start_coupled(problem, memory, island_problem);
        CoupledIsland<IslandProblem<F>> coupled_island(island_problem, mobility, options);
        const auto is_solved = [&] {
          CoupledNewton<IslandProblem<F>> check(&coupled_island, newton, coupling.tolerance,
                                                memory.x, memory.next_x, memory.scratch);
          return numerics::is_converged(check.calc_gradient(), newton);
        };
        numerics::NewtonResult start;
        if (is_search(newton, coupling) && (!has_guess || !is_solved()))
          start = start_in_contact_space(
              island, options, &rest, island_problem, statistics,
              [&](auto* in_contact_space, const numerics::NewtonOptions& half) {
                CouplingMemory own = memory;
                own.x = memory.space_x;
                in_contact_space->read_normals(own.x);
                CoupledIsland start_island(in_contact_space, mobility, options);
                numerics::NewtonResult found;
                (void)try_coupled_newton(half, coupling.tolerance, own, &start_island, &found);
                if (std::isfinite(found.residual.norm))
                  in_contact_space->write_bounds(own.x, island_problem, memory.x);
                return found;
              });
        numerics::FixedPointResult coupled;
        const numerics::NewtonResult result =
            solve_coupled(problem, rest, coupling, memory, &coupled_island, &coupled);
        statistics->rounds = coupled.evaluations;
        statistics->coupling_error = coupled.error;
        return add_start(start, result, statistics);
      }
    }
    numerics::NewtonResult start;
    if (!has_guess || !numerics::is_converged(island_problem->residual(), newton))
      start =
          start_in_contact_space(island, options, &rest, island_problem, statistics,
                                 [](auto* in_contact_space, const numerics::NewtonOptions& half) {
                                   return numerics::minimize(*in_contact_space, half);
                                 });
    return add_start(start, minimize_island(island_problem, rest), statistics);
  }

  /// Moves an island that suits contact space to the point that is found there.
  /// @param newton on return, with the iterations that are left
  /// @param find   (ContactSpaceIsland*, NewtonOptions) -> NewtonResult
  template <class Find>
  numerics::NewtonResult start_in_contact_space(int island, const SolverOptions& options,
                                                numerics::NewtonOptions* newton,
                                                IslandProblem<F>* island_problem,
                                                IslandStatistics* statistics, Find&& find) {
    numerics::NewtonResult result;
    if constexpr (HasFrictionBound<F>) {
      if (!suits_contact_space(*island_problem, options)) return result;
      ContactSpaceIsland<F> in_contact_space(*island_problem, options.momentum_factor,
                                             &contact_space_[island]);
      statistics->uses_contact_space = true;
      if (!in_contact_space.start(options.parameters)) return result;
      numerics::NewtonOptions half = *newton;
      half.max_iterations = newton->max_iterations / 2;
      result = find(&in_contact_space, half);
      newton->max_iterations -= result.iterations;
      if (std::isfinite(result.residual.norm)) in_contact_space.write_velocities();
    }
    return result;
  }

  /// Adds the work of the start to a result.
  static numerics::NewtonResult add_start(numerics::NewtonResult start,
                                          const numerics::NewtonResult& result,
                                          IslandStatistics* statistics) {
    statistics->leaves_contact_space =
        statistics->uses_contact_space &&
        (start.status != numerics::NewtonStatus::kConverged || result.iterations > 0);
    start.add(result);
    return start;
  }

  /// Copies the result of an island to its place in the solution.
  void read_out(int island, ContactSolution* solution) const {
    const IslandRange& range = arrays_.layout.islands[island];
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.layout.blocks[b];
      std::copy_n(arrays_.dofs.v.data() + block.dof, block.size,
                  solution->v.data() + block.problem_dof);
      if (solution->islands[island].is_compensated)
        std::copy_n(arrays_.dofs.v_low.data() + block.dof, block.size,
                    solution->v_low.data() + block.problem_dof);
    }
    for (int p = range.pair_begin; p < range.pair_end; ++p) {
      const PairSlice& pair = arrays_.layout.pairs[p];
      for (int b = pair.batch_begin; b < pair.batch_end; ++b) {
        const ContactBatch<F>& batch = arrays_.batches[b];
        const Lanes none{};
        const auto slips = F::is_slipping(batch.state);
        const auto is_beyond = F::is_beyond_tolerance(batch.state);
        const math::FourLanes gamma =
            math::transpose(batch.gamma.x, batch.gamma.y, batch.gamma.z, none);
        const math::FourLanes v = math::transpose(batch.v_c.x, batch.v_c.y, batch.v_c.z, none);
        const Lanes gammas[] = {gamma.a, gamma.b, gamma.c, gamma.d}, vs[] = {v.a, v.b, v.c, v.d};
        for (int lane = 0; lane < batch.source.num_contacts; ++lane) {
          const int c = batch.source.contact[lane];
          const Lanes &g = gammas[lane], &u = vs[lane];
          solution->impulses[c] = {g[0], g[1], g[2], 0, 0, 0};
          solution->contact_velocities[c] = {u[0], u[1], u[2]};
          solution->slipping[c] = slips[lane] != 0;
          solution->beyond_tolerance[c] = is_beyond[lane] != 0;
          if constexpr (HasNormalBound<F>)
            solution->normal_bounds[c] = batch.parameters.normal_bound.x[lane];
        }
      }
      if constexpr (TakesTorsion<F>)
        for (int b = pair.torsion_begin; b < pair.torsion_end; ++b)
          read_out_torsion(arrays_.torsion_batches[b], solution);
    }
    for (int r = range.row_begin; r < range.row_end; ++r)
      solution->row_impulses[arrays_.layout.rows[r].row] = arrays_.layout.rows[r].impulse.gamma;
  }

  static void read_out_torsion(const auto& batch, ContactSolution* solution) {
    const auto slips = F::Torsion::is_slipping(batch.state);
    const auto is_beyond = F::Torsion::is_beyond_tolerance(batch.state);
    for (int lane = 0; lane < batch.source.num_contacts; ++lane) {
      const int c = batch.source.contact[lane];
      for (int i = 0; i < 6; ++i) solution->impulses[c][i] = batch.gamma[i][lane];
      for (int i = 0; i < 3; ++i) solution->contact_velocities[c][i] = batch.v_c[i][lane];
      solution->slipping[c] = slips[lane] != 0;
      solution->beyond_tolerance[c] = is_beyond[lane] != 0;
      if constexpr (HasNormalBound<F>)
        solution->normal_bounds[c] = batch.parameters.normal_bound.x[lane];
    }
  }

  SolverArrays<F> arrays_;
  EliminationCache eliminations_;
  CouplingScratch coupling_;  // only for models with HasNormalBound
  std::vector<typename ContactSpaceArrays<F>::type> contact_space_;  // of each island
};

/// Solves with DefaultLaws or with ChosenLaws, depending on the parameters of each call.
template <template <class> class F>
class SolverWithLaws final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    const contact::ModelParameters& parameters = options.parameters;
    check_custom_laws(parameters);
    check_anchors(problem, parameters);
    last_ = &chosen_;
    if (has_default_laws(parameters)) last_ = &default_;
    last_->solve(problem, islands, options, guess, threads, solution);
  }

  std::vector<contact::PairHessian> calc_pair_hessians(
      const ContactProblem& problem) const override {
    return last_->calc_pair_hessians(problem);
  }

 private:
  /// @throws Error if the friction law needs springs, and the model or the problem has none
  static void check_anchors(const ContactProblem& problem,
                            const contact::ModelParameters& parameters) {
    if (!has_anchors(parameters)) return;
    if (!TakesAnchors<F<ChosenLaws>>)
      throw Error(ErrorCode::kUnsupported, "friction_law",
                  "is 'elastic', but this contact model has no springs along the surface; choose "
                  "lagged, lagged_regularized or coulomb");
    if (problem.anchors.size() != problem.contacts.size())
      throw Error(ErrorCode::kWrongShape, "anchors",
                  "has no entry for each contact, which the friction law 'elastic' needs; fill "
                  "ContactProblem::anchors");
  }

  ConvexSolver<F<DefaultLaws>> default_;
  ConvexSolver<F<ChosenLaws>> chosen_;
  ContactSolver* last_ = &default_;
};

/// Makes a solver. The files solvers_*.cpp compile it for each model, in parallel.
template <class Solver>
std::unique_ptr<ContactSolver> make_solver() {
  return std::make_unique<Solver>();
}

}  // namespace stiction::formulations
