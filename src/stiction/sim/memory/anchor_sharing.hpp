#pragma once

#include <array>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::sim {

struct AnchorPoint;

/// The stiffness of the springs of two geoms' contacts relative to their k_t, which is (mu_i /
/// mu)^2 for each component, where mu is the largest coefficient. The two components along the
/// surface, or of rolling, are along the tangents of the contact. Only MuJoCo's pairs can have
/// unequal coefficients there.
struct SpringRatios {
  SpringRatios() = default;
  explicit SpringRatios(const contact::Contact& contact);
  /// Returns the force of a spring with k_t = 1 for a stretch in the tangent plane.
  math::Vec3 apply_to_stretch(const math::Vec3& stretch, const AnchorPoint& point) const;
  /// Returns the torque of a spring with k_t = 1 for a twist.
  math::Vec3 apply_to_twist(const math::Vec3& twist, const AnchorPoint& point) const;

  std::array<double, 2> sliding{1, 1};  // [-]
  double torsion = 0;                   // [m^2]
  std::array<double, 2> rolling{};      // [m^2]
};

/// Returns the energy of the springs of a contact [J].
double calc_energy(const AnchorPoint& point, const SpringRatios& ratios);

/// Shares the force of anchors among contacts of the same two geoms, because MuJoCo lists other
/// contact points in this step than in the last one.
///
/// The contacts get the forces and torques that have the force and the moment of the anchors, or
/// are nearest to them, and the least sum of f_i^2 / weight_i. With the friction that a contact can
/// bear as its weight, the contacts bear equal shares of it, so that none yields while another
/// could hold.
///
/// The energy of the springs never grows. Energy that the new springs do not need is kept for
/// later: with the same force, four springs need less than three. Without it the force would be cut
/// each time that three follow four, and the bodies would creep. Source: [theory:anchors].
class AnchorSharing {
 public:
  /// Makes room for this many contacts.
  void reserve(int num_contacts) { takers_.reserve(num_contacts); }
  /// Begins with two geoms.
  void start(const SpringRatios& ratios);

  /// Adds an anchor whose force is shared, and forgets its stretch there.
  void release(AnchorPoint* point);
  /// Adds a contact that takes a share, besides what it holds already.
  /// @param point must last until solve
  void take(AnchorPoint* point, double weight);
  /// Stretches the springs of the contacts.
  /// @param spare energy that is at hand besides that of the anchors [J]
  /// @return what is left of both [J]
  double solve(double spare);

 private:
  static constexpr int kSize = 6;
  using Wrench = std::array<double, kSize>;  // force and moment about the origin [N, N m]
  /// A contact that takes a share.
  struct Taker {
    AnchorPoint* point;
    double weight;
  };
  /// The change of a contact's springs.
  struct Change {
    math::Vec3 stretch, twist;  // [m], [rad]
  };

  Wrench make_wrench(const math::Vec3& position, const math::Vec3& force,
                     const math::Vec3& torque) const;
  /// Computes solution_.
  void solve_for_wrench();
  Change calc_change(const Taker& taker) const;

  SpringRatios ratios_;
  bool has_origin_ = false;
  math::Vec3 origin_;                       // the first anchor [m]
  Wrench released_{};                       // of the anchors
  double energy_ = 0;                       // of the anchors [J]
  std::array<Wrench, kSize> resistance_{};  // wrench of the contacts per unit of solution_
  /// Per weight, a contact gets ratios_ of the tangential part of
  /// solution_[0..2] + solution_[3..5] x r as its force, and ratios_ of solution_[3..5] as its
  /// torque.
  std::array<double, kSize> solution_{};
  std::vector<Taker> takers_;
};

}  // namespace stiction::sim
