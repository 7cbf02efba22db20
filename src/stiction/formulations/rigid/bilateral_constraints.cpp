#include "stiction/formulations/rigid/bilateral_constraints.hpp"

#include <algorithm>
#include <cmath>

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

void BilateralConstraints::eliminate(int num_first, double dependence) {
  dependence_ = dependence;
  basis_.find(X_.data(), num_rows(), n_, num_first, dependence);
  const int rank = basis_.rank();
  const double* L = basis_.factor().data();
  shift_.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const double* L_i = L + i * rank;
    shift_[i] = (-b_[kept()[i]] - dot(i, L_i, shift_.data())) / L_i[i];
  }
}

int BilateralConstraints::project_rows(const std::vector<double>& rows,
                                       const std::vector<double>& b, std::vector<double>* projected,
                                       std::vector<double>* b_projected) {
  *projected = rows;
  *b_projected = b;
  const int rank = basis_.rank();
  if (rank == 0) return -1;
  int locked = -1;
  along_.resize(rank);
  for (std::size_t i = 0; i < b.size(); ++i) {
    double* row = projected->data() + i * n_;
    const double before = dot(n_, row, row);
    const double left = basis_.project_out(row, along_);
    (*b_projected)[i] += dot(rank, along_.data(), shift_.data());
    // Of a row within the span nothing is left that an impulse could change.
    if (left > dependence_ * before) continue;
    std::fill_n(row, n_, 0.0);
    constexpr double kMissed = 1e-3;  // [m/s], 10 um at 1 ms
    if ((*b_projected)[i] < -kMissed) locked = static_cast<int>(i);
    (*b_projected)[i] = std::max(0.0, (*b_projected)[i]);
  }
  return locked;
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

double BilateralConstraints::calc_largest_share() const {
  const int rank = basis_.rank();
  double largest = 0;
  for (int i = 0; i < rank; ++i) {
    const double* L_i = basis_.factor().data() + i * rank;
    const double norm = std::sqrt(dot(i + 1, L_i, L_i));  // of X_i: rows of Q are orthonormal
    largest = std::max(largest, norm * std::abs(impulses_[i]));
  }
  return largest;
}

}  // namespace stiction::formulations
