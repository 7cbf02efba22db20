#pragma once

#include <span>
#include <vector>

#include "stiction/plant/solution/momentum_check.hpp"

namespace stiction::plant {

/// Bounds the rounding errors of MomentumCheck::Result::mismatch.
///
/// The two residuals that are compared are sums of the same terms, computed from different
/// matrices. Each is rounded by at most a small number of units of the magnitudes of its terms,
/// |M| |v| + |f| + |J|^T |gamma|. The lever arms in J are differences of positions in the world,
/// and their errors are proportional to these positions. Source: [theory:round-off].
class MomentumRounding {
 public:
  /// Returns the bound for MomentumCheck::calc [sqrt(J)].
  /// @param certificate bound on the rounding error of each entry of the certificate's imbalance,
  ///                    in the solver's dofs
  double calc(const MomentumCheck::Input& input, const ImplicitForces& implicit,
              std::span<const double> certificate);
  /// Returns the bound for MomentumCheck::calc_accelerations [sqrt(J)/s].
  double calc_accelerations(const MomentumCheck::Input& input,
                            std::span<const double> viscous_friction,
                            std::span<const double> certificate);

 private:
  /// Magnitudes of wrenches about the world's origin [N m s, N s].
  struct Magnitude {
    double moment = 0, force = 0;
  };
  void start(const MomentumCheck::Input& input, std::span<const double> smooth);
  void add_implicit(const MomentumCheck::Input& input, const ImplicitForces& implicit);
  void add_contacts(const MomentumCheck::Input& input, std::span<const double> viscous_friction);
  void project(const mjModel* m, const mjData* d);
  void add_rows(const MomentumCheck::Input& input);
  double finish(const MomentumCheck::Input& input, std::span<const double> certificate);

  std::vector<double> speeds_;         // |v| + |v0|, or |a|, size nv
  std::vector<double> terms_;          // magnitudes of the terms of each dof, size nv
  std::vector<double> bounds_;         // of the certificate's rounding errors, size nv
  std::vector<double> solver_bounds_;  // in the solver's dofs
  std::vector<Magnitude> wrench_;      // on each body or its subtree
};

}  // namespace stiction::plant
