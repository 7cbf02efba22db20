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

  /// Norms of what an island's equalities may miss.
  struct Corrections {
    double speed = 0;   // [m/s, rad/s]
    double motion = 0;  // the same by the roots of the rows' mobilities [sqrt(J)]
  };

 private:
  void calc_corrections(const SolvedStep& step);
  void add_dependent_rows(const SolvedStep& step);

  std::vector<Corrections> corrections_;  // of each island
  std::vector<double> momentum_;          // A v, scratch
};

}  // namespace stiction::certificate
