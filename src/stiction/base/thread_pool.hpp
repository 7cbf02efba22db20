#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace stiction::base {

/// Runs independent tasks on a fixed set of threads. Any thread may run any task, so tasks must not
/// depend on each other. Results are then bitwise identical for any number of threads.
class ThreadPool {
 public:
  /// @param num_threads total number of threads >= 1, including the caller's
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Returns the total number of threads, including the caller's.
  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) for each i in [0, count) and returns when all calls are done. If a task throws,
  /// the tasks that have not started yet are skipped, and the first exception is rethrown here.
  template <class Task>
  void run(int count, Task&& task) {
    if (workers_.empty() || count <= 1) {
      for (int i = 0; i < count; ++i) task(i);
      return;
    }
    // A pointer and a trampoline replace std::function, which would allocate.
    using Function = std::remove_reference_t<Task>;
    run_erased(count, &task, [](void* t, int i) { (*static_cast<Function*>(t))(i); });
  }

 private:
  using Trampoline = void (*)(void*, int);
  /// Runs a batch of tasks on all threads.
  void run_erased(int count, void* task, Trampoline call);
  /// The loop of a worker: waits for batches and runs their tasks until the pool is destroyed.
  void work();
  /// Runs tasks of the present batch until no task is left.
  void drain();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  long generation_ = 0;       // number of the batch, guarded by mutex_
  int busy_ = 0;              // workers still in the batch, guarded by mutex_
  std::exception_ptr error_;  // first exception of the batch, guarded by mutex_
  bool stop_ = false;         // guarded by mutex_
  std::atomic<int> next_{0};  // first task that no thread has taken
  int count_ = 0;             // number of tasks of the batch
  void* task_ = nullptr;
  Trampoline call_ = nullptr;
};

}  // namespace stiction::base
