#include "stiction/formulations/bilateral_constraints.hpp"

#include <algorithm>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using math::dot;

void BilateralConstraints::start(int num_columns) {
  n_ = num_columns;
  X_.clear();
  b_.clear();
}

void BilateralConstraints::add(std::span<const double> rows, std::span<const double> b) {
  X_.insert(X_.end(), rows.begin(), rows.end());
  b_.insert(b_.end(), b.begin(), b.end());
}

void BilateralConstraints::eliminate(int num_first) {
  // Squared share of a row's velocity that it may keep if it is left out; those that are not have
  // impulses that are larger than they need to be by its inverse.
  constexpr double kDependence = 1e-13;
  basis_.find(X_.data(), num_rows(), n_, num_first, kDependence);
  const int rank = basis_.rank();
  const double* L = basis_.factor().data();
  shift_.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const double* L_i = L + i * rank;
    shift_[i] = (-b_[kept()[i]] - dot(i, L_i, shift_.data())) / L_i[i];
  }
}

void BilateralConstraints::project_rows(const std::vector<double>& rows,
                                        const std::vector<double>& b,
                                        std::vector<double>* projected,
                                        std::vector<double>* b_projected) {
  *projected = rows;
  *b_projected = b;
  const int rank = basis_.rank();
  if (rank == 0) return;
  along_.resize(rank);
  for (std::size_t i = 0; i < b.size(); ++i) {
    double* row = projected->data() + i * n_;
    const double before = dot(n_, row, row);
    const double left = basis_.project_out(row, along_);
    (*b_projected)[i] += dot(rank, along_.data(), shift_.data());
    // Of a row within the span nothing is left that an impulse could change.
    constexpr double kNothing = 1e-13;
    if (left > kNothing * before) continue;
    std::fill_n(row, n_, 0.0);
    (*b_projected)[i] = std::max(0.0, (*b_projected)[i]);
  }
}

std::span<const double> BilateralConstraints::satisfy(double* y) {
  const int rank = basis_.rank();
  const double* Q = basis_.basis().data();
  impulses_.assign(rank, 0.0);
  // The second pass takes what rounding left in the first.
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < rank; ++k) {
      const double* q = Q + static_cast<std::size_t>(k) * n_;
      const double share = shift_[k] - dot(n_, q, y);
      impulses_[k] += share;
      math::add_multiple(n_, share, q, y);
    }
  // X_s^T f = Q^T L^T f
  const double* L = basis_.factor().data();
  for (int i = rank - 1; i >= 0; --i) {
    impulses_[i] /= L[i * rank + i];
    for (int k = 0; k < i; ++k) impulses_[k] -= L[i * rank + k] * impulses_[i];
  }
  return impulses_;
}

}  // namespace stiction::formulations
