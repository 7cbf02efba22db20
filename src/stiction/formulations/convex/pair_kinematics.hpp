#pragma once

#include <array>
#include <span>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"
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

// Compensated velocities, with more digits than a double. Friction and springs may be so stiff
// that a unit in the last place of a body's velocity changes their impulse by a large amount. A
// compensated velocity is a sum v + low of two doubles, and so are its products and sums.

/// Adds a step to v + low. Afterwards |low| is at most half a unit in the last place of v.
inline void add_to_compensated(double step, double* v, double* low) {
  const math::DoubleDouble sum = math::DoubleDouble::sum(*v, *low) + step;
  *v = sum.high;
  *low = sum.low;
}

/// The motion V of a body pair with the digits of two doubles.
class CompensatedMotion {
 public:
  /// @param v, low compensated velocities in solver order
  CompensatedMotion(const contact::ContactProblem& problem, std::span<const SegmentBlock> segments,
                    const double* v, const double* low);

  /// Sets v_c of a batch of the pair.
  template <class Law>
  void set_velocity(const contact::ContactProblem& problem, ContactBatch<Law>* batch) const {
    for (int lane = 0; lane < batch->source.num_contacts; ++lane) {
      const auto v_c = calc_velocity(problem.contacts[batch->source.contact[lane]]);
      batch->v_c.x[lane] = v_c[0];
      batch->v_c.y[lane] = v_c[1];
      batch->v_c.z[lane] = v_c[2];
    }
  }
  template <class Law>
  void set_velocity(const contact::ContactProblem& problem, TorsionBatch<Law>* batch) const {
    for (int lane = 0; lane < batch->source.num_contacts; ++lane) {
      const auto v_c = calc_velocity(problem.contacts[batch->source.contact[lane]]);
      for (int i = 0; i < 6; ++i) batch->v_c[i][lane] = v_c[i];
    }
  }

 private:
  /// Computes [v_t1, v_t2, v_n, w_n, w_t1, w_t2] with one rounding at the end.
  std::array<double, 6> calc_velocity(const contact::Contact& contact) const;

  math::DoubleDouble w_[3], v_[3];
};

}  // namespace stiction::formulations
