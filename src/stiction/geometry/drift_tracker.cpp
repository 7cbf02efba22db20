#include "stiction/geometry/drift_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

/// The largest and the least drift in units of the last step. By measurement, any kMostSteps from 5
/// to 20 is equally fast.
constexpr double kMostSteps = 8, kLeastSteps = 2;
/// The largest drift relative to the width of an element.
constexpr double kMostDrift = 0.3;

/// Returns a bound of the motion of any point of O between two poses [m].
double calc_motion(const SearchPair& pair, const RigidTransform& X, const RigidTransform& Y) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3 difference = X.R.row[i] - Y.R.row[i];
    squares += dot(difference, difference);
  }
  return norm(X * pair.center_O - Y * pair.center_O) + std::sqrt(squares) * pair.radius_O;
}

}  // namespace

bool DriftTracker::advance_to(const SearchPair& pair, const RigidTransform& X_TO) {
  STICTION_ASSERT(pair.radius_O >= 0 && pair.width >= 0);
  const bool is_same_pair = pair.O == O_ && pair.T == T_;
  const double step =
      is_same_pair ? calc_motion(pair, X_TO, X_last_) : std::numeric_limits<double>::infinity();
  X_last_ = X_TO;
  if (is_same_pair && calc_motion(pair, X_TO, X_list_) <= drift_) return true;
  O_ = pair.O;
  T_ = pair.T;
  X_list_ = X_TO;
  const double most = kMostDrift * pair.width;
  drift_ = kLeastSteps * step <= most ? std::min(kMostSteps * step, most) : 0;
  return false;
}

}  // namespace stiction::geometry
