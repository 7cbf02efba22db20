#include "stiction/sim/step/contact_pipeline.hpp"

#include <algorithm>

#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/plant/model/tied_bodies.hpp"
#include "stiction/plant/solution/write_back.hpp"

namespace stiction::sim {
namespace {

void fail_full_arena(StepContext& context) {
  context.fail(kBufferFull,
               "the constraint forces do not fit in mjData's arena; enlarge it with <size "
               "memory=\"...\"/>");
}

/// Returns the solved problem, as the certificate takes it.
certificate::SolvedStep make_solved_step(const StepContext& context,
                                         const formulations::SolverOptions& options,
                                         const ContactPipeline& contacts, bool has_energy) {
  return {.problem = contacts.problem,
          .islands = contacts.islands,
          .model = context.options.contact_model,
          .parameters = options.parameters,
          .relative_tolerance = options.relative_tolerance,
          .absolute_tolerance = options.absolute_tolerance,
          .resolution = options.resolution(),
          .solution = contacts.solution,
          .has_energy = has_energy};
}

plant::MomentumCheck::Input make_momentum_input(const StepContext& context, mjData* d,
                                                const ContactPipeline& contacts) {
  return {.model = context.stage,
          .data = d,
          .plant = context.plant,
          .problem = contacts.problem,
          .islands = contacts.islands,
          .solution = contacts.solution,
          .imbalance = contacts.certifier.imbalance()};
}

std::span<const double> calc_imbalance_rounding(const StepContext& context,
                                                ContactPipeline* contacts) {
  const formulations::SolverOptions options = make_solver_options(context.options);
  return contacts->certifier.calc_imbalance_rounding(
      make_solved_step(context, options, *contacts, true));
}

void blame(StepContext& context, int body) {
  context.mocap_jams.blame(context.model, context.mocap, body);
}

/// Blames the moving mocap bodies that drive one of MuJoCo's rows.
void blame_row(StepContext& context, const mjData* d, int row) {
  const auto blame_body = [&context](int body) { blame(context, body); };
  const int id = d->efc_id[row];
  if (d->efc_type[row] == mjCNSTR_EQUALITY)
    plant::for_each_equality_body(context.model, id, blame_body);
  if (d->efc_type[row] == mjCNSTR_LIMIT_TENDON || d->efc_type[row] == mjCNSTR_FRICTION_TENDON)
    plant::for_each_tendon_body(context.model, id, blame_body);
}

}  // namespace

double calc_solver_tolerance(const StepOptions& options) {
  if (!has_anchors(options.parameters)) return options.tolerance;
  // A spring remembers the error of a solve as a stretch, so errors keep swinging what it holds.
  // Where things are held, Newton's method takes no more iterations for it: those that it takes
  // leave round-off. Below kSmallest it may not converge.
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

void derive(StepContext& context, ContactPipeline* contacts) {
  contacts->islands.find(contacts->problem);
  contact::set_pair_loads(contacts->islands, &contacts->problem);
  // A near-rigid period is a number of time steps, or of reference time steps.
  const double reference = context.reference_time_step;
  const double factor =
      contact::kNearRigidFactor * (reference > 0 ? reference / contacts->problem.time_step : 1);
  if (!contacts->momentum_factor.calc_derived(factor, &contacts->problem))
    return context.fail(kNotPositiveDefinite,
                        "the joint-space inertia is not positive definite; give every moving body "
                        "mass, or its joints armature");
}

bool is_solved(const contact::IslandStatistics& island) {
  return island.status == contact::SolveStatus::kConverged ||
         island.status == contact::SolveStatus::kStagnated;
}

void blame_mocap_bodies(StepContext& context, const mjData* d, const ContactPipeline& contacts,
                        bool (*has_solution)(const contact::IslandStatistics&)) {
  if (!context.mocap.is_any() || !contact::traits(context.options.contact_model).is_rigid) return;
  for (int island = 0; island < contacts.islands.size(); ++island) {
    if (has_solution(contacts.solution.islands[island])) continue;
    for (const int p : contacts.islands.pairs(island)) {
      const contact::BodyPair& pair = contacts.problem.pairs[p];
      if (pair.num_contacts == 0) continue;
      const mjContact& con = d->contact[contacts.problem.contacts[pair.first_contact].source];
      for (const int geom : con.geom) blame(context, context.model->geom_bodyid[geom]);
    }
    for (const int r : contacts.islands.rows(island)) {
      const contact::Row& row = contacts.problem.rows[r];
      if (row.bias != 0) blame_row(context, d, row.source);
    }
  }
}

certificate::Certificate certify_solution(const StepContext& context,
                                          const formulations::SolverOptions& options,
                                          ContactPipeline* contacts, bool has_energy) {
  return contacts->certifier.certify(make_solved_step(context, options, *contacts, has_energy),
                                     &contacts->momentum_factor);
}

plant::MomentumCheck::Result check_momentum(const StepContext& context, mjData* d,
                                            const plant::ImplicitForces& implicit,
                                            ContactPipeline* contacts) {
  const plant::MomentumCheck::Input input = make_momentum_input(context, d, *contacts);
  plant::MomentumCheck::Result result = contacts->momentum_check.calc(input, implicit);
  if (!result.agrees())
    result.rounding = contacts->momentum_rounding.calc(input, implicit,
                                                       calc_imbalance_rounding(context, contacts));
  return result;
}

plant::MomentumCheck::Result check_acceleration_momentum(const StepContext& context, mjData* d,
                                                         std::span<const double> viscous_friction,
                                                         ContactPipeline* contacts) {
  const plant::MomentumCheck::Input input = make_momentum_input(context, d, *contacts);
  plant::MomentumCheck::Result result =
      contacts->momentum_check.calc_accelerations(input, viscous_friction);
  if (!result.agrees())
    result.rounding = contacts->momentum_rounding.calc_accelerations(
        input, viscous_friction, calc_imbalance_rounding(context, contacts));
  return result;
}

bool write_back(StepContext& context, mjData* d, const ContactPipeline& contacts) {
  if (plant::write_back(context.stage, d, context.plant, contacts.problem, contacts.solution,
                        contacts.certifier.constraint_impulse()))
    return true;
  fail_full_arena(context);
  return false;
}

void complete_rows(StepContext& context, mjData* d, const contact::ContactProblem& problem,
                   plant::ContactJacobian* jacobian) {
  jacobian->reserve(context.stage, d);
  bool fits = true;
  context.call_mujoco(d, [&] { fits = jacobian->write(context.stage, d, context.plant, problem); });
  if (!fits) fail_full_arena(context);
}

}  // namespace stiction::sim
