#include "stiction/formulations/rigid/spring_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::formulations {

void SpringSchedule::note_solved(double residual) {
  num_slow_ = residual < kConeProgress * nearest_ ? 0 : num_slow_ + 1;
  nearest_ = std::min(nearest_, residual);
  const bool has_grown = stiffness_ > solved_;
  if (!has_grown) growth_ = std::min(kConeGrowthRecovery * growth_, kConeStiffnessGrowth);
  solved_ = stiffness_;
}

bool SpringSchedule::stiffen() {
  double limit = kUsualConeStiffness;
  if (num_slow_ >= kMaxSlowConeSteps && stiffness_ >= limit) {
    // As under a heavy body on a light one: try stiffer springs than usual.
    if (stiffness_ >= kLargestConeStiffness || num_failures_ > 0) return false;
    limit = kLargestConeStiffness;
    num_slow_ = 0;
    nearest_ = std::numeric_limits<double>::infinity();
  }
  if (stiffness_ < limit) stiffness_ = std::min(growth_ * stiffness_, limit);
  return true;
}

bool SpringSchedule::soften() {
  if (!has_solved() || ++num_failures_ > kMaxFailedConeSteps) return false;
  num_slow_ = 0;
  growth_ = std::max(kLeastConeGrowth, std::sqrt(growth_));
  const bool was_stiffer = stiffness_ > kLeastConeGrowth * solved_;
  stiffness_ = was_stiffer ? growth_ * solved_ : kConeSoftening * stiffness_;
  return true;
}

}  // namespace stiction::formulations
