#pragma once

#include <csetjmp>
#include <memory>
#include <string>

#include <mujoco/mujoco.h>

/// Owning pointers to objects that MuJoCo allocates.
namespace stiction::plant {

/// Catches MuJoCo's errors and warnings on this thread while it lives. MuJoCo's own handlers end
/// the process on an error and write warnings to a file.
class MuJoCoGuard {
 public:
  MuJoCoGuard();
  ~MuJoCoGuard();
  MuJoCoGuard(const MuJoCoGuard&) = delete;
  MuJoCoGuard& operator=(const MuJoCoGuard&) = delete;

  /// Runs calls to MuJoCo's C functions.
  /// @param f must not own objects with destructors, because an error leaves it by longjmp
  /// @return false if MuJoCo raised an error, whose text error() then returns
  template <class F>
  bool run(F&& f) {
    std::jmp_buf* const outer = jump_;
    std::jmp_buf here;
    jump_ = &here;
    // No object is constructed between here and the call of f, so the jump skips no destructor.
    if (setjmp(here) != 0) {
      jump_ = outer;
      return false;
    }
    f();
    jump_ = outer;
    return true;
  }

  /// Forgets the warnings, so that those of the next run are told apart.
  void clear_warnings() { num_warnings_ = 0; }
  /// The text of the last error or warning; empty before the first one.
  const char* error() const { return error_; }
  const char* warning() const { return warning_; }
  int num_warnings() const { return num_warnings_; }

 private:
  static void handle(const mjLogMessage* message);

  static thread_local MuJoCoGuard* active_;
  MuJoCoGuard* outer_;
  mjfLogHandler outer_handler_;
  std::jmp_buf* jump_ = nullptr;
  char error_[sizeof(mjLogMessage::subject)];
  char warning_[sizeof(mjLogMessage::subject)];
  int num_warnings_ = 0;
};

struct ModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPtr = std::unique_ptr<mjModel, ModelDeleter>;
using DataPtr = std::unique_ptr<mjData, DataDeleter>;

}  // namespace stiction::plant
