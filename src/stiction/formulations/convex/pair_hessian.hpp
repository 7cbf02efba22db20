#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/six.hpp"

/// Adds J^T G J of a body pair to a block-sparse Hessian, with one 6 x 6 matrix G for all its
/// contacts: the cost per contact does not depend on the number of dofs, [theory:pair-hessian].
namespace stiction::formulations {

/// A segment and its block's place in the order of elimination.
struct SegmentBlock {
  const contact::Segment* segment = nullptr;
  int block = -1;
  int dof = 0;  // the block's first, in solver order
};

/// @param G  sum over the pair's contacts of Phi^T G_c Phi [kg, kg m, kg m^2]
/// @param segments of different blocks
void add_pair_hessian(const contact::ContactProblem& problem, const math::SixBySix& G,
                      std::span<const SegmentBlock> segments, math::BlockSparseCholesky* H);

/// The same for a pair that one free body moves alone: its block.
math::SixBySix calc_free_body_hessian(const math::SixBySix& G, const contact::Segment& segment);

}  // namespace stiction::formulations
