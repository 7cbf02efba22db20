#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "stiction/base/assert.hpp"

namespace stiction::numerics {

/// The profile of a lower triangle: row i has entries from column first(i) to its diagonal. The
/// entries of all rows lie one after the other in one array. The calls are `start`, `widen`,
/// `lay_out`, then `index`. Keeps its memory.
class RowProfile {
 public:
  /// Starts with rows that have an entry on the diagonal alone.
  void start(int size) {
    STICTION_ASSERT(size >= 0);
    first_.resize(size);
    std::iota(first_.begin(), first_.end(), 0);
  }
  /// Lets row i have entries from column j <= i on.
  void widen(int i, int j) {
    STICTION_ASSERT(0 <= j && j <= i && i < size());
    if (j < first_[i]) first_[i] = j;
  }
  /// Gives each entry its index.
  /// @return the number of entries
  std::size_t lay_out() {
    start_.resize(first_.size());
    std::size_t end = 0;
    for (int i = 0; i < size(); ++i) {
      start_[i] = end - first_[i];  // row i begins behind at least i entries
      end += i - first_[i] + 1;
    }
    return end;
  }

  int size() const { return static_cast<int>(first_.size()); }
  /// The column of the first entry of row i.
  int first(int i) const {
    STICTION_ASSERT(0 <= i && i < size());
    return first_[i];
  }
  /// The index of the entry of row i and column j, where first(i) <= j <= i. Entries of a row are
  /// contiguous, so index(i, 0) + j is the same, also for a row without an entry in column 0.
  std::size_t index(int i, int j) const {
    STICTION_ASSERT(0 <= i && i < size());
    return start_[i] + j;
  }

 private:
  std::vector<int> first_;
  std::vector<std::size_t> start_;
};

}  // namespace stiction::numerics
