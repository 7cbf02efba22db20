#include "stiction/base/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif

#include "stiction/base/error.hpp"

namespace stiction::base {
namespace {

#ifndef _WIN32
std::atomic<int> num_forks{0};
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { num_forks.fetch_add(1, std::memory_order_relaxed); });
#endif

/// The tasks of one batch.
struct Batch {
  int count = 0;
  void* task = nullptr;
  void (*call)(void*, int) = nullptr;
  WorkLimits* limits = nullptr;

  void run(int i, bool is_owner) const {
    const LimitedTask limited(limits, is_owner);
    call(task, i);
  }
};

}  // namespace

int fork_count() noexcept {
#ifdef _WIN32
  return 0;
#else
  return num_forks.load(std::memory_order_relaxed);
#endif
}

/// The threads of a pool other than the caller's.
class ThreadPool::Workers {
 public:
  explicit Workers(int count);
  ~Workers() { stop(); }

  void run(const Batch& batch);
  /// Forgets threads that do not exist in this process.
  void detach() {
    for (std::thread& thread : threads_) thread.detach();
  }

 private:
  /// The loop of a worker: waits for batches and runs their tasks until the pool is destroyed.
  void work();
  /// Runs tasks of the present batch until no task is left. The caller takes them from the front,
  /// and the workers from the back. So neighboring tasks, whose data are neighbors in memory, are
  /// mostly done by the same thread, and in the next batch by the same one again.
  void drain(bool is_caller, bool is_owner);
  void wait();
  void stop();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  long generation_ = 0;       // number of the batch, guarded by mutex_
  bool is_open_ = false;      // workers may still enter the batch, guarded by mutex_
  int busy_ = 0;              // workers in the batch, guarded by mutex_
  std::exception_ptr error_;  // first exception of the batch, guarded by mutex_
  bool stop_ = false;         // guarded by mutex_
  std::atomic<int> num_taken_{0}, num_from_back_{0};  // tasks
  Batch batch_;
};

ThreadPool::Workers::Workers(int count) {
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& e) {
    const std::string started = std::to_string(threads_.size() + 1);
    stop();
    throw Error(ErrorCode::kUnsupported, "num_threads",
                "is " + std::to_string(count + 1) + ", but the system allows only " + started +
                    " threads here (" + e.code().message() +
                    "), because of a limit of the process or of its container; take fewer "
                    "threads, or raise the limit (ulimit -u, pids.max)");
  }
}

void ThreadPool::Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Workers::run(const Batch& batch) {
  {
    const std::lock_guard lock(mutex_);
    batch_ = batch;
    num_taken_.store(0, std::memory_order_relaxed);
    num_from_back_.store(0, std::memory_order_relaxed);
    is_open_ = true;
    ++generation_;
  }
  // The caller takes part in the batch, then waits for the workers in it.
  start_.notify_all();
  drain(true, LimitedTask::is_owner());
  wait();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// Waits for the workers that have a task, and polls the limits, which only this thread may do.
void ThreadPool::Workers::wait() {
  constexpr std::chrono::milliseconds kBetweenPolls{50};
  std::unique_lock lock(mutex_);
  is_open_ = false;
  const auto is_done = [this] { return busy_ == 0; };
  while (!done_.wait_for(lock, kBetweenPolls, is_done)) {
    if (!batch_.limits) continue;
    lock.unlock();
    (void)batch_.limits->poll(LimitedTask::is_owner());
    lock.lock();
  }
}

void ThreadPool::Workers::drain(bool is_caller, bool is_owner) {
  try {
    for (int front = 0; num_taken_.fetch_add(1) < batch_.count;) {
      const int i = is_caller ? front++ : batch_.count - 1 - num_from_back_.fetch_add(1);
      batch_.run(i, is_owner);
    }
  } catch (...) {
    // No thread takes another task of this batch.
    num_taken_.store(batch_.count);
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadPool::Workers::work() {
  long seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || (is_open_ && generation_ != seen); });
      if (stop_) return;
      seen = generation_;
      ++busy_;
    }
    drain(false, false);
    {
      const std::lock_guard lock(mutex_);
      --busy_;
    }
    done_.notify_one();
  }
}

ThreadPool::ThreadPool(int num_threads)
    : num_threads_(num_threads),
      fork_count_(fork_count()),
      workers_(num_threads > 1 ? std::make_unique<Workers>(num_threads - 1) : nullptr) {}

ThreadPool::~ThreadPool() {
  if (fork_count_ != fork_count()) leave_workers_of_parent();
}

/// Forgets the parent's workers without freeing them, as their mutex may be locked for ever.
void ThreadPool::leave_workers_of_parent() {
  if (workers_) workers_.release()->detach();
}

/// Starts the workers of this process. If it may not have them, the caller's thread runs all.
void ThreadPool::restart_workers() {
  leave_workers_of_parent();
  fork_count_ = fork_count();
  try {
    workers_ = std::make_unique<Workers>(num_threads_ - 1);
  } catch (const Error&) {
  }
}

void ThreadPool::run_erased(int count, void* task, Trampoline call) {
  if (workers_ && fork_count_ != fork_count()) restart_workers();
  const Batch batch{.count = count, .task = task, .call = call, .limits = LimitedTask::limits()};
  if (workers_ && count > 1) return workers_->run(batch);
  const bool is_owner = LimitedTask::is_owner();
  for (int i = 0; i < count; ++i) batch.run(i, is_owner);
}

}  // namespace stiction::base
