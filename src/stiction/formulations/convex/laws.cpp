#include "stiction/formulations/convex/laws.hpp"

namespace stiction::formulations {

DefaultLaws::Normal DefaultLaws::make_normal(const ContactStart& start, const ModelParameters&) {
  return {.dt = math::broadcast(start.time_step),
          .k = start.law.stiffness,
          .d = start.law.dissipation,
          .fe0 = start.fn0};
}

ChosenLaws::Normal ChosenLaws::make_normal(const ContactStart& start,
                                           const ModelParameters& parameters) {
  using contact::NormalLawKind;
  const Lanes dt = math::broadcast(start.time_step);
  const Lanes x0 = -start.phi0;
  switch (parameters.normal_law) {
    case NormalLawKind::hunt_crossley: break;
    case NormalLawKind::linear:
      return Normal(laws::Linear<Lanes>{
          .dt = dt, .k = start.law.stiffness, .tau = start.law.relaxation_time, .fe0 = start.fn0});
    case NormalLawKind::hertz:
      return Normal(laws::Hertz<Lanes>{
          .dt = dt, .k_h = start.law.hertz_stiffness, .d = start.law.dissipation, .x0 = x0});
    case NormalLawKind::log_barrier:
      return Normal(laws::LogBarrier<Lanes>{
          .dt = dt,
          .x0 = x0,
          .force = {.k = start.law.barrier_stiffness, .d = start.law.barrier_thickness},
          .x_linear = Lanes{}});
    case NormalLawKind::ipc_barrier:
      return Normal(laws::IpcBarrier<Lanes>{
          .dt = dt,
          .x0 = x0,
          .force = {.k = start.law.barrier_stiffness, .d = start.law.barrier_thickness},
          .x_linear = Lanes{}});
    case NormalLawKind::custom:
      return Normal(laws::Custom<Lanes>{.law = parameters.custom_law.get(), .dt = dt, .x0 = x0});
  }
  return Normal(DefaultLaws::make_normal(start, parameters));
}

}  // namespace stiction::formulations
