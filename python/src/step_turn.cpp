#include "step_turn.hpp"

#include <utility>

#include "bindings.hpp"
#include "stiction/base/error.hpp"

namespace stiction::python {
namespace {

constinit thread_local int num_turns = 0;  // of this thread, nested by callbacks

}  // namespace

void StepGate::check_fork() {
  if (fork_count_ == base::fork_count()) return;
  if (user_.load() != std::thread::id())
    throw Error(ErrorCode::kUnsupported, "step",
                "cannot run in this process, because it was forked while another thread used the "
                "object, whose memory is therefore incomplete; make a new one");
  (void)mutex_.release();  // the mutex of the parent may be locked for ever
  mutex_ = std::make_unique<std::mutex>();
  fork_count_ = base::fork_count();
}

void StepGate::keep(const char* function) {
  lock(function);
  is_kept_ = true;
}

void StepGate::end() {
  is_kept_ = false;
  unlock();
}

void StepGate::lock(const char* function) {
  if (user_.load() == std::this_thread::get_id())
    throw Error(ErrorCode::kUnsupported, function,
                "was called by a callback within a step of the same object, which must end first; "
                "use a second Simulator for the callback");
  if (num_turns == 0)
    mutex_->lock();
  else if (!mutex_->try_lock())
    throw Error(ErrorCode::kUnsupported, function,
                "was called by a callback within a step of another Simulator while a third thread "
                "steps this one, so two threads may wait for each other; use a Simulator that no "
                "other thread uses");
  user_ = std::this_thread::get_id();
  ++num_turns;
}

void StepGate::unlock() {
  --num_turns;
  user_ = std::thread::id();
  mutex_->unlock();
}

/// Returns whether this thread keeps the use, which a turn has from now on.
bool StepGate::take_kept() {
  return user_.load() == std::this_thread::get_id() && std::exchange(is_kept_, false);
}

StepTurn::StepTurn(StepGate* gate, const char* function)
    : gate_(gate), was_kept_(gate->take_kept()) {
  if (!was_kept_) gate->lock(function);
}

StepTurn::~StepTurn() {
  if (was_kept_)
    gate_->is_kept_ = true;
  else
    gate_->unlock();
}

bool has_signal() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) return true;
  try {
    return nb::cast<bool>(nb::module_::import_("stiction.binding.interrupts").attr("is_pending")());
  } catch (nb::python_error& e) {
    e.restore();  // the step ends, and its caller raises the exception
    return true;
  }
}

}  // namespace stiction::python
