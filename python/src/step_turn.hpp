#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "stiction/base/thread_pool.hpp"

namespace stiction::python {

/// Gives one thread at a time the use of a simulator. Other threads wait, without the GIL.
class StepGate {
 public:
  /// Replaces a mutex that fork() may have left locked. Call it with the GIL.
  /// @throws Error if the process was forked while another thread used the simulator
  void check_fork();

  /// Keeps the use for this thread over several turns, until `end`. Call it without the GIL.
  /// @throws Error as StepTurn
  void keep(const char* function);
  void end();

 private:
  friend class StepTurn;
  void lock(const char* function);
  void unlock();
  bool take_kept();

  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> user_{};  // the thread that uses the simulator
  bool is_kept_ = false;                 // by user_, which is between two turns
  int fork_count_ = base::fork_count();  // when mutex_ was made
};

/// The use of a simulator by this thread, while it lives. Make it without the GIL, because the
/// thread before may need the GIL for a callback.
class StepTurn {
 public:
  /// @param function the method of Simulator that takes the turn, for messages
  /// @throws Error if this thread uses the simulator already, or if it uses another one and would
  ///         wait for a third thread, which may in turn wait for it
  StepTurn(StepGate* gate, const char* function);
  ~StepTurn();
  StepTurn(const StepTurn&) = delete;
  StepTurn& operator=(const StepTurn&) = delete;

 private:
  StepGate* gate_;
  bool was_kept_;
};

/// True if a handler of a signal, such as that of Ctrl-C, raised an exception, or recorded the
/// signal for later. Python runs handlers on the main thread alone. Takes the GIL.
bool has_signal();

}  // namespace stiction::python
