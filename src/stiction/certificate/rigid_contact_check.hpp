#pragma once

#include <vector>

#include "stiction/certificate/generalized_impulses.hpp"
#include "stiction/certificate/rebounds.hpp"
#include "stiction/certificate/rigid_findings.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Checks the contacts of a rigid model's step: normal impulses and velocities are complementary,
/// and the tangents follow the model's policy.
class RigidContactCheck {
 public:
  /// Checks all contacts.
  /// @param impulses out: the impulses of all contacts are added to it
  /// @param out      in, out: the findings so far
  void calc(const SolvedStep& step, const Rebounds& rebounds, GeneralizedImpulses* impulses,
            RigidFindings* out);

  /// True if the contact sticks or, in `viscous`, has viscous friction. After calc.
  bool is_sticking(int contact) const { return is_sticking_[contact] != 0; }

  /// How far a contact point is known [m], see [theory:short-levers]. After calc.
  double reach(int contact) const { return reach_[contact]; }

 private:
  void check_pair(const SolvedStep& step, const contact::BodyPair& pair, bool rebounds,
                  GeneralizedImpulses* impulses, RigidFindings* out);

  std::vector<char> is_sticking_;
  std::vector<double> reach_;  // of each contact [m]
};

}  // namespace stiction::certificate
