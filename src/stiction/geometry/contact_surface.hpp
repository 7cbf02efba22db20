#pragma once

#include <memory>
#include <vector>

#include "stiction/geometry/contact_body.hpp"

namespace stiction::geometry {

/// A plane convex piece of a contact surface, in the world frame.
struct SurfaceFace {
  Vec3 centroid;           // [m]
  Vec3 normal;             // unit, from A into B
  Vec3 pressure_gradient;  // of one body's field [Pa/m]: p = pressure + it . (x - centroid)
  double area;             // > 0 [m^2]
  double pressure;         // at the centroid [Pa]
  /// How fast each body's own pressure grows into it along the normal [Pa/m], -grad p_A . n and
  /// grad p_B . n; infinite for a rigid body. Not always positive: see stiffness_per_area.
  double gradient_A, gradient_B;
  int element_A, element_B;  // tetrahedron or triangle; -1: a half space
  /// ContactSurface::vertices, counter-clockwise about the normal.
  int first_vertex, num_vertices;
};

/// g = 1 / (1/gradient_A + 1/gradient_B) [Pa/m]: at the face's centroid dp/dt = -g vn, vn the
/// velocity of separation. Source: [masterjohn2022] eq. 14, 23.
///
/// 0 where a gradient is not positive, as it is for faces that lie a little past 90 degrees on
/// coarse meshes: such a face pushes with its pressure as it stands. ([masterjohn2022] section IV
/// and Drake leave the face out, whereby its whole force vanishes as a gradient crosses 0.)
double stiffness_per_area(const SurfaceFace& face);

struct ContactSurface {
  std::vector<SurfaceFace> faces;  // sorted by element_A, then element_B
  std::vector<Vec3> vertices;      // [m], each face its own
  std::vector<double> vertex_pressure;

  /// The largest pressure of a vertex as a share of the highest of either body's field: near 1 the
  /// surface is at a medial axis, the deepest place of the field.
  double pressure_share = 0;
  /// Area of faces that were left out because a field falls, not grows, into its body there:
  /// what is left of surfaces on the far side of a medial axis [m^2].
  double discarded_area = 0;

  void clear();
  double area() const;
};

/// Whether the overlap reaches a body's medial axis: pressure_share above 0.95, or more than 5 % of
/// the area discarded. Past it the force of deeper overlap falls, and soon there is no surface.
bool passes_medial_axis(const ContactSurface& surface);

enum class Tessellation {
  polygon,   // a face for each pair of elements
  triangle,  // a fan of triangles about each polygon's centroid: continuous as corners come and go
};

/// Contact surfaces of one pair of bodies; holds the memory that this takes.
///
/// Where two fields meet the surface is where their pressures are equal, of a field and a rigid
/// body the rigid surface. Source: [masterjohn2022] section III; selection of faces as Drake.
class SurfaceQuery {
 public:
  SurfaceQuery();
  ~SurfaceQuery();
  SurfaceQuery(SurfaceQuery&&) noexcept;
  SurfaceQuery& operator=(SurfaceQuery&&) noexcept;

  /// Empty where has_contact_surface(A, B) is false and where a pose is not finite. Allocates only
  /// until it has seen its largest surface. The same arguments give the same bits, whatever was
  /// asked before.
  void calc(const ContactBody& A, const RigidTransform& X_WA, const ContactBody& B,
            const RigidTransform& X_WB, Tessellation tessellation,
            ContactSurface* surface) noexcept;

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace stiction::geometry
