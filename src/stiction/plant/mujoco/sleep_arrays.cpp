#include "stiction/plant/mujoco/sleep_arrays.hpp"

#include <algorithm>

namespace stiction::plant {
namespace {

int find_body_state(const mjModel* m, const mjData* d, int body) {
  const int tree = m->body_treeid[body];
  if (tree >= 0) return d->tree_awake[tree] ? mjS_AWAKE : mjS_ASLEEP;
  // Mocap bodies may move at any time.
  return m->body_mocapid[m->body_rootid[body]] >= 0 ? mjS_AWAKE : mjS_STATIC;
}

}  // namespace

void write_sleep_arrays(const mjModel* m, std::span<const int> tree_asleep, mjData* d) {
  std::ranges::copy(tree_asleep, d->tree_asleep);
  d->ntree_awake = 0;
  for (int i = 0; i < m->ntree; ++i) d->ntree_awake += d->tree_awake[i] = tree_asleep[i] < 0;

  d->nbody_awake = d->nparent_awake = 0;
  for (int i = 0; i < m->nbody; ++i) {
    d->body_awake[i] = find_body_state(m, d, i);
    if (d->body_awake[i] != mjS_ASLEEP) d->body_awake_ind[d->nbody_awake++] = i;
    if (i > 0 && d->body_awake[m->body_parentid[i]] != mjS_ASLEEP)
      d->parent_awake_ind[d->nparent_awake++] = i;
  }

  d->nv_awake = 0;
  for (int i = 0; i < m->nv; ++i)
    if (d->tree_awake[m->dof_treeid[i]]) d->dof_awake_ind[d->nv_awake++] = i;
}

}  // namespace stiction::plant
