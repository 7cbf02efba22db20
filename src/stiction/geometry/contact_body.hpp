#pragma once

#include <memory>
#include <variant>

#include "stiction/geometry/tet_mesh.hpp"

/// The bodies between which contact surfaces are computed: immutable; copies share their data.
namespace stiction::geometry {

using math::RigidTransform;

struct TetBodyData;
struct TriangleBodyData;

/// The half space z <= 0 in its own frame.
struct HalfSpace {
  /// The field is p = -pressure_gradient z with a gradient > 0 [Pa/m]; infinite: rigid.
  double pressure_gradient;
};

/// A solid with a pressure field.
class CompliantBody {
 public:
  /// @throws Error(kInvalidValue) that names the element, if a vertex or a pressure is not finite,
  ///   an index is out of range, a tetrahedron has no positive volume, more than two tetrahedra
  ///   share a face, there is no tetrahedron, or the numbers of pressures and vertices differ
  explicit CompliantBody(PressureField field);

  const PressureField& field() const;
  /// The largest pressure of the field [Pa].
  double max_pressure() const;
  const TetBodyData& data() const { return *data_; }

 private:
  std::shared_ptr<const TetBodyData> data_;
};

/// A rigid solid, given by its surface. Triangles without area are ignored.
class RigidBody {
 public:
  /// @throws Error(kInvalidValue) that names the element, if a vertex is not finite, an index is
  ///   out of range, or there is no triangle
  explicit RigidBody(TriangleMesh mesh);

  const TriangleMesh& mesh() const;
  const TriangleBodyData& data() const { return *data_; }

 private:
  std::shared_ptr<const TriangleBodyData> data_;
};

using ContactBody = std::variant<CompliantBody, RigidBody, HalfSpace>;

/// Returns true if the body has a pressure field.
bool is_compliant(const ContactBody& body);

/// Returns true if a point in the body's frame is in the body, in time linear in its elements.
bool contains(const ContactBody& body, const math::Vec3& x) noexcept;

/// Returns true if two bodies can have a surface: not two rigid ones, and not two half spaces.
bool has_contact_surface(const ContactBody& A, const ContactBody& B);

}  // namespace stiction::geometry
