#include "stiction/formulations/rigid/envelope_cholesky.hpp"

#include <cmath>

#include "stiction/base/work_limits.hpp"

namespace stiction::formulations {

void EnvelopeCholesky::allocate() { values_.assign(profile_.lay_out(), 0.0); }

bool EnvelopeCholesky::factor() {
  inv_diagonal_.resize(size());
  for (int i = 0; i < size(); ++i) {
    base::check_limits();
    double* L_i = values_.data() + profile_.index(i, 0);
    // L_ij = (A_ij - sum_k L_ik L_jk) / L_jj
    for (int j = first(i); j < i; ++j) {
      const double* L_j = row(j);
      double sum = L_i[j];
      for (int k = std::max(first(i), first(j)); k < j; ++k) sum -= L_i[k] * L_j[k];
      L_i[j] = sum * inv_diagonal_[j];
    }
    // L_ii^2 = A_ii - sum_k L_ik^2
    double pivot = L_i[i];
    for (int k = first(i); k < i; ++k) pivot -= L_i[k] * L_i[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    L_i[i] = std::sqrt(pivot);
    inv_diagonal_[i] = 1 / L_i[i];
  }
  return true;
}

void EnvelopeCholesky::solve_upper(double* x) const {
  for (int i = size() - 1; i >= 0; --i) {
    const double* L_i = row(i);
    x[i] *= inv_diagonal_[i];
    for (int k = first(i); k < i; ++k) x[k] -= L_i[k] * x[i];
  }
}

void EnvelopeCholesky::multiply_upper(double* x) const {
  for (int j = 0; j < size(); ++j) {
    // Entry j of L^T x reads x from j on, so that entries before it may be overwritten.
    const double* L_j = row(j);
    const double x_j = x[j];
    for (int k = first(j); k < j; ++k) x[k] += L_j[k] * x_j;
    x[j] = L_j[j] * x_j;
  }
}

}  // namespace stiction::formulations
