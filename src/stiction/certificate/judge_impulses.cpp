#include "stiction/certificate/judge_impulses.hpp"

namespace stiction::certificate {

void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!is_finite) verdict->require("non-finite impulse", kInfinity, 1e300, "N s");
  verdict->require("deviation from the contact law", certificate.impulse_error, tolerance, "N s");
  verdict->require("adhesive normal impulse", -certificate.min_normal_impulse, tolerance, "N s");
  verdict->require("friction beyond its bound", certificate.max_cone_excess, tolerance, "N s");
}

}  // namespace stiction::certificate
