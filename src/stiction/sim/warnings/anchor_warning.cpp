#include "stiction/sim/warnings/anchor_warning.hpp"

#include <string>

#include "stiction/plant/model/model.hpp"

namespace stiction::sim {

void warn_of_lost_anchors(const mjModel* m, const std::array<int, 2>& geoms, StepReport* report) {
  const auto name = [&](int side) { return plant::describe(m, mjOBJ_GEOM, geoms[side]); };
  report->warn(
      WarningKind::anchors,
      name(0) + ", " + name(1) +
          ": in many steps MuJoCo lists other contact points than in the step before, so the "
          "springs of contacts that stick are made anew, and what they hold may creep; give both "
          "geoms pressure fields (hydroelastic_modulus), a larger stiffness, or a shape with fewer "
          "corners");
}

}  // namespace stiction::sim
