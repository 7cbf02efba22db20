#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <mujoco/mujoco.h>

#include "stiction/base/work_limits.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/plant/mujoco/element_names.hpp"
#include "stiction/plant/mujoco/kept_arena.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/plant/solution/momentum_check.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Returns a count that grows evenly with time. Reading the processor's counter takes a quarter of
/// the time of reading the system's clock.
inline std::uint64_t read_ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Counts the ticks of the stages of a step. StepTime converts them to microseconds.
class Stopwatch {
 public:
  /// @param runs false: every lap takes no time, and nothing is read
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs) last_ = read_ticks();
  }

  /// Returns the ticks since the last call, or since construction.
  double lap() {
    if (!runs_) return 0;
    // Counters of two processors may differ a little.
    const std::uint64_t now = read_ticks(), ticks = now > last_ ? now - last_ : 0;
    last_ = now;
    return static_cast<double>(ticks);
  }

 private:
  bool runs_;
  std::uint64_t last_ = 0;
};

/// Measures a step by the system's clock and by ticks, and so the length of a tick.
class StepTime {
 public:
  /// @param runs false: all times of the step are 0
  explicit StepTime(bool runs) : runs_(runs), ticks_(runs) {
    if (runs) start_ = Clock::now();
  }

  /// Ends the step: sets the total time, and converts the others from ticks to microseconds.
  void finish(StepTimings* timings) {
    if (!runs_) return;
    timings->total = std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
    const double ticks = ticks_.lap();
    const double length = ticks > 0 ? timings->total / ticks : 0;
    for (double StepTimings::*stage : kStages) timings->*stage *= length;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Stopwatch ticks_;
  Clock::time_point start_;
};

/// True if a step with this status has failed and is not taken.
inline bool is_failure(std::uint32_t status, OnFailure on_failure) {
  const bool is_kept =
      on_failure == OnFailure::keep_best && (status & ~(kNotConverged | kCertificateFailed)) == 0;
  return status != kOk && !is_kept;
}

/// The report of a step, in which a stage records its warnings and its failure.
class StepOutputs {
 public:
  StepOutputs(const mjModel* model, OnFailure on_failure)
      : names_(std::make_shared<plant::ElementNames>(model)), on_failure_(on_failure) {}
  StepOutputs(const StepOutputs&) = delete;

  /// Adds warnings of the kind of `warning`, of which the last one tells these facts.
  void warn(const Warning& warning, WarningFacts facts = {}, int count = 1);
  /// Reports a failure.
  /// @param status bits of StepStatus
  void fail(std::uint32_t status, std::string message);
  /// True if the step must end here.
  bool failed() const { return must_retake || is_failure(report->status, on_failure_); }

  /// Reports the momentum residual computed with MuJoCo's matrices, and compares it with the
  /// residual of the certificate. If they differ by more than
  /// plant::MomentumCheck::Result::allowed_mismatch, one of them is wrong.
  /// @param duration 1 if the residuals are impulses; the time over which the forces act if they
  ///     are forces [s]
  /// @return the verdict on their agreement
  certificate::Verdict report_momentum(const plant::MomentumCheck::Result& momentum,
                                       double duration = 1);
  /// Fails the step, and reports the check of its certificate that failed.
  /// @param cause of the failure and its remedy, as the end of the message; empty if not known
  void fail_certificate(const certificate::FailedCheck& failed, const std::string& cause = "");

  /// Runs calls to MuJoCo, whose errors, warnings and full buffers go to the report. They
  /// need `guard`.
  /// @param f must own nothing that has a destructor, because an error of MuJoCo jumps out of it
  template <class F>
  void call_mujoco(mjData* d, F&& f) {
    const MuJoCoState before(d);
    const bool ok = guard->run(f);
    if (!ok || guard->num_warnings() > 0 || MuJoCoState(d).num_full != before.num_full)
      finish_call(d, before, ok);
  }

  /// Does the same for functions of MuJoCo that call the user's callbacks. A callback may call
  /// mj_forward, mj_inverse or their parts with the data of the step, which replaces the contacts
  /// and rows of the step by MuJoCo's own. The function computes on with them, so the step fails.
  template <class F>
  void call_with_callbacks(const mjModel* m, mjData* d, F&& f) {
    keep_contacts(m, d);
    call_mujoco(d, f);
    check_contacts(d);
  }
  /// Calls mjcb_control if the model has actuation. Contacts and rows that it has replaced are
  /// restored.
  /// @return true if they were restored; what follows from them must be computed again
  [[nodiscard]] bool call_control(const mjModel* model, mjData* data);

  /// Starts the clock of the stages, if the report has their times.
  void start_clock() { clock_ = Stopwatch(parts.timings); }
  /// Ends a stage: adds the ticks since the last one to the report; see StepTime.
  void end_stage(double StepTimings::*time) { report->timings.*time += clock_.lap(); }
  /// Runs one stage of a step.
  /// @param time  its entry in the report's timings
  /// @param stage called without arguments; it reports a failure by `fail`
  /// @return false if the step has failed
  template <class Stage>
  [[nodiscard]] bool run_stage(double StepTimings::*time, Stage&& stage) {
    base::check_limits();
    stage();
    end_stage(time);
    return !failed();
  }

  StepReport* report = &own_report_;        // of the caller, or else that of this object
  std::optional<plant::MuJoCoGuard> guard;  // one a step, because its handler takes time to set
  ReportParts parts;
  bool has_taxels = false;   // taxels read the patches of the report
  bool must_retake = false;  // trees woke so late that the step must begin again

 private:
  /// The part of mjData that an error of MuJoCo leaves inconsistent.
  struct MuJoCoState {
    explicit MuJoCoState(const mjData* d)
        : num_full(d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number),
          pstack(d->pstack),
          pbase(d->pbase) {}
    int num_full;
    std::size_t pstack, pbase;
  };
  void finish_call(mjData* d, const MuJoCoState& before, bool ok);

  void keep_contacts(const mjModel* m, const mjData* d);
  void check_contacts(const mjData* d);

  StepReport own_report_;
  std::shared_ptr<const plant::ElementNames> names_;  // for texts written after the model's end
  OnFailure on_failure_;
  plant::KeptArena kept_;  // while a callback runs
  Stopwatch clock_;
};

}  // namespace stiction::sim
