#pragma once

#include <memory>
#include <vector>

#include "stiction/geometry/contact_body.hpp"

namespace stiction::geometry {

/// A planar convex polygon of a contact surface, in the world frame.
struct SurfaceFace {
  Vec3 centroid;           // [m]
  Vec3 normal;             // unit vector from A into B
  Vec3 pressure_gradient;  // g of p = pressure + g . (x - centroid) in the face [Pa/m]
  double area;             // > 0 [m^2]
  double pressure;         // at the centroid [Pa]
  /// The rates at which the pressure of each body increases into it along the normal [Pa/m]:
  /// -grad p_A . n and grad p_B . n. They are infinite for a rigid body and may be negative, see
  /// stiffness_per_area.
  double gradient_A, gradient_B;
  int element_A, element_B;  // tetrahedron or triangle; -1 for a half space
  /// A range of ContactSurface::vertices, counter-clockwise about the normal.
  int first_vertex, num_vertices;
};

/// Returns the stiffness per area g = 1 / (1/gradient_A + 1/gradient_B) [Pa/m]. At the face's
/// centroid dp/dt = -g vn, where vn is the velocity of separation. Source: [masterjohn2022] eq. 14,
/// 23; [theory:pressure-rate].
///
/// g is 0 if a gradient is not positive. This happens on coarse meshes for faces tilted slightly
/// beyond 90 degrees. Such a face keeps its present pressure, or has been dropped, see TiltedFaces.
double stiffness_per_area(const SurfaceFace& face);

/// The contact surface of two bodies; empty if they do not overlap.
struct ContactSurface {
  std::vector<SurfaceFace> faces;       // sorted by element_A, then element_B
  std::vector<Vec3> vertices;           // [m]; faces do not share vertices
  std::vector<double> vertex_pressure;  // [Pa]

  /// The largest pressure of a vertex relative to the highest pressure of a body's field. With two
  /// fields it is the larger of the two ratios. A value near 1 means that the surface is at a
  /// medial axis, the deepest place of a field.
  double pressure_share = 0;
  /// The area of discarded faces [m^2], and their largest pressure [Pa]. A face is discarded where
  /// a field decreases into its body. This happens on the far side of a medial axis, and on the far
  /// side of a body that a softer one encloses.
  double discarded_area = 0, discarded_pressure = 0;
  double dropped_area = 0;  // area of the faces that TiltedFaces::drop removed [m^2]

  void clear();
  /// Returns the total area of the faces [m^2].
  double area() const;
  /// Returns the largest pressure of a vertex [Pa].
  double max_pressure() const;
};

/// The pressure_share from which on a surface is at a medial axis.
inline constexpr double kMedialShare = 0.95;

/// The least share of a surface's area whose faces show that it has passed a medial axis.
inline constexpr double kPassedShare = 0.05;

/// Returns true if the overlap reaches a body's medial axis: pressure_share is above kMedialShare,
/// or more than kPassedShare of the area was discarded, at a higher pressure than that of all
/// faces. Beyond the medial axis the force decreases with deeper overlap, and soon there is no
/// surface. The discarded far side of an enclosed body has a lower pressure than its near side,
/// whose force increases with the overlap.
bool passes_medial_axis(const ContactSurface& surface);

enum class Tessellation {
  polygon,   // one face per pair of elements
  triangle,  // a fan of triangles about each polygon's centroid; continuous as corners come and go
};

/// Treatment of a face on which a field does not increase into its body along the normal. Coarse
/// meshes have such faces, tilted slightly beyond 90 degrees.
enum class TiltedFaces {
  keep,  // up to 5/8 of a half turn, as Drake selects faces; they push with constant pressure
  drop,  // as published, and as in Drake's discrete steps: the face has no force
};

/// The rules by which the surface of two bodies becomes faces.
struct FaceRules {
  FaceRules() = default;
  FaceRules(Tessellation t, TiltedFaces f = TiltedFaces::keep)  // NOLINT: a rule alone is enough
      : tessellation(t), tilted_faces(f) {}

  Tessellation tessellation = Tessellation::polygon;
  TiltedFaces tilted_faces = TiltedFaces::keep;
};

/// Computes contact surfaces of pairs of bodies, and holds the memory for it.
///
/// The surface between two fields is where their pressures are equal. The surface between a field
/// and a rigid body is the rigid surface within the field. Source: [masterjohn2022] section III;
/// [theory:equilibrium-surface]. Faces are selected as in Drake.
class SurfaceQuery {
 public:
  SurfaceQuery();
  ~SurfaceQuery();
  SurfaceQuery(SurfaceQuery&&) noexcept;
  SurfaceQuery& operator=(SurfaceQuery&&) noexcept;

  /// Computes the surface between A and B. It is empty if has_contact_surface(A, B) is false or a
  /// pose is not finite. It is also empty, with a pressure_share of 1, if the bodies coincide so
  /// that each element meets very many of the other body, see CandidateSearch::is_complete. The
  /// time is therefore linear in the number of elements. The function allocates only while surfaces
  /// grow beyond the largest one so far. The same arguments give the same bits, whatever the
  /// earlier queries were.
  /// @throws base::WorkStopped if a limit of the step is exceeded; the surface is then incomplete
  void calc(const ContactBody& A, const RigidTransform& X_WA, const ContactBody& B,
            const RigidTransform& X_WB, const FaceRules& rules, ContactSurface* surface);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace stiction::geometry
