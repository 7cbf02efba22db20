#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stiction/base/assert.hpp"

namespace stiction::numerics {

/// The rows of a bounded problem whose z is at one of its bounds, in ratio-tested pivoting. All
/// other rows with bounds on both sides are active. Keeps its memory.
class ClampedRows {
 public:
  void clear() {
    rows_.clear();
    z_.clear();
    directions_.clear();
  }
  /// @param z         -bound or bound of the row
  /// @param direction of the row, see lcp_operators.hpp
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
