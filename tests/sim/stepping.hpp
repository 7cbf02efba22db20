#pragma once

#include <gtest/gtest.h>

#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim {

inline constexpr contact::ContactModel kConvexModels[] = {
    contact::ContactModel::sap, contact::ContactModel::lagged,
    contact::ContactModel::lagged_regularized, contact::ContactModel::similar,
    contact::ContactModel::coulomb};
/// Those, and the one that is not convex: all that are ours.
inline constexpr contact::ContactModel kOurModels[] = {contact::ContactModel::sap,
                                                       contact::ContactModel::lagged,
                                                       contact::ContactModel::lagged_regularized,
                                                       contact::ContactModel::similar,
                                                       contact::ContactModel::tamsi,
                                                       contact::ContactModel::coulomb};
inline constexpr contact::ContactModel kRigidModels[] = {
    contact::ContactModel::no_slip, contact::ContactModel::viscous,
    contact::ContactModel::stewart_trinkle, contact::ContactModel::anitescu_potra,
    contact::ContactModel::drumwright_shell};

inline StepOptions make_options(contact::ContactModel model, double tolerance = 1e-5) {
  StepOptions options;
  options.contact_model = model;
  options.tolerance = tolerance;
  return options;
}

inline StepOptions with_tolerance(double tolerance) {
  return make_options(StepOptions().contact_model, tolerance);
}

/// Steps that must succeed; use inside ASSERT_NO_FATAL_FAILURE where a test could not go on.
inline void run(Stepper* stepper, support::Scene* scene, int num_steps = 1) {
  const StepReport& report = stepper->step(scene->data, num_steps);
  ASSERT_TRUE(report.ok()) << report.message << " at time " << report.time;
}

/// The same material on every geom.
inline plant::MaterialTable make_materials(const support::Scene& scene,
                                           const plant::Material& material) {
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  for (plant::Material& m : table.geoms) m = material;
  return table;
}

inline std::string name_of(const testing::TestParamInfo<contact::ContactModel>& info) {
  return std::string(contact::traits(info.param).name);
}

}  // namespace stiction::sim
