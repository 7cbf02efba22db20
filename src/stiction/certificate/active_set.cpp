#include "stiction/certificate/rigid_checks.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::RowKind;
using math::dot;

int EigenvalueCount::count_above(int n, double threshold, std::vector<double>* matrix) {
  STICTION_ASSERT(matrix->size() == static_cast<std::size_t>(n) * n);
  reduce(n, matrix->data());
  int count = 0;
  double pivot = 1;
  for (int i = 0; i < n; ++i) {
    const double e = i > 0 ? off_diagonal_[i - 1] : 0;
    pivot = diagonal_[i] - threshold - e * e / pivot;
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    count += pivot > 0;
  }
  return count;
}

/// Writes T to diagonal_ and off_diagonal_.
void EigenvalueCount::reduce(int n, double* A) {
  const auto row = [&](int i) { return A + static_cast<std::size_t>(i) * n; };
  diagonal_.resize(n);
  off_diagonal_.resize(n);
  reflector_.resize(n);
  product_.resize(n);
  for (int k = 0; k < n; ++k) {
    base::check_limits();
    diagonal_[k] = row(k)[k];
    // The reflection I - 2 u u^T / |u|^2 takes the rest of the row to a multiple of a unit vector.
    const int m = n - k - 1;
    if (m == 0) break;
    double* const u = reflector_.data();
    for (int i = 0; i < m; ++i) u[i] = row(k)[k + 1 + i];
    const double length = std::sqrt(dot(m, u, u));
    off_diagonal_[k] = -std::copysign(length, u[0]);
    u[0] -= off_diagonal_[k];
    const double squared = dot(m, u, u);
    if (!(squared > 0)) continue;
    // B -= u w^T + w u^T with w = p - (p . u / |u|^2) u, p = 2 B u / |u|^2.
    double* const w = product_.data();
    for (int i = 0; i < m; ++i) w[i] = 2 * dot(m, row(k + 1 + i) + k + 1, u) / squared;
    math::add_multiple(m, -dot(m, w, u) / squared, u, w);
    for (int i = 0; i < m; ++i) {
      math::add_multiple(m, -u[i], w, row(k + 1 + i) + k + 1);
      math::add_multiple(m, -w[i], u, row(k + 1 + i) + k + 1);
    }
  }
}

ActiveSet::Count ActiveSet::count(const SolvedStep& step, const RigidContactCheck& contacts,
                                  int island) {
  const ContactProblem& problem = step.problem;
  dofs_.clear();
  for (const int block : step.islands.blocks(island))
    for (int dof = problem.dof_start[block]; dof < problem.dof_start[block + 1]; ++dof)
      dofs_.push_back(dof);
  const auto n = static_cast<int>(dofs_.size());
  const bool has_tangents =
      contact::traits(step.model).tangents == contact::TangentPolicy::kBilateral;

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
  const bool is_small = 1.0 * (num_bilateral + n) * n * n < kMostWork;
  const int rank = is_small ? find_rank(step, contacts, island) : 0;
  return {.num_active = num_active, .max_active = n - rank};
}

/// Returns a lower bound of the rank of the island's bilateral rows X.
int ActiveSet::find_rank(const SolvedStep& step, const RigidContactCheck& contacts, int island) {
  const ContactProblem& problem = step.problem;
  rows_.clear();
  row_.assign(problem.num_dofs(), 0.0);
  for (const int r : step.islands.rows(island)) {
    if (problem.rows[r].kind != RowKind::kEquality) continue;
    add_row_force(problem, problem.rows[r], 1, row_);
    add_row(step, 0);
  }
  if (contact::traits(step.model).tangents != contact::TangentPolicy::kBilateral)
    return count_independent_rows();
  for (const int p : step.islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    double spin = -1;  // computed for the first contact that sticks
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      if (!contacts.is_sticking(i)) continue;
      if (spin < 0) spin = calc_spin(step, pair);
      const auto set_row = [&](int axis) {
        ContactVector unit{};
        unit[axis] = 1;
        double F[6] = {};
        add_contact_wrench(problem.contacts[i], unit, F);
        add_pair_force(problem, pair, F, row_);
      };
      // A tangent along which nothing can move is the round-off of a normal along which it can.
      constexpr double kRoundOff = 1e-13;
      spin_.resize(dofs_.size());
      set_row(2);
      const double round_off = kRoundOff * std::sqrt(take_row(step, spin_.data()));
      for (int t = 0; t < 2; ++t) {
        set_row(t);
        add_row(step, contacts.reach(i) * spin + round_off);
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

/// Returns the length of the three rows of a pair's angular velocity together.
double ActiveSet::calc_spin(const SolvedStep& step, const BodyPair& pair) {
  double squares = 0;
  spin_.resize(dofs_.size());
  for (int axis = 0; axis < 3; ++axis) {
    double torque[6] = {};
    torque[axis] = 1;
    add_pair_force(step.problem, pair, torque, row_);
    squares += take_row(step, spin_.data());
  }
  return std::sqrt(squares);
}

/// Appends row_ divided by the distance from the span of other rows at which it counts as
/// dependent, and sets it to zero.
/// @param unknown length of the row that a short lever or round-off explains
void ActiveSet::add_row(const SolvedStep& step, double unknown) {
  rows_.resize(rows_.size() + dofs_.size());
  double* const row = rows_.data() + rows_.size() - dofs_.size();
  const double length = std::sqrt(take_row(step, row));
  constexpr double kDependent = 1e-5;  // relative to the row
  const double distance = kDependent * length + unknown;
  for (std::size_t k = 0; k < dofs_.size() && length > 0; ++k) row[k] /= distance;
}

/// Counts the singular values of rows_ above the root of the number of rows.
///
/// Let a solver select r rows, and drop each of the others because its distance from their span is
/// at most its unit. Then the m rows differ from rows of rank r by a matrix with a norm of at most
/// sqrt(m), so that no more than r singular values exceed sqrt(m), whatever the order of selection.
/// Source: [theory:num-active].
int ActiveSet::count_independent_rows() {
  const auto n = static_cast<int>(dofs_.size());
  const std::size_t num_rows = rows_.size() / dofs_.size();
  gram_.assign(static_cast<std::size_t>(n) * n, 0.0);  // rows_^T rows_
  for (std::size_t r = 0; r < num_rows; ++r) {
    base::check_limits();
    const double* const row = rows_.data() + r * n;
    for (int i = 0; i < n; ++i)
      if (row[i] != 0)
        math::add_multiple(n, row[i], row, gram_.data() + static_cast<std::size_t>(i) * n);
  }
  return eigenvalues_.count_above(n, static_cast<double>(num_rows), &gram_);
}

}  // namespace stiction::certificate
