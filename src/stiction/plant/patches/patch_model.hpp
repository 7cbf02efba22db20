#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The values of a model from which the pairs and the meshes of pressure-field contact are made,
/// and whether they have changed since.
///
/// MuJoCo's filters (contype, conaffinity, exclude, pair, filterparent) and the values that decide
/// `condim` of a pair may change between steps: the pairs are then found again. The meshes and
/// their fields cost too much to make them again within a step, so a change of a shape is a fault.
class PatchModel {
 public:
  /// Copies the values.
  /// @param has_mesh one per geom: true if it has a mesh in pressure-field contact
  PatchModel(const mjModel* model, const std::vector<bool>& has_mesh);

  /// @throws Error if a geom's shape has changed since the constructor, with the geom, the field,
  ///         both values and the remedy
  void check_shapes(const mjModel* model) const;

  /// True if filters have changed since the last call of copy_filters.
  bool has_changed_filters(const mjModel* model) const;
  void copy_filters(const mjModel* model);

 private:
  std::vector<int> meshed_;                // geoms with a mesh
  std::vector<int> type_, data_;           // of these geoms
  std::vector<mjtNum> size_;               // of these geoms, 3 each
  std::vector<std::vector<int>> filters_;  // copies of arrays, in the order of for_each_filter
  int flags_ = 0;                          // of opt.disableflags
};

}  // namespace stiction::plant
