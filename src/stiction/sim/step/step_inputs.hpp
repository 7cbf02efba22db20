#pragma once

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/step/step_models.hpp"

namespace stiction::sim {

/// The inputs of a step besides mjData. No stage changes them.
struct StepInputs {
  const mjModel* model;      // the caller's
  const StepModels& models;  // the same for MuJoCo's functions, with the time step
  const StepOptions& options;
  const plant::MaterialTable& materials;
  const plant::Model& plant;        // the dofs of awake trees
  const plant::MocapMotion& mocap;  // motion of mocap bodies in the step

  const contact::ContactModelTraits& contact_model() const {
    return contact::traits(options.contact_model);
  }
  double time_step() const { return models.time_step(); }
};

}  // namespace stiction::sim
