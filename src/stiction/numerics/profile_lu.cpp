#include "stiction/numerics/profile_lu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

void ProfileLu::allocate() {
  const std::size_t num_entries = profile_.lay_out();
  lower_.assign(num_entries, 0.0);
  upper_.assign(num_entries, 0.0);
  for (int i = 0; i < size(); ++i) upper_[profile_.index(i, i)] = 1;
}

bool ProfileLu::factor() {
  for (int i = 0; i < size(); ++i) {
    base::check_limits();
    double* const L_i = lower_.data() + profile_.index(i, 0);
    double* const U_i = upper_.data() + profile_.index(i, 0);
    for (int j = profile_.first(i); j < i; ++j) {
      const int k = std::max(profile_.first(i), profile_.first(j)), n = j - k;
      const double* const U_j = upper(j);
      L_i[j] = (L_i[j] - math::dot(n, L_i + k, U_j + k)) / U_j[j];
      U_i[j] -= math::dot(n, lower(j) + k, U_i + k);
    }
    const int k = profile_.first(i);
    U_i[i] -= math::dot(i - k, L_i + k, U_i + k);
    if (!(std::abs(U_i[i]) > 0) || !std::isfinite(U_i[i])) return false;
  }
  return true;
}

int ProfileLu::determinant_sign() const {
  int sign = 1;
  for (int i = 0; i < size(); ++i)
    if (upper(i)[i] < 0) sign = -sign;
  return sign;
}

void ProfileLu::solve(std::span<double> x) const {
  STICTION_ASSERT(static_cast<int>(x.size()) == size());
  for (int i = 0; i < size(); ++i) {
    const int k = profile_.first(i);
    x[i] -= math::dot(i - k, lower(i) + k, x.data() + k);
  }
  for (int i = size() - 1; i >= 0; --i) {
    const int k = profile_.first(i);
    x[i] /= upper(i)[i];
    math::add_multiple(i - k, -x[i], upper(i) + k, x.data() + k);
  }
}

}  // namespace stiction::numerics
