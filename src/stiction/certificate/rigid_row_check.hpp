#pragma once

#include <vector>

#include "stiction/certificate/generalized_impulses.hpp"
#include "stiction/certificate/rebounds.hpp"
#include "stiction/certificate/rigid_findings.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Checks the scalar rows of a rigid model's step: impulses and velocities of limits are
/// complementary, equalities hold or are corrected, dry friction is within its bound and opposes
/// the motion, and springs follow their law.
class RigidRowCheck {
 public:
  /// Checks all rows.
  /// @param impulses out: the impulses of all rows are added to it
  /// @param out      in, out: the findings so far
  void calc(const SolvedStep& step, const Rebounds& rebounds, GeneralizedImpulses* impulses,
            RigidFindings* out);

 private:
  void calc_corrections(const SolvedStep& step);

  std::vector<double> corrections_;  // norm of an island's equality corrections [m/s, rad/s]
};

}  // namespace stiction::certificate
