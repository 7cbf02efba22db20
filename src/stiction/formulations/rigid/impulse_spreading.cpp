#include "stiction/formulations/rigid/impulse_spreading.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/factorizations.hpp"

namespace stiction::formulations {
namespace {

/// Returns the number of equalities among the rows that the basis keeps, which come first.
int count_equalities(const RigidTerms& terms, std::span<const int> kept) {
  int count = 0;
  for (const int row : kept) count += row < terms.num_equalities();
  return count;
}

}  // namespace

bool ImpulseSpreading::calc(const RigidTerms& terms, const WhitenedProblem& whitened,
                            const ProjectedProblem& problem, const RigidMotion& motion, double slip,
                            std::vector<double>* tangents) {
  const BilateralConstraints& bilateral = problem.bilateral;
  const std::span<const int> kept = bilateral.kept();
  const int num_equalities = count_equalities(terms, kept);
  const int rank = static_cast<int>(kept.size()) - num_equalities;
  choose_rows(terms, problem, motion, slip);
  if (rank == 0 || rank >= static_cast<int>(rows_.size())) return false;

  // C = T Q^T. The rows of Q are orthogonal to those of the equalities.
  const int n = terms.num_dofs();
  const double* const Q =
      bilateral.basis().basis().data() + static_cast<std::size_t>(num_equalities) * n;
  C_.resize(rows_.size() * rank);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    base::check_limits();
    const double* row = whitened.rows.T.data() + static_cast<std::size_t>(rows_[i]) * n;
    math::multiply_rows(rank, n, Q, row, nullptr, C_.data() + i * rank);
  }
  if (!solve_gram(rank, bilateral.impulses_along_basis().data() + num_equalities)) return false;

  tangents->assign(static_cast<std::size_t>(2) * terms.num_contacts(), 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    (*tangents)[rows_[i]] = math::dot(rank, C_.data() + i * rank, x_.data());
  for (const int row : kept) {
    const int i = row - terms.num_equalities();
    if (i < 0) continue;
    const std::array<double, 2> direction = bilateral.direction(row);
    double* impulse = tangents->data() + 2 * problem.sticking[i / 2];
    const double along = direction[0] * impulse[0] + direction[1] * impulse[1];
    for (int t = 0; t < 2; ++t) impulse[t] -= along * direction[t];
  }
  return true;
}

/// Chooses the tangents of the sticking contacts that do not slip.
void ImpulseSpreading::choose_rows(const RigidTerms& terms, const ProjectedProblem& problem,
                                   const RigidMotion& motion, double slip) {
  rows_.clear();
  for (const int contact : problem.sticking) {
    if (motion.contact_velocities[terms.contacts[contact]].head<2>().norm() > slip) continue;
    rows_.push_back(2 * contact);
    rows_.push_back(2 * contact + 1);
  }
}

/// Solves C^T C x = g.
/// @param g size rank
/// @return false if C^T C is singular
bool ImpulseSpreading::solve_gram(int rank, const double* g) {
  gram_.assign(static_cast<std::size_t>(rank) * rank, 0.0);
  for (std::size_t begin = 0; begin < C_.size(); begin += rank) {
    base::check_limits();
    for (int i = 0; i < rank; ++i)
      math::add_multiple(rank, C_[begin + i], C_.data() + begin,
                         gram_.data() + static_cast<std::size_t>(i) * rank);
  }
  x_.assign(g, g + rank);
  return numerics::solve_in_place(rank, gram_.data(), 1, x_.data()) < 0 &&
         std::all_of(x_.begin(), x_.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace stiction::formulations
