#include "stiction/sim/step/solved_contacts.hpp"

#include <algorithm>
#include <span>

#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "stiction/plant/solution/write_back.hpp"

namespace stiction::sim {
namespace {

void fail_full_arena(StepOutputs* out) {
  out->fail(kBufferFull,
            "the constraint forces do not fit in mjData's arena; enlarge it with <size "
            "memory=\"...\"/>");
}

/// Returns the solved problem, as the certificate takes it.
certificate::SolvedStep make_solved_step(const StepInputs& in,
                                         const formulations::SolverOptions& options,
                                         const SolvedContacts& contacts, bool has_energy) {
  return {.problem = contacts.problem,
          .islands = contacts.islands,
          .model = in.options.contact_model,
          .parameters = options.parameters,
          .relative_tolerance = options.relative_tolerance,
          .absolute_tolerance = options.absolute_tolerance,
          .resolution = options.resolution(),
          .absolute_resolution = options.absolute_resolution(),
          .solution = contacts.solution,
          .has_energy = has_energy};
}

}  // namespace

double calc_solver_tolerance(const StepOptions& options) {
  if (!has_anchors(options.parameters)) return options.tolerance;
  // A hundredth of the tolerance, because a spring remembers the error of a solve as a stretch, so
  // that bodies that it holds keep swinging. Newton's method takes no more iterations for it where
  // contacts stick. Below kSmallest it may not converge.
  constexpr double kShare = 1e-2, kSmallest = 1e-9;
  return std::max(kShare * options.tolerance, std::min(kSmallest, options.tolerance));
}

formulations::SolverOptions make_solver_options(const StepOptions& options) {
  formulations::SolverOptions result;
  result.parameters = options.parameters;
  result.relative_tolerance = calc_solver_tolerance(options);
  // Springs remember errors of velocities, and not those of bounds. Bounds of light contacts in an
  // island with heavy bodies would take hundreds of rounds for the smaller tolerance.
  result.coupling_resolution = options.tolerance;
  result.max_iterations = options.max_iterations;
  result.trace = options.trace;
  return result;
}

void calc_derived(const StepModels& models, SolvedContacts* contacts, StepOutputs* out) {
  contacts->islands.find(contacts->problem);
  contact::set_pair_loads(contacts->islands, &contacts->problem);
  // A near-rigid period is a number of reference time steps.
  const double steps =
      models.has_reference() ? models.reference_time_step() / contacts->problem.time_step : 1;
  if (!contacts->momentum_factor.calc_derived(contact::kNearRigidFactor * steps,
                                              &contacts->problem))
    out->fail(kNotPositiveDefinite,
              "the joint-space inertia is not positive definite; give every moving body mass, or "
              "its joints armature");
}

bool is_solved(const contact::IslandStatistics& island) {
  return island.status == contact::SolveStatus::kConverged ||
         island.status == contact::SolveStatus::kStagnated;
}

void find_blocked_mocap(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                        bool (*has_solution)(const contact::IslandStatistics&),
                        MocapMemory* mocap) {
  if (!mocap->motion.is_any() || !in.contact_model().is_rigid) return;
  const mjModel* m = in.model;
  const contact::ContactProblem& problem = contacts.problem;
  const auto add = [mocap](int body) { mocap->add_blocked(body); };
  for (int island = 0; island < contacts.islands.size(); ++island) {
    if (has_solution(contacts.solution.islands[island])) continue;
    for (const int p : contacts.islands.pairs(island)) {
      const contact::BodyPair& pair = problem.pairs[p];
      if (pair.num_contacts == 0) continue;
      for (const int geom : d->contact[problem.contacts[pair.first_contact].source].geom)
        add(m->geom_bodyid[geom]);
    }
    for (const int r : contacts.islands.rows(island)) {
      if (problem.rows[r].bias == 0) continue;
      const int row = problem.rows[r].source, type = d->efc_type[row], id = d->efc_id[row];
      if (type == mjCNSTR_EQUALITY) plant::for_each_equality_body(m, id, add);
      if (type == mjCNSTR_LIMIT_TENDON || type == mjCNSTR_FRICTION_TENDON)
        plant::for_each_tendon_body(m, id, add);
    }
  }
}

certificate::Certificate certify_solution(const StepInputs& in,
                                          const formulations::SolverOptions& options,
                                          SolvedContacts* contacts, bool has_energy) {
  return contacts->certifier.certify(make_solved_step(in, options, *contacts, has_energy),
                                     &contacts->momentum_factor);
}

plant::MomentumCheck::Result check_momentum(const StepInputs& in, mjData* d,
                                            const plant::ImplicitForces& implicit,
                                            const std::vector<double>* viscous_friction,
                                            SolvedContacts* contacts) {
  const plant::MomentumCheck::Input input{.model = in.models.stages(),
                                          .data = d,
                                          .plant = in.plant,
                                          .problem = contacts->problem,
                                          .solution = contacts->solution,
                                          .imbalance = contacts->certifier.imbalance()};
  plant::MomentumCheck& check = contacts->momentum_check;
  plant::MomentumCheck::Result result = viscous_friction
                                            ? check.calc_accelerations(input, *viscous_friction)
                                            : check.calc(input, implicit);
  if (result.agrees()) return result;
  const formulations::SolverOptions options = make_solver_options(in.options);
  const std::span<const double> rounding =
      contacts->certifier.calc_imbalance_rounding(make_solved_step(in, options, *contacts, true));
  plant::MomentumRounding& bound = contacts->momentum_rounding;
  result.rounding = viscous_friction ? bound.calc_accelerations(input, *viscous_friction, rounding)
                                     : bound.calc(input, implicit, rounding);
  return result;
}

bool write_back(const StepInputs& in, mjData* d, const SolvedContacts& contacts, StepOutputs* out) {
  if (plant::write_back(in.models.stages(), d, in.plant, contacts.problem, contacts.solution,
                        contacts.certifier.constraint_impulse()))
    return true;
  fail_full_arena(out);
  return false;
}

void complete_rows(const StepInputs& in, mjData* d, const contact::ContactProblem& problem,
                   plant::ContactJacobian* jacobian, StepOutputs* out) {
  jacobian->reserve(in.models.stages(), d);
  bool fits = true;
  out->call_mujoco(d, [&] { fits = jacobian->write(in.models.stages(), d, in.plant, problem); });
  if (!fits) fail_full_arena(out);
}

}  // namespace stiction::sim
