#include "stiction/formulations/rigid/tangent_axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

/// Returns the tangential components of the sum of the vectors from a contact to the others of its
/// pair.
std::array<double, 2> sum_others(const RigidTerms& terms, int contact) {
  std::array<double, 2> sum = {};
  const contact::Contact& c = terms.contact(contact);
  const auto add = [&](int other) {
    for (int k = 0; k < 3; ++k) {
      const double d = terms.contact(other).offset[k] - c.offset[k];
      sum[0] += d * c.R_WC[k];
      sum[1] += d * c.R_WC[3 + k];
    }
  };
  const int pair = terms.pairs[contact];
  for (int i = contact - 1; i >= 0 && terms.pairs[i] == pair; --i) add(i);
  for (int i = contact + 1; i < terms.num_contacts() && terms.pairs[i] == pair; ++i) add(i);
  return sum;
}

}  // namespace

void TangentAxes::turn(const RigidTerms& terms, std::vector<double>* T) {
  const int n = terms.num_dofs();
  STICTION_ASSERT(T->size() == static_cast<std::size_t>(2) * n * terms.num_contacts());
  axes_.assign(terms.num_contacts(), {});
  for (int i = 0; i < terms.num_contacts(); ++i) {
    double* const t1 = T->data() + static_cast<std::size_t>(2) * i * n;
    double* const t2 = t1 + n;
    Axis& axis = axes_[i];
    const auto [x, y] = sum_others(terms, i);
    const double length = std::sqrt(x * x + y * y);
    if (length > contact::kTouchDistance) {
      axis = {x / length, y / length};
    } else {
      // The eigenvector of [[g11, g12], [g12, g22]] with the larger eigenvalue.
      const double g11 = math::dot(n, t1, t1), g12 = math::dot(n, t1, t2);
      const double g22 = math::dot(n, t2, t2);
      const double half = 0.5 * (g11 - g22), spread = std::sqrt(half * half + g12 * g12);
      if (spread > kSlippingSpeed * (g11 + g22))
        axis = {std::sqrt(0.5 * (1 + half / spread)),
                std::copysign(std::sqrt(0.5 * std::max(0.0, 1 - half / spread)), g12)};
    }
    for (int k = 0; k < n; ++k) {
      const double first = axis.cos * t1[k] + axis.sin * t2[k];
      t2[k] = axis.cos * t2[k] - axis.sin * t1[k];
      t1[k] = first;
    }
  }
}

void TangentAxes::turn_constants(std::span<double> b_t) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const double first = axis.cos * b_t[2 * i] + axis.sin * b_t[2 * i + 1];
    b_t[2 * i + 1] = axis.cos * b_t[2 * i + 1] - axis.sin * b_t[2 * i];
    b_t[2 * i] = first;
  }
}

void TangentAxes::turn_back(int contact, double* impulse) const {
  if (axes_.empty()) return;
  const Axis& axis = axes_[contact];
  const double first = axis.cos * impulse[0] - axis.sin * impulse[1];
  impulse[1] = axis.sin * impulse[0] + axis.cos * impulse[1];
  impulse[0] = first;
}

}  // namespace stiction::formulations
