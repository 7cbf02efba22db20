#pragma once

#include <cstdint>
#include <limits>

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
  /// True if the last step ended at the same time with the same positions, perhaps of other data.
  bool has_positions = false;
  /// Bits of MemoryKind that do not belong to this step.
  std::uint32_t lost = 0;
  /// True if the step begins again, from the same state, because its first attempt did not succeed.
  bool is_again = false;
  bool is_call = false;     // a call of advance, which takes steps within the duration
  bool is_mj_step = false;  // MuJoCo takes the step, and remembers what it needs in mjData
  bool has_sleep = false;   // trees may sleep in this step
  bool may_have_changed_model = true;

  /// Compares data with the end of the last step.
  static StepStart compare(const mjModel* model, mjData* data, const StepEnd& last);
};

/// A part of what a stepper remembers from step to step. StepMemories has the list of all.
///
/// A step calls begin, and end if it succeeds, or restore if it fails. Between begin and end a
/// memory holds what it had and what the step finds.
class Memory {
 public:
  Memory() = default;
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Begins a step, or begins it again after an attempt. What belongs to another state than that of
  /// the start has no effect.
  virtual void begin(const StepStart& start) = 0;
  /// Ends a part of a step, after which the next part goes on with what this one found.
  virtual void end_part() {}
  /// Ends a step that succeeded.
  virtual void end(const StepEnd& end) { (void)end; }
  /// Restores the memory of the last call of begin.
  virtual void restore(mjData* data) { (void)data; }

  /// True if a call of advance is one step for this memory, instead of each step that the call
  /// takes.
  virtual bool spans_call() const { return false; }
  /// Returns the bits of MemoryKind that the step takes, or would take, from the one before.
  virtual std::uint32_t used() const { return 0; }

  /// The name of the content, for errors: "the anchors of contacts".
  virtual const char* name() const = 0;
  virtual void write(base::WordWriter* words) const = 0;
  /// Reads the words of write.
  /// @throws Error if they are others; the memory is then undefined
  virtual void read(base::WordReader* words) = 0;
};

}  // namespace stiction::sim
