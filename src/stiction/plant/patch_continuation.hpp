#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::plant {

/// The wrench of a patch by four points, which go on where the fields end.
///
/// The pressure of a field decreases again beyond the medial axis, so that deep overlap loses its
/// force. This class remembers the last patch of two bodies with a proper field: its force F, its
/// stiffness K = sum A g, its mean normal n, and four points about its center of pressure that have
/// the second moments of the stiffness. A point i with the additional depth d_i has the pressure
///
///     p_i = (F + K d_i) / A,
///
/// the tangent of the force that the fields had. The force is therefore continuous, does not
/// decrease with the depth, never pulls, and has a potential: the way back is the same. The points
/// ride with the body S, and d_i is the distance along n by which they have moved relative to the
/// other body O. Source: [theory:deep-overlap].
class PatchContinuation {
 public:
  /// The bodies of the patch and their poses. The normal of faces points from A into B.
  struct Pair {
    const geometry::ContactBody& A;
    const geometry::RigidTransform& X_WA;
    const geometry::ContactBody& B;
    const geometry::RigidTransform& X_WB;
    bool rides_with_A;  // S is A, otherwise B
  };

  /// A symmetric matrix.
  struct Symmetric {
    double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
    /// Adds factor v v^T.
    void add(double factor, const math::Vec3& v);
    /// Returns a^T M b.
    double multiply(const math::Vec3& a, const math::Vec3& b) const;
  };

  void forget() { force_ = 0; }
  bool is_empty() const { return !(force_ > 0); }

  /// Sums over the faces of a surface, in one pass.
  struct Sums {
    double area = 0, weight = 0;  // [m^2]; sum A p [N]
    /// Area of the faces on which a field does not increase along the normal [m^2].
    double decreasing_area = 0;
    math::Vec3 force;     // sum A p n [N]
    math::Vec3 first;     // sum A p r [N m], r from origin to a face's centroid
    math::Vec3 origin;    // centroid of the first face [m]
    Symmetric second;     // sum A p (r r^T + A/12 I) [N m^2]; a face counts like a square
    Symmetric stiffness;  // sum A g n n^T [N/m]
  };
  static Sums sum(const geometry::ContactSurface& surface);

  /// Remembers a patch. Forgets the last one if the patch has no force.
  void remember(const Sums& sums, const Pair& pair);

  /// Moves the points with their bodies, and finds their depths and forces.
  void move(const Pair& pair);
  /// The mean additional depth since `remember` [m]. It is < 0 if the bodies have retreated.
  double depth() const { return depth_; }
  /// The force along normal() [N], >= 0.
  double force() const;
  /// The force of the remembered patch [N].
  double start_force() const { return force_; }
  /// The mean normal, unit, from A into B, world frame.
  const math::Vec3& normal() const { return normal_; }

  /// Writes the points that push as rectangular faces.
  void write(geometry::ContactSurface* surface) const;

  // The memory as words, for checkpoints and for steps that are taken back.
  static constexpr int kNumWords = 35;
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// @param words at least kNumWords
  void read_memory(std::span<const std::uint64_t> words);

 private:
  struct Point {
    math::Vec3 in_S, in_O;  // equal in the world if the point has no additional depth [m]
  };
  /// Calls f(double&) for every number of the memory.
  template <class F>
  void for_each_number(F&& f);

  // The remembered patch.
  double force_ = 0;                    // F [N]; 0: none
  double stiffness_ = 0, area_ = 0;     // K [N/m], A [m^2]
  std::array<double, 2> half_width_{};  // of a rectangular face [m]
  math::Vec3 normal_S_, tangent_S_;     // in the frame of S
  std::array<Point, 4> points_{};

  // At the present poses.
  math::Vec3 normal_, tangent_;
  double depth_ = 0;
  std::array<math::Vec3, 4> position_{};
  std::array<double, 4> pressure_{};  // [Pa]; 0 beside the other body
};

}  // namespace stiction::plant
