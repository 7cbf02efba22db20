#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/geometry/contact_body.hpp"
#include "stiction/plant/materials/materials.hpp"

namespace stiction::plant {

/// A geom in pressure-field contact.
struct GeomBody {
  /// The body in the geom's frame; empty if the geom takes no part in pressure-field contact.
  std::optional<geometry::ContactBody> body;
  int num_elements = 0;  // tets or triangles of the mesh; 0 for a half space
  /// The reason why `body` is empty, as words that follow the geom's name in a message.
  std::string reason;
  double modulus = 0;  // largest pressure of the field [Pa]; infinite if rigid
  double radius = 0;   // radius about the geom's origin that contains the body [m]; plane: infinite
  /// The largest distance of an inner point to the boundary, half the thickness [m]; infinite for
  /// rigid bodies and planes.
  double depth = 0;
};

/// Makes the mesh and the field of a geom from its material. A geom with a hydroelastic_modulus or
/// with a user's field is compliant, a geom with `rigid` is a rigid surface. Planes are half
/// spaces. A compliant mesh geom is its convex hull. A rigid mesh geom is its surface if that is
/// closed; otherwise it takes no part.
/// @throws Error with the geom, its fault and the remedy
GeomBody make_geom_body(const mjModel* model, const MaterialTable& materials, int geom);

/// Returns a material's resolution hint, or a quarter of the geom's radius if it is unset [m].
double find_resolution_hint(const mjModel* model, const Material& material, int geom);

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
