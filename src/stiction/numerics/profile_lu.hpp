#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"

namespace stiction::numerics {

/// Factorization A = L U, without row exchanges, of an unsymmetric matrix whose entries lie
/// symmetrically to its diagonal: row i of the lower triangle, and column i of the upper one, have
/// entries from first(i) on. L has a unit diagonal. The calls are `start`, `widen`, `allocate`,
/// `add`, `factor`, `solve`; from `allocate` on they may be repeated. Keeps its memory.
class ProfileLu {
 public:
  /// Starts a matrix that has entries on its diagonal alone.
  void start(int size);
  /// Lets row i of the lower triangle have entries from column j <= i on.
  void widen(int i, int j) {
    STICTION_ASSERT(0 <= j && j <= i && i < size());
    if (j < first_[i]) first_[i] = j;
  }
  /// Sets the matrix to the identity.
  void allocate();
  /// Adds x to the entry of row i and column j, which is within the profile.
  void add(int i, int j, double x) {
    STICTION_ASSERT(j >= i || j >= first_[i]);
    (j < i ? lower_[start_[i] + j] : upper_[start_[j] + i]) += x;
  }
  int size() const { return static_cast<int>(first_.size()); }

  /// Replaces A by L and U.
  /// @return false if a pivot is 0 or not finite
  [[nodiscard]] bool factor();
  /// Replaces x by A^-1 x. Requires `factor`.
  void solve(std::span<double> x) const;

 private:
  const double* lower(int i) const { return lower_.data() + start_[i]; }
  const double* upper(int i) const { return upper_.data() + start_[i]; }

  std::vector<int> first_, start_;  // entry (i, j) of the lower triangle is at start_[i] + j
  // Rows of the lower triangle, and columns of the upper one with the diagonal.
  std::vector<double> lower_, upper_;
};

}  // namespace stiction::numerics
