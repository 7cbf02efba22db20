#include "stiction/sim/warnings/force_warning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace stiction::sim {
namespace {

/// An impulse of a contact, and the weight of the bodies that it may carry.
struct Finding {
  int contact = -1;
  double impulse = 0;  // [N s]
  double weight = 0;   // of the island [N]
  double excess = 1;   // impulse, relative to the largest one that gives no warning
};

/// Returns the least mass of the trees [kg]. Each island has at least one whole tree.
double find_least_mass(const mjModel* m, std::vector<double>* masses) {
  masses->assign(m->ntree, 0.0);
  for (int body = 1; body < m->nbody; ++body)
    if (m->body_treeid[body] >= 0) (*masses)[m->body_treeid[body]] += m->body_mass[body];
  return masses->empty() ? 0 : *std::min_element(masses->begin(), masses->end());
}

/// Returns the square of the largest impulse.
double find_largest_squared(const ContactReport& report) {
  double largest = 0;
  for (int c = 0; c < report.size(); ++c) {
    const double* x = &report.impulse[3 * c];
    largest = std::max(largest, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  }
  return largest;
}

/// Adds the masses of the bodies that joints move to their islands [kg]. Mocap bodies and the parts
/// of the world have masses too, but these take no part in any motion.
void add_masses(const StepInputs& in, const contact::Islands& islands,
                std::vector<ForceScratch::Island>* out) {
  const mjModel* m = in.model;
  for (int body = 1; body < m->nbody; ++body) {
    const auto dofs = in.plant.dofs_of_body(body);
    if (dofs.empty()) continue;
    const int island = islands.island_of_block(in.plant.block_of_dof(dofs.back()));
    if (island >= 0) (*out)[island].mass += m->body_mass[body];
  }
}

/// Adds v*^T M v* to the islands. Inertia couples no dofs of different islands.
void add_energies(const StepInputs& in, const mjData* d, double dt, const contact::Islands& islands,
                  ForceScratch* scratch) {
  const mjModel* m = in.model;
  const int nv = static_cast<int>(m->nv);
  scratch->numbers.resize(2 * static_cast<std::size_t>(nv));
  mjtNum *v = scratch->numbers.data(), *p = v + nv;
  mju_addScl(v, d->qvel, d->qacc_smooth, dt, nv);
  mj_mulM(m, d, p, v);
  for (const plant::Model::DofRange& range : in.plant.awake_dofs()) {
    for (int dof = range.begin; dof < range.end; ++dof) {
      const int island = islands.island_of_block(in.plant.block_of_dof(dof));
      if (island >= 0) scratch->islands[island].energy += v[dof] * p[dof];
    }
  }
}

/// Calls f(i) for each contact of an island.
template <class F>
void for_each_contact(const SolvedContacts& contacts, int island, F&& f) {
  for (const int p : contacts.islands.pairs(island)) {
    const contact::BodyPair& pair = contacts.problem.pairs[p];
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) f(i);
  }
}

/// Returns (1 + e) P of an island.
double calc_momentum(const SolvedContacts& contacts, int island, bool is_rigid,
                     const ForceScratch::Island& bodies) {
  double restitution = 0, speed2 = 0;
  for_each_contact(contacts, island, [&](int i) {
    const contact::Contact& c = contacts.problem.contacts[i];
    if (is_rigid) restitution = std::max(restitution, c.law.restitution);
    speed2 = std::max(speed2, mju_dot3(c.bias.data(), c.bias.data()));
  });
  return (1 + restitution) *
         (std::sqrt(bodies.mass * std::max(bodies.energy, 0.0)) + bodies.mass * std::sqrt(speed2));
}

/// Replaces a finding by the contact of an island whose impulse exceeds what gives no warning by
/// the larger factor.
void find_excess(const SolvedContacts& contacts, const ContactReport& report, int island,
                 double weight, double limit, Finding* out) {
  for_each_contact(contacts, island, [&](int i) {
    const double* x = &report.impulse[3 * i];
    const double impulse = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    if (impulse <= limit * out->excess) return;
    *out = {.contact = i, .impulse = impulse, .weight = weight, .excess = impulse / limit};
  });
}

/// Describes the force [N] of the geoms ids[0] and ids[1] with the weight [N] and the overlap [m].
/// @param facts.ids[2] 1: the contact model is rigid
std::string describe_force(const plant::ElementNames& names, const WarningFacts& facts) {
  const auto& [force, weight, overlap] = facts.numbers;
  char text[400];
  std::snprintf(text, sizeof text,
                " press on each other with %.2g N, %.1g times the weight of all bodies that "
                "contacts and joints connect with them, which "
                "neither motion nor applied forces explain; they overlap by %.2g m, and ",
                force, force / weight, overlap);
  return names.describe(mjOBJ_GEOM, facts.ids[0]) + " and " +
         names.describe(mjOBJ_GEOM, facts.ids[1]) + text +
         (facts.ids[2] ? "sticking contacts may hold a moment by a short lever, or joints hardly "
                         "let the geoms part; use rigid_coulomb or a compliant contact model, or "
                         "exclude the pair from collision"
                       : "their joints hardly let them part; exclude the pair from collision, or "
                         "give the geoms a stiffness");
}

}  // namespace

void warn_of_large_force(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                         ForceScratch* scratch, StepOutputs* out) {
  const mjModel* m = in.model;
  const double dt = contacts.problem.time_step;
  const bool is_rigid = in.contact_model().is_rigid;
  const ContactReport& report = out->report.contacts;
  if (report.size() == 0) return;
  // Without gravity, accelerations of 1 m/s^2 are those of a scene of everyday size.
  const double gravity = std::max(mju_norm3(m->opt.gravity), 1.0);
  const double harmless = kTooManyWeights * gravity * dt * find_least_mass(m, &scratch->numbers);
  if (find_largest_squared(report) <= harmless * harmless) return;
  scratch->islands.assign(contacts.islands.size(), {});
  add_masses(in, contacts.islands, &scratch->islands);
  add_energies(in, d, dt, contacts.islands, scratch);
  Finding worst;
  for (int island = 0; island < contacts.islands.size(); ++island) {
    const ForceScratch::Island& bodies = scratch->islands[island];
    const double weight = bodies.mass * gravity;
    const double limit =
        std::max(kTooManyWeights * weight * dt, calc_momentum(contacts, island, is_rigid, bodies));
    find_excess(contacts, report, island, weight, limit, &worst);
  }
  if (worst.contact < 0) return;
  const int* geoms = &report.geoms[2 * worst.contact];
  out->warn(WarningKind::large_force,
            {.describe = describe_force,
             .ids = {geoms[0], geoms[1], is_rigid},
             .numbers = {worst.impulse / dt, worst.weight,
                         std::max(0.0, -report.distance[worst.contact])}});
}

}  // namespace stiction::sim
