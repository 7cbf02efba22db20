#include "stiction/math/block_sparse_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <suitesparse/amd.h>

#include "stiction/base/work_limits.hpp"
#include "stiction/math/dense_kernels.hpp"

namespace stiction::math {

std::span<const int> MinimumDegreeOrdering::compute(int num_nodes,
                                                    std::span<const BlockEdge> edges) {
  const int n = num_nodes;
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  // With at most two nodes, no order causes fill.
  if (n <= 2 || edges.empty()) return order_;

  // amd_2 expects both halves of the pattern, without the diagonal. Count edges, with repeats.
  degree_.assign(n + 1, 0);
  for (const BlockEdge& e : edges) {
    if (e.a == e.b) continue;
    ++degree_[e.a];
    ++degree_[e.b];
  }
  const int nnz = std::accumulate(degree_.begin(), degree_.end(), 0);
  const int room = nnz + nnz / 2 + n + 1;  // amd_2 needs at least nnz / 5 + n spare entries.
  work_.resize(room + 9 * n + n);
  int* index = work_.data();
  int* start = index + room;
  int* length = start + n;
  int* amd_work = length + n;
  for (int i = 0, at = 0; i < n; ++i) {
    start[i] = at;
    length[i] = 0;
    at += degree_[i];
  }
  // List the neighbors of each node once.
  const auto add = [&](int i, int j) {
    const int* begin = index + start[i];
    if (std::find(begin, begin + length[i], j) == begin + length[i])
      index[start[i] + length[i]++] = j;
  };
  for (const BlockEdge& e : edges) {
    if (e.a == e.b) continue;
    add(e.a, e.b);
    add(e.b, e.a);
  }
  // Close the gaps that repeats left, because amd_2 expects contiguous lists.
  int free = 0;
  for (int i = 0; i < n; ++i) {
    std::copy_n(index + start[i], length[i], index + free);
    start[i] = free;
    free += length[i];
  }

  double control[AMD_CONTROL];
  double info[AMD_INFO];
  amd_defaults(control);
  int* nv = amd_work;
  int* next = nv + n;
  int* last = next + n;
  int* head = last + n;
  int* elen = head + n;
  int* deg = elen + n;
  int* w = deg + n;
  amd_2(n, start, index, length, room, free, nv, next, last, head, elen, deg, w, control, info);
  std::copy_n(last, n, order_.begin());
  return order_;
}

namespace {

/// Checks the limits of the step at some of the columns of a loop over columns: often enough to end
/// a factorization of many dense columns soon, and so rarely that small ones cost nothing.
void check_limits_at(int column) {
  constexpr int kColumnsBetweenChecks = 64;
  if (column % kColumnsBetweenChecks == kColumnsBetweenChecks - 1) base::check_limits();
}

/// Copies a column of n numbers from the diagonal on, and some of those above it.
void copy_column(const double* from, int diagonal, int n, double* to) {
  if (n < 4) return void(std::copy_n(from, n, to));
  for (int i = diagonal; i + 4 < n; i += 4) store<Vec4>(to + i, load<Vec4>(from + i));
  store<Vec4>(to + n - 4, load<Vec4>(from + n - 4));
}

/// Computes y -= Y^T l for n rows of six numbers.
/// @param stride distance between successive entries of l
void subtract_six(const double* l, int stride, int n, const double* Y, double* y) {
  Six sum = Six::load(y);
#pragma GCC unroll 2
  for (int i = 0; i < n; ++i) sum = multiply_subtract(Six::load(Y + 6 * i), l[i * stride], sum);
  sum.store(y);
}

/// Computes y -= Y^T l for n rows of `width` numbers, for kGroups groups of four of them.
template <int kGroups>
void subtract_row_groups(int width, int n, const double* l, int stride, const double* Y,
                         double* y) {
  Vec4 sums[kGroups];
  for (int g = 0; g < kGroups; ++g) sums[g] = load<Vec4>(y + 4 * g);
  for (int i = 0; i < n; ++i) {
    const Vec4 a = broadcast_to<Vec4>(-l[i * stride]);
    for (int g = 0; g < kGroups; ++g)
      sums[g] = multiply_add(load<Vec4>(Y + i * width + 4 * g), a, sums[g]);
  }
  for (int g = 0; g < kGroups; ++g) store(y + 4 * g, sums[g]);
}

/// Computes y -= Y^T l for n rows of `width` numbers, a multiple of four.
void subtract_rows(int width, int n, const double* l, int stride, const double* Y, double* y) {
  int k = 0;
  for (; k + 16 <= width; k += 16) subtract_row_groups<4>(width, n, l, stride, Y + k, y + k);
  for (; k + 8 <= width; k += 8) subtract_row_groups<2>(width, n, l, stride, Y + k, y + k);
  if (k < width) subtract_row_groups<1>(width, n, l, stride, Y + k, y + k);
}

}  // namespace

void BlockSparseCholesky::analyze(std::span<const int> block_sizes,
                                  std::span<const BlockEdge> edges) {
  const int n = static_cast<int>(block_sizes.size());
  first_row_.resize(n + 1);
  first_row_[0] = 0;
  for (int i = 0; i < n; ++i) first_row_[i + 1] = first_row_[i] + block_sizes[i];
  list_higher_neighbors(edges);
  find_structure();
  lay_out_panels(block_sizes);
  list_updates();
}

void BlockSparseCholesky::list_higher_neighbors(std::span<const BlockEdge> edges) {
  const int n = num_blocks();
  pattern_.adjacency_start.assign(n + 1, 0);
  for (const BlockEdge& e : edges)
    if (e.a != e.b) ++pattern_.adjacency_start[std::min(e.a, e.b) + 1];
  for (int i = 0; i < n; ++i) pattern_.adjacency_start[i + 1] += pattern_.adjacency_start[i];
  pattern_.adjacency.resize(pattern_.adjacency_start[n]);
  pattern_.adjacency_end.assign(pattern_.adjacency_start.begin(),
                                pattern_.adjacency_start.end() - 1);
  for (const BlockEdge& e : edges)
    if (e.a != e.b)
      pattern_.adjacency[pattern_.adjacency_end[std::min(e.a, e.b)]++] = std::max(e.a, e.b);
}

// The structure of column j: its own edges, and the structures of its children without j.
void BlockSparseCholesky::find_structure() {
  const int n = num_blocks();
  parent_.assign(n, -1);
  pattern_.first_child.assign(n, -1);
  pattern_.next_sibling.assign(n, -1);
  pattern_.last_column.assign(n, -1);
  below_start_.assign(n + 1, 0);
  below_.clear();
  for (int j = 0; j < n; ++j) {
    check_limits_at(j);
    const int begin = static_cast<int>(below_.size());
    const auto add = [&](int i) {
      if (i <= j || pattern_.last_column[i] == j) return;
      pattern_.last_column[i] = j;
      below_.push_back(i);
    };
    for (int p = pattern_.adjacency_start[j]; p < pattern_.adjacency_start[j + 1]; ++p)
      add(pattern_.adjacency[p]);
    for (int c = pattern_.first_child[j]; c >= 0; c = pattern_.next_sibling[c])
      for (int p = below_start_[c]; p < below_start_[c + 1]; ++p) add(below_[p]);
    std::sort(below_.begin() + begin, below_.end());
    below_start_[j + 1] = static_cast<int>(below_.size());
    if (below_start_[j + 1] > begin) {
      const int parent = below_[begin];
      parent_[j] = parent;
      pattern_.next_sibling[j] = pattern_.first_child[parent];
      pattern_.first_child[parent] = j;
    }
  }
}

void BlockSparseCholesky::lay_out_panels(std::span<const int> block_sizes) {
  const int n = num_blocks();
  panel_rows_.resize(n);
  value_start_.resize(n);
  below_offset_.resize(below_.size());
  std::size_t num_values = 0;
  for (int j = 0; j < n; ++j) {
    int rows = block_sizes[j];
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      below_offset_[p] = rows;
      rows += block_sizes[below_[p]];
    }
    const int columns = is_padded() ? round_up(block_sizes[j]) : block_sizes[j];
    panel_rows_[j] = is_padded() ? columns : rows;
    value_start_[j] = num_values;
    num_values += static_cast<std::size_t>(panel_rows_[j]) * columns;
  }
  values_.resize(num_values);
  remaining_.reserve(num_values);
  num_eliminated_ = 0;
  const int widest = n > 0 ? *std::max_element(block_sizes.begin(), block_sizes.end()) : 0;
  inv_diagonal_.resize(is_padded() ? round_up(widest) : first_row_[n]);
  const auto width = static_cast<std::size_t>(round_up(widest));
  LD_.resize(width * width);
  if (is_padded()) write_padding();
}

