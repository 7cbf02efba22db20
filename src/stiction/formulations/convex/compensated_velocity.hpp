#pragma once

#include <array>
#include <span>

#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/pair_hessian.hpp"
#include "stiction/math/double_double.hpp"

/// Compensated velocities, with more digits than a double. Friction and springs may be so stiff
/// that a unit in the last place of a body's velocity changes their impulse by a large amount. A
/// compensated velocity is a sum v + low of two doubles, and so are its products and sums.
namespace stiction::formulations {

/// Adds a step to the compensated velocity v + low. Afterwards |low| is at most half a unit in the
/// last place of v.
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
