#include "stiction/sim/warnings/patch_warning.hpp"

#include <string>

namespace stiction::sim {
namespace {

/// The limit that a pair exceeds.
enum Limit : int { kThin, kTurned, kDeepWithoutMemory, kDeep };

Limit find_limit(const plant::PatchPair& pair) {
  if (pair.is_thin) return kThin;
  if (pair.lacks_memory) return kDeepWithoutMemory;
  return pair.turns ? kTurned : kDeep;
}

/// Describes the limit ids[2] of the geoms ids[0] and ids[1].
std::string describe_patch(const plant::ElementNames& names, const WarningFacts& facts) {
  const std::string geoms =
      names.describe(mjOBJ_GEOM, facts.ids[0]) + " and " + names.describe(mjOBJ_GEOM, facts.ids[1]);
  if (facts.ids[2] == kThin)
    return geoms +
           " approach each other by more than half the thickness of a compliant body within a "
           "step, so the contact may be missed; take a smaller step";
  if (facts.ids[2] == kTurned)
    return geoms +
           " are pushed aside: the force along their first direction decreases with the depth, "
           "because it has turned. A round body passes beside the middle of another one, or a body "
           "reaches over an edge, and will come out at the side or behind; press the bodies along "
           "the line of their centers, or use a larger modulus or a smaller step";
  const std::string problem =
      geoms +
      " overlap deeper than their pressure fields cover: beyond a compliant body's medial axis, or "
      "where their force decreases with the depth, or one is behind a plane";
  if (facts.ids[2] == kDeepWithoutMemory)
    return problem +
           ". No step before is known from which the force could go on, so it is that of the "
           "fields; start with less overlap, give each MjData its own simulator, or restore its "
           "state with a checkpoint";
  return problem + "; use a thicker body, a larger modulus or a smaller step";
}

}  // namespace

void warn_of_patch_limits(const plant::ContactPatches& patches, StepOutputs* out) {
  for (const plant::PatchPair& pair : patches.pairs())
    if (pair.is_thin || pair.is_deep)
      out->warn(
          WarningKind::patch_limit,
          {.describe = describe_patch, .ids = {pair.geoms[0], pair.geoms[1], find_limit(pair)}});
}

}  // namespace stiction::sim