void BlockSparseCholesky::write_padding() {
  const int size = block_size(0), stride = panel_rows_[0];
  for (int c = 0; c < stride; ++c)
    for (int r = c < size ? size : 0; r < stride; ++r) values_[r + c * stride] = r == c;
}

// Panel j updates the panel of each block k below its diagonal, in the rows of k itself and of all
// blocks of panel j below k. Blocks that follow each other in both panels are updated together.
void BlockSparseCholesky::list_updates() {
  const int n = num_blocks();
  update_start_.clear();
  updates_.clear();
  for (int j = 0; j < n; ++j) {
    check_limits_at(j);
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const int k = below_[p];
      update_start_.push_back(static_cast<int>(updates_.size()));
      updates_.push_back({.from = below_offset_[p], .to = 0, .rows = block_size(k)});
      int at = below_start_[k];
      for (int q = p + 1; q < below_start_[j + 1]; ++q) {
        while (below_[at] != below_[q]) ++at;
        const int to = below_offset_[at], rows = block_size(below_[q]);
        Update& last = updates_.back();
        if (to == last.to + last.rows)
          last.rows += rows;
        else
          updates_.push_back({.from = below_offset_[q], .to = to, .rows = rows});
      }
    }
  }
  update_start_.push_back(static_cast<int>(updates_.size()));
}

