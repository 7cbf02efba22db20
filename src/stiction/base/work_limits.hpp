#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// Limits of the work of a step. Loops whose length depends on the data count their iterations, and
/// a limit that is exceeded ends the step by an exception, which the step turns into a status.
namespace stiction::base {

/// The reasons for giving up a step.
enum class StopReason : std::uint8_t {
  kNone,
  kOutOfTime,        // WorkLimits::max_seconds passed
  kOutOfIterations,  // a task exceeded WorkLimits::max_iterations
  kInterrupted,      // the caller's is_interrupted() returned true
};

/// Thrown by count_iteration and check_limits. No std::exception, so that no handler takes it.
struct WorkStopped {
  StopReason reason;
};

/// The limits of all tasks of one step. One thread calls begin; its workers only read.
class WorkLimits {
 public:
  /// Wall time of one step [s].
  double max_seconds = std::numeric_limits<double>::infinity();
  /// Iterations of one task, for example of one solve of an island; 0 for no limit.
  std::int64_t max_iterations = 0;
  /// Asks the caller, on its thread and about ten times a second, whether to give up; or null.
  bool (*is_interrupted)() = nullptr;

  /// Begins a call of one or more steps.
  void begin_call();
  /// Begins a step of the call, for which the time counts anew.
  void begin_step();

  /// Returns the reason to stop. `is_owner` is true on the thread that called begin_call.
  StopReason poll(bool is_owner) noexcept;
  /// Records a reason to stop, unless there is one already.
  void stop(StopReason reason) noexcept;
  /// The reason to stop.
  StopReason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point next_question_;
  std::atomic<StopReason> reason_{StopReason::kNone};
};

/// A task under limits, for which the calling thread works, with its own count. May be nested.
class LimitedTask {
 public:
  /// @param limits   null: the task has no limits
  /// @param is_owner true on the thread that called WorkLimits::begin_call
  LimitedTask(WorkLimits* limits, bool is_owner);
  ~LimitedTask();
  LimitedTask(const LimitedTask&) = delete;
  LimitedTask& operator=(const LimitedTask&) = delete;

  /// The limits of the calling thread's present task; null if there are none.
  static WorkLimits* limits();
  /// True if the calling thread called WorkLimits::begin_call for its present task.
  static bool is_owner();

 private:
  friend void count_iterations(std::int64_t count);
  friend void check_limits();
  void check();

  LimitedTask* outer_;
  WorkLimits* limits_;
  bool is_owner_;
  std::int64_t num_iterations_ = 0;
};

/// Counts iterations of the present task and checks its limits. The number of iterations at which a
/// task stops does not depend on time or on the number of threads.
/// @throws WorkStopped if a limit is exceeded
void count_iterations(std::int64_t count);
inline void count_iteration() { count_iterations(1); }
/// Checks the limits without counting an iteration.
/// @throws WorkStopped if a limit is exceeded
void check_limits();

/// Gives a vector a size, and checks the limits between its parts: to fill a gigabyte takes 0.3 s.
/// New entries are zero. Old ones are lost if the capacity does not suffice.
/// @throws WorkStopped if a limit is exceeded
void resize_within_limits(std::size_t size, std::vector<double>* values);
/// Fills a vector of a size with zeros, and checks the limits between its parts.
/// @throws WorkStopped if a limit is exceeded
void fill_zeros_within_limits(std::size_t size, std::vector<double>* values);

}  // namespace stiction::base
