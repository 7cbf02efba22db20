#include "stiction/sim/options/dry_friction_check.hpp"

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::sim {

void refuse_dry_friction(const mjModel* m, const char* text) {
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_JOINT, m->dof_jntid[i]), text);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_TENDON, i), text);
}

void check_dry_friction(const mjModel* m, const StepOptions& options) {
  if (!contact::traits(options.contact_model).options.lcp_solver ||
      numerics::takes_bounds(options.parameters.lcp_solver))
    return;
  refuse_dry_friction(m,
                      "has dry friction (frictionloss), whose impulse has a bound on both sides, "
                      "and the LCP solver 'active_set' takes no such bounds; set lcp_solver to "
                      "'ppm_ratio' or 'lemke'");
}

}  // namespace stiction::sim
