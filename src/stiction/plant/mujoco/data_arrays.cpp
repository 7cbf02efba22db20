#include "stiction/plant/mujoco/data_arrays.hpp"

#include <algorithm>

#include <mujoco/mjxmacro.h>

namespace stiction::plant {
namespace {

int find_body_state(const mjModel* m, const mjData* d, int body) {
  const int tree = m->body_treeid[body];
  if (tree >= 0) return d->tree_awake[tree] ? mjS_AWAKE : mjS_ASLEEP;
  // Mocap bodies may move at any time.
  return m->body_mocapid[m->body_rootid[body]] >= 0 ? mjS_AWAKE : mjS_STATIC;
}

}  // namespace

std::optional<DataField> find_data_field(const mjModel* m, std::string_view name) {
// MuJoCo's list of arrays: type, name, number of rows as a member of mjModel, number of columns.
#define X(type, field, rows, num_columns)     \
  if (name == #field)                         \
    return DataField{offsetof(mjData, field), \
                     sizeof(type) * static_cast<std::size_t>(m->rows) * (num_columns), true};
  MJDATA_POINTERS
#undef X
// The fields whose values are in mjData itself.
#define X(field) \
  if (name == #field) return DataField{offsetof(mjData, field), sizeof(mjData::field), false};
  // clang-format off
  X(time) X(energy) X(ncon) X(ne) X(nf) X(nl) X(nefc) X(nJ) X(nA) X(nisland) X(nidof)
  X(solver_niter) X(solver_nnz) X(solver_fwdinv)
#undef X
      // clang-format on
      return std::nullopt;
}

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

void write_solver_outputs(const mjModel* m, mjData* d, int num_iterations) {
  std::ranges::fill(d->solver_niter, 0);
  std::ranges::fill(d->solver_nnz, 0);
  std::ranges::fill(d->solver_fwdinv, 0.0);
  d->solver_niter[0] = num_iterations;
  std::fill_n(d->solver, std::min(num_iterations, static_cast<int>(mjNSOLVER)), mjSolverStat{});
  std::fill_n(d->qH, m->nC, 0.0);
  std::fill_n(d->qHDiagInv, m->nv, 0.0);
  std::fill_n(d->qDeriv, m->nD, 0.0);
  std::fill_n(d->qLU, m->nD, 0.0);
}

void* allocate_in_arena(mjData* d, std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (d->parena + alignment - 1) / alignment * alignment;
  if (begin + bytes > static_cast<std::size_t>(d->narena) - d->pstack) return nullptr;
  d->parena = begin + bytes;
  d->maxuse_arena = std::max<mjtSize>(d->maxuse_arena, static_cast<mjtSize>(d->parena));
  return static_cast<char*>(d->arena) + begin;
}

int find_end_of_pair(const mjData* d, int begin) {
  const mjContact& first = d->contact[begin];
  int end = begin + 1;
  const auto is_like = [&](const mjContact& con) {  // std::equal would call memcmp
    return con.geom[0] == first.geom[0] && con.geom[1] == first.geom[1];
  };
  while (end < d->ncon && is_like(d->contact[end])) ++end;
  return end;
}

}  // namespace stiction::plant
