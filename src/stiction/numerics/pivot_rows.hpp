#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/numerics/factorizations.hpp"

/// The rows that ratio-tested pivoting moves from z = 0; for directions see lcp_operators.hpp.
namespace stiction::numerics {

/// The active rows a, where w = 0, with the factor L of Q_aa. Keeps its memory.
struct ActiveRows {
  std::vector<int> rows;
  std::vector<double> z;
  std::vector<const double*> directions;  // rows of N or columns of Q
  GrowingCholesky cholesky;
  std::vector<double> q, l, a;  // q, L^-1 q and Q_aa^-1 q of the last solve, padded

  int size() const { return static_cast<int>(rows.size()); }
  void clear() {
    rows.clear();
    z.clear();
    directions.clear();
    cholesky.clear();
  }
  /// Makes q, l and a large enough for `solve`.
  void fit() {
    const std::size_t padded = cholesky.padded_size();
    if (q.size() < padded)
      for (std::vector<double>* scratch : {&q, &l, &a}) scratch->resize(padded);
  }
  /// Computes l = L^-1 q and a = L^-T l.
  void solve() {
    cholesky.solve_lower(q.data(), l.data());
    cholesky.solve_lower_transposed(l.data(), a.data());
  }
  /// Appends the row whose products with the others were q in the last `solve`.
  void append(int row, double z_row, const double* direction, double pivot) {
    cholesky.append(a.data(), pivot);
    rows.push_back(row);
    z.push_back(z_row);
    directions.push_back(direction);
  }
  void remove(int place) {
    cholesky.remove(place);
    rows.erase(rows.begin() + place);
    z.erase(z.begin() + place);
    directions.erase(directions.begin() + place);
  }
};

/// The rows of a bounded problem whose z is at a bound; the others are active. Keeps its memory.
class ClampedRows {
 public:
  void clear() {
    rows_.clear();
    z_.clear();
    directions_.clear();
  }
  /// @param z         -bound or bound of the row
  void add(int row, double z, const double* direction) {
    rows_.push_back(row);
    z_.push_back(z);
    directions_.push_back(direction);
  }
  /// Removes a row.
  /// @return its z
  double remove(int row) {
    const auto found = std::find(rows_.begin(), rows_.end(), row);
    STICTION_ASSERT(found != rows_.end());
    const auto place = found - rows_.begin();
    const double z = z_[place];
    rows_.erase(found);
    z_.erase(z_.begin() + place);
    directions_.erase(directions_.begin() + place);
    return z;
  }

  int size() const { return static_cast<int>(rows_.size()); }
  int row(int k) const { return rows_[k]; }
  double z(int k) const { return z_[k]; }
  const double* z_data() const { return z_.data(); }
  const double* const* directions() const { return directions_.data(); }
  bool contains(int row) const { return std::find(rows_.begin(), rows_.end(), row) != rows_.end(); }

 private:
  std::vector<int> rows_;
  std::vector<double> z_;
  std::vector<const double*> directions_;
};

}  // namespace stiction::numerics
