#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/numerics/row_profile.hpp"

namespace stiction::numerics {

/// Factorization A = L U, without row exchanges, of an unsymmetric matrix whose entries lie
/// symmetrically to its diagonal: row i of the lower triangle, and column i of the upper one, have
/// entries from first(i) on. L has a unit diagonal. The calls are `start`, `widen`, `allocate`,
/// `add`, `factor`, `solve`; from `allocate` on they may be repeated. Keeps its memory.
class ProfileLu {
 public:
  /// Starts a matrix that has entries on its diagonal alone.
  void start(int size) { profile_.start(size); }
  /// Lets row i of the lower triangle have entries from column j <= i on.
  void widen(int i, int j) { profile_.widen(i, j); }
  /// Sets the matrix to the identity.
  void allocate();
  /// Adds x to the entry of row i and column j, which is within the profile.
  void add(int i, int j, double x) {
    STICTION_ASSERT(j >= i || j >= profile_.first(i));
    (j < i ? lower_[profile_.index(i, j)] : upper_[profile_.index(j, i)]) += x;
  }
  int size() const { return profile_.size(); }

  /// Replaces A by L and U.
  /// @return false if a pivot is 0 or not finite
  [[nodiscard]] bool factor();
  /// The sign of det A. Requires `factor`.
  int determinant_sign() const;
  /// Replaces x by A^-1 x. Requires `factor`.
  void solve(std::span<double> x) const;

 private:
  /// Row i of the lower triangle, and column i of the upper one, so that lower(i)[j] is an entry.
  const double* lower(int i) const { return lower_.data() + profile_.index(i, 0); }
  const double* upper(int i) const { return upper_.data() + profile_.index(i, 0); }

  RowProfile profile_;
  // Rows of the lower triangle, and columns of the upper one with the diagonal.
  std::vector<double> lower_, upper_;
};

}  // namespace stiction::numerics
