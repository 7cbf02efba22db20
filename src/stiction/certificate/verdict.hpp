#pragma once

#include <cmath>
#include <limits>

namespace stiction::certificate {

/// A quantity that is larger than its certificate allows.
struct FailedCheck {
  const char* quantity = "";  // a literal, as is the unit
  double value = 0, limit = 0;
  const char* unit = "";
};

/// The checks of a certificate: whether all hold and, where one does not, which fails by most.
class Verdict {
 public:
  /// Of a value that is not a number nothing is proved.
  void require(const char* quantity, double value, double limit, const char* unit) {
    if (value <= limit) return;
    const double excess =
        limit > 0 && !std::isnan(value) ? value / limit : std::numeric_limits<double>::infinity();
    if (!ok() && !(excess > excess_)) return;
    excess_ = excess;
    failed_ = {quantity, value, limit, unit};
  }

  bool ok() const { return !(excess_ > 0); }
  /// Where not ok().
  const FailedCheck& failed() const { return failed_; }

 private:
  double excess_ = 0;
  FailedCheck failed_;
};

}  // namespace stiction::certificate
