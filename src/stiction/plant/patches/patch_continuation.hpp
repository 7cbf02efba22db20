#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/words.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::plant {

/// The patch of two bodies that overlap deeper than their fields cover.
///
/// The force of two fields increases with the depth only up to a peak. This class remembers where
/// the force was last on the way up: the position of the smaller body S relative to the larger body
/// O, and the direction n of the force. Beyond the peak the surface is that of the bodies with S
/// moved back by the depth d along n since then, and the pressure of each of its faces grows with d
/// along the tangent,
///
///     p_i(d) = (p_i + g_i (n_i . n) d)_+ .
///
/// At d = 0 these are the faces of the fields, so force, moment and friction are continuous. The
/// force along n does not decrease with d, and at d it is the same on the way in and back. Source:
/// [theory:deep-overlap].
class PatchContinuation {
 public:
  /// The bodies of the patch and their poses. The normal of faces points from A into B.
  struct Pair {
    const geometry::ContactBody& A;
    math::RigidTransform X_WA;
    const geometry::ContactBody& B;
    math::RigidTransform X_WB;
    bool is_A_smaller;  // S is A, otherwise B
  };

  /// Returns the force of a surface on B without friction, sum A p n [N].
  static math::Vec3 sum_force(const geometry::ContactSurface& surface);

  void forget() { peak_ = 0; }
  bool is_empty() const { return !(peak_ > 0); }

  /// Remembers the surface of the fields at the present poses. Forgets the last one if the surface
  /// has no force.
  /// @param force sum_force of the surface
  void remember(const math::Vec3& force, const Pair& pair);

  /// Finds the direction and the depth at the present poses. Call it before the functions below.
  void move(const Pair& pair);
  /// The direction of the remembered force, unit, from A into B, world frame.
  const math::Vec3& normal() const { return normal_; }
  /// The depth that the bodies have gained since `remember` [m]. It is < 0 if they have retreated.
  double depth() const { return depth_; }
  /// The depth that they have gained since the force was at its peak [m].
  double depth_since_peak() const { return past_peak_ + depth_; }
  /// Adds to the depth what a motion aside has taken from it, because the direction of the force
  /// was tilted.
  void deepen(double depth) { depth_ += depth; }
  /// True if the force along normal() is clearly below the peak although the depth is greater.
  bool has_lost(double force) const;
  /// Corrects the peak to the force that the fields have at the peak's depth at the present place.
  /// Sliding changes it.
  void set_peak(double force) { peak_ = force; }

  /// Returns the pair with S moved back by a depth along normal().
  Pair retreat(const Pair& pair, double depth) const;
  /// Turns the surface of `retreat(pair, depth())` into that of the present depth.
  void extend(const Pair& pair, geometry::ContactSurface* surface) const;
  /// Follows bodies that slide or turn while they are deep: keeps the depth, and takes the
  /// direction of the force.
  /// @param force sum_force of the surface of `retreat(pair, depth())`
  void follow(const math::Vec3& force, const Pair& pair);

  // The memory as words, for checkpoints and for steps that are taken back.
  void write_memory(base::WordWriter* words) const;
  void read_memory(base::WordReader* words);

 private:
  /// Calls f(double&) for every number of the memory.
  template <class F>
  void for_each_number(F&& f);
  void store_pose(const Pair& pair);

  double peak_ = 0;       // largest force of the fields on the way in [N]; 0: nothing remembered
  double past_peak_ = 0;  // depth of the remembered position beyond that of the peak [m]
  math::Vec3 normal_O_;   // in the frame of O
  math::Vec3 p_OS_;       // remembered position of the origin of S in O [m]

  // At the present poses.
  math::Vec3 normal_;
  double depth_ = 0;
};

/// The largest force of a patch along its first direction, and the pose at which it had it.
///
/// PatchContinuation compares forces along their present direction. Where a body overhangs the edge
/// of another one, this direction turns sideways as the overlap grows, and the force pushes the
/// body off the edge. So does that of a round body that passes beside the middle of another one.
/// Its part along the first direction may then decrease although the bodies approach along it. This
/// class finds such a decrease, which is not that of bodies that slide, turn or retreat.
class PatchPeak {
 public:
  enum class Loss {
    kNone,
    kDecrease,
    kTurn,  // a decrease because the force has turned by more than 18 degrees
  };

  void forget() { largest_ = 0; }

  /// Compares a force with the largest one, or remembers it as the largest one. After a motion that
  /// is more aside, by sliding and turning, than along the direction, the force has a new first
  /// direction.
  /// @param force  PatchContinuation::sum_force of the patch
  /// @param radius about the origin of S, the smaller body, that contains it [m]
  /// @return whether the force along the direction is below 95 % of the largest one, and S has
  /// since
  ///         moved against the direction by more than aside
  Loss find_loss(const math::Vec3& force, const PatchContinuation::Pair& pair, double radius);

  // The memory as words, as in PatchContinuation.
  void write_memory(base::WordWriter* words) const;
  void read_memory(base::WordReader* words);

 private:
  /// Calls f(double&) for every number of the memory.
  template <class F>
  void for_each_number(F&& f);

  double largest_ = 0;         // [N]; 0: nothing remembered
  math::Vec3 normal_;          // the first direction, in the frame of the larger body O
  math::RigidTransform X_OS_;  // pose of S in O at the largest force
};

}  // namespace stiction::plant
