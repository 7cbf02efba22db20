#include "stiction/base/work_limits.hpp"

namespace stiction::base {
namespace {

/// The time between two questions whether the work is interrupted.
constexpr std::chrono::milliseconds kBetweenQuestions{100};
/// A limit above this time is none; it would overflow the clock [s].
constexpr double kLongest = 1e9;

constinit thread_local LimitedTask* present_task = nullptr;

/// Decides at which polls a thread reads the clock: every eighth if they are close, else all.
class PollPace {
 public:
  /// True if the clock should be read now.
  bool is_due() { return --num_skips_left_ < 0; }
  void note_time(std::chrono::steady_clock::time_point now) {
    constexpr std::chrono::microseconds kClose{500};
    constexpr int kNumSkips = 7;
    num_skips_left_ = now - last_ < kClose ? kNumSkips : 0;
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_{};
  int num_skips_left_ = 0;
};
constinit thread_local PollPace poll_pace;

}  // namespace

void WorkLimits::begin_call() {
  reason_.store(StopReason::kNone, std::memory_order_relaxed);
  if (is_interrupted) next_question_ = Clock::now() + kBetweenQuestions;
}

void WorkLimits::begin_step() {
  deadline_ = Clock::time_point::max();
  if (max_seconds < kLongest)
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(max_seconds));
}

StopReason WorkLimits::poll(bool is_owner) noexcept {
  const bool asks = is_owner && is_interrupted;
  if (reason() != StopReason::kNone || (!asks && deadline_ == Clock::time_point::max()))
    return reason();
  // A limit of time is kept as exactly as possible.
  if (deadline_ == Clock::time_point::max() && !poll_pace.is_due()) return reason();
  const Clock::time_point now = Clock::now();
  poll_pace.note_time(now);
  if (now >= deadline_) stop(StopReason::kOutOfTime);
  if (asks && now >= next_question_) {
    if (is_interrupted()) stop(StopReason::kInterrupted);
    next_question_ = Clock::now() + kBetweenQuestions;
  }
  return reason();
}

void WorkLimits::stop(StopReason reason) noexcept {
  StopReason none = StopReason::kNone;
  reason_.compare_exchange_strong(none, reason, std::memory_order_relaxed);
}

LimitedTask::LimitedTask(WorkLimits* limits, bool is_owner)
    : outer_(present_task), limits_(limits), is_owner_(is_owner) {
  present_task = this;
}

LimitedTask::~LimitedTask() { present_task = outer_; }

WorkLimits* LimitedTask::limits() { return present_task ? present_task->limits_ : nullptr; }

bool LimitedTask::is_owner() { return present_task && present_task->is_owner_; }

void LimitedTask::check() {
  const StopReason reason = limits_->poll(is_owner_);
  if (reason != StopReason::kNone) throw WorkStopped{reason};
}

void count_iterations(std::int64_t count) {
  LimitedTask* const task = present_task;
  if (!task || !task->limits_) return;
  const std::int64_t most = task->limits_->max_iterations;
  task->num_iterations_ += count;
  if (task->num_iterations_ > most && most > 0) task->limits_->stop(StopReason::kOutOfIterations);
  task->check();
}

void check_limits() {
  if (present_task && present_task->limits_) present_task->check();
}

void resize_within_limits(std::size_t size, std::vector<double>* values) {
  constexpr std::size_t kPart = 1 << 17;
  if (values->capacity() < size) {
    values->clear();  // nothing is copied
    values->reserve(size);
  }
  while (values->size() + kPart < size) {
    values->resize(values->size() + kPart);
    check_limits();
  }
  values->resize(size);
}

void fill_zeros_within_limits(std::size_t size, std::vector<double>* values) {
  values->clear();
  resize_within_limits(size, values);
}

}  // namespace stiction::base
