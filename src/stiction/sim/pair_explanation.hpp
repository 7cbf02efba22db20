#pragma once

#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials.hpp"
#include "stiction/sim/step_options.hpp"

namespace stiction::sim {

/// One number of a pair of geoms, as the step uses it.
struct ExplainedNumber {
  std::string name;
  double value = 0;
  std::string unit;     // SI; empty: none
  std::string from;     // where it comes from: a file and line, the MJCF, a default, and the rule
  bool is_used = true;  // by the contact model
  std::string note;     // what else to know of it; may be empty
};

/// What a contact of two geoms uses, and why.
struct PairExplanation {
  int geom1 = -1, geom2 = -1;
  bool collides = false;
  std::string reason;      // why they do, or do not
  bool is_patch = false;   // else they touch in points
  std::string why_points;  // if one of them takes part in pressure-field contact
  /// If they collide; else empty.
  std::vector<ExplainedNumber> numbers;
};

/// Explains what the step does with two geoms, by the functions that the step calls: MuJoCo's
/// collision for filters, condim, margin and MJCF friction, plant::set_properties for the rest.
/// @param geom1, geom2 ids in [0, ngeom)
/// @throws Error for ids out of range, options out of range, or an error of MuJoCo
PairExplanation explain_pair(const mjModel* model, const plant::MaterialTable& materials,
                             const StepOptions& options, int geom1, int geom2);

}  // namespace stiction::sim
