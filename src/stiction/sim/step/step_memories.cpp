#include "stiction/sim/step/step_memories.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"

namespace stiction::sim {

StepMemories::StepMemories(const mjModel* model, const StepOptions& options, plant::Model* plant)
    : mocap(model, options.integrator),
      penetration(model),
      touch(model),
      anchors(model),
      limits(model),
      sleep(model, &mocap.motion, plant),
      step_length(model),
      model_(model),
      options_(options),
      list_{&mocap, &penetration, &touch} {
  if (has_anchors(options.parameters)) add(&anchors);
  for (Memory* memory : {static_cast<Memory*>(&limits), static_cast<Memory*>(&sleep),
                         static_cast<Memory*>(&step_length)})
    add(memory);
}

/// Calls f(memory) for each memory of a scope.
template <class F>
void StepMemories::for_each(Memory::Scope scope, F&& f) {
  for (Memory* memory : list_)
    if (memory->scope() == scope) f(memory);
}

void StepMemories::turn_to(const mjData* d) {
  if (last_.data == d || last_.data == nullptr) return;
  // A copy of the last state goes on with its memories.
  const bool is_copy = last_.time == d->time && last_.positions == hash_positions(model_, d);
  write(&find_place(last_.data).state);
  if (!is_copy) take_up(d);
}

void StepMemories::turn_back_to(const mjData* d) {
  if (last_.data == d || last_.data == nullptr) return;
  write(&find_place(last_.data).state);
  take_up(d);
}

/// Reads the memories of data that are parked, if there are any; otherwise there was no step of
/// these data. Those of a model that has changed since are lost.
void StepMemories::take_up(const mjData* d) {
  const auto known = std::ranges::find(parked_, d, &Parked::data);
  if (known == parked_.end()) {
    last_ = {.data = d};
    return;
  }
  try {
    read(known->state, d);
  } catch (const Error&) {
    read(parked_.back().state, parked_.back().data);
  }
}

/// Returns the place where the memories of data are parked: that of before, a new one, or that
/// which has not been used for longest.
StepMemories::Parked& StepMemories::find_place(const mjData* d) {
  auto place = std::ranges::find(parked_, d, &Parked::data);
  if (place == parked_.end() && std::ssize(parked_) < kMaxParked)
    place = parked_.insert(place, Parked());
  else if (place == parked_.end())
    place = parked_.begin();
  std::rotate(place, place + 1, parked_.end());
  parked_.back().data = d;
  return parked_.back();
}

void StepMemories::begin(const StepStart& start) {
  for (Memory* memory : list_) memory->begin(start);
}

void StepMemories::end_part() {
  for_each(Memory::Scope::step, [](Memory* memory) { memory->end_part(); });
}

void StepMemories::end(const mjData* d) {
  end_within_call(d);
  end_call(d);
}

void StepMemories::restore(mjData* d) {
  for (Memory* memory : list_) memory->restore(d);
}

void StepMemories::begin_within_call(const StepStart& start) {
  for_each(Memory::Scope::step, [&](Memory* memory) { memory->begin(start); });
}

void StepMemories::end_within_call(const mjData* d) {
  last_ = {.data = d, .time = d->time, .positions = hash_positions(model_, d)};
  for_each(Memory::Scope::step, [this](Memory* memory) { memory->end(last_); });
}

void StepMemories::restore_within_call(mjData* d) {
  for_each(Memory::Scope::step, [d](Memory* memory) { memory->restore(d); });
}

void StepMemories::end_call(const mjData* d) {
  last_.data = d;
  last_.time = d->time;
  for_each(Memory::Scope::call, [this](Memory* memory) { memory->end(last_); });
}

std::uint32_t StepMemories::used() const {
  std::uint32_t kinds = 0;
  for (const Memory* memory : list_) kinds |= memory->used();
  return kinds;
}

/// Copies of a model have equal sizes; MuJoCo's signature is lost in its binary format.
std::array<std::uint64_t, 4> StepMemories::make_key() const {
  constexpr std::uint64_t kFormat = 0x5354494353540012;  // "STICST", version 18
  constexpr int kAnchorsBit = 1 << 8;                    // the state has anchors
  const auto join = [](auto a, auto b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
  };
  const mjModel* m = model_;
  return {kFormat,
          join(static_cast<int>(options_.contact_model),
               static_cast<int>(options_.integrator) |
                   (has_anchors(options_.parameters) ? kAnchorsBit : 0)),
          join(m->nq, m->nv), join(m->nbody, m->ngeom)};
}

void StepMemories::write(std::vector<std::uint64_t>* state) const {
  const auto key = make_key();
  state->assign(key.begin(), key.end());
  base::WordWriter words(state);
  words.put(last_.time);
  for (const Memory* memory : list_) {
    if (memory == &penetration) words.put(last_.positions);  // there since version 1
    memory->write(&words);
  }
}

void StepMemories::read(std::span<const std::uint64_t> state, const mjData* last_data) {
  const std::size_t key_size = make_key().size();
  STICTION_ASSERT(state.size() > key_size);
  base::WordReader words(state.subspan(key_size));
  last_ = {.data = last_data, .time = words.take_double()};
  for (Memory* memory : list_) {
    words.begin(memory->name());
    if (memory == &penetration) last_.positions = words.take();
    memory->read(&words);
  }
  if (!words.rest().empty())
    throw Error(ErrorCode::kWrongShape, "state",
                "has more numbers than a simulator of this model has");
}

}  // namespace stiction::sim
