#pragma once

#include <array>

#include "stiction/math/vec3.hpp"

namespace stiction::sim {

/// Shares the force of anchors that were not found again among the contacts of the same two geoms.
///
/// The contacts get the tangential forces k_i du_i that have the force and the moment of those that
/// were lost, or are nearest to them, with the least energy. They are reduced if the energy of all
/// springs would grow. Source: [theory:anchors].
class AnchorSharing {
 public:
  /// Adds an anchor that was lost.
  /// @param position world [m]
  /// @param stretch [m]
  /// @param stiffness [N/m]
  void add_lost(const math::Vec3& position, const math::Vec3& stretch, double stiffness);
  bool empty() const { return energy_ == 0; }
  /// Adds a contact that takes a share. Add the anchors that were lost first.
  void add_contact(const math::Vec3& position, const math::Vec3& normal, const math::Vec3& stretch,
                   double stiffness);
  /// Computes the shares.
  void solve();
  /// Returns the stretch that a contact gets [m].
  math::Vec3 calc_added_stretch(const math::Vec3& position, const math::Vec3& normal) const;

 private:
  static constexpr int kSize = 6;
  using Wrench = std::array<double, kSize>;  // force and moment about the origin [N, N m]

  /// Returns the wrench of a force.
  Wrench make_wrench(const math::Vec3& position, const math::Vec3& force) const;

  math::Vec3 origin_;                       // the first anchor that was lost [m]
  Wrench lost_{};                           // of the anchors that were lost
  Wrench present_{};                        // of the springs of the contacts
  std::array<Wrench, kSize> resistance_{};  // wrench of the contacts per unit of solution_
  /// The added stretch of a contact is that of a rigid motion: the tangential part of
  /// solution_[0..2] + solution_[3..5] x r.
  std::array<double, kSize> solution_{};
  double energy_ = 0;  // of the anchors that were lost [J]
};

}  // namespace stiction::sim