void BlockSparseCholesky::start() {
  if (!is_padded()) std::fill(values_.begin(), values_.end(), 0.0);
  num_eliminated_ = 0;
}

bool BlockSparseCholesky::eliminate_first(int num_blocks) {
  if (!eliminate(0, num_blocks)) return false;
  num_eliminated_ = num_blocks;
  const std::size_t begin =
      num_blocks < this->num_blocks() ? value_start_[num_blocks] : values_.size();
  remaining_.assign(values_.begin() + begin, values_.end());
  return true;
}

void BlockSparseCholesky::restore_remaining() {
  std::copy(remaining_.begin(), remaining_.end(), values_.end() - remaining_.size());
}

BlockSparseCholesky::Block BlockSparseCholesky::below_diagonal(int i, int j) {
  const auto begin = below_.begin() + below_start_[j];
  const auto end = below_.begin() + below_start_[j + 1];
  const auto at = std::lower_bound(begin, end, i);
  const int offset = below_offset_[at - below_.begin()];
  return {values_.data() + value_start_[j] + offset, panel_rows_[j]};
}

void BlockSparseCholesky::copy_diagonal(int i, const double* A) {
  const int n = block_size(i);
  const Block to = diagonal(i);
  if (n == 6) {
    for (int c = 0; c < 6; ++c) Six::load(A + 6 * c).store(to.data + c * to.stride);
    return;
  }
  for (int c = 0; c < n; ++c) copy_column(A + c * n, c, n, to.data + c * to.stride);
}

void BlockSparseCholesky::copy_off_diagonal(int i, int j, const double* A) {
  const int rows = block_size(i), columns = block_size(j);
  if (i > j) {
    const Block to = below_diagonal(i, j);
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) to.data[r + c * to.stride] = A[r + c * rows];
    return;
  }
  const Block to = below_diagonal(j, i);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) to.data[c + r * to.stride] = A[r + c * rows];
}

bool BlockSparseCholesky::factor() { return eliminate(num_eliminated_, num_blocks()); }

bool BlockSparseCholesky::eliminate(int begin, int end) {
  if (is_padded() && begin < end) {
    if (factor_multiple_of_four(panel_rows_[0], values_.data(), inv_diagonal_.data(), LD_.data()))
      return true;
    write_padding();  // numbers that are not finite may have reached it
    return false;
  }
  for (int j = begin; j < end; ++j) {
    check_limits_at(j);
    const int width = block_size(j);
    const int rows = panel_rows_[j];
    double* panel = values_.data() + value_start_[j];
    if (!factor_panel(rows, width, panel, rows, inv_diagonal_.data() + first_row_[j], LD_.data()))
      return false;

    // Subtracts the outer products of the rows below from the panels to the right.
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const int k = below_[p];
      const int k_rows = panel_rows_[k];
      const int k_width = block_size(k);
      double* k_panel = values_.data() + value_start_[k];
      double* right = LD_.data();  // L_kj D_j
      scale_columns({panel + below_offset_[p], k_width, width, rows}, panel, rows + 1, right);
      for (int u = update_start_[p]; u < update_start_[p + 1]; ++u) {
        const Update& update = updates_[u];
        const double* left = panel + update.from;
        double* to = k_panel + update.to;
        if (width == 6 && k_width == 6 && update.rows % 2 == 0)
          subtract_abt_6(update.rows, left, rows, right, to, k_rows);
        else
          subtract_abt({left, update.rows, width, rows}, {right, k_width, width}, to, k_rows);
      }
    }
  }
  return true;
}

