#pragma once

#include <vector>

#include "stiction/sim/step/solved_contacts.hpp"

namespace stiction::sim {

/// A contact force of this many weights of the bodies of its island is too large, unless motion or
/// applied forces explain it. The island has all bodies that contacts, rows and joints connect.
inline constexpr double kTooManyWeights = 1e4;

/// Memory of warn_of_large_force, which is reused from step to step.
struct ForceScratch {
  struct Island {
    double mass = 0;    // of the bodies that joints move [kg]
    double energy = 0;  // v*^T M v* [J]
  };
  std::vector<Island> islands;
  std::vector<mjtNum> numbers;
};

/// Warns if the impulse of a contact in the report is larger than that of kTooManyWeights during
/// the step, and larger than (1 + e) P, where e is the largest restitution of a contact of its
/// island, and P is the momentum that the bodies of the island have without contacts, and that
/// surfaces which move at b may give them,
///
///     P = sqrt(m v*^T M v*) + m max |b|,   v* = v0 + dt M^-1 f.
///
/// An impact, and an actuator that presses on a body, need no more than this. Larger forces act
/// where geoms overlap that their joints hardly let part: the force has no effect but on the
/// joints. The warning names the contact that exceeds this by the largest factor. Bodies of other
/// islands do not count: however heavy or fast they are, they explain no force here.
/// @param data at the start of the step, with MuJoCo's smooth forces
/// @param contacts the solution of the step
void warn_of_large_force(const StepInputs& in, const mjData* data, const SolvedContacts& contacts,
                         ForceScratch* scratch, StepOutputs* out);

}  // namespace stiction::sim
