#include "stiction/plant/mujoco_solution.hpp"

#include <cmath>

#include "stiction/contact/jacobian.hpp"

namespace stiction::plant {

void read_mujoco_solution(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                          contact::ContactSolution* solution) {
  const int n = problem.num_contacts();
  solution->impulses.resize(n);
  solution->contact_velocities.resize(n);
  solution->slipping.resize(n);
  solution->islands.clear();
  for (const contact::BodyPair& pair : problem.pairs) {
    math::Six V = math::Six::zero();
    for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
      const contact::Segment& segment = problem.segments[s];
      V += contact::calc_segment_velocity(problem, segment,
                                          problem.v0.data() + problem.dof_start[segment.block]);
    }
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      mjtNum force[6];  // normal, tangents; torques about them
      mj_contactForce(m, d, c.source, force);
      const double dt = problem.time_step;
      solution->impulses[i] = {dt * force[1], dt * force[2], dt * force[0],
                               dt * force[3], dt * force[4], dt * force[5]};
      const math::Six V_p = math::shift_velocity(V, c.offset.data());
      for (int e = 0; e < 3; ++e) {
        const double* axis = c.R_WC.data() + 3 * e;
        solution->contact_velocities[i][e] =
            axis[0] * V_p[3] + axis[1] * V_p[4] + axis[2] * V_p[5] + c.bias[e];
      }
      // MuJoCo has no slip tolerance: slipping is friction within a millionth of its bound.
      const double friction = std::hypot(force[1], force[2]);
      solution->slipping[i] = friction > 0 && friction >= (1 - 1e-6) * c.friction[0] * force[0];
    }
  }
}

}  // namespace stiction::plant
