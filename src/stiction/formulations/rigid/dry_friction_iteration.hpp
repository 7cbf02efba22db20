#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_motion.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitening.hpp"

namespace stiction::formulations {

/// Dry friction of one joint, linearized: gamma = impulse - weight (J v - velocity).
struct LinearizedFriction {
  int row = 0;          // of the island
  double velocity = 0;  // the law is linearized at this velocity [m/s, rad/s]
  double impulse = 0;   // of the law there [N s, N m s]
  double weight = 0;    // minus the slope of the law there [kg, kg m^2]
  double mobility = 0;  // of the row, J A^-1 J^T [1/kg, 1/(kg m^2)]

  /// Computes the impulse at a velocity of the row.
  double calc_impulse(double v) const { return impulse - weight * (v - velocity); }
};

/// The fixed point of dry friction under models whose law has no friction. Each round linearizes
/// the law of every joint about the point of its curve that is nearest to the velocity and impulse
/// of the last solution. Source: [minty1962]; [theory:dry-friction].
class DryFrictionIteration {
 public:
  /// Linearizes all joints about rest. Mobilities are not known yet.
  void start(const RigidTerms& terms);

  /// Computes the mobility of each row, for A without the row's own linearized friction.
  /// @param whitening of A with the present linearization
  void calc_mobilities(const RigidTerms& terms, const Whitening& whitening);

  /// Linearizes each law about the point of its curve that is nearest to a motion.
  /// @param tolerance error of an impulse, relative to its bound
  /// @return true if the motion met all laws within the tolerance
  bool update(const RigidTerms& terms, const RigidMotion& motion, double tolerance);

  /// Fixes the impulses at those of a motion. After this they do not depend on velocities.
  void freeze(const RigidMotion& motion);

  std::span<const LinearizedFriction> joints() const { return joints_; }

 private:
  std::vector<LinearizedFriction> joints_;
  std::vector<double> whitened_row_;
};

}  // namespace stiction::formulations
