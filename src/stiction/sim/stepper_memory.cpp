#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/stepper_workspace.hpp"

namespace stiction::sim {

/// Returns the numbers with which a state begins: they identify the format, the contact model, the
/// integrator and the sizes of the model. Copies of a model have equal sizes; MuJoCo's signature is
/// lost in its binary format.
std::array<std::uint64_t, 4> Stepper::Workspace::make_state_key() const {
  constexpr std::uint64_t kFormat = 0x535449435354000f;  // "STICST", version 15
  constexpr int kAnchorsBit = 1 << 8;                    // the state has anchors
  const auto join = [](auto a, auto b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
  };
  const mjModel* m = context.model;
  return {kFormat,
          join(static_cast<int>(context.options.contact_model),
               static_cast<int>(context.options.integrator) |
                   (has_anchors(context.options.parameters) ? kAnchorsBit : 0)),
          join(m->nq, m->nv), join(m->nbody, m->ngeom)};
}

void Stepper::Workspace::get_state(std::vector<std::uint64_t>* state) const {
  const auto key = make_state_key();
  state->assign(key.begin(), key.end());
  state->push_back(std::bit_cast<std::uint64_t>(last_time_));
  context.mocap.write_memory(context.model, state);
  context.penetration.write_memory(state);
  context.lagged_impulses.write_memory(state);
  if (has_anchors(context.options.parameters)) context.anchors.write_memory(state);
  context.limit_memory.write_memory(state);
  context.sleep.write_memory(state);
  advance_.memory.write_memory(state);
  write_memory(state);
}

void Stepper::Workspace::set_state(std::span<const std::uint64_t> state) {
  const auto key = make_state_key();
  if (state.size() <= key.size() || !std::equal(key.begin(), key.end(), state.begin()))
    throw Error(ErrorCode::kWrongShape, "state",
                "does not belong to a simulator of this model with this contact model and "
                "integrator; take one of Simulator.get_state()");
  // The words of patches belong to the pairs of the present model.
  std::visit([this](auto& step) { step.follow_model(context.model, context.options); }, step_);
  std::vector<std::uint64_t> before;
  get_state(&before);
  const mjData* const last_data = last_data_;
  try {
    resume(state);
  } catch (...) {
    resume(before);
    last_data_ = last_data;
    throw;
  }
}

/// Reads the words of get_state.
/// @throws Error if they are not; the memory is then undefined
void Stepper::Workspace::resume(std::span<const std::uint64_t> state) {
  const std::size_t key_size = make_state_key().size();
  STICTION_ASSERT(state.size() > key_size);
  last_data_ = nullptr;
  last_time_ = std::bit_cast<double>(state[key_size]);
  std::span<const std::uint64_t> words = state.subspan(key_size + 1);
  context.mocap.read_memory(context.model, &words);
  context.penetration.read_memory(context.model, &words);
  context.lagged_impulses.read_memory(context.model, &words);
  if (has_anchors(context.options.parameters)) context.anchors.read_memory(context.model, &words);
  context.limit_memory.read_memory(context.model, &words);
  context.sleep.read_memory(context.model, &words);
  advance_.memory.read_memory(&words);
  read_memory(words);
}

void Stepper::Workspace::write_memory(std::vector<std::uint64_t>* words) const {
  std::visit([words](const auto& step) { step.write_memory(words); }, step_);
}

/// @throws Error if the words are not those of write_memory
void Stepper::Workspace::read_memory(std::span<const std::uint64_t> words) {
  std::visit([&words](auto& step) { step.read_memory(&words); }, step_);
  if (!words.empty())
    throw Error(ErrorCode::kWrongShape, "state",
                "has more numbers than a simulator of this model has");
}

/// Keeps the memory and the parts `signature` of the state.
void Stepper::Workspace::keep_state(const mjData* d, int signature) {
  context.must_retake = false;
  if (state_.empty()) return;
  mj_getState(context.model, d, state_.data(), signature);
  memory_.clear();
  write_memory(&memory_);
  mocap_ = context.mocap;
  is_state_kept_ = true;
}

void Stepper::Workspace::restore_state(mjData* d, int signature) {
  context.mocap = mocap_;
  restore_data(d, signature);
  context.sleep.restore(context.model, d, &context.plant);
}

/// Restores the state and what the step remembers, except the velocities of mocap bodies.
void Stepper::Workspace::restore_data(mjData* d, int signature) {
  mj_setState(context.model, d, state_.data(), signature);
  restore_memory(memory_);
}

/// Reads words that write_memory has written, so that it cannot fail.
void Stepper::Workspace::restore_memory(std::span<const std::uint64_t> words) {
  [[maybe_unused]] bool is_read = true;
  try {
    read_memory(words);
  } catch (const std::exception&) {
    is_read = false;
  }
  STICTION_ASSERT(is_read);
}

/// Restores the state and the memory before a call of advance that failed.
void Stepper::Workspace::restore_call(mjData* d) {
  const mjData* const last_data = last_data_;
  mj_setState(context.model, d, state_.data(), mjSTATE_INTEGRATION);
  context.update();
  try {
    resume(call_memory_);  // words of get_state, so it cannot fail
  } catch (const std::exception&) {
    STICTION_ASSERT(false);
  }
  last_data_ = last_data;
}

/// Returns the bits of MemoryKind that do not belong to a step from this state, because it does not
/// go on where the last one ended. The caller may have changed positions and velocities in between.
/// A copy of the data goes on with the active set, which depends on the state alone. Call
/// PenetrationMemory::start first.
std::uint32_t Stepper::Workspace::find_lost_memory(const mjData* d) const {
  constexpr std::uint32_t kHistory = kPatchHistory | kMocapMotion | kWarnings;
  if (d->time != last_time_) return kActiveSet | kContactForces | kAnchors | kHistory;
  const bool goes_on = context.penetration.goes_on();
  const std::uint32_t forces = goes_on ? 0u : std::uint32_t{kContactForces | kAnchors};
  if (!last_data_ || last_data_ == d) return forces;
  return goes_on ? kHistory : kActiveSet | kHistory | forces;
}

/// Returns the bits of MemoryKind that a step takes from the one before. Call it after the step.
std::uint32_t Stepper::Workspace::find_memory_used() const {
  if (contact::traits(context.options.contact_model).is_mj_step) return 0;
  const bool has_warnings = context.penetration.is_any() || context.limit_memory.is_any();
  std::uint32_t used = std::visit([](const auto& step) { return step.find_memory_used(); }, step_);
  if (context.model->nmocap > 0) used |= kMocapMotion;
  if (has_warnings) used |= kWarnings;
  if (context.lagged_impulses.is_any()) used |= kContactForces;
  if (context.anchors.is_any() && !context.anchors.go_on()) used |= kAnchors;
  return used;
}

/// @throws Error if the friction law has no anchors
void Stepper::Workspace::require_anchors(const char* function) const {
  if (!has_anchors(context.options.parameters))
    throw Error(ErrorCode::kUnsupported, function,
                "needs the friction law 'elastic', but the friction law is '" +
                    std::string(name_of(context.options.parameters.friction_law)) + "'");
}

std::vector<std::uint64_t> Stepper::Workspace::save_anchors() const {
  require_anchors("save_anchors");
  const auto key = make_state_key();
  std::vector<std::uint64_t> words(key.begin(), key.end());
  context.anchors.write_memory(&words);
  return words;
}

std::vector<AnchorReport> Stepper::Workspace::list_anchors() const {
  require_anchors("list_anchors");
  return sim::list_anchors(context.anchors.memory().step);
}

void Stepper::Workspace::load_anchors(const mjData* d, std::span<const std::uint64_t> words) {
  require_anchors("load_anchors");
  const auto key = make_state_key();
  if (words.size() <= key.size() || !std::equal(key.begin(), key.end(), words.begin()))
    throw Error(ErrorCode::kWrongShape, "anchors",
                "do not belong to a simulator of this model with this contact model and "
                "integrator; take those of Simulator.save_anchors()");
  Anchors anchors;
  std::span<const std::uint64_t> rest = words.subspan(key.size());
  try {
    anchors.read_memory(context.model, &rest);
  } catch (const Error&) {
    throw Error(
        ErrorCode::kWrongShape, "anchors",
        "have wrong numbers: they were cut off or altered, or belong to another model; take "
        "those of Simulator.save_anchors()");
  }
  if (!rest.empty())
    throw Error(ErrorCode::kWrongShape, "anchors", "have more numbers than they need");
  if (!anchors.is_none() && !anchors.belong_to(context.model, d))
    throw Error(ErrorCode::kInvalidValue, "anchors",
                "are those of another time or other positions than data has; restore the state at "
                "which they were saved, or call forget_anchors to begin without stretches");
  context.anchors = std::move(anchors);
}

void Stepper::Workspace::forget_anchors() {
  require_anchors("forget_anchors");
  context.anchors.forget();
}

}  // namespace stiction::sim
