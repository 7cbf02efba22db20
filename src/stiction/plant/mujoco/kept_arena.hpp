#pragma once

#include <cstddef>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The contacts and constraint rows of a step, kept while a callback of the user runs. The callback
/// may call functions such as mj_forward, which replace them by MuJoCo's own. They lie in the arena
/// of mjData, whose layout the members of mjData describe. Also kept are sensors, energies, and the
/// accelerations and forces of trees that sleep, which the step does not compute again. Keeps its
/// memory.
class KeptArena {
 public:
  /// Keeps the used part of the arena, the members that describe it, and those outputs. Call it
  /// outside of a MuJoCoGuard, because it allocates.
  void keep(const mjModel* model, const mjData* data);
  /// True if nothing that was kept has changed, except sensors and energies, which a callback may
  /// write for itself.
  bool is_same(const mjModel* model, const mjData* data) const;
  /// True if the contacts and the numbers of rows have not changed.
  bool has_same_contacts(const mjData* data) const;
  /// Writes back what was kept.
  void restore(const mjModel* model, mjData* data) const;

 private:
  std::vector<std::byte> arena_, members_;
  std::vector<mjtNum> outputs_;
};

}  // namespace stiction::plant
