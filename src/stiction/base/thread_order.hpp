#pragma once

/// An order between threads that ThreadSanitizer cannot see, because it is kept by a library that
/// was not built with it. In other builds this does nothing.
namespace stiction::base {

#if defined(__SANITIZE_THREAD__)
#define STICTION_HAS_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STICTION_HAS_THREAD_SANITIZER
#endif
#endif

#ifdef STICTION_HAS_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

/// What a thread does before `release` happens before what another does after `acquire`.
class ThreadOrder {
 public:
#ifdef STICTION_HAS_THREAD_SANITIZER
  void release() { __tsan_release(this); }
  void acquire() { __tsan_acquire(this); }
#else
  void release() {}
  void acquire() {}
#endif
};

}  // namespace stiction::base
