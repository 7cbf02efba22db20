#include "stiction/base/work_limits.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/thread_pool.hpp"

namespace stiction::base::work_limits_test {
namespace {

using std::chrono::milliseconds;

TEST(WorkLimits, CodeOutsideATaskHasNoLimits) {
  EXPECT_NO_THROW(count_iterations(1'000'000));
  EXPECT_NO_THROW(check_limits());
}

TEST(WorkLimits, EachTaskMayTakeAllIterations) {
  WorkLimits limits;
  limits.max_iterations = 10;
  limits.begin_call();
  const LimitedTask outer(&limits, true);
  count_iterations(10);
  {
    const LimitedTask inner(&limits, true);
    EXPECT_NO_THROW(count_iterations(10));
  }
  EXPECT_THROW(count_iteration(), WorkStopped);
  EXPECT_EQ(limits.reason(), StopReason::kOutOfIterations);
}

// The tasks that stop do not depend on the number of threads, and neither does the reason.
TEST(WorkLimits, IterationsCountForEachTaskOfAPool) {
  for (const int num_threads : {1, 2, 5}) {
    ThreadPool pool(num_threads);
    WorkLimits limits;
    limits.max_iterations = 100;
    const auto work = [&](int longest) {
      limits.begin_call();
      const LimitedTask task(&limits, true);
      pool.run(30, [&](int i) {
        for (int k = 0; k < (i == 20 ? longest : 100); ++k) count_iteration();
      });
    };
    EXPECT_NO_THROW(work(100));
    EXPECT_THROW(work(101), WorkStopped);
    EXPECT_EQ(limits.reason(), StopReason::kOutOfIterations);
    EXPECT_NO_THROW(work(100)) << "the reason to stop ends with the call";
  }
}

TEST(WorkLimits, TimeEndsAllTasks) {
  for (const int num_threads : {1, 3}) {
    ThreadPool pool(num_threads);
    WorkLimits limits;
    limits.max_seconds = 0.02;
    limits.begin_call();
    limits.begin_step();
    const LimitedTask task(&limits, true);
    EXPECT_THROW(pool.run(4,
                          [](int) {
                            for (;;) check_limits();
                          }),
                 WorkStopped);
    EXPECT_EQ(limits.reason(), StopReason::kOutOfTime);
  }
}

TEST(WorkLimits, TheTimeCountsAnewForEachStep) {
  WorkLimits limits;
  limits.max_seconds = 0.05;
  limits.begin_call();
  const LimitedTask task(&limits, true);
  for (int step = 0; step < 4; ++step) {
    limits.begin_step();
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_NO_THROW(check_limits());
  }
}

std::thread::id asked_on;
bool is_interrupted() {
  asked_on = std::this_thread::get_id();
  return true;
}

// Also while the caller waits for a task of another thread.
TEST(WorkLimits, OnlyTheCallersThreadIsAskedWhetherToStop) {
  for (const int num_threads : {1, 2, 4}) {
    ThreadPool pool(num_threads);
    WorkLimits limits;
    limits.is_interrupted = &is_interrupted;
    limits.begin_call();
    const LimitedTask task(&limits, true);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> other_works = false;
    const auto work = [&](int) {
      if (num_threads == 1 || std::this_thread::get_id() != caller) {
        other_works = true;
        for (;;) check_limits();
      }
      while (!other_works) std::this_thread::yield();  // then the caller waits for the others
    };
    EXPECT_THROW(pool.run(2, work), WorkStopped);
    EXPECT_EQ(limits.reason(), StopReason::kInterrupted);
    EXPECT_EQ(asked_on, caller);
  }
}

}  // namespace
}  // namespace stiction::base::work_limits_test
