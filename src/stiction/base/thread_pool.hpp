#pragma once

#include <memory>
#include <type_traits>

#include "stiction/base/work_limits.hpp"

#if defined(__SANITIZE_THREAD__)
#define STICTION_HAS_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STICTION_HAS_THREAD_SANITIZER
#endif
#endif

namespace stiction::base {

#ifdef STICTION_HAS_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

/// Runs independent tasks on a fixed set of threads. Any thread may run any task, so tasks must not
/// depend on each other. Results are then bitwise identical for any number of threads.
///
/// Each task works under the limits of the caller's task, see LimitedTask. The child of fork() has
/// only the thread that called it; the pool then starts its threads again in the next batch.
class ThreadPool {
 public:
  /// @param num_threads total number of threads >= 1, including the caller's
  /// @throws Error if the process may not have so many threads
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Returns the total number of threads, including the caller's.
  int num_threads() const { return num_threads_; }

  /// Calls task(i) for each i in [0, count) and returns when all calls are done. If a task throws,
  /// the tasks that have not started yet are skipped, and the first exception is rethrown here.
  template <class Task>
  void run(int count, Task&& task) {
    // A pointer and a trampoline replace std::function, which would allocate.
    using Function = std::remove_reference_t<Task>;
    void* const erased = const_cast<void*>(static_cast<const void*>(&task));
    run_erased(count, erased, [](void* t, int i) { (*static_cast<Function*>(t))(i); });
  }

 private:
  using Trampoline = void (*)(void*, int);
  class Workers;
  /// Runs a batch of tasks on all threads.
  void run_erased(int count, void* task, Trampoline call);
  void leave_workers_of_parent();
  void restart_workers();

  int num_threads_;
  int fork_count_;  // fork_count() when the workers were started
  std::unique_ptr<Workers> workers_;
};

/// Calls task(i) for each i in [0, count), on a pool or, if it is null, on the caller's thread.
template <class Task>
void run_tasks(ThreadPool* threads, int count, Task&& task) {
  if (threads) return threads->run(count, task);
  for (int i = 0; i < count; ++i) {
    const LimitedTask limited(LimitedTask::limits(), LimitedTask::is_owner());
    task(i);
  }
}

/// Returns how often this process and its ancestors were forked since the library was loaded. After
/// fork() the child has only the thread that called it, and mutexes stay as other threads left
/// them. An object that has threads compares this number with that of its construction. Always 0 on
/// Windows, which has no fork().
int fork_count() noexcept;

/// An order between threads that ThreadSanitizer cannot see, because a library keeps it that was
/// not built with it: all that a thread does before `release` happens before what another does
/// after `acquire`. In other builds this does nothing.
class ThreadOrder {
 public:
  void release() {
#ifdef STICTION_HAS_THREAD_SANITIZER
    __tsan_release(this);
#endif
  }
  void acquire() {
#ifdef STICTION_HAS_THREAD_SANITIZER
    __tsan_acquire(this);
#endif
  }
};

}  // namespace stiction::base
