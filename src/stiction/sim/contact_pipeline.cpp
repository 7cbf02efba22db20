#include "stiction/sim/contact_pipeline.hpp"

#include "stiction/contact/model_parameters.hpp"
#include "stiction/plant/write_back.hpp"

namespace stiction::sim {
namespace {

void fail_full_arena(StepContext& context) {
  context.fail(kBufferFull,
               "the constraint forces do not fit in mjData's arena; enlarge it with <size "
               "memory=\"...\"/>");
}

}  // namespace

formulations::SolverOptions make_solver_options(const StepOptions& options) {
  formulations::SolverOptions result;
  result.parameters = options.parameters;
  result.relative_tolerance = options.tolerance;
  result.max_iterations = options.max_iterations;
  result.trace = options.trace;
  return result;
}

void derive(StepContext& context, ContactPipeline* contacts) {
  if (!contacts->momentum_factor.calc_derived(contact::kNearRigidFactor, &contacts->problem))
    return context.fail(kNotPositiveDefinite,
                        "the joint-space inertia is not positive definite; give every moving body "
                        "mass, or its joints armature");
  contacts->islands.find(contacts->problem);
}

certificate::Certificate certify_solution(const StepContext& context,
                                          const formulations::SolverOptions& options,
                                          ContactPipeline* contacts) {
  const certificate::SolvedStep step = {.problem = contacts->problem,
                                        .islands = contacts->islands,
                                        .model = context.options.contact_model,
                                        .parameters = options.parameters,
                                        .relative_tolerance = options.relative_tolerance,
                                        .absolute_tolerance = options.absolute_tolerance,
                                        .solution = contacts->solution};
  return contacts->certifier.certify(step, &contacts->momentum_factor);
}

plant::MomentumCheck::Input make_momentum_input(const StepContext& context, mjData* d,
                                                const ContactPipeline& contacts) {
  return {.model = context.stage,
          .data = d,
          .plant = context.plant,
          .problem = contacts.problem,
          .solution = contacts.solution,
          .imbalance = contacts.certifier.imbalance()};
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
