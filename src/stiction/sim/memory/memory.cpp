#include "stiction/sim/memory/memory.hpp"

#include <algorithm>
#include <bit>

#include "stiction/plant/model/tree_ties.hpp"

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

void KeptTrees::compare(const mjModel* m, const mjData* d, const std::vector<double>& qpos) {
  set_none();
  for (int j = 0; j < m->njnt;) {  // the joints of a tree follow each other
    const int tree = m->body_treeid[m->jnt_bodyid[j]], first = m->jnt_qposadr[j];
    while (j < m->njnt && m->body_treeid[m->jnt_bodyid[j]] == tree) ++j;
    const int last = j < m->njnt ? m->jnt_qposadr[j] : m->nq;
    if (!std::equal(d->qpos + first, d->qpos + last, qpos.begin() + first)) continue;
    has_tree_.resize(m->ntree);
    has_tree_[tree] = true;
  }
}

bool KeptTrees::has_tendon(const mjModel* m, int tendon) const {
  if (has_all_) return true;
  bool has = has_any();
  plant::for_each_tendon_body(m, tendon, [&](int body) { has = has && has_body(m, body); });
  for (int i = m->tendon_adr[tendon]; i < m->tendon_adr[tendon] + m->tendon_num[tendon]; ++i)
    if (m->wrap_type[i] == mjWRAP_JOINT) has = has && has_body(m, m->jnt_bodyid[m->wrap_objid[i]]);
  return has;
}

StepStart StepStart::compare(const mjModel* m, mjData* d, const StepEnd& last, KeptTrees* kept) {
  StepStart start{.data = d, .time = d->time, .positions = hash_positions(m, d)};
  const bool has_time = d->time == last.time;
  start.goes_on = has_time && (!last.data || last.data == d);
  start.last_positions = last.positions;
  start.kept = kept;
  if (start.positions == last.positions)
    kept->set_all();
  else if (has_time)
    kept->compare(m, d, last.qpos);
  else
    kept->set_none();
  // Data of a copy go on with the active set, which depends on the positions alone.
  if (!start.goes_on) start.lost |= kPatchHistory | kMocapMotion | kWarnings;
  if (!kept->has_all()) start.lost |= kContactForces | kAnchors;
  if (!start.goes_on && !kept->has_all()) start.lost |= kActiveSet;
  return start;
}

}  // namespace stiction::sim
