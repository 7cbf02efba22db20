#pragma once

#include <cstdio>
#include <cstdlib>

namespace stiction::base {

/// Prints the condition that did not hold with its place, and ends the program.
[[noreturn]] inline void fail_assertion(const char* condition, const char* file,
                                        int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace stiction::base

/// STICTION_ASSERT(condition) checks an index or a precondition that a correct caller never
/// violates; faults of a user's data throw stiction::Error. Builds with NDEBUG, as the release
/// preset, do not evaluate the condition.
#ifdef NDEBUG
#define STICTION_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#else
#define STICTION_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : stiction::base::fail_assertion(#condition, __FILE__, __LINE__))
#endif
