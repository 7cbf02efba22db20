#include "support/mjdata_fields.hpp"

#include <algorithm>
#include <set>
#include <type_traits>

#include <mujoco/mjxmacro.h>

namespace stiction::support {
namespace {

using Names = std::set<std::string_view>;

/// Arrays from which a step starts.
const Names kInputs = {"qpos",         "qvel",          "act",          "history",   "plastic",
                       "plugin_state", "ctrl",          "qfrc_applied", "eq_active", "xfrc_applied",
                       "mocap_pos",    "mocap_quat",    "userdata",     "plugin",    "plugin_data",
                       "tree_asleep",  "qacc_warmstart"};
/// Arrays that only mj_resetData and sleep write.
const Names kSleep = {"tree_awake", "body_awake", "body_awake_ind", "parent_awake_ind",
                      "dof_awake_ind"};
/// Arrays that MuJoCo computes on demand only, for sensors of subtrees and forces, by mj_inverse,
/// or in the midphase, and wrap_xpos, which is longer than the paths of the tendons.
const Names kOnDemand = {"subtree_linvel", "subtree_angmom", "cacc",         "cfrc_int", "cfrc_ext",
                         "qfrc_inverse",   "bvh_active",     "bvh_aabb_dyn", "wrap_xpos"};

bool is_in(const Names& names, std::string_view name) { return names.count(name) > 0; }

/// Calls f(name, array, size) for all arrays of the main buffer.
template <class F>
void for_each_array(const mjModel* m, const mjData* d, F&& f) {
#define X(type, name, nr, nc) f(#name, d->name, static_cast<std::size_t>(m->nr) * (nc));
  MJDATA_POINTERS
#undef X
}

/// Calls f(name, array, size) for all arrays of the arena that exist.
template <class F>
void for_each_arena_array(const mjModel* m, const mjData* d, F&& f) {
#undef MJ_M
#undef MJ_D
#define MJ_M(n) m->n
#define MJ_D(n) d->n
#define X(type, name, nr, nc) \
  if (d->name) f(#name, d->name, static_cast<std::size_t>(nr) * (nc));
  MJDATA_ARENA_POINTERS
#undef X
#undef MJ_M
#undef MJ_D
}

template <class T>
void append(const T* array, std::size_t size, std::vector<unsigned char>* bytes) {
  const auto* begin = reinterpret_cast<const unsigned char*>(array);
  bytes->insert(bytes->end(), begin, begin + size * sizeof(T));
}

void append(const mjContact* contacts, std::size_t size, std::vector<unsigned char>* bytes) {
  // The last member is followed by padding.
  constexpr std::size_t kSize = offsetof(mjContact, efc_address) + sizeof(int);
  for (std::size_t i = 0; i < size; ++i)
    append(reinterpret_cast<const unsigned char*>(contacts + i), kSize, bytes);
}

}  // namespace

Fields read_fields(const mjModel* m, const mjData* d) {
  Fields fields;
  const auto read = [&](const char* name, const auto* array, std::size_t size) {
    if (!is_in(kOnDemand, name)) append(array, size, &fields[name]);
  };
  for_each_array(m, d, read);
  for_each_arena_array(m, d, read);
#define X(type, name) \
  if (!std::string_view(#name).starts_with("maxuse")) read(#name, &d->name, 1);
  MJDATA_SCALAR
#undef X
  const int num_iterations = std::min(d->solver_niter[0], static_cast<int>(mjNSOLVER));
  read("solver", d->solver, num_iterations);
  read("solver_niter", d->solver_niter, mjNISLAND);
  read("solver_nnz", d->solver_nnz, mjNISLAND);
  read("solver_fwdinv", d->solver_fwdinv, 2);
  read("energy", d->energy, 2);
  return fields;
}

void poison(const mjModel* m, mjData* d, double value) {
  for_each_array(m, d, [&](const char* name, auto* array, std::size_t size) {
    if (is_in(kInputs, name) || is_in(kSleep, name)) return;
    if constexpr (std::is_same_v<decltype(array), mjtNum*>) std::fill_n(array, size, value);
  });
  std::fill_n(static_cast<double*>(d->arena), d->narena / sizeof(double), value);
  for (mjSolverStat& statistics : d->solver)
    statistics.improvement = statistics.gradient = statistics.lineslope = value;
  for (auto* counts : {&d->solver_niter, &d->solver_nnz})
    std::fill(std::begin(*counts), std::end(*counts), 7);
  for (auto* numbers : {&d->solver_fwdinv, &d->energy})
    std::fill(std::begin(*numbers), std::end(*numbers), value);
}

std::string find_differences(const Fields& a, const Fields& b) {
  std::string names;
  for (const auto& [name, bytes] : a)
    if (!b.contains(name) || b.at(name) != bytes) names += name + " ";
  for (const auto& [name, bytes] : b)
    if (!a.contains(name)) names += name + " ";
  return names;
}

}  // namespace stiction::support
