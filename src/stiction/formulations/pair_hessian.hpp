#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/six.hpp"

/// Adds J^T G J of a body pair to a block-sparse Hessian, with one 6 x 6 matrix G for all its
/// contacts: the cost per contact does not depend on the number of dofs (theory section 9).
namespace stiction::formulations {

/// A segment and the block of the Hessian that its tree is.
struct SegmentBlock {
  const contact::Segment* segment = nullptr;
  int block = -1;
};

/// @param G  sum over the pair's contacts of Phi^T G_c Phi [kg, kg m, kg m^2]
/// @param segments 1 or 2, in different trees
void add_pair_hessian(const contact::ContactProblem& problem, const math::SixBySix& G,
                      const SegmentBlock* segments, int num_segments,
                      math::BlockSparseCholesky* H);

}  // namespace stiction::formulations
