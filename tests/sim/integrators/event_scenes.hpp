#pragma once

#include <string>

#include "sim/integrators/gravity.hpp"
#include "sim/step/stepping.hpp"

/// Scenes and options of the integrators whose steps end at touches: event_driven and rk4.
namespace stiction::sim {

inline constexpr double kTouching = 1e-6;  // [m]

inline StepOptions make_event_options(contact::ContactModel model, Integrator integrator) {
  StepOptions options = make_options(model);
  options.integrator = integrator;
  return options;
}

inline std::string with_step(double dt) { return "timestep=\"" + std::to_string(dt) + "\""; }

inline plant::Material make_material(double viscous_friction, double restitution) {
  plant::Material material = plant::kDefaultMaterial;
  material.law.viscous_friction = viscous_friction;
  material.law.restitution = restitution;
  return material;
}

inline support::Scene make_ball(double height, double dt = 1e-3) {
  return support::Scene(
      support::make_mjcf(with_step(dt),
                         R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 )" + std::to_string(0.1 + height) +
                             R"("><freejoint/><geom size="0.1" mass="2"/></body></worldbody>)"));
}

inline StepOptions make_rk4_options() {
  return make_event_options(contact::ContactModel::viscous, Integrator::rk4);
}

/// Returns a rod that swings against the floor, much too fast for the time step.
inline support::Scene make_fast_rod(double dt, double speed) {
  support::Scene scene(
      support::make_mjcf(with_step(dt), R"(<worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"/>
      <body pos=".5 0 0"><joint axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .7 0 0" size=".02"/></body></body></worldbody>)"));
  scene.data->qvel[0] = speed;
  scene.data->qvel[1] = -speed;
  return scene;
}

}  // namespace stiction::sim
