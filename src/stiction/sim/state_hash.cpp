#include "stiction/sim/state_hash.hpp"

#include <algorithm>
#include <bit>

namespace stiction::sim {

std::uint64_t hash_state(const mjModel* m, const mjData* d) {
  // Each product waits for the one before, so four hashes run side by side.
  constexpr int kNumHashes = 4;
  std::uint64_t hashes[kNumHashes];
  std::fill_n(hashes, kNumHashes, 0xcbf29ce484222325);
  const auto add = [](double x, std::uint64_t* hash) {
    *hash = (*hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3;
    *hash ^= *hash >> 32;
  };
  const int num_whole = m->nq / kNumHashes * kNumHashes;
  for (int i = 0; i < num_whole; i += kNumHashes)
    for (int k = 0; k < kNumHashes; ++k) add(d->qpos[i + k], &hashes[k]);
  for (int i = num_whole; i < m->nq; ++i) add(d->qpos[i], &hashes[0]);
  for (int k = 1; k < kNumHashes; ++k) add(std::bit_cast<double>(hashes[k]), &hashes[0]);
  add(d->time, &hashes[0]);
  return hashes[0] == 0 ? 1 : hashes[0];
}

}  // namespace stiction::sim
