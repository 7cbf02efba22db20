#pragma once

#include <algorithm>
#include <cstring>

#include <mujoco/mujoco.h>

/// Memory for arrays of one step in MuJoCo's arena.
namespace stiction::plant {

/// Allocates memory in the data's arena, as MuJoCo does for arrays of one step.
/// @return null if the arena is too small
inline void* allocate_in_arena(mjData* d, std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (d->parena + alignment - 1) / alignment * alignment;
  if (begin + bytes > static_cast<std::size_t>(d->narena) - d->pstack) return nullptr;
  d->parena = begin + bytes;
  d->maxuse_arena = std::max<mjtSize>(d->maxuse_arena, static_cast<mjtSize>(d->parena));
  return static_cast<char*>(d->arena) + begin;
}

/// Copies an array of `old_size` elements to a larger one and sets the new elements to 0.
/// @return false if the arena is too small
template <class T>
bool grow_in_arena(mjData* d, T** array, std::size_t old_size, std::size_t new_size) {
  T* larger = static_cast<T*>(allocate_in_arena(d, new_size * sizeof(T), alignof(T)));
  if (!larger) return false;
  std::copy_n(*array, *array ? old_size : 0, larger);
  const std::size_t kept = *array ? old_size : 0;
  std::memset(static_cast<void*>(larger + kept), 0, (new_size - kept) * sizeof(T));
  *array = larger;
  return true;
}

}  // namespace stiction::plant
