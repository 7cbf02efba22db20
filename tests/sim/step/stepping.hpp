#pragma once

#include <gtest/gtest.h>

#include "stiction/sim/stepper.hpp"
#include "support/models.hpp"
#include "support/scene.hpp"

namespace stiction::sim {

using support::compliant_models;
using support::convex_models;
using support::fast_rigid_models;
using support::model_name;
using support::rigid_models;

/// Returns options without springs, whose laws have closed forms; make_elastic has springs.
inline StepOptions make_options(contact::ContactModel model, double tolerance = 1e-5) {
  StepOptions options;
  options.contact_model = model;
  options.tolerance = tolerance;
  options.parameters.friction_law = contact::FrictionRegularizationKind::soft;
  return options;
}

inline StepOptions with_tolerance(double tolerance) {
  return make_options(StepOptions().contact_model, tolerance);
}

/// Takes steps that must succeed. Use it inside ASSERT_NO_FATAL_FAILURE if the test cannot continue
/// after a failure.
inline void run(Stepper* stepper, support::Scene* scene, int num_steps = 1) {
  const StepReport& report = stepper->step(scene->data, num_steps);
  ASSERT_TRUE(report.ok()) << report.message << " at time " << report.time;
}

/// Returns a table with the same material for every geom.
inline plant::MaterialTable make_materials(const support::Scene& scene,
                                           const plant::Material& material) {
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  for (plant::Material& m : table.geoms) m = material;
  return table;
}

}  // namespace stiction::sim
