#include "stiction/plant/mujoco/mujoco_guard.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Sets the handler of this thread. MuJoCo's Python bindings use this function; the public headers
// do not declare it.
extern "C" mjfLogHandler _mjPRIVATE_setTlsLogHandler(mjfLogHandler handler);

namespace stiction::plant {

thread_local MuJoCoGuard* MuJoCoGuard::active_ = nullptr;

MuJoCoGuard::MuJoCoGuard()
    : outer_(active_), outer_handler_(_mjPRIVATE_setTlsLogHandler(&MuJoCoGuard::handle)) {
  active_ = this;
  error_[0] = warning_[0] = '\0';
}

MuJoCoGuard::~MuJoCoGuard() {
  _mjPRIVATE_setTlsLogHandler(outer_handler_);
  active_ = outer_;
}

void MuJoCoGuard::handle(const mjLogMessage* message) {
  MuJoCoGuard& guard = *active_;
  if (message->level == mjLOG_WARNING) {
    ++guard.num_warnings_;
    std::memcpy(guard.warning_, message->subject, sizeof guard.warning_);
  } else if (message->level == mjLOG_ERROR) {
    std::memcpy(guard.error_, message->subject, sizeof guard.error_);
    if (guard.jump_) std::longjmp(*guard.jump_, 1);
    // An error outside run(): MuJoCo must not continue, and there is no place to jump to.
    std::fprintf(stderr, "MuJoCo error outside a guarded call: %s\n", message->subject);
    std::abort();
  }
}

}  // namespace stiction::plant
