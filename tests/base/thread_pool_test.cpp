#include "stiction/base/thread_pool.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::base {
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

}  // namespace
}  // namespace stiction::base
