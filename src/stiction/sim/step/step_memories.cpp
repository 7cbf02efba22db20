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
      list_{&mocap, &penetration, &touch},
      kept_(model) {
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
  const std::uint64_t positions = hash_positions(model_, d);
  const auto is_end = [&](const StepEnd& end) {
    return end.time == d->time && end.positions == positions;
  };
  if (is_end(last_)) return park();
  const auto parked = std::ranges::find(parked_, d, &Parked::data);
  const bool goes_on = parked != parked_.end() && is_end(parked->end);
  const auto copied = goes_on ? parked : std::ranges::find_if(parked_, is_end, &Parked::end);
  take_up(copied != parked_.end() ? copied : parked, d);
}

void StepMemories::turn_back_to(const mjData* d) {
  if (last_.data == d || last_.data == nullptr) return;
  take_up(std::ranges::find(parked_, d, &Parked::data), d);
}

/// Parks the memories of the last step: in the place that its data had, in a new one, or in that
/// which has not been used for longest.
void StepMemories::park() {
  auto place = std::ranges::find(parked_, last_.data, &Parked::data);
  if (place == parked_.end() && std::ssize(parked_) < kMaxParked)
    place = parked_.insert(place, Parked());
  else if (place == parked_.end())
    place = parked_.begin();
  std::rotate(place, place + 1, parked_.end());
  parked_.back().data = last_.data;
  parked_.back().end = last_;
  write(&parked_.back().state);
}

/// Parks the memories of the last step, and reads others that are parked; those of a new stepper if
/// there are none, or if the model has changed since.
void StepMemories::take_up(std::vector<Parked>::const_iterator parked, const mjData* d) {
  taken_up_ = parked == parked_.end() ? fresh_ : parked->state;
  park();  // perhaps in the place of those
  try {
    read(taken_up_, d);
  } catch (const Error&) {
    read(fresh_, d);
  }
}

/// Keeps the memories of a new stepper.
void StepMemories::keep_fresh() {
  if (fresh_.empty()) write(&fresh_);
}

void StepMemories::begin(const StepStart& start) {
  keep_fresh();
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
  last_.data = d;
  last_.time = d->time;
  last_.positions = hash_positions(model_, d);
  last_.qpos.assign(d->qpos, d->qpos + model_->nq);
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
  constexpr std::uint64_t kFormat = 0x5354494353540013;  // "STICST", version 19
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
  words.put(last_.positions);
  for (const double q : last_.qpos) words.put(q);
  for (const Memory* memory : list_) memory->write(&words);
}

void StepMemories::read(std::span<const std::uint64_t> state, const mjData* last_data) {
  const std::size_t key_size = make_key().size();
  STICTION_ASSERT(state.size() > key_size);
  keep_fresh();
  base::WordReader words(state.subspan(key_size));
  last_.data = last_data;
  last_.time = words.take_double();
  last_.positions = words.take();
  last_.qpos.resize(last_.positions != 0 ? model_->nq : 0);
  for (double& q : last_.qpos) q = words.take_double();
  for (Memory* memory : list_) {
    words.begin(memory->name());
    memory->read(&words);
  }
  if (!words.rest().empty())
    throw Error(ErrorCode::kWrongShape, "state",
                "has more numbers than a simulator of this model has");
}

}  // namespace stiction::sim
