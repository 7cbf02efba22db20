#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/model/model.hpp"
#include "stiction/sim/memory/anchors.hpp"
#include "stiction/sim/memory/memory.hpp"
#include "stiction/sim/memory/mocap_memory.hpp"
#include "stiction/sim/memory/step_length.hpp"
#include "stiction/sim/memory/touch_memory.hpp"
#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/sleep/sleep.hpp"

namespace stiction::sim {

/// The list of all memories of a stepper.
class StepMemories {
 public:
  /// @param plant lists the dofs of the trees that are awake
  StepMemories(const mjModel* model, const StepOptions& options, plant::Model* plant);

  MocapMemory mocap;
  PenetrationMemory penetration;
  TouchMemory touch;
  Anchors anchors;  // empty unless the friction law is `elastic`
  LimitMemory limits;
  Sleep sleep;
  StepLength step_length;

  /// Appends a memory of the integrator to the list.
  void add(Memory* memory) { list_.push_back(memory); }

  /// Takes up the memories of data, if the last step was one of other data. So one stepper steps
  /// several data in turn as one stepper each would; it remembers the last kMaxParked others.
  void turn_to(const mjData* data);
  /// The same where data may not exist any more.
  void turn_back_to(const mjData* data);
  static constexpr int kMaxParked = 64;

  /// Compares data with the end of the last step.
  StepStart find_start(mjData* data) { return StepStart::compare(model_, data, last_, &kept_); }
  /// Begins, divides, ends and undoes a step; see Memory. A call of advance begins and ends all
  /// memories, and each step within it those with Scope::step.
  void begin(const StepStart& start);
  void end_part();
  void end(const mjData* data);
  void restore(mjData* data);
  void begin_within_call(const StepStart& start);
  void end_within_call(const mjData* data);
  void restore_within_call(mjData* data);
  void end_call(const mjData* data);
  /// Returns the bits of MemoryKind that the step has taken from the one before. Call it after the
  /// step.
  std::uint32_t used() const;

  /// Returns the numbers with which a state begins. They identify the format, the contact model,
  /// the integrator and the sizes of the model.
  std::array<std::uint64_t, 4> make_key() const;
  /// Writes a state of Stepper::get_state.
  void write(std::vector<std::uint64_t>* state) const;
  /// Reads the words of write after those of the key.
  /// @param last_data data of the last step; null: those of the next step
  /// @throws Error if they are others; the memories are then undefined
  void read(std::span<const std::uint64_t> state, const mjData* last_data = nullptr);
  const mjData* last_data() const { return last_.data; }

 private:
  /// The memories at the end of the last step of data, for others than those of the last step.
  struct Parked {
    const mjData* data = nullptr;
    StepEnd end;
    std::vector<std::uint64_t> state;
  };
  void park();
  void take_up(std::vector<Parked>::const_iterator parked, const mjData* data);
  void keep_fresh();

  template <class F>
  void for_each(Memory::Scope scope, F&& f);

  const mjModel* model_;
  const StepOptions& options_;
  std::vector<Memory*> list_;  // in the order of their words in a state
  StepEnd last_;
  KeptTrees kept_;                       // found at the start of the step
  std::vector<Parked> parked_;           // those used last are at the end
  std::vector<std::uint64_t> fresh_;     // the state before the first step
  std::vector<std::uint64_t> taken_up_;  // scratch: the state that take_up reads
};

}  // namespace stiction::sim
