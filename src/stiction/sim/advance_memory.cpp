#include "stiction/sim/advance_memory.hpp"

#include <bit>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

/// Returns a hash of the time, positions, velocities and activations, which is not 0.
std::uint64_t calc_digest(const mjModel* m, const mjData* d) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](const mjtNum* x, mjtSize n) {
    for (mjtSize i = 0; i < n; ++i) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(x[i])) * 0x100000001b3;
      hash ^= hash >> 32;
    }
  };
  add(&d->time, 1);
  add(d->qpos, m->nq);
  add(d->qvel, m->nv);
  add(d->act, m->na);
  return hash == 0 ? 1 : hash;
}

}  // namespace

void AdvanceMemory::set(const mjModel* m, const mjData* d, double next_step, double last_error) {
  digest_ = calc_digest(m, d);
  next_step_ = next_step;
  last_error_ = last_error;
}

bool AdvanceMemory::fits(const mjModel* m, const mjData* d) const {
  return digest_ != 0 && digest_ == calc_digest(m, d);
}

void AdvanceMemory::write_memory(std::vector<std::uint64_t>* words) const {
  words->push_back(digest_);
  words->push_back(std::bit_cast<std::uint64_t>(next_step_));
  words->push_back(std::bit_cast<std::uint64_t>(last_error_));
}

void AdvanceMemory::read_memory(std::span<const std::uint64_t>* words) {
  if (words->size() < 3)
    throw Error(ErrorCode::kWrongShape, "state",
                "has too few numbers for the steps of error control; take one of "
                "Simulator.get_state()");
  digest_ = (*words)[0];
  next_step_ = std::bit_cast<double>((*words)[1]);
  last_error_ = std::bit_cast<double>((*words)[2]);
  if (digest_ != 0 && !(next_step_ > 0 && last_error_ > 0 && last_error_ <= 1))
    throw Error(ErrorCode::kWrongShape, "state",
                "has wrong numbers for the steps of error control; take one of "
                "Simulator.get_state()");
  *words = words->subspan(3);
}

}  // namespace stiction::sim
