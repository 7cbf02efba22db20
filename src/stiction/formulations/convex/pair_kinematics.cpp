#include "stiction/formulations/convex/pair_kinematics.hpp"

#include "stiction/base/assert.hpp"
#include "stiction/contact/jacobian.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Segment;
using math::BlockSparseCholesky;
using math::Six;
using math::SixBySix;

namespace {

bool is_zero(const std::array<double, 3>& r) { return r[0] == 0 && r[1] == 0 && r[2] == 0; }

/// Returns M X with X = [I 0; -[r]x I], by column operations.
SixBySix shift_columns(const SixBySix& m, const std::array<double, 3>& r) {
  const Six* c = m.column;
  return {{multiply_subtract(c[4], r[2], multiply_add(c[5], r[1], c[0])),
           multiply_subtract(c[5], r[0], multiply_add(c[3], r[2], c[1])),
           multiply_subtract(c[3], r[1], multiply_add(c[4], r[0], c[2])), c[3], c[4], c[5]}};
}

/// Returns X_row^T G X_column of two rigid bodies or one; X^T shifts each column as a wrench.
SixBySix rigid_block(const SixBySix& G, const Segment& row, const Segment& column) {
  SixBySix block = is_zero(column.offset) ? G : shift_columns(G, column.offset);
  if (!is_zero(row.offset))
    for (Six& c : block.column) c = math::shift_wrench(c, row.offset.data());
  if (row.sign * column.sign < 0)
    for (Six& c : block.column) c = c * -1;
  return block;
}

/// A view of a block of the Hessian, or of its transpose.
struct View {
  double* data;
  int row_stride, column_stride;

  static View of(const BlockSparseCholesky::Block& block) { return {block.data, 1, block.stride}; }
  View transposed() const { return {data, column_stride, row_stride}; }
  double& operator()(int i, int j) const { return data[i * row_stride + j * column_stride]; }
};

/// Adds J_row^T G J_column to a block. The column segment has columns; the row segment any kind.
void add_joint_columns(const ContactProblem& problem, const SixBySix& G, const Segment& row,
                       const Segment& column, const View& to) {
  const double* J_row = problem.columns.data() + 6 * row.first_column;
  const double* J_column = problem.columns.data() + 6 * column.first_column;
  const int* row_dof = problem.column_dof.data() + row.first_column;
  const int* column_dof = problem.column_dof.data() + column.first_column;
  for (int c = 0; c < column.num_columns; ++c) {
    const Six F = G * (J_column + 6 * c);
    double* to_column = &to(0, column_dof[c]);
    if (row.is_rigid_body) {
      const Six wrench = math::shift_wrench(F, row.offset.data()) * row.sign;
      for (int i = 0; i < 6; ++i) to_column[i * to.row_stride] += wrench[i];
    } else {
      // Write the lower triangle of a diagonal block.
      for (int r = &row == &column ? c : 0; r < row.num_columns; ++r)
        to_column[row_dof[r] * to.row_stride] += dot(Six::load(J_row + 6 * r), F);
    }
  }
}

/// Adds the block of two segments, at least one of which has Jacobian columns.
void add_joint_block(const ContactProblem& problem, const SixBySix& G, const Segment& row,
                     const Segment& column, const View& to) {
  if (column.is_rigid_body)
    add_joint_columns(problem, G, column, row, to.transposed());  // G is symmetric
  else
    add_joint_columns(problem, G, row, column, to);
}

}  // namespace

void add_pair_hessian(const ContactProblem& problem, const SixBySix& G,
                      std::span<const SegmentBlock> segments, BlockSparseCholesky* H) {
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = *segments[s].segment;
    const BlockSparseCholesky::Block diagonal = H->diagonal(segments[s].block);
    if (segment.is_rigid_body)
      rigid_block(G, segment, segment).add_to(diagonal.data, diagonal.stride);
    else
      add_joint_columns(problem, G, segment, segment, View::of(diagonal));

    for (std::size_t t = 0; t < s; ++t) {
      // The block below the diagonal has the rows of the segment that is eliminated later.
      const bool s_is_later = segments[s].block > segments[t].block;
      STICTION_ASSERT(segments[s].block != segments[t].block);
      const SegmentBlock& row = segments[s_is_later ? s : t];
      const SegmentBlock& column = segments[s_is_later ? t : s];
      const BlockSparseCholesky::Block to = H->below_diagonal(row.block, column.block);
      if (row.segment->is_rigid_body && column.segment->is_rigid_body)
        rigid_block(G, *row.segment, *column.segment).add_to(to.data, to.stride);
      else
        add_joint_block(problem, G, *row.segment, *column.segment, View::of(to));
    }
  }
}

SixBySix calc_free_body_hessian(const SixBySix& G, const Segment& segment) {
  return rigid_block(G, segment, segment);
}

CompensatedMotion::CompensatedMotion(const contact::ContactProblem& problem,
                                     std::span<const SegmentBlock> segments, const double* v,
                                     const double* low) {
  for (const SegmentBlock& s : segments) {
    const auto speed = [&](int dof) {
      return math::DoubleDouble::sum(v[s.dof + dof], low[s.dof + dof]);
    };
    contact::for_each_column(problem, *s.segment, [&](int dof, const double* column) {
      for (int i = 0; i < 3; ++i) {
        w_[i] += column[i] * speed(dof);
        v_[i] += column[3 + i] * speed(dof);
      }
    });
  }
}

std::array<double, 6> CompensatedMotion::calc_velocity(const contact::Contact& contact) const {
  const auto& r = contact.offset;
  const math::DoubleDouble v_p[3] = {v_[0] + w_[1] * r[2] - w_[2] * r[1],
                                     v_[1] + w_[2] * r[0] - w_[0] * r[2],
                                     v_[2] + w_[0] * r[1] - w_[1] * r[0]};
  const auto along = [&](int axis, const math::DoubleDouble* a) {
    const double* e = contact.R_WC.data() + 3 * axis;
    return e[0] * a[0] + e[1] * a[1] + e[2] * a[2];
  };
  return {static_cast<double>(along(0, v_p) + contact.bias[0]),
          static_cast<double>(along(1, v_p) + contact.bias[1]),
          static_cast<double>(along(2, v_p) + contact.bias[2]),
          static_cast<double>(along(2, w_) + contact.spin_bias),
          static_cast<double>(along(0, w_)),
          static_cast<double>(along(1, w_))};
}

}  // namespace stiction::formulations
