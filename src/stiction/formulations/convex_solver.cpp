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

/// True if a contact needs the six-component law: torsion, rolling, or unequal tangential friction.
bool has_torsion(const Contact& contact) {
  return contact.dim > 3 || (contact.dim == 3 && contact.friction[0] != contact.friction[1]);
}

/// Fills Phi and b of a contact from its frame: linear rows first, angular rows if there is room.
template <class SolverContact>
void set_jacobian(const Contact& contact, SolverContact* out) {
  const Eigen::Map<const Vector3> r(contact.offset.data());
  constexpr int kAngularColumn[3] = {2, 0, 1};  // n, t1, t2
  for (int i = 0; i < 3; ++i) {
    const Eigen::Map<const Vector3> e(contact.R_WC.data() + 3 * i);
    Eigen::Map<Vector3>(out->Phi[i]) = r.cross(e);
    Eigen::Map<Vector3>(out->Phi[i] + 3) = e;
    out->bias[i] = contact.bias[i];
  }
  if constexpr (SolverContact::kComponents == 6) {
    for (int i = 0; i < 3; ++i) {
      const Eigen::Map<const Vector3> e(contact.R_WC.data() + 3 * kAngularColumn[i]);
      Eigen::Map<Vector3>(out->Phi[3 + i]) = e;
      Eigen::Map<Vector3>(out->Phi[3 + i] + 3).setZero();
      out->bias[3 + i] = i == 0 ? contact.spin_bias : 0;
    }
  }
}

