#include "stiction/plant/forces/rank_one_terms.hpp"

#include <algorithm>

#include "stiction/plant/forces/dynamics.hpp"

namespace stiction::plant {

using contact::ContactProblem;

void RankOneTerms::add_within_trees(const Model& plant, const ImplicitForces& implicit,
                                    ContactProblem* problem) {
  joins_.clear();
  add_terms(plant, implicit, false, problem, [&](const ImplicitForces::RankOne& term) {
    const std::span<const double> values = implicit.values_of(term);
    set_dofs(plant, implicit.dofs_of(term));
    values_.assign(values.begin(), values.end());
  });
}

void RankOneTerms::add_across(const mjData* d, const Model& plant, const ImplicitForces& implicit,
                              ContactProblem* problem) {
  list_joins(plant, implicit, problem);
  if (joins_.empty()) return;
  add_terms(plant, implicit, true, problem, [&](const ImplicitForces::RankOne& term) {
    dofs_.clear();
    values_.clear();
    append_solver_columns(d, plant, implicit.dofs_of(term), implicit.values_of(term), &dofs_,
                          &values_);
  });
}

/// Adds the terms that join blocks, or those that do not.
/// @param set_columns sets dofs_ and values_ of a term
template <class F>
void RankOneTerms::add_terms(const Model& plant, const ImplicitForces& implicit, bool joins_blocks,
                             ContactProblem* problem, F&& set_columns) {
  const double dt = problem->time_step;
  is_set_.assign(plant.num_blocks(), 0);
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (term.joins_blocks != joins_blocks || term.limit >= 0) continue;
    set_columns(term);
    add_term(plant, dt * dt * term.stiffness, dt * term.damping + dt * dt * term.stiffness,
             term.velocity, problem);
  }
  mirror(problem);
}

/// Finds the blocks that terms join, and adds their couplings to the problem.
void RankOneTerms::list_joins(const Model& plant, const ImplicitForces& implicit,
                              ContactProblem* problem) {
  joins_.clear();
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (!term.joins_blocks || term.limit >= 0) continue;
    set_dofs(plant, implicit.dofs_of(term));
    list_runs(plant);
    for (std::size_t q = 0; q < runs_.size(); ++q)
      for (std::size_t p = 0; p < q; ++p)
        if (!plant.are_related(runs_[p].block, runs_[q].block))
          joins_.push_back({.blocks = {runs_[p].block, runs_[q].block}});
  }
  const auto is_before = [](const Join& x, const Join& y) { return x.blocks < y.blocks; };
  const auto is_same = [](const Join& x, const Join& y) { return x.blocks == y.blocks; };
  std::sort(joins_.begin(), joins_.end(), is_before);
  joins_.erase(std::unique(joins_.begin(), joins_.end(), is_same), joins_.end());
  for (Join& join : joins_) {
    const int coupling = problem->add_coupling(join.blocks.first, join.blocks.second);
    join.start = problem->couplings[coupling].start;
  }
}

/// Sets the dofs of the term.
/// @param dofs of MuJoCo
void RankOneTerms::set_dofs(const Model& plant, std::span<const int> dofs) {
  dofs_.clear();
  for (const int dof : dofs) dofs_.push_back(plant.solver_dof(dof));
}

/// Divides the dofs of the term by blocks. They are in ascending order.
void RankOneTerms::list_runs(const Model& plant) {
  runs_.clear();
  for (int i = 0; i < static_cast<int>(dofs_.size()); ++i) {
    const int block = plant.block_of_solver_dof(dofs_[i]);
    if (runs_.empty() || runs_.back().block != block) runs_.push_back({block, i, i});
    runs_.back().end = i + 1;
  }
}

/// Adds a term to the upper triangles of diagonal blocks and to couplings.
/// @param stiff    dt^2 k
/// @param scale    s
/// @param velocity j v0
void RankOneTerms::add_term(const Model& plant, double stiff, double scale, double velocity,
                            ContactProblem* problem) {
  for (std::size_t e = 0; e < dofs_.size(); ++e)
    problem->free_impulse[dofs_[e]] -= stiff * velocity * values_[e];
  if (dofs_.size() == 1) return add_to_diagonal(plant, dofs_[0], scale, values_[0], problem);
  list_runs(plant);
  for (std::size_t q = 0; q < runs_.size(); ++q) {
    is_set_[runs_[q].block] = 1;
    const int column = plant.block(runs_[q].block).solver_start;
    for (std::size_t p = 0; p <= q; ++p) {
      const Model::Block& block = plant.block(runs_[p].block);
      double* const A = problem->A.data() + find_start(plant, runs_[p].block, runs_[q].block);
      for (int e = runs_[q].begin; e < runs_[q].end; ++e) {
        const double scaled = scale * values_[e];
        double* const to = A + (dofs_[e] - column) * block.num_dofs - block.solver_start;
        const int end = p == q ? e + 1 : runs_[p].end;
        for (int f = runs_[p].begin; f < end; ++f) to[dofs_[f]] += scaled * values_[f];
      }
    }
  }
}

/// Adds a term with one dof, as most servos have.
void RankOneTerms::add_to_diagonal(const Model& plant, int dof, double scale, double value,
                                   ContactProblem* problem) {
  const int b = plant.block_of_solver_dof(dof);
  const Model::Block& block = plant.block(b);
  const int i = dof - block.solver_start;
  problem->diagonal(b)[i * block.num_dofs + i] += scale * value * value;
}

/// Returns the start in A of the diagonal block a = b, or of the coupling of a < b.
int RankOneTerms::find_start(const Model& plant, int a, int b) const {
  const auto at = std::lower_bound(
      joins_.begin(), joins_.end(), std::pair{a, b},
      [](const Join& join, const std::pair<int, int>& blocks) { return join.blocks < blocks; });
  if (at != joins_.end() && at->blocks == std::pair{a, b}) return at->start;
  return plant.find_block(a, b);
}

/// Copies the upper triangles of diagonal blocks to the lower ones.
void RankOneTerms::mirror(ContactProblem* problem) const {
  for (std::size_t b = 0; b < is_set_.size(); ++b) {
    if (!is_set_[b]) continue;
    double* const A = problem->diagonal(static_cast<int>(b));
    const int n = problem->block_size(static_cast<int>(b));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) A[j + i * n] = A[i + j * n];
  }
}

}  // namespace stiction::plant
