#pragma once

#include "stiction/plant/patches/contact_patches.hpp"

namespace stiction::plant {

/// Sums over the faces of a patch.
struct PatchSum {
  math::Vec3 center;     // center of pressure [m]
  math::Vec3 normal;     // unit, mean weighted by force
  double force = 0;      // [N]
  double stiffness = 0;  // [N/m]
  double area = 0;       // [m^2]
};
PatchSum sum_faces(const geometry::ContactSurface& surface);

/// Returns the pose of a geom in the world.
math::RigidTransform find_pose(const mjData* data, int geom);

/// Returns the properties that all points of a pair share.
contact::Contact make_properties(const mjModel* model, const MaterialTable& materials,
                                 const PatchPair& pair, const GeomBody& A, const GeomBody& B);

/// Sets the bias of a contact at x to the velocity of B's moving surface relative to A's, in the
/// contact's tangent plane.
void add_surface_velocity(const mjModel* model, const mjData* data, const PatchPair& pair,
                          const math::Vec3& x, contact::Contact* contact);

/// Returns a patch as a MuJoCo contact at its center of pressure. The depth is its force divided by
/// its stiffness.
mjContact make_mujoco_contact(const mjModel* model, const PatchPair& pair, const PatchSum& sum);

}  // namespace stiction::plant
