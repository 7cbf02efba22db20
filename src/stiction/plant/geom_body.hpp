#pragma once

#include <optional>
#include <string>

#include <mujoco/mujoco.h>

#include "stiction/geometry/contact_body.hpp"
#include "stiction/plant/materials.hpp"

namespace stiction::plant {

/// A geom as pressure-field contact sees it.
struct GeomBody {
  /// In the geom's frame; none: it has no part in pressure-field contact.
  std::optional<geometry::ContactBody> body;
  int num_elements = 0;  // tets or triangles of its mesh; 0: a half space
  std::string reason;    // why there is none, after the geom's name
  double modulus = 0;    // the largest pressure of its field [Pa]; infinite: rigid
  double radius = 0;     // of a sphere about the geom's origin around it [m]; infinite: a plane
  double depth =
      0;  // largest distance to its boundary, half its thickness [m]; infinite: rigid, or a plane
};

/// The mesh and field of a geom by its material: compliant with a hydroelastic_modulus or a field
/// of the user's, a rigid surface with `rigid`. Planes are half spaces. Mesh geoms are compliant by
/// their convex hull, and rigid as they are if closed; open ones have no part in it.
/// @throws Error naming the geom, what it lacks and the way out
GeomBody make_geom_body(const mjModel* model, const MaterialTable& materials, int geom);

/// What an unset resolution hint is: a share of the geom's size.
double find_resolution_hint(const mjModel* model, const Material& material, int geom);

}  // namespace stiction::plant
