#include "stiction/sim/integrators/viscous_forces.hpp"

#include "stiction/contact/jacobian.hpp"

namespace stiction::sim {

void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces) {
  forces->assign(problem->num_contacts(), {});
  for (const contact::BodyPair& pair : problem->pairs) {
    const math::Six V = contact::calc_pair_velocity(*problem, pair, v);
    math::Six F = math::Six::zero();
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem->contacts[i];
      const std::array<double, 3> v_c = contact::calc_contact_velocity(c, V);
      for (int t = 0; t < 2; ++t) (*forces)[i][t] = -c.law.viscous_friction * v_c[t];
      F += contact::calc_contact_wrench(c, (*forces)[i]);
    }
    contact::add_pair_force(*problem, pair, F, problem->free_impulse);
  }
}

}  // namespace stiction::sim