void BlockSparseCholesky::solve_unit_lower(double* x) const {
  const int n = num_blocks();
  for (int j = 0; j < n; ++j) {
    const int width = block_size(j);
    const int rows = panel_rows_[j];
    const double* panel = values_.data() + value_start_[j];
    double* xj = x + first_row_[j];
    if (width == 6)
      solve_lower_6(panel, rows, xj);
    else
      solve_lower(width, panel, rows, xj);
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const int i = below_[p];
      const double* block = panel + below_offset_[p];
      double* xi = x + first_row_[i];
      if (width == 6 && block_size(i) == 6)
        (Six::load(xi) - multiply(block, rows, xj)).store(xi);
      else
        add_av<-1>({block, block_size(i), width, rows}, xj, xi);
    }
  }
}

void BlockSparseCholesky::solve_lower_in_place(std::span<double> x) const {
  solve_unit_lower(x.data());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::sqrt(inv_diagonal_[i]);
}

void BlockSparseCholesky::solve_in_place(std::span<double> x) const {
  solve_unit_lower(x.data());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= inv_diagonal_[i];
  for (int j = num_blocks() - 1; j >= 0; --j) {
    const int width = block_size(j);
    const int rows = panel_rows_[j];
    const double* panel = values_.data() + value_start_[j];
    double* xj = x.data() + first_row_[j];
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const int i = below_[p];
      const double* block = panel + below_offset_[p];
      const double* xi = x.data() + first_row_[i];
      if (width == 6 && block_size(i) == 6)
        (Six::load(xj) - multiply_transposed(block, rows, Six::load(xi))).store(xj);
      else
        add_atv(-1, {block, block_size(i), width, rows}, xi, xj);
    }
    if (width == 6)
      solve_lower_transposed_6(panel, rows, xj);
    else
      solve_lower_transposed(width, panel, rows, xj);
  }
}

void BlockSparseCholesky::add_reach(int block, std::vector<int>* reach) const {
  for (int j = block; j >= 0; j = parent_[j]) {
    if (std::find(reach->begin(), reach->end(), j) != reach->end()) return;
    reach->push_back(j);
  }
}

void BlockSparseCholesky::solve_lower_six(std::span<const int> reach, double* Y) const {
  for (const int j : reach) {
    const int width = block_size(j), rows = panel_rows_[j];
    const double* panel = values_.data() + value_start_[j];
    const double* Yj = Y + 6 * first_row_[j];
    for (int r = 0; r < width; ++r)
      subtract_six(panel + r, rows, r, Yj, Y + 6 * (first_row_[j] + r));
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const double* block = panel + below_offset_[p];
      for (int r = 0; r < block_size(below_[p]); ++r)
        subtract_six(block + r, rows, width, Yj, Y + 6 * (first_row_[below_[p]] + r));
    }
  }
}

void BlockSparseCholesky::solve_lower_panel(std::span<const int> reach, int width,
                                            double* Y) const {
  const auto row = [&](int i) { return Y + static_cast<std::ptrdiff_t>(i) * width; };
  for (const int j : reach) {
    const int size = block_size(j), stride = panel_rows_[j], first = first_row_[j];
    const double* panel = values_.data() + value_start_[j];
    for (int r = 1; r < size; ++r)
      subtract_rows(width, r, panel + r, stride, row(first), row(first + r));
    for (int p = below_start_[j]; p < below_start_[j + 1]; ++p) {
      const double* block = panel + below_offset_[p];
      for (int r = 0; r < block_size(below_[p]); ++r)
        subtract_rows(width, size, block + r, stride, row(first), row(first_row_[below_[p]] + r));
    }
  }
}

}  // namespace stiction::math
