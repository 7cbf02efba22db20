#include "stiction/plant/mujoco/mujoco_solution.hpp"

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {

void read_mujoco_solution(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                          contact::ContactSolution* solution) {
  const int n = problem.num_contacts();
  solution->impulses.resize(n);
  solution->contact_velocities.resize(n);
  solution->slipping.resize(n);
  solution->islands.clear();
  for (const contact::BodyPair& pair : problem.pairs) {
    const math::Six V = contact::calc_pair_velocity(problem, pair, problem.v0);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      mjtNum force[6];  // along normal and tangents, then torques about these axes
      mj_contactForce(m, d, c.source, force);
      const double dt = problem.time_step;
      solution->impulses[i] = {dt * force[1], dt * force[2], dt * force[0],
                               dt * force[3], dt * force[4], dt * force[5]};
      solution->contact_velocities[i] = contact::calc_contact_velocity(c, V);
      // MuJoCo has no slip tolerance. A contact slips if its friction is within 1e-6 of the bound.
      const double friction = math::hypot(force[1], force[2]);
      solution->slipping[i] = friction > 0 && friction >= (1 - 1e-6) * c.friction[0] * force[0];
    }
  }
}

}  // namespace stiction::plant
