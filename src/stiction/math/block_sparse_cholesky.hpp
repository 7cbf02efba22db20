#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stiction::math {

/// An edge between two blocks of a symmetric block-sparse matrix, or two nodes of its graph.
struct BlockEdge {
  int a;
  int b;
  friend bool operator==(const BlockEdge&, const BlockEdge&) = default;
};

/// Approximate-minimum-degree ordering (SuiteSparse AMD, [amestoy2004]). Keeps its memory.
class MinimumDegreeOrdering {
 public:
  /// Computes an elimination order that keeps the fill of a Cholesky factor small.
  /// @param num_nodes number of nodes n >= 0
  /// @param edges     pairs of nodes in [0, n); repeats and self-edges are allowed
  /// @return order, size n: order[p] is the node eliminated p-th. Valid until the next call.
  std::span<const int> compute(int num_nodes, std::span<const BlockEdge> edges);

 private:
  std::vector<int> order_;
  std::vector<int> degree_;
  std::vector<int> work_;  // arrays of amd_2, one after the other
};

/// Cholesky factorization A = L D L^T of a symmetric positive definite matrix of dense blocks. L
/// has ones on its diagonal.
///
/// `analyze` fixes the pattern. Then the values are written block by block, factored, and used for
/// solves, as often as needed and without allocation. Blocks are eliminated in the order given, so
/// order them with MinimumDegreeOrdering first. Each block column is one column-major panel: the
/// diagonal block on top, then the blocks below it in increasing order. A panel is therefore
/// factored and updated with dense kernels.
///
/// A matrix of one block is padded to a multiple of four rows by a unit matrix, which its factor
/// keeps. Most matrices of robots have one block.
class BlockSparseCholesky {
 public:
  /// The storage of a block: element (r, c) is data[r + c * stride].
  struct Block {
    double* data;
    int stride;
  };

  /// Finds the pattern of the factor and allocates its storage.
  /// @param block_sizes number of rows of each diagonal block, size n; may be 0
  /// @param edges       off-diagonal blocks; the order of the two ends does not matter, and repeats
  ///                    and self-edges are allowed
  void analyze(std::span<const int> block_sizes, std::span<const BlockEdge> edges);

  int num_blocks() const { return static_cast<int>(first_row_.size()) - 1; }
  int num_rows() const { return first_row_.back(); }
  int first_row(int block) const { return first_row_[block]; }
  int block_size(int block) const { return first_row_[block + 1] - first_row_[block]; }
  /// The number of stored values, including fill and the upper triangles of diagonal blocks.
  std::size_t num_values() const { return values_.size(); }

  /// Starts a new matrix: sets the blocks below the diagonal to zero, and forgets eliminate_first.
  /// The lower triangles of the diagonal blocks must be written.
  void start();
  /// Returns the diagonal block `i`. Only its lower triangle is read.
  Block diagonal(int i) { return {values_.data() + value_start_[i], panel_rows_[i]}; }
  /// Returns the block (i, j), i > j, of an edge given to `analyze`.
  Block below_diagonal(int i, int j);
  /// Copies a dense symmetric column-major block to the diagonal, at least its lower triangle.
  void copy_diagonal(int i, const double* A);
  /// Copies the dense column-major block (i, j) of an edge to its storage, transposed if i < j.
  void copy_off_diagonal(int i, int j, const double* A);

  /// Eliminates the first `num_blocks` blocks and saves the Schur complement of the other blocks.
  /// The values of the eliminated blocks must not change afterwards. factor() continues from there.
  /// @return false if these blocks are not numerically positive definite
  bool eliminate_first(int num_blocks);
  /// Restores the Schur complement that eliminate_first saved.
  void restore_remaining();
  /// Replaces the values with the factor.
  /// @return false if the matrix is not numerically positive definite
  bool factor();
  /// Computes x <- A^-1 x with the factor. x has size num_rows().
  void solve_in_place(std::span<double> x) const;
  /// Computes x <- D^(-1/2) L^-1 x. The Euclidean norm of the result is sqrt(x^T A^-1 x).
  void solve_lower_in_place(std::span<double> x) const;
  /// Adds to `reach`, without repeats, the blocks of L^-1 x that are nonzero if x is so in `block`.
  void add_reach(int block, std::vector<int>* reach) const;
  /// Computes Y <- L^-1 Y for six right-hand sides, in the blocks of `reach` only. For right-hand
  /// sides B the product B^T A^-1 B is then Y^T D^-1 Y.
  /// @param reach ascending; the blocks where B is nonzero, and all blocks that add_reach adds for
  ///              them
  /// @param Y     in: B, out: L^-1 B; row-major, six numbers per row
  void solve_lower_six(std::span<const int> reach, double* Y) const;
  /// The same for `width` right-hand sides, a multiple of four.
  void solve_lower_panel(std::span<const int> reach, int width, double* Y) const;
  /// Returns 1 / D for the rows of a block.
  const double* inv_diagonal(int block) const { return inv_diagonal_.data() + first_row_[block]; }

 private:
  /// Arrays of analyze, not needed afterwards, with an entry per block, except for `adjacency`.
  struct PatternScratch {
    // The neighbors of higher index of block i: entries [start, end) of `adjacency`.
    std::vector<int> adjacency_start, adjacency_end, adjacency;
    std::vector<int> first_child, next_sibling;  // in the elimination tree; -1: none
    std::vector<int> last_column;                // last column whose structure has the block
  };

  // The parts of analyze, in this order.
  void list_higher_neighbors(std::span<const BlockEdge> edges);
  void find_structure();  // of the factor, with the elimination tree
  void lay_out_panels(std::span<const int> block_sizes);
  void list_updates();

  bool is_padded() const { return num_blocks() == 1; }
  /// Writes the unit matrix of a padded matrix, and the zeros beside it.
  void write_padding();

  /// Eliminates the block columns [begin, end).
  bool eliminate(int begin, int end);
  /// Computes x <- L^-1 x.
  void solve_unit_lower(double* x) const;

  std::vector<int> first_row_;            // first row of each block, size n + 1
  std::vector<int> panel_rows_;           // number of rows of each panel, with padding
  std::vector<std::size_t> value_start_;  // first value of each panel
  std::vector<int> below_start_;          // first entry in below_ of each panel, size n + 1
  std::vector<int> below_;         // blocks under the diagonal block of each panel, ascending
  std::vector<int> below_offset_;  // first row of each of these blocks in its panel
  /// Rows of a panel that update rows of a panel to the right.
  struct Update {
    int from;  // first row in the panel
    int to;    // first row in the other panel
    int rows;
  };
  std::vector<int> update_start_;  // first entry in updates_ of each entry of below_, and the end
  std::vector<Update> updates_;    // in order of use
  std::vector<double> values_;
  std::vector<double> remaining_;  // Schur complement that eliminate_first saved
  int num_eliminated_ = 0;
  std::vector<double> inv_diagonal_;  // 1 / D
  std::vector<double> LD_;            // L D of one block, for its products with other blocks
  std::vector<int> parent_;           // parent of each block in the elimination tree; -1: none
  PatternScratch pattern_;
};

}  // namespace stiction::math
