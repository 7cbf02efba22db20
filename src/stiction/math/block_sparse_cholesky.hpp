#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stiction/math/ordering.hpp"

namespace stiction::math {

/// Cholesky factorization A = L D L^T of a symmetric positive definite matrix of dense blocks, with
/// ones on the diagonal of L.
///
/// The pattern is fixed by `analyze`; values are then written block by block, factored and solved
/// as often as wanted without allocation. Blocks are eliminated in the order given: order them with
/// MinimumDegreeOrdering first. Each block column is one column-major panel: the diagonal block on
/// top, then the blocks below it in increasing order, so that a panel factors and updates as dense
/// matrices.
class BlockSparseCholesky {
 public:
  /// Where a block lies: element (r, c) at data[r + c * stride]. Lower triangle only.
  struct Block {
    double* data;
    int stride;
  };

  /// Finds the pattern of the factor.
  /// @param block_sizes rows of each diagonal block, size n; zero allowed
  /// @param edges       off-diagonal blocks, any order of their ends; repeats and self-edges
  /// allowed
  void analyze(std::span<const int> block_sizes, std::span<const BlockEdge> edges);

  int num_blocks() const { return static_cast<int>(first_row_.size()) - 1; }
  int num_rows() const { return first_row_.back(); }
  int first_row(int block) const { return first_row_[block]; }
  int block_size(int block) const { return first_row_[block + 1] - first_row_[block]; }
  /// Stored values of the factor, fill and upper triangles of diagonal blocks included.
  std::size_t num_values() const { return values_.size(); }

  void set_zero();
  /// The diagonal block `i`; only its lower triangle is read.
  Block diagonal(int i) { return {values_.data() + value_start_[i], panel_rows_[i]}; }
  /// The block (i, j), i > j, of an edge given to `analyze`.
  Block below_diagonal(int i, int j);
  /// Copies a dense symmetric block, column-major, to the diagonal.
  void copy_diagonal(int i, const double* A);
  /// Copies the dense block (i, j) of an edge, column-major, to its place; i < j is transposed.
  void copy_off_diagonal(int i, int j, const double* A);

  /// Eliminates the first blocks, to which nothing will be added any more, and keeps what that
  /// leaves of the others, their Schur complement; factor() goes on from there.
  /// @return false if they are not numerically positive definite.
  bool eliminate_first(int num_blocks);
  /// Back to what eliminate_first left.
  void restore_remaining();
  /// Replaces the values by the factor.
  /// @return false if the matrix is not numerically positive definite.
  bool factor();
  /// x <- A^-1 x, size num_rows(), with the factor.
  void solve_in_place(std::span<double> x) const;
  /// x <- D^(-1/2) L^-1 x, of the same length as x in the norm of A^-1.
  void solve_lower_in_place(std::span<double> x) const;
  /// Adds to `reach` the blocks that L^-1 fills from a right-hand side in `block`, if not there
  /// yet.
  void add_reach(int block, std::vector<int>* reach) const;
  /// Y <- L^-1 Y for six right-hand sides, in the blocks of `reach` only; A^-1 is then Y^T D^-1 Y.
  /// @param reach ascending, closed under add_reach
  /// @param Y     row-major, six numbers per row, zero outside the given right-hand sides
  void solve_lower_six(std::span<const int> reach, double* Y) const;
  /// 1 / D of the block's rows.
  const double* inv_diagonal(int block) const { return inv_diagonal_.data() + first_row_[block]; }

 private:
  bool eliminate(int begin, int end);
  void solve_unit_lower(double* x) const;

  std::vector<int> first_row_;   // of each block, n + 1
  std::vector<int> panel_rows_;  // rows of each panel
  std::vector<std::size_t> value_start_;
  std::vector<int> below_start_;   // into below_, n + 1
  std::vector<int> below_;         // block rows under the diagonal of each panel, ascending
  std::vector<int> below_offset_;  // row of that block in its panel
  std::vector<int> target_start_;  // into target_, n + 1
  std::vector<int> target_;        // row offsets of the updates in their panels, in order of use
  std::vector<double> values_;
  std::vector<double> remaining_;  // what eliminate_first left
  int num_eliminated_ = 0;
  std::vector<double> inv_diagonal_;  // 1 / D
  std::vector<double> scratch_;       // L D of one block
  // Scratch of analyze.
  std::vector<int> parent_, first_child_, next_sibling_, mark_, adjacency_start_, adjacency_;
};

}  // namespace stiction::math