template <ConvexFormulation F>
class ConvexSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    eliminations_.update(problem, islands);
    lay_out(problem, islands);
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

 private:
  /// Assigns every block, pair, contact and row its place. The only part that depends on all
  /// islands.
  void lay_out(const ContactProblem& problem, const Islands& islands) {
    SolverArrays<F>& a = arrays_;
    a.islands.resize(islands.size());
    a.blocks.clear();
    a.couplings.clear();
    a.segments.clear();
    a.pairs.clear();
    a.rows.clear();
    a.row_entries.clear();
    position_.resize(problem.num_blocks());
    solver_dof_.resize(problem.num_blocks());
    counts_ = {};
    for (int i = 0; i < islands.size(); ++i) {
      IslandRange& range = a.islands[i];
      range.block_begin = static_cast<int>(a.blocks.size());
      range.coupling_begin = static_cast<int>(a.couplings.size());
      range.pair_begin = static_cast<int>(a.pairs.size());
      range.row_begin = static_cast<int>(a.rows.size());
      range.dof_begin = counts_.dofs;
      lay_out_blocks(problem, i);
      for (const int c : islands.couplings(i)) lay_out_coupling(problem, problem.couplings[c]);
      for (const int p : islands.pairs(i)) lay_out_pair(problem, problem.pairs[p]);
      for (const int r : islands.rows(i)) lay_out_row(problem, islands, r);
      range.block_end = static_cast<int>(a.blocks.size());
      range.coupling_end = static_cast<int>(a.couplings.size());
      range.pair_end = static_cast<int>(a.pairs.size());
      range.row_end = static_cast<int>(a.rows.size());
      range.num_dofs = counts_.dofs - range.dof_begin;
    }
    a.dofs.resize(counts_.dofs);
    a.contacts.resize(counts_.contacts);
    a.torsions.resize(counts_.torsions);
  }

  void lay_out_blocks(const ContactProblem& problem, int island) {
    int position = 0;
    for (const int block : eliminations_.order(island)) {
      position_[block] = position++;
      solver_dof_[block] = counts_.dofs;
      arrays_.blocks.push_back(
          {block, problem.dof_start[block], counts_.dofs, problem.block_size(block)});
      counts_.dofs += problem.block_size(block);
    }
  }

  void lay_out_coupling(const ContactProblem& problem, const contact::Coupling& coupling) {
    const int row = coupling.row_block, column = coupling.column_block;
    arrays_.couplings.push_back({problem.block_size(row), problem.block_size(column),
                                 solver_dof_[row], solver_dof_[column], position_[row],
                                 position_[column], problem.A.data() + coupling.start});
  }

  void lay_out_pair(const ContactProblem& problem, const contact::BodyPair& pair) {
    PairSlice& slice = arrays_.pairs.emplace_back();
    slice.segment_begin = static_cast<int>(arrays_.segments.size());
    for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
      const contact::Segment& segment = problem.segments[s];
      arrays_.segments.push_back({&segment, position_[segment.block], solver_dof_[segment.block]});
    }
    slice.segment_end = static_cast<int>(arrays_.segments.size());
    slice.first_source = pair.first_contact;
    slice.contact_begin = counts_.contacts;
    slice.torsion_begin = counts_.torsions;
    for (int c = pair.first_contact; c < pair.first_contact + pair.num_contacts; ++c)
      ++(uses_torsion_law(problem.contacts[c]) ? counts_.torsions : counts_.contacts);
    slice.contact_end = counts_.contacts;
    slice.torsion_end = counts_.torsions;
  }

  void lay_out_row(const ContactProblem& problem, const Islands& islands, int r) {
    RowSlice& slice = arrays_.rows.emplace_back();
    const contact::Row& row = problem.rows[r];
    slice.row = r;
    slice.entry_begin = static_cast<int>(arrays_.row_entries.size());
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
      const int block = islands.block_of_dof(problem.row_dof[c]);
      const int in_block = problem.row_dof[c] - problem.dof_start[block];
      arrays_.row_entries.push_back(
          {solver_dof_[block] + in_block, position_[block], in_block, problem.row_columns[c]});
    }
    slice.entry_end = static_cast<int>(arrays_.row_entries.size());
  }

  static bool uses_torsion_law(const Contact& contact) {
    return TakesTorsion<F> && has_torsion(contact);
  }

  /// Fills an island's dofs and contacts: everything fixed during its solve, and the guess.
  void prepare(const ContactProblem& problem, const SolverOptions& options,
               std::span<const double> guess, int island) {
    const IslandRange& range = arrays_.islands[island];
    DofArrays& dofs = arrays_.dofs;
    const double* start = guess.empty() ? problem.v0.data() : guess.data();
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.blocks[b];
      const double* A = problem.diagonal(block.block);
      for (int i = 0; i < block.size; ++i) {
        // v0 first, for the contacts below; the guess replaces it after them.
        dofs.v[block.dof + i] = problem.v0[block.problem_dof + i];
        dofs.v_star[block.dof + i] = problem.v_star[block.problem_dof + i];
        dofs.inv_sqrt_diagonal[block.dof + i] = 1 / std::sqrt(A[i * (block.size + 1)]);
      }
    }
    IslandProblem<F> island_problem(problem, range, &arrays_, &eliminations_.hessian(island));
    for (int p = range.pair_begin; p < range.pair_end; ++p) {
      const PairSlice& pair = arrays_.pairs[p];
      const math::Six V0 = island_problem.pair_velocity(pair, dofs.v.data());
      int c = pair.contact_begin, t = pair.torsion_begin;
      const int num = pair.contact_end - c + pair.torsion_end - t;
      for (int source = pair.first_source; source < pair.first_source + num; ++source) {
        const Contact& contact = problem.contacts[source];
        if constexpr (TakesTorsion<F>) {
          if (uses_torsion_law(contact)) {
            auto& torsion = arrays_.torsions[t++];
            set_jacobian(contact, &torsion);
            const Vector3 v_c0 = (torsion.multiply(V0) + torsion.bias).template head<3>();
            torsion.source = source;
            torsion.row = F::make_torsion_row(
                {contact, v_c0, problem.delassus[source], problem.time_step}, options.parameters);
            continue;
          }
        }
        auto& solver_contact = arrays_.contacts[c++];
        set_jacobian(contact, &solver_contact);
        solver_contact.source = source;
        solver_contact.row =
            F::make_row({contact, solver_contact.multiply(V0) + solver_contact.bias,
                         problem.delassus[source], problem.time_step},
                        options.parameters);
      }
    }
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.blocks[b];
      std::copy_n(start + block.problem_dof, block.size, dofs.v.data() + block.dof);
    }
  }

  IslandStatistics solve_island(const ContactProblem& problem, const SolverOptions& options,
                                int island) {
    const IslandRange& range = arrays_.islands[island];
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
      const PairSlice& pair = arrays_.pairs[p];
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
    const IslandRange& range = arrays_.islands[island];
    for (int b = range.block_begin; b < range.block_end; ++b) {
      const BlockSlice& block = arrays_.blocks[b];
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
      const PairSlice& pair = arrays_.pairs[p];
      for (int c = pair.contact_begin; c < pair.contact_end; ++c) put(arrays_.contacts[c], F{});
      if constexpr (TakesTorsion<F>)
        for (int c = pair.torsion_begin; c < pair.torsion_end; ++c)
          put(arrays_.torsions[c], typename F::Torsion{});
    }
    for (int r = range.row_begin; r < range.row_end; ++r)
      solution->row_impulses[arrays_.rows[r].row] = arrays_.rows[r].impulse.gamma;
  }

  SolverArrays<F> arrays_;
  EliminationCache eliminations_;
  std::vector<int> position_;    // of each block of the problem in its island's elimination
  std::vector<int> solver_dof_;  // of each block's first dof
  struct {
    int dofs = 0, contacts = 0, torsions = 0;
  } counts_;  // laid out so far
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
