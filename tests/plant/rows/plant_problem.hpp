#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "support/scene.hpp"

namespace stiction::plant {

/// The contact problem of a scene's state, assembled as in the step.
struct PlantProblem {
  Model plant;
  ImplicitForces implicit;
  RankOneTerms rank_one_terms;
  ConstraintRows rows;
  contact::ContactProblem problem;
  contact::MomentumFactor factor;
  bool is_positive_definite = false;

  explicit PlantProblem(support::Scene& scene, const RowParameters& parameters = {})
      : plant(scene.model) {
    assemble(scene, parameters);
  }

  void assemble(support::Scene& scene, const RowParameters& parameters = {}) {
    mj_forward(scene.model, scene.data);
    rows.reserve(scene.data);
    rows.make_constraints(scene.model, scene.data);  // without contacts, as in the step
    mj_fwdVelocity(scene.model, scene.data);
    mj_fwdActuation(scene.model, scene.data);
    mj_fwdAcceleration(scene.model, scene.data);
    problem.clear(scene->opt.timestep);
    implicit.calc(scene.model, scene.data, plant);
    add_blocks(scene.model, scene.data, plant, implicit, &rank_one_terms, &problem);
    add_contacts(scene.model, scene.data, plant, make_default_materials(scene.model), {}, &problem);
    rows.add_rows(scene.model, scene.data, plant, parameters, {}, &problem);
    add_coupling_rows(scene.data, plant, implicit, &problem);
    is_positive_definite = factor.calc_derived(1, &problem);
  }
};

}  // namespace stiction::plant
