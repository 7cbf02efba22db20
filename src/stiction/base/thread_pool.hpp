#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace stiction::base {

/// Runs independent tasks on a fixed set of threads. Which thread runs a task is not fixed, so
/// tasks must not depend on each other: then results are the same bits for any number of threads.
class ThreadPool {
 public:
  /// @param num_threads threads in all, the caller's included; >= 1
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) for i in [0, count) and returns when all are done. What one of them throws is
  /// thrown here then; others may be left out.
  template <class Task>
  void run(int count, Task&& task) {
    if (workers_.empty() || count <= 1) {
      for (int i = 0; i < count; ++i) task(i);
      return;
    }
    // A pointer and a trampoline in place of std::function, which would allocate.
    using Function = std::remove_reference_t<Task>;
    run_erased(count, &task, [](void* t, int i) { (*static_cast<Function*>(t))(i); });
  }

 private:
  using Trampoline = void (*)(void*, int);
  void run_erased(int count, void* task, Trampoline call);
  void work();
  void drain();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  long generation_ = 0;       // of the batch, guarded by mutex_
  int busy_ = 0;              // workers still in the batch, guarded by mutex_
  std::exception_ptr error_;  // the first of the batch, guarded by mutex_
  bool stop_ = false;
  std::atomic<int> next_{0};
  int count_ = 0;
  void* task_ = nullptr;
  Trampoline call_ = nullptr;
};

}  // namespace stiction::base
