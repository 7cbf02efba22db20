#pragma once

#include "stiction/sim/step/step_inputs.hpp"
#include "support/scene.hpp"

namespace stiction::sim {

/// The inputs of a step of a scene, with everything that they refer to.
struct OwnedInputs {
  OwnedInputs(const support::Scene& scene, const StepOptions& options)
      : options(options),
        materials(plant::make_default_materials(scene.model)),
        plant(scene.model),
        models(scene.model, options),
        in{.model = scene.model,
           .models = models,
           .options = this->options,
           .materials = materials,
           .plant = plant,
           .mocap = mocap} {}

  StepOptions options;
  plant::MaterialTable materials;
  plant::Model plant;
  StepModels models;
  plant::MocapMotion mocap;
  StepInputs in;
};

}  // namespace stiction::sim
