#pragma once

#include <memory>
#include <variant>

#include "stiction/geometry/meshes.hpp"

/// Bodies as contact surfaces are made of: immutable, shared between copies.
namespace stiction::geometry {

using math::RigidTransform;

struct TetBodyData;
struct TriangleBodyData;

/// z <= 0 in its own frame.
struct HalfSpace {
  /// p = -pressure_gradient z [Pa/m] > 0; infinite: a rigid half space.
  double pressure_gradient;
};

/// A solid with a pressure field.
class CompliantBody {
 public:
  /// @throws Error(kInvalidValue) that names the element: a vertex or pressure that is not finite,
  /// a
  ///   tetrahedron without positive volume, a face that more than two tetrahedra share, no
  ///   tetrahedron; or that names the two counts if pressures are not as many as vertices.
  explicit CompliantBody(PressureField field);

  const PressureField& field() const;
  /// The largest pressure of the field [Pa].
  double max_pressure() const;
  const TetBodyData& data() const { return *data_; }

 private:
  std::shared_ptr<const TetBodyData> data_;
};

/// A rigid solid: its surface. Triangles of no area take no part.
class RigidBody {
 public:
  /// @throws Error(kInvalidValue) that names the element: a vertex that is not finite, an index out
  ///   of range; no triangle.
  explicit RigidBody(TriangleMesh mesh);

  const TriangleMesh& mesh() const;
  const TriangleBodyData& data() const { return *data_; }

 private:
  std::shared_ptr<const TriangleBodyData> data_;
};

using ContactBody = std::variant<CompliantBody, RigidBody, HalfSpace>;

/// Whether the body has a pressure field.
bool is_compliant(const ContactBody& body);

/// False for two rigid bodies and for two half spaces, between which no pressure decides where the
/// surface is.
bool has_contact_surface(const ContactBody& A, const ContactBody& B);

}  // namespace stiction::geometry
