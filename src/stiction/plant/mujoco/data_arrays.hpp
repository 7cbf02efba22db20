#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"

/// Arrays of mjData: their names, those of sleep and of MuJoCo's solver, and those in the arena.
namespace stiction::plant {

/// A field of mjData: an array outside the arena, a count such as `ncon`, `time`, or a small vector
/// such as `energy`. These are the fields that mjb_output knows, and those of the state.
struct DataField {
  std::size_t offset = 0;  // in mjData [bytes]
  std::size_t size = 0;    // of the values [bytes]
  bool is_array = false;   // mjData has their address, not the values themselves

  /// Returns the address of the first value; null if there are none.
  const std::byte* in(const mjData* data) const {
    const auto* member = reinterpret_cast<const std::byte*>(data) + offset;
    return is_array ? *reinterpret_cast<const std::byte* const*>(member) : member;
  }
};

/// Returns the field of this name, if there is one.
std::optional<DataField> find_data_field(const mjModel* model, std::string_view name);

/// The value of mjData::tree_asleep of a tree that has just moved.
inline constexpr int kFullyAwake = -(1 + mjMINAWAKE);

/// Writes tree_asleep and all arrays that MuJoCo derives from it, by which its functions skip
/// sleeping trees: tree_awake, body_awake, the lists of awake bodies and dofs, and their lengths.
/// @param tree_asleep size ntree; below 0: awake, otherwise the next tree of the sleeping island
void write_sleep_arrays(const mjModel* model, std::span<const int> tree_asleep, mjData* data);

/// Overwrites the outputs of MuJoCo's own solver and integrator, which a step of ours does not run
/// and which would otherwise be those of the last mj_step. solver_niter[0] becomes our number of
/// iterations. All other solver statistics, qH, qHDiagInv, qDeriv and qLU become 0, and so do the
/// first solver_niter[0] statistics of iterations.
/// @param num_iterations of our solver, summed over islands
void write_solver_outputs(const mjModel* model, mjData* data, int num_iterations);

/// A range [begin, end) of rows in data->efc_*.
struct RowRange {
  int begin, end;
};
/// Returns the rows of joint and tendon limits.
inline RowRange limit_rows(const mjData* d) { return {d->ne + d->nf, d->ne + d->nf + d->nl}; }

/// Allocates memory in the data's arena, as MuJoCo does for arrays of one step.
/// @return null if the arena is too small
void* allocate_in_arena(mjData* data, std::size_t bytes, std::size_t alignment);

/// Copies an array of `old_size` elements to a larger one and sets the new elements to 0.
/// @return false if the arena is too small
template <class T>
bool grow_in_arena(mjData* d, T** array, std::size_t old_size, std::size_t new_size) {
  T* larger = static_cast<T*>(allocate_in_arena(d, new_size * sizeof(T), alignof(T)));
  if (!larger) return false;
  T* const end = std::copy_n(*array, *array ? old_size : 0, larger);
  std::fill(end, larger + new_size, T{});
  *array = larger;
  return true;
}

/// Returns the end of the consecutive contacts of data->contact with the geoms of the contact
/// `begin`.
int find_end_of_pair(const mjData* data, int begin);

inline math::Vec3 to_vector(const mjtNum* x) { return {x[0], x[1], x[2]}; }

/// Returns the pose of a geom in the world frame.
/// @param data after mj_kinematics
inline math::RigidTransform get_pose(const mjData* data, int geom) {
  const mjtNum* const R = data->geom_xmat + 9 * geom;
  return {.R = {.row = {to_vector(R), to_vector(R + 3), to_vector(R + 6)}},
          .p = to_vector(data->geom_xpos + 3 * geom)};
}

}  // namespace stiction::plant
