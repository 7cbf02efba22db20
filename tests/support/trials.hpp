#pragma once

#include <vector>

namespace stiction::support {

#ifdef STICTION_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns the number of random problems for a test that would solve `num`. It is a tenth under
/// sanitizers, and at least 1. Sanitizers look at paths of the code and slow each problem down by a
/// factor of twenty; the build without them finds the rare problems.
constexpr int num_trials(int num) {
  if (!kSanitized) return num;
  return num < 10 ? 1 : num / 10;
}

/// Returns the cases that a suite of many similar cases runs: all of them, or a sixth under
/// sanitizers.
template <typename Case>
std::vector<Case> sample_cases(const std::vector<Case>& all) {
  if (!kSanitized) return all;
  std::vector<Case> sampled;
  // Multiples of the golden ratio, modulo 1, so that no nested loop of the list falls out of it.
  double place = 0;
  for (const Case& one : all) {
    if (place < 1.0 / 6) sampled.push_back(one);
    place += 0.6180339887498949;
    if (place >= 1) place -= 1;
  }
  return sampled;
}

}  // namespace stiction::support
