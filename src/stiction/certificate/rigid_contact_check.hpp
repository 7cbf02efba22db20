#pragma once

#include <vector>

#include "stiction/certificate/generalized_impulses.hpp"
#include "stiction/certificate/rebounds.hpp"
#include "stiction/certificate/rigid_findings.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Checks the contacts of a rigid model's step: normal impulses and velocities complement each
/// other, and the tangents follow the model's policy.
class RigidContactCheck {
 public:
  /// @param impulses the impulses of all contacts are added to it
  void calc(const SolvedStep& step, const Rebounds& rebounds, GeneralizedImpulses* impulses,
            RigidFindings* out);

  /// True if the contact's slip is to be zero, or its friction viscous.
  bool is_sticking(int contact) const { return is_sticking_[contact] != 0; }

 private:
  void check_pair(const SolvedStep& step, const contact::BodyPair& pair, bool rebounds,
                  GeneralizedImpulses* impulses, RigidFindings* out);

  std::vector<char> is_sticking_;
};

}  // namespace stiction::certificate
