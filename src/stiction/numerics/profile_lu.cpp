#include "stiction/numerics/profile_lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

void ProfileLu::start(int size) {
  first_.resize(size);
  std::iota(first_.begin(), first_.end(), 0);
}

void ProfileLu::allocate() {
  start_.resize(size());
  int end = 0;
  for (int i = 0; i < size(); ++i) {
    start_[i] = end - first_[i];
    end += i - first_[i] + 1;
  }
  lower_.assign(end, 0.0);
  upper_.assign(end, 0.0);
  for (int i = 0; i < size(); ++i) upper_[start_[i] + i] = 1;
}

bool ProfileLu::factor() {
  for (int i = 0; i < size(); ++i) {
    double* const L_i = lower_.data() + start_[i];
    double* const U_i = upper_.data() + start_[i];
    for (int j = first_[i]; j < i; ++j) {
      const int k = std::max(first_[i], first_[j]), n = j - k;
      const double* const U_j = upper(j);
      L_i[j] = (L_i[j] - math::dot(n, L_i + k, U_j + k)) / U_j[j];
      U_i[j] -= math::dot(n, lower(j) + k, U_i + k);
    }
    const int k = first_[i];
    U_i[i] -= math::dot(i - k, L_i + k, U_i + k);
    if (!(std::abs(U_i[i]) > 0) || !std::isfinite(U_i[i])) return false;
  }
  return true;
}

void ProfileLu::solve(std::span<double> x) const {
  STICTION_ASSERT(static_cast<int>(x.size()) == size());
  for (int i = 0; i < size(); ++i)
    x[i] -= math::dot(i - first_[i], lower(i) + first_[i], x.data() + first_[i]);
  for (int i = size() - 1; i >= 0; --i) {
    x[i] /= upper(i)[i];
    math::add_multiple(i - first_[i], -x[i], upper(i) + first_[i], x.data() + first_[i]);
  }
}

}  // namespace stiction::numerics
