#pragma once

#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// A number that the step uses for the contact of two geoms.
struct ExplainedNumber {
  std::string name;
  double value = 0;
  std::string unit;     // SI; empty if the number has no unit
  std::string from;     // its source (a file and line, the MJCF or a default) and the rule
  bool is_used = true;  // true if the contact model uses the number
  std::string note;     // further explanation; may be empty
};

/// The explanation of the contact of two geoms.
struct PairExplanation {
  int geom1 = -1, geom2 = -1;
  bool collides = false;
  std::string reason{};      // why they collide, or why they do not
  bool is_patch = false;     // true if they touch in a patch, false if in points
  std::string why_points{};  // why they touch in points although one could touch in patches
  /// The numbers of the contact; empty if the geoms do not collide.
  std::vector<ExplainedNumber> numbers{};
};

/// Explains the contact of two geoms by means of the functions that the step calls: MuJoCo's
/// collision for filters, condim, margin and MJCF friction, and plant::set_properties for the rest.
/// @param geom1, geom2 ids in [0, ngeom)
/// @throws Error if an id or an option is out of range, or if MuJoCo raises an error
PairExplanation explain_pair(const mjModel* model, const plant::MaterialTable& materials,
                             const StepOptions& options, int geom1, int geom2);

}  // namespace stiction::sim
