#include "stiction/sim/warnings/contact_warnings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/contact/law_tables.hpp"
#include "stiction/sim/report/warning_table.hpp"
#include "stiction/sim/warnings/failure_text.hpp"

namespace stiction::sim {
namespace {

// ---- large forces -------------------------------------------------------------------------------

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

// ---- deep contacts ------------------------------------------------------------------------------

/// Returns true if the caller moves the geom, as part of a mocap body.
bool is_mocap(const mjModel* m, int geom) {
  return m->body_mocapid[m->body_rootid[m->geom_bodyid[geom]]] >= 0;
}

/// Returns true if the geom is part of a mocap body that has no velocity in this step.
bool is_resting_mocap(const StepInputs& in, int geom) {
  const mjModel* m = in.model;
  return is_mocap(m, geom) && !in.mocap.of_body(m, m->geom_bodyid[geom]);
}

/// Returns the cause and its remedy.
const char* explain(const StepInputs& in, const PenetrationMemory::Pair& pair) {
  const contact::ContactModelTraits& model = in.contact_model();
  if (is_resting_mocap(in, pair.geoms[0]) || is_resting_mocap(in, pair.geoms[1]))
    return warnings::kRestingMocap;
  if (model.gaps == contact::GapPolicy::kTouching) return warnings::kIgnoredGap;
  if (is_through(pair)) return warnings::kPassedThrough;
  if (model.options.near_rigid_factor) return warnings::kTooSoftNearRigid;
  return model.is_rigid ? warnings::kTooFastRigid : warnings::kTooSoft;
}

/// Returns the thickness of the thinnest geom [m].
double find_least_thickness(const mjModel* m) {
  double least = std::numeric_limits<double>::infinity();
  for (int geom = 0; geom < m->ngeom; ++geom) least = std::min(least, calc_thickness(m, geom));
  return least;
}

/// A contact whose argument of the law is beyond a table.
struct Excess {
  int contact = -1;
  double value = 0, last = 0;  // the argument, and the last entry of the table
};

void warn_of_excess(const Warning& warning, const Excess& excess, StepOutputs* out) {
  if (excess.contact < 0) return;
  const int* geoms = &out->report->contacts.geoms[2 * excess.contact];
  out->warn(warning, {.ids = {geoms[0], geoms[1]}, .numbers = {excess.value, excess.last}});
}

}  // namespace

void warn_of_full_pair(std::optional<std::array<int, 2>> geoms, StepOutputs* out) {
  if (geoms)
    out->warn(warnings::kFullContactList, {.ids = {(*geoms)[0], (*geoms)[1], mjMAXCONPAIR}});
}

void warn_of_patch_limits(const plant::ContactPatches& patches, StepOutputs* out) {
  for (const plant::PatchPair& pair : patches.pairs()) {
    if (!pair.is_thin && !pair.is_deep) continue;
    const bool is_turned = pair.turns && !pair.lacks_memory;
    out->warn(pair.is_thin ? warnings::kThinPatch
              : is_turned  ? warnings::kTurnedPatch
                           : warnings::kDeepPatch,
              {.ids = {pair.geoms[0], pair.geoms[1]},
               .cause = pair.lacks_memory ? warnings::kUnknownPatch : warnings::kKnownPatch});
  }
}

void warn_of_conflicts(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                       StepOutputs* out) {
  for (const contact::IslandStatistics& island : contacts.solution.islands)
    if (island.has_conflict)
      out->warn(warnings::kConflict, {.text = find_conflict(in, d, contacts, island)});
}

void warn_of_large_force(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                         ForceScratch* scratch, StepOutputs* out) {
  const mjModel* m = in.model;
  const double dt = contacts.problem.time_step;
  const bool is_rigid = in.contact_model().is_rigid;
  const ContactReport& report = out->report->contacts;
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
  const double force = worst.impulse / dt;
  out->warn(
      warnings::kLargeForce,
      {.ids = {geoms[0], geoms[1]},
       .numbers = {force, force / worst.weight, std::max(0.0, -report.distance[worst.contact])},
       .cause = is_rigid ? warnings::kRigidForce : warnings::kCompliantForce});
}

void record_penetration(const mjModel* m, const ContactReport& contacts, double time_step,
                        PenetrationMemory* penetration) {
  if (contacts.size() == 0) return;
  const double least = kTooDeep * find_least_thickness(m);
  for (int c = 0; c < contacts.size(); ++c) {
    const double start = -contacts.distance[c];
    const double end = start - time_step * contacts.normal_velocity[c];
    if (std::max(start, end) < least && !penetration->knows_any()) continue;
    if (contacts.patch[c] >= 0) continue;
    const std::array<int, 2> geoms = {contacts.geoms[2 * c], contacts.geoms[2 * c + 1]};
    const double thickness = std::min(calc_thickness(m, geoms[0]), calc_thickness(m, geoms[1]));
    penetration->record(geoms, start, end, kTooDeep * thickness,
                        is_mocap(m, geoms[0]) || is_mocap(m, geoms[1]));
  }
}

void warn_of_penetration(const StepInputs& in, PenetrationMemory* penetration, StepOutputs* out) {
  const auto pairs = penetration->find_new();
  if (pairs.empty()) return;
  const auto& deepest =
      *std::max_element(pairs.begin(), pairs.end(),
                        [](const auto& a, const auto& b) { return a.depth / a.h < b.depth / b.h; });
  const auto& [A, B] = deepest.geoms;
  const double thickness[2] = {calc_thickness(in.model, A), calc_thickness(in.model, B)};
  const int thin = thickness[0] < thickness[1] ? 0 : 1;
  out->warn(warnings::kPenetration,
            {.ids = {A, B, deepest.geoms[thin]},
             .numbers = {deepest.depth, thickness[thin]},
             .cause = explain(in, deepest)},
            static_cast<int>(pairs.size()));
}

void warn_of_law_range(const StepInputs& in, double time_step, StepOutputs* out) {
  const contact::ModelParameters& parameters = in.options.parameters;
  const auto law = contact::find_normal_law(in.options.contact_model, parameters.normal_law);
  if (law != contact::NormalLawKind::custom || !parameters.custom_law) return;
  const contact::NormalLawTable* const table = parameters.custom_law->table();
  if (!table) return;
  Excess depth{.last = table->penetration.back()};
  Excess rate{.last = table->rate.empty() ? contact::kInfinity : table->rate.back()};
  const ContactReport& contacts = out->report->contacts;
  for (int c = 0; c < contacts.size(); ++c) {
    if (!(contacts.normal_impulse[c] > 0)) continue;
    const double speed = -contacts.normal_velocity[c];
    const double x = -contacts.distance[c] + time_step * speed;
    if (x > std::max(depth.value, depth.last)) depth = {c, x, depth.last};
    if (speed > std::max(rate.value, rate.last)) rate = {c, speed, rate.last};
  }
  warn_of_excess(warnings::kLawDepth, depth, out);
  warn_of_excess(warnings::kLawRate, rate, out);
}

void warn_of_coupling(const StepInputs& in, const SolvedContacts& contacts, StepOutputs* out) {
  // A step that has failed says more in its message.
  if (in.options.contact_model != contact::ContactModel::coulomb || out->report->status) return;
  int worst = -1, num_coarse = 0;
  double largest = kNoticeableCoupling;
  for (int i = 0; i < contacts.islands.size(); ++i) {
    const double error = contacts.solution.islands[i].coupling_error;
    if (!(error > kNoticeableCoupling)) continue;
    ++num_coarse;
    if (error < largest) continue;
    largest = error;
    worst = i;
  }
  if (worst < 0) return;
  const contact::BodyPair& pair = contacts.problem.pairs[contacts.islands.pairs(worst).front()];
  const int* geoms = &out->report->contacts.geoms[2 * pair.first_contact];
  const contact::IslandStatistics& island = contacts.solution.islands[worst];
  out->warn(warnings::kCoupling,
            {.ids = {geoms[0], geoms[1], island.num_contacts - 1, island.rounds},
             .numbers = {island.coupling_error}},
            num_coarse);
}

void warn_of_made_energy(const std::array<int, 2>& geoms, double energy, StepOutputs* out) {
  out->warn(warnings::kMadeEnergy, {.ids = {geoms[0], geoms[1]}, .numbers = {energy}});
}

void warn_of_creep(const CreepWatch::Creep& creep, StepOutputs* out) {
  out->warn(creep.walks ? warnings::kWalk : warnings::kCreep,
            {.ids = {creep.geoms[0], creep.geoms[1]}, .numbers = {creep.speed}});
}

}  // namespace stiction::sim
