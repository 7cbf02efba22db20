#include "stiction/certificate/rebounds.hpp"

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/contact/rigid_touch.hpp"

namespace stiction::certificate {

using contact::BodyPair;

namespace {

/// Returns true if a contact has restitution, an impact, and an impulse.
bool is_rebound(const SolvedStep& step, const BodyPair& pair, int contact) {
  const Contact& c = step.problem.contacts[contact];
  if (!(c.law.restitution > 0 && step.solution.impulses[contact][2] > 0)) return false;
  double V0[6], V_star[6];
  calc_pair_motion(step.problem, pair, step.problem.v0, V0);
  calc_pair_motion(step.problem, pair, step.problem.v_star, V_star);
  return contact::is_impact(calc_contact_velocity(c, V0)[2], calc_contact_velocity(c, V_star)[2]);
}

bool has_rebound(const SolvedStep& step, const BodyPair& pair) {
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
    if (is_rebound(step, pair, i)) return true;
  return false;
}

}  // namespace

void Rebounds::find(const SolvedStep& step) {
  is_any_ = false;
  in_island_.assign(step.islands.size(), 0);
  if (!contact::traits(step.model).uses.restitution) return;
  for (int island = 0; island < step.islands.size(); ++island) {
    for (const int p : step.islands.pairs(island)) {
      if (!has_rebound(step, step.problem.pairs[p])) continue;
      in_island_[island] = 1;
      is_any_ = true;
      break;
    }
  }
}

}  // namespace stiction::certificate
