#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/six.hpp"

/// Products J^T G J of body pairs. One 6 x 6 matrix G stands for all contacts of a pair, so the
/// cost per contact does not depend on the number of dofs, [theory:pair-hessian].
namespace stiction::formulations {

/// A segment and the place of its block in a solve.
struct SegmentBlock {
  const contact::Segment* segment = nullptr;
  int block = -1;  // index in the island's Hessian
  int dof = 0;     // first dof of the block in solver order
};

/// Adds J^T G J of a body pair to the block-sparse Hessian H.
/// @param G        sum of Phi^T G_c Phi over the pair's contacts [kg, kg m, kg m^2]
/// @param segments segments of the pair, each with a different block
void add_pair_hessian(const contact::ContactProblem& problem, const math::SixBySix& G,
                      std::span<const SegmentBlock> segments, math::BlockSparseCholesky* H);

/// Returns J^T G J of a pair whose only segment is a free body.
math::SixBySix calc_free_body_hessian(const math::SixBySix& G, const contact::Segment& segment);

}  // namespace stiction::formulations
