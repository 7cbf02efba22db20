#pragma once

namespace stiction::support {

#ifdef STICTION_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns the number of random problems for a test that would solve `num`. It is a fifth under
/// sanitizers, and at least 1. Sanitizers look at paths of the code and slow each problem down by a
/// factor of twenty; the build without them finds the rare problems.
constexpr int num_trials(int num) {
  if (!kSanitized) return num;
  return num < 5 ? 1 : num / 5;
}

}  // namespace stiction::support
