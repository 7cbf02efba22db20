#include "stiction/formulations/rigid/cone/cone_path.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void ConePath::start(const ConeBlocks& blocks, ConeSprings* springs) {
  blocks_ = &blocks;
  springs_ = springs;
  has_begun_ = false;
  iterations_ = 0;
}

bool ConePath::follow(double end_stiffness) {
  end_ = math::log(end_stiffness);
  last_iteration_ = iterations_ + kMaxConePathIterations;
  if (!has_begun_) {
    has_begun_ = true;
    rest_.assign(blocks_->size(), BlockVector{});
    find_usual_speed();
    if (!find_first_place()) return false;
  }
  double length = kFirstConePathLength;
  while (at_.s < end_) {
    if (!calc_tangent(at_, &tangent_)) return false;
    if (!advance(tangent_, &length) && !turn_corner(&length)) return false;
  }
  return true;
}

/// Computes the speed of the motion without impulses and of each constant alone.
void ConePath::find_usual_speed() {
  const std::span<const double> u_hat = blocks_->u_hat();
  double squares = math::dot(blocks_->num_dofs(), u_hat.data(), u_hat.data());
  for (int i = 0; i < blocks_->size(); ++i) {
    const ConeBlock& block = (*blocks_)[i];
    if (block.mobility == 0) continue;
    const double normal = std::min(0.0, block.b[0]);  // a gap drives nothing
    const double b = normal * normal + block.b[1] * block.b[1] + block.b[2] * block.b[2];
    squares += b / block.mobility;
  }
  usual_speed_ = std::sqrt(squares);
}

/// Finds the motion of the softest springs, the fixed point of a contraction.
bool ConePath::find_first_place() {
  double largest = 0;  // bound of |M - I| / kappa
  for (int i = 0; i < blocks_->size(); ++i) {
    const ConeBlock& block = (*blocks_)[i];
    largest += block.num_rows * (block.set == BlockSet::kCone ? 1 + block.bound : 1);
  }
  at_.u.assign(blocks_->u_hat().begin(), blocks_->u_hat().end());
  at_.s = std::min(end_, math::log(kSoftestConePath / largest));
  for (int k = 0; k < kMaxFirstConePathSteps; ++k) {
    evaluate(&at_);
    if (at_.springs.norm <= kConePathTolerance * usual_speed_) return true;
    for (std::size_t i = 0; i < at_.u.size(); ++i) at_.u[i] -= at_.springs.F[i];
  }
  return false;
}

void ConePath::evaluate(Place* place) {
  base::count_iteration();
  ++iterations_;
  springs_->evaluate(math::exp(place->s), rest_, place->u, &place->springs);
}

/// Factors M at a place, and computes the slope du/ds that keeps F.
bool ConePath::calc_slope(const Place& place) {
  if (!springs_->factor(math::exp(place.s), place.springs)) return false;
  // Projections on cones are homogeneous, so an impulse changes by r ds. One at a bound stays.
  force_.assign(blocks_->num_dofs(), 0.0);
  for (int i = 0; i < blocks_->size(); ++i) {
    const ConeBlock& block = (*blocks_)[i];
    if (block.set == BlockSet::kInterval && place.springs.states[i] == BlockState::kSlip) continue;
    const BlockVector& r = place.springs.r[i];
    blocks_->add_impulse(block, {-r[0], -r[1], -r[2]}, force_);
  }
  return springs_->solve_negative(force_, &slope_);
}

/// Computes the tangent at a place. The determinant of (F', tangent) keeps its sign along the path,
/// also at corners, where the path may turn by almost 180 degrees.
bool ConePath::calc_tangent(const Place& place, Tangent* out) {
  if (!calc_slope(place)) return false;
  const double slope = math::norm(slope_) / usual_speed_;
  out->s = springs_->determinant_sign() / math::hypot(slope, 1.0);
  out->u.resize(slope_.size());
  for (std::size_t i = 0; i < slope_.size(); ++i) out->u[i] = out->s * slope_[i] / usual_speed_;
  return std::isfinite(slope);
}

/// Moves along a tangent, by a shorter length after each failure.
/// @param length in and out: arc length of the next step
bool ConePath::advance(const Tangent& tangent, double* length) {
  for (; *length >= kLeastConePathLength; *length /= kConePathShortening) {
    const double rest = tangent.s > 0 ? (end_ - at_.s) / tangent.s : *length + 1;
    const bool is_last = rest <= *length;
    if (correct(tangent, is_last ? rest : *length, is_last)) {
      std::swap(at_, next_);
      if (num_corrections_ <= kEasyConePathCorrections)
        *length = std::min(kLargestConePathLength, 2 * *length);
      return true;
    }
    if (iterations_ >= last_iteration_) return false;
  }
  return false;
}

/// Continues at a corner nearer than kLeastConePathLength, along the tangent behind it.
bool ConePath::turn_corner(double* length) {
  states_ = at_.springs.states;
  for (const double ahead : kConePathLooks) {
    if (iterations_ >= last_iteration_) return false;
    next_.u = at_.u;
    math::add_multiple(blocks_->num_dofs(), ahead * usual_speed_, tangent_.u.data(),
                       next_.u.data());
    next_.s = at_.s + ahead * tangent_.s;
    evaluate(&next_);
    if (next_.springs.states == states_) continue;
    states_ = next_.springs.states;
    if (!calc_tangent(next_, &next_tangent_)) continue;
    *length = kFirstConeCornerLength;
    if (advance(next_tangent_, length)) return true;
  }
  return false;
}

/// Steps along a tangent, and returns to the path by Newton's method in the plane across it, or at
/// the end of the path. Leaves the place in next_.
/// @return false if the path is not reached, or if it is another piece that leads back
bool ConePath::correct(const Tangent& tangent, double length, bool is_last) {
  next_.u = at_.u;
  math::add_multiple(blocks_->num_dofs(), length * usual_speed_, tangent.u.data(), next_.u.data());
  next_.s = is_last ? end_ : at_.s + length * tangent.s;
  double last_norm = 0;
  for (num_corrections_ = 0; num_corrections_ < kMaxConePathCorrections; ++num_corrections_) {
    evaluate(&next_);
    const SpringPoint& springs = next_.springs;
    const bool is_on_path = springs.norm <= std::max(kConePathTolerance * usual_speed_,
                                                     kConeNewtonSlack * springs.round_off);
    if (num_corrections_ > 2 && !(springs.norm <= kConePathDecrease * last_norm)) return false;
    last_norm = springs.norm;
    if (!calc_slope(next_)) return false;
    if (is_on_path) {
      const double along = dot(tangent, slope_) + tangent.s;
      return springs_->determinant_sign() * along >= 0;
    }
    if (!springs_->solve_negative(springs.F, &step_u_)) return false;
    const double ds = is_last ? 0 : -dot(tangent, step_u_) / (dot(tangent, slope_) + tangent.s);
    math::add_multiple(blocks_->num_dofs(), ds, slope_.data(), step_u_.data());
    const double moved = math::hypot(math::norm(step_u_) / usual_speed_, ds);
    if (!(moved <= kConePathCorrection * length)) return false;
    math::add_multiple(blocks_->num_dofs(), 1, step_u_.data(), next_.u.data());
    next_.s += ds;
  }
  return false;
}

double ConePath::dot(const Tangent& tangent, std::span<const double> u) const {
  return math::dot(blocks_->num_dofs(), tangent.u.data(), u.data()) / usual_speed_;
}

}  // namespace stiction::formulations
