#include "stiction/certificate/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "stiction/base/work_limits.hpp"
#include "stiction/certificate/plain_kinematics.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::RowKind;
using contact::TangentPolicy;
using contact::traits;

ActiveSet::Count ActiveSet::count(const SolvedStep& step, const RigidContactCheck& contacts,
                                  int island) {
  const ContactProblem& problem = step.problem;
  dofs_.clear();
  for (const int block : step.islands.blocks(island))
    for (int dof = problem.dof_start[block]; dof < problem.dof_start[block + 1]; ++dof)
      dofs_.push_back(dof);
  const auto n = static_cast<int>(dofs_.size());
  const bool has_tangents = traits(step.model).tangents == TangentPolicy::kBilateral;

  int num_active = 0, num_bilateral = 0;
  for (const int p : step.islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      num_active += step.solution.impulses[i][2] > 0;
      num_bilateral += has_tangents && contacts.is_sticking(i) ? 2 : 0;
    }
  }
  for (const int r : step.islands.rows(island)) {
    const Row& row = problem.rows[r];
    num_active += row.kind == RowKind::kLimit && step.solution.row_impulses[r] > 0;
    num_bilateral += row.kind == RowKind::kEquality;
  }
  // In a large island it would take too long to find the rank. 0 is a lower bound of the rank.
  constexpr double kMostWork = 1e8;
  const bool is_small = 1.0 * num_bilateral * n * n < kMostWork;
  const int rank = is_small ? find_rank(step, contacts, island) : 0;
  return {.num_active = num_active, .max_active = n - rank};
}

/// Returns the rank of the island's bilateral rows X.
int ActiveSet::find_rank(const SolvedStep& step, const RigidContactCheck& contacts, int island) {
  const ContactProblem& problem = step.problem;
  rows_.clear();
  row_.assign(problem.num_dofs(), 0.0);
  for (const int r : step.islands.rows(island)) {
    if (problem.rows[r].kind != RowKind::kEquality) continue;
    add_row_force(problem, problem.rows[r], 1, row_);
    add_row(step);
  }
  if (traits(step.model).tangents != TangentPolicy::kBilateral) return count_independent_rows();
  for (const int p : step.islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      for (int t = 0; t < 2 && contacts.is_sticking(i); ++t) {
        ContactVector unit{};
        unit[t] = 1;
        double F[6] = {};
        add_contact_wrench(problem.contacts[i], unit, F);
        add_pair_force(problem, pair, F, row_);
        add_row(step);
      }
    }
  }
  return count_independent_rows();
}

/// Appends row_, in units in which A has a diagonal of ones, and sets it to zero.
void ActiveSet::add_row(const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  double squares = 0;
  for (const int dof : dofs_) {
    const int block = step.islands.block_of_dof(dof);
    const int i = dof - problem.dof_start[block];
    const double a = problem.diagonal(block)[i * (problem.block_size(block) + 1)];
    rows_.push_back(row_[dof] / std::sqrt(a));
    squares += rows_.back() * rows_.back();
    row_[dof] = 0;
  }
  for (std::size_t i = rows_.size() - dofs_.size(); i < rows_.size() && squares > 0; ++i)
    rows_[i] /= std::sqrt(squares);
}

/// Counts the linearly independent rows of rows_ by Gram-Schmidt orthogonalization, in place.
///
/// The next row is always the one with the longest part orthogonal to the rows before it. In
/// another order, rounding errors in short orthogonal parts could count as independent rows.
int ActiveSet::count_independent_rows() {
  const auto n = static_cast<std::ptrdiff_t>(dofs_.size());
  const auto num_rows = static_cast<std::ptrdiff_t>(rows_.size()) / n;
  const auto dot = [n](const double* a, const double* b) {
    return std::inner_product(a, a + n, b, 0.0);
  };
  for (std::ptrdiff_t rank = 0; rank < std::min(n, num_rows); ++rank) {
    base::check_limits();
    // Move the row with the longest orthogonal part to the front of the remaining ones.
    double* q = rows_.data() + rank * n;
    double longest = 0;  // squared length
    for (std::ptrdiff_t i = rank; i < num_rows; ++i) {
      double* x = rows_.data() + i * n;
      const double squared_length = dot(x, x);
      if (squared_length <= longest) continue;
      longest = squared_length;
      if (i > rank) std::swap_ranges(q, q + n, x);
    }
    constexpr double kDependent = 1e-10;  // squared length
    if (!(longest > kDependent)) return static_cast<int>(rank);
    // Normalize it and remove its direction from the remaining rows.
    for (std::ptrdiff_t k = 0; k < n; ++k) q[k] /= std::sqrt(longest);
    for (std::ptrdiff_t i = rank + 1; i < num_rows; ++i) {
      double* x = rows_.data() + i * n;
      const double component = dot(q, x);
      for (std::ptrdiff_t k = 0; k < n; ++k) x[k] -= component * q[k];
    }
  }
  return static_cast<int>(std::min(n, num_rows));
}

}  // namespace stiction::certificate
