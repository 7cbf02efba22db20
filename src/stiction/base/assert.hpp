#pragma once

#include <cstdio>
#include <cstdlib>

namespace stiction::base {

/// Prints a condition that does not hold with its file and line, and aborts the program.
[[noreturn]] inline void fail_assertion(const char* condition, const char* file,
                                        int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace stiction::base

/// STICTION_ASSERT(condition) checks an index or a precondition that a correct caller never
/// violates. Faults of a user's data throw stiction::Error instead. Builds with NDEBUG, such as the
/// release preset, do not evaluate the condition.
#ifdef NDEBUG
#define STICTION_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#else
#define STICTION_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : stiction::base::fail_assertion(#condition, __FILE__, __LINE__))
#endif
