#pragma once

#include <array>
#include <optional>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/memory/creep.hpp"
#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/step/solved_contacts.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

/// Warnings of the contacts of a step. They read the contacts of the report.
namespace stiction::sim {

/// Warns of two geoms with more contacts than MuJoCo keeps, see SpeculativeCollision::full_pair.
void warn_of_full_pair(std::optional<std::array<int, 2>> geoms, StepOutputs* out);

/// Warns of each pair of pressure fields beyond the limits of the model: one body is thin for its
/// speed or deep in the other.
void warn_of_patch_limits(const plant::ContactPatches& patches, StepOutputs* out);

/// Warns of each island whose overlaps, limits and equalities cannot be corrected together. The
/// step continues with the corrections that are possible.
void warn_of_conflicts(const StepInputs& in, const mjData* data, const SolvedContacts& contacts,
                       StepOutputs* out);

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

/// Warns of the contact whose impulse exceeds two limits by the largest factor: that of
/// kTooManyWeights during the step, and (1 + e) P with
///
///     P = sqrt(m v*^T M v*) + m max |b|,   v* = v0 + dt M^-1 f,
///
/// where e is the largest restitution of a contact of its island, and P the momentum that the
/// bodies of the island have without contacts, and that surfaces which move at b may give them.
/// - An impact, and an actuator that presses on a body, need no more than this.
/// - Larger forces act where geoms overlap that their joints hardly let part.
/// - Bodies of other islands explain no force here, however heavy or fast they are.
/// @param data at the start of the step, with MuJoCo's smooth forces
/// @param contacts the solution of the step
void warn_of_large_force(const StepInputs& in, const mjData* data, const SolvedContacts& contacts,
                         ForceScratch* scratch, StepOutputs* out);

/// Records the contact points of a step, or of a part of it, by which two geoms overlap, in
/// `penetration`. Patches have warnings of their own.
/// @param time_step of the contact problem [s]; the report has its contacts
void record_penetration(const mjModel* m, const ContactReport& contacts, double time_step,
                        PenetrationMemory* penetration);
/// Warns of the pairs of geoms that have got deep in this step; see PenetrationMemory. A contact is
/// then soft for its load or speed, for example at the limit of `sap`, or a fast body has turned
/// its edge past the contact points that the step knew. Call it after all parts of the step.
void warn_of_penetration(const StepInputs& in, PenetrationMemory* penetration, StepOutputs* out);

/// Warns of the contact that is farthest beyond the tables of a TabulatedLaw at the end of a step:
/// deeper than its last penetration, or faster than its last rate. The law continues there along
/// its tangent, which the tables do not confirm.
/// @param time_step of the contact problem [s]
void warn_of_law_range(const StepInputs& in, double time_step, StepOutputs* out);

/// A coupling error of `coulomb` from which on friction is noticeably wrong [-].
inline constexpr double kNoticeableCoupling = 0.01;
/// Warns if `coulomb` has ended an island with a coupling error above kNoticeableCoupling: no
/// normal impulses were found that agree with their own friction, so the friction of the island is
/// that of `lagged_regularized`. [theory:coupling-error]
void warn_of_coupling(const StepInputs& in, const SolvedContacts& contacts, StepOutputs* out);

/// Warns of two geoms whose contact has made energy from nothing.
/// @param energy [J]
void warn_of_made_energy(const std::array<int, 2>& geoms, double energy, StepOutputs* out);

/// Warns of bodies that creep although friction could hold them.
void warn_of_creep(const CreepWatch::Creep& creep, StepOutputs* out);

}  // namespace stiction::sim
