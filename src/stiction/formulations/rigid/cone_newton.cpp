#include "stiction/formulations/rigid/cone_newton.hpp"

#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/cone_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void ConeNewton::start(ConeSprings* springs) {
  springs_ = springs;
  iterations_ = 0;
}

bool ConeNewton::solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u) {
  STICTION_ASSERT(springs_ != nullptr);
  stiffness_ = stiffness;
  p_ = p;
  springs_->evaluate(stiffness_, p_, *u, &at_);
  for (int k = 0; k < kMaxConeNewtonSteps; ++k) {
    if (at_.norm <= at_.round_off) return true;
    base::count_iteration();
    ++iterations_;
    if (!calc_direction() || !search(u)) break;
  }
  // The last digits may not decrease any more.
  return at_.norm <= kConeNewtonSlack * at_.round_off;
}

/// Solves M d = -F. M has no row exchanges, so the result is checked.
bool ConeNewton::calc_direction() {
  return springs_->factor(stiffness_, at_) && springs_->solve_negative(at_.F, &direction_);
}

/// Moves u along the direction until |F| decreases.
/// @return false if no step decreases it
bool ConeNewton::search(std::vector<double>* u) {
  for (double step = 1; step >= kLeastConeNewtonStep; step *= 0.5) {
    trial_ = *u;
    math::add_multiple(static_cast<int>(u->size()), step, direction_.data(), trial_.data());
    springs_->evaluate(stiffness_, p_, trial_, &next_);
    if (!(next_.norm < (1 - kConeNewtonDecrease * step) * at_.norm)) continue;
    std::swap(at_, next_);
    u->swap(trial_);
    return true;
  }
  return false;
}

}  // namespace stiction::formulations
