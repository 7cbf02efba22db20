#include "stiction/certificate/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

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
  dependent_.clear();
  row_.assign(problem.num_dofs(), 0.0);
  for (const int r : step.islands.rows(island)) {
    if (problem.rows[r].kind != RowKind::kEquality) continue;
    add_row_force(problem, problem.rows[r], 1, row_);
    add_row(step, 0);
  }
  if (traits(step.model).tangents != TangentPolicy::kBilateral) return count_independent_rows();
  for (const int p : step.islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    // The largest reach of the pair: a lower bound of the rank must hold in any order of the rows.
    double reach = 0;
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
      if (contacts.is_sticking(i)) reach = std::max(reach, contacts.reach(i));
    if (reach == 0) continue;
    const double short_lever = reach * reach * calc_squared_spin(step, pair);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      for (int t = 0; t < 2 && contacts.is_sticking(i); ++t) {
        ContactVector unit{};
        unit[t] = 1;
        double F[6] = {};
        add_contact_wrench(problem.contacts[i], unit, F);
        add_pair_force(problem, pair, F, row_);
        add_row(step, short_lever);
      }
    }
  }
  return count_independent_rows();
}

/// Writes row_ in units in which A has a diagonal of ones, and sets it to zero.
/// @param row out: an entry for each of dofs_
/// @return its squared length
double ActiveSet::take_row(const SolvedStep& step, double* row) {
  const ContactProblem& problem = step.problem;
  double squares = 0;
  for (std::size_t k = 0; k < dofs_.size(); ++k) {
    const int dof = dofs_[k], block = step.islands.block_of_dof(dof);
    const int i = dof - problem.dof_start[block];
    const double a = problem.diagonal(block)[i * (problem.block_size(block) + 1)];
    row[k] = row_[dof] / std::sqrt(a);
    squares += row[k] * row[k];
    row_[dof] = 0;
  }
  return squares;
}

/// Returns the sum of the squared lengths of the three rows of a pair's angular velocity.
double ActiveSet::calc_squared_spin(const SolvedStep& step, const BodyPair& pair) {
  double squares = 0;
  spin_.resize(dofs_.size());
  for (int axis = 0; axis < 3; ++axis) {
    double torque[6] = {};
    torque[axis] = 1;
    add_pair_force(step.problem, pair, torque, row_);
    squares += take_row(step, spin_.data());
  }
  return squares;
}

/// Appends row_ with length 1, and sets it to zero.
/// @param short_lever squared length of the row that a short lever explains
void ActiveSet::add_row(const SolvedStep& step, double short_lever) {
  rows_.resize(rows_.size() + dofs_.size());
  double* const row = rows_.data() + rows_.size() - dofs_.size();
  const double squares = take_row(step, row);
  for (std::size_t k = 0; k < dofs_.size() && squares > 0; ++k) row[k] /= std::sqrt(squares);
  constexpr double kDependent = 1e-10;  // squared length
  dependent_.push_back(squares > 0 ? std::max(kDependent, short_lever / squares) : 1);
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
      if (squared_length <= std::max(longest, dependent_[i])) continue;
      longest = squared_length;
      if (i == rank) continue;
      std::swap_ranges(q, q + n, x);
      std::swap(dependent_[rank], dependent_[i]);
    }
    if (!(longest > 0)) return static_cast<int>(rank);
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
