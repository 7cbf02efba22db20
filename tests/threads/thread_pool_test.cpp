#include "stiction/base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// ThreadSanitizer does not support threads after fork(), and Windows has no fork().
#ifdef _WIN32
#define STICTION_NO_FORK
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STICTION_NO_FORK
#endif
#endif
#ifndef STICTION_NO_FORK
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "stiction/base/error.hpp"

namespace stiction::base::thread_pool_test {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int num_threads : {1, 2, 4, 7}) {
    ThreadPool pool(num_threads);
    EXPECT_EQ(pool.num_threads(), num_threads);
    for (const int count : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> runs(count);
      pool.run(count, [&](int i) { ++runs[i]; });
      for (int i = 0; i < count; ++i) EXPECT_EQ(runs[i], 1) << "task " << i;
    }
  }
}

TEST(ThreadPool, AllTasksAreDoneWhenRunReturns) {
  // After each batch the caller needs no synchronization to see what the tasks wrote.
  ThreadPool pool(4);
  std::vector<long> sums(8, 0);
  for (int batch = 1; batch <= 2000; ++batch) {
    pool.run(static_cast<int>(sums.size()), [&](int i) { sums[i] += batch; });
    for (const long sum : sums) ASSERT_EQ(sum, static_cast<long>(batch) * (batch + 1) / 2);
  }
}

TEST(ThreadPool, ShortBatchesRunEachTaskOnce) {
  // Batches that the caller alone can finish before a worker wakes: each task still runs once, and
  // a worker that wakes late takes no task of a later batch twice.
  ThreadPool pool(4);
  std::vector<std::atomic<int>> runs(3);
  for (int batch = 1; batch <= 5000; ++batch) {
    pool.run(static_cast<int>(runs.size()), [&](int i) { ++runs[i]; });
    for (const auto& count : runs) ASSERT_EQ(count, batch);
  }
}

TEST(ThreadPool, TheCallerTakesTasksInOrder) {
  // Tasks that are neighbors are done by the same thread, so the caller has the first ones.
  const auto caller = std::this_thread::get_id();
  for (const int num_threads : {1, 2, 4}) {
    ThreadPool pool(num_threads);
    std::vector<std::thread::id> ids(1000);
    pool.run(static_cast<int>(ids.size()), [&](int i) { ids[i] = std::this_thread::get_id(); });
    const auto first_of_others =
        std::find_if(ids.begin(), ids.end(), [&](std::thread::id id) { return id != caller; });
    EXPECT_EQ(std::count(first_of_others, ids.end(), caller), 0);
    EXPECT_TRUE(num_threads > 1 || first_of_others == ids.end());
  }
}

TEST(ThreadPool, RunRethrowsTheExceptionOfATask) {
  for (const int num_threads : {1, 4}) {
    ThreadPool pool(num_threads);
    for (int batch = 0; batch < 100; ++batch) {
      auto fail = [](int i) {
        if (i % 7 == 3) throw std::runtime_error("task failed");
      };
      EXPECT_THROW(pool.run(50, fail), std::runtime_error);
      std::atomic<int> runs = 0;  // The pool still works.
      pool.run(50, [&](int) { ++runs; });
      EXPECT_EQ(runs, 50);
    }
  }
}

TEST(ThreadPool, CanBeDestroyedUnused) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(3);
}

#ifndef STICTION_NO_FORK

/// Runs f in a child process and returns its exit code, or -1 if it ended by a signal or ran for
/// more than ten seconds.
template <class F>
int run_in_child(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
  ThreadPool pool(4);
  const auto count_runs = [&pool] {
    std::atomic<int> runs = 0;
    pool.run(50, [&](int) { ++runs; });
    return runs.load();
  };
  EXPECT_EQ(count_runs(), 50);
  EXPECT_EQ(run_in_child([&] { return count_runs(); }), 50);
  // The child of a child, and the parent afterwards.
  EXPECT_EQ(run_in_child([&] { return run_in_child([&] { return count_runs(); }); }), 50);
  EXPECT_EQ(count_runs(), 50);
}

// A mutex of the pool may then be locked for ever.
TEST(ThreadPool, WorksInTheChildOfAForkDuringABatch) {
  for (int trial = 0; trial < 20; ++trial) {
    ThreadPool pool(3);
    std::atomic<int> result = -2;
    pool.run(40, [&](int i) {
      if (i != trial) return;
      result = run_in_child([&pool] {
        std::atomic<int> runs = 0;
        pool.run(30, [&](int) { ++runs; });
        return runs.load();
      });
    });
    EXPECT_EQ(result, 30);
  }
}

TEST(ThreadPool, CanBeDestroyedInTheChildOfAFork) {
  EXPECT_EQ(run_in_child([] {
              ThreadPool* const pool = new ThreadPool(4);
              return run_in_child([pool] {
                delete pool;
                return 7;
              });
            }),
            7);
}

TEST(ThreadPool, ALimitOfThreadsIsAnError) {
  EXPECT_EQ(run_in_child([] {
              constexpr rlimit kOne = {1, 1};
              if (setrlimit(RLIMIT_NPROC, &kOne) != 0) return 1;
              // The limit does not apply to root.
              if (geteuid() == 0 && setuid(65534) != 0) return 2;
              try {
                const ThreadPool pool(16);
              } catch (const Error& e) {
                return e.where() == "num_threads" ? 42 : 3;
              }
              return 4;
            }),
            42);
}

#endif

}  // namespace
}  // namespace stiction::base::thread_pool_test
