#include "stiction/sim/integrators/divided_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/gaps.hpp"

namespace stiction::sim {

void DividedContacts::keep_forced_change(const mjModel* m, const mjData* d) {
  forced_change_.resize(m->nv);
  for (int i = 0; i < m->nv; ++i) forced_change_[i] = m->opt.timestep * d->qacc_smooth[i];
}

void DividedContacts::adapt(const mjModel* m, const mjData* d, const plant::MocapMotion& mocap,
                            contact::ContactProblem* problem) {
  start_.calc(m, d, d->qvel, &mocap);
  forced_.calc(m, d, forced_change_.data());
  for (contact::Contact& c : problem->contacts) {
    if (contact::is_touching(c)) c.phi0 = std::min(c.phi0, 0.0);
    if (c.law.restitution == 0) continue;
    const mjContact& con = d->contact[c.source];
    const double v_n = start_.calc_at_contact(m, d, con).normal;
    const double change = std::abs(forced_.calc_at_contact(m, d, con).normal);
    if (-v_n <= 2 * change) c.law.restitution = 0;
  }
}

}  // namespace stiction::sim
