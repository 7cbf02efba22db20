#pragma once

#include <cmath>
#include <limits>

namespace stiction::certificate {

/// A quantity that exceeds its limit.
struct FailedCheck {
  const char* quantity = "";  // a string literal, as is the unit
  double value = 0, limit = 0;
  const char* unit = "";
};

/// Collects checks and keeps the one that fails by the largest factor.
class Verdict {
 public:
  /// Checks that value <= limit. A value or limit that is NaN fails by an infinite factor.
  void require(const char* quantity, double value, double limit, const char* unit) {
    if (value <= limit) return;
    const double excess =
        limit > 0 && !std::isnan(value) ? value / limit : std::numeric_limits<double>::infinity();
    if (!ok() && !(excess > excess_)) return;
    excess_ = excess;
    failed_ = {.quantity = quantity, .value = value, .limit = limit, .unit = unit};
  }

  /// True if every check so far has passed.
  bool ok() const { return !(excess_ > 0); }
  /// The check that fails by most, if not ok().
  const FailedCheck& failed() const { return failed_; }

 private:
  double excess_ = 0;
  FailedCheck failed_;
};

}  // namespace stiction::certificate
