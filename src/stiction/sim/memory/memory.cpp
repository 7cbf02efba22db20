#include "stiction/sim/memory/memory.hpp"

#include <algorithm>
#include <bit>

namespace stiction::sim {
namespace {

void add(double x, std::uint64_t* hash) {
  *hash = (*hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3;
  *hash ^= *hash >> 32;
}

void add(const mjtNum* x, int n, std::uint64_t* hash) {
  for (int i = 0; i < n; ++i) add(x[i], hash);
}

std::uint64_t make_nonzero(std::uint64_t hash) { return hash == 0 ? 1 : hash; }

}  // namespace

std::uint64_t hash_positions(const mjModel* m, const mjData* d) {
  // Each product waits for the one before, so four hashes run side by side.
  constexpr int kNumHashes = 4;
  std::uint64_t hashes[kNumHashes];
  std::fill_n(hashes, kNumHashes, 0xcbf29ce484222325);
  const int num_whole = m->nq / kNumHashes * kNumHashes;
  for (int i = 0; i < num_whole; i += kNumHashes)
    for (int k = 0; k < kNumHashes; ++k) add(d->qpos[i + k], &hashes[k]);
  add(d->qpos + num_whole, m->nq - num_whole, &hashes[0]);
  for (int k = 1; k < kNumHashes; ++k) add(std::bit_cast<double>(hashes[k]), &hashes[0]);
  add(d->time, &hashes[0]);
  return make_nonzero(hashes[0]);
}

std::uint64_t hash_motion(const mjModel* m, const mjData* d) {
  std::uint64_t hash = hash_positions(m, d);
  add(d->qvel, m->nv, &hash);
  add(d->act, m->na, &hash);
  return make_nonzero(hash);
}

StepStart StepStart::compare(const mjModel* m, mjData* d, const StepEnd& last) {
  StepStart start{.data = d, .time = d->time, .positions = hash_positions(m, d)};
  const bool has_time = d->time == last.time;
  start.goes_on = has_time && (!last.data || last.data == d);
  start.has_positions = start.positions == last.positions;
  // Data of a copy go on with the active set, which depends on the positions alone.
  if (!start.goes_on) start.lost |= kPatchHistory | kMocapMotion | kWarnings;
  if (!start.has_positions) start.lost |= kContactForces | kAnchors;
  if (!start.goes_on && !start.has_positions) start.lost |= kActiveSet;
  return start;
}

}  // namespace stiction::sim
