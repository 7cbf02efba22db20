#pragma once

#include <array>
#include <span>

#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/pair_hessian.hpp"

/// Contact velocities with more digits than their terms have, for friction and springs so stiff
/// that the last digit of a body's velocity is a large impulse. A velocity is a sum v + rest of two
/// doubles; products and sums are long doubles, of 64 bits on x86-64 and 113 on aarch64. Where
/// these are doubles nothing is gained.
namespace stiction::formulations {

/// v + rest <- v + rest + step, with |rest| at most half a unit in the last place of v.
inline void add_to_fine(double step, double* v, double* rest) {
  const long double sum = static_cast<long double>(*v) + *rest + step;
  *v = static_cast<double>(sum);
  *rest = static_cast<double>(sum - *v);
}

/// The motion of a pair.
class FineMotion {
 public:
  /// @param v, rest in solver order
  FineMotion(const contact::ContactProblem& problem, std::span<const SegmentBlock> segments,
             const double* v, const double* rest);

  /// Sets the batch's v_c.
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
  /// [v_t1, v_t2, v_n, w_n, w_t1, w_t2], rounded once.
  std::array<double, 6> calc_velocity(const contact::Contact& contact) const;

  long double w_[3] = {}, v_[3] = {};
};

}  // namespace stiction::formulations
