#pragma once

#include <vector>

#include "campaign/ledger.hpp"
#include "campaign/random_world.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::campaign {

/// A step that was taken, as a user sees it: mjData and the report.
struct TakenStep {
  const World& world;
  const support::Scene& scene;  // after the step; all but the state is that of its start
  const sim::StepReport& report;
  const sim::StepOptions& options;
  std::vector<double> v0;  // qvel at the start of the step

  const contact::ContactModelTraits& model() const {
    return contact::traits(options.contact_model);
  }
};

/// Checks the laws of a single step: the balance of momentum, the velocities of contacts, friction
/// cones, dissipation, complementarity, and that mjData and sensors agree with the report. The laws
/// are computed from the model, the states, and MuJoCo's Jacobians and matrices.
void check_step(const TakenStep& step, Ledger* ledger);

/// Checks that contacts add no more energy than they push apart.
/// @param free_v the velocities after the same step without contacts
void check_energy(const TakenStep& step, const std::vector<double>& free_v, Ledger* ledger);

/// Returns |x| in the norm of MuJoCo's inertia matrix [sqrt(J)].
double calc_inertial_norm(const support::Scene& scene, const std::vector<double>& x);

}  // namespace stiction::campaign
