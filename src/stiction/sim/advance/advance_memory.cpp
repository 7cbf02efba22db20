#include "stiction/sim/advance/advance_memory.hpp"

#include <bit>

#include "stiction/base/error.hpp"
#include "stiction/sim/memory/state_hash.hpp"

namespace stiction::sim {

void AdvanceMemory::set(const mjModel* m, const mjData* d, double next_step, double last_error) {
  digest_ = hash_motion(m, d);
  next_step_ = next_step;
  last_error_ = last_error;
}

bool AdvanceMemory::fits(const mjModel* m, const mjData* d) const {
  return digest_ != 0 && digest_ == hash_motion(m, d);
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
