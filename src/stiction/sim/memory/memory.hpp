#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Returns a hash of the time and the positions of a state, which is not 0.
std::uint64_t hash_positions(const mjModel* model, const mjData* data);
/// Returns a hash of the time, positions, velocities and activations of a state, which is not 0.
std::uint64_t hash_motion(const mjModel* model, const mjData* data);

/// The end of the last step of a stepper.
struct StepEnd {
  const mjData* data = nullptr;                            // null: the data of the next step
  double time = std::numeric_limits<double>::quiet_NaN();  // [s]; NaN: there was no step
  std::uint64_t positions = 0;                             // hash_positions; 0: there was no step
  std::vector<double> qpos{};
};

/// The kinematic trees that a step finds where the last one left them. Bodies that no joint moves
/// always are.
class KeptTrees {
 public:
  /// Makes room for all trees.
  explicit KeptTrees(const mjModel* model) { has_tree_.reserve(model->ntree); }

  void set_none() { set_all(false); }
  void set_all(bool has_all = true) {
    has_all_ = has_all;
    has_tree_.clear();
  }
  /// Compares each tree with the positions of the last step.
  /// @param qpos size nq
  void compare(const mjModel* model, const mjData* data, const std::vector<double>& qpos);

  bool has_all() const { return has_all_; }
  bool has_any() const { return has_all_ || !has_tree_.empty(); }
  bool has_tree(int tree) const { return has_all_ || (has_any() && (tree < 0 || has_tree_[tree])); }
  bool has_body(const mjModel* model, int body) const { return has_tree(model->body_treeid[body]); }
  bool has_geoms(const mjModel* model, const std::array<int, 2>& geoms) const {
    return has_all_ || (has_body(model, model->geom_bodyid[geoms[0]]) &&
                        has_body(model, model->geom_bodyid[geoms[1]]));
  }
  /// True if it has all trees that a tendon acts on.
  bool has_tendon(const mjModel* model, int tendon) const;

 private:
  bool has_all_ = false;
  std::vector<bool> has_tree_;  // empty if it has all or none
};

/// The start of a step, and how it goes on from the end of the last one. The caller may have
/// changed velocities and inputs in between, reset the data, or given other data.
struct StepStart {
  mjData* data = nullptr;
  double time = 0;              // of data [s]
  double duration = 0;          // of the step, or of the call of advance [s]
  std::uint64_t positions = 0;  // hash_positions
  /// True if the last step ended with the same data at the same time.
  bool goes_on = false;
  /// The trees that the last step left at the same time and positions, perhaps of other data.
  const KeptTrees* kept = nullptr;   // valid until the next call of compare
  std::uint64_t last_positions = 0;  // of the StepEnd with which the positions were compared
  /// Bits of MemoryKind that do not belong to this step.
  std::uint32_t lost = 0;
  /// True if the step begins again, from the same state, because its first attempt did not succeed.
  bool is_again = false;
  bool is_call = false;     // a call of advance, which takes steps within the duration
  bool is_mj_step = false;  // MuJoCo takes the step, and remembers what it needs in mjData
  bool has_sleep = false;   // trees may sleep in this step
  bool may_have_changed_model = true;

  /// Compares data with the end of the last step.
  static StepStart compare(const mjModel* model, mjData* data, const StepEnd& last,
                           KeptTrees* kept);
};

/// A part of what a stepper remembers from step to step. StepMemories has the list of all.
///
/// A step calls begin, and end if it succeeds, or restore if it fails. Between begin and end a
/// memory holds what it had and what the step finds.
class Memory {
 public:
  /// The motion that is one step for a memory within a call of advance: each step that the call
  /// takes, or the whole call.
  enum class Scope { step, call };

  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  /// The content, for errors: "the anchors of contacts".
  const char* name() const { return name_; }
  Scope scope() const { return scope_; }

  /// Begins a step, or begins it again after an attempt. What belongs to another state than that of
  /// the start has no effect.
  virtual void begin(const StepStart& start) = 0;
  /// Ends a part of a step, after which the next part goes on with what this one found.
  virtual void end_part() {}
  /// Ends a step that succeeded.
  virtual void end(const StepEnd& end) { (void)end; }
  /// Restores the memory of the last call of begin.
  virtual void restore(mjData* data) { (void)data; }
  /// Returns the bits of MemoryKind that the step takes, or would take, from the one before.
  virtual std::uint32_t used() const { return 0; }

  virtual void write(base::WordWriter* words) const = 0;
  /// Reads the words of write.
  /// @throws Error if they are others; the memory is then undefined
  virtual void read(base::WordReader* words) = 0;

 protected:
  Memory(const mjModel* model, const char* name, Scope scope = Scope::step)
      : m_(model), name_(name), scope_(scope) {}

  const mjModel* const m_;  // null in the memory of an object that has the model itself

 private:
  const char* const name_;
  const Scope scope_;
};

/// The contents of a memory in two buffers, and one more for steps in parts.
template <class Step>
struct MemoryBuffers {
  Step before, now;  // of the last step and of this one
  Step start;        // before at the start of the step, if a part has ended
  bool has_start = false;

  void begin() { has_start = false; }
  void end() { std::swap(before, now); }
  void end_part() {
    if (!std::exchange(has_start, true)) std::swap(start, before);
    std::swap(before, now);
  }
  void restore() {
    if (std::exchange(has_start, false)) std::swap(start, before);
  }
};

}  // namespace stiction::sim
