// Compares solutions under each normal law with closed forms or with solutions under other laws.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/custom_law.hpp"
#include "support/law_under_test.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::law_behavior_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ModelParameters;
using contact::NormalLawKind;
using contact::SolveStatus;
using support::make_law_choices;
using support::SolvedProblem;

/// A sphere of 1 kg with one contact with the ground.
ContactProblem make_sphere(double gap, const std::array<double, 6>& v0, double dt = 2e-3) {
  ContactProblem problem;
  problem.clear(dt);
  const int block = problem.add_rigid_body();
  double* A = problem.diagonal(block);
  for (int i = 0; i < 6; ++i) A[7 * i] = i < 3 ? 4e-3 : 1;
  std::copy(v0.begin(), v0.end(), problem.v0.begin());
  problem.free_impulse[5] = -9.81 * dt;
  contact::Segment segment;
  segment.block = block;
  segment.is_rigid_body = true;
  problem.segments.push_back(segment);
  contact::Contact c;
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.offset = {0, 0, -0.1};
  c.phi0 = gap;
  c.law.stiffness = 1e5;
  c.fn0 = -c.law.stiffness * gap;
  c.friction = {0.5, 0.5, 0, 0, 0};
  problem.contacts.push_back(c);
  contact::BodyPair pair;
  pair.num_segments = pair.num_contacts = 1;
  problem.pairs.push_back(pair);
  return problem;
}

SolvedProblem solve(ContactModel model, const ModelParameters& parameters,
                    const ContactProblem& problem) {
  return {model, problem, {.parameters = parameters, .relative_tolerance = 1e-9}};
}

TEST(LawBehaviour, SimilarWithTheLinearLawEqualsSapInSlip) {
  // Without its regularization of friction, SAP in slip is Similar with the linear law.
  ModelParameters parameters;
  parameters.normal_law = NormalLawKind::linear;
  parameters.stiction_tolerance = 1e-12;
  parameters.friction_regularization = 0;
  parameters.near_rigid_factor = 0;
  for (const double gap : {-1e-3, -1e-6, 1e-4}) {
    for (const double tau : {0.0, 5e-3}) {
      ContactProblem problem = make_sphere(gap, {0, 0, 0, 2, -1, -0.3});
      problem.contacts[0].law.relaxation_time = tau;
      const SolvedProblem similar = solve(ContactModel::similar, parameters, problem);
      const SolvedProblem sap = solve(ContactModel::sap, parameters, problem);
      ASSERT_GT(sap.solution.impulses[0][2], 0);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(similar.solution.impulses[0][i], sap.solution.impulses[0][i],
                    1e-7 * sap.solution.impulses[0][2]);
    }
  }
}

TEST(LawBehaviour, SphereRestsWhereTheForceEqualsItsWeight) {
  // With v = 0 at both ends of the step, dt f(x0) = m g dt.
  const double weight = 9.81, dt = 2e-3;
  for (const ModelParameters& parameters : make_law_choices()) {
    ContactProblem problem = make_sphere(0, {});
    contact::Contact& c = problem.contacts[0];
    c.law.hertz_stiffness = 3e7;
    c.law.barrier_stiffness = 1e5;
    c.law.barrier_thickness = 1e-3;
    switch (parameters.normal_law) {
      case NormalLawKind::hertz: c.phi0 = -std::pow(weight / c.law.hertz_stiffness, 2.0 / 3); break;
      case NormalLawKind::log_barrier: c.phi0 = 1e5 * 1e-6 / weight; break;
      case NormalLawKind::ipc_barrier: {
        double low = 1e-9, high = 1e-3;  // f decreases from infinity to 0
        for (int i = 0; i < 100; ++i) {
          const double g = 0.5 * (low + high), s = g / 1e-3;
          const double f = 1e5 * 1e-3 * (1 - s) * ((1 - s) / s - 2 * std::log(s));
          (f > weight ? low : high) = g;
        }
        c.phi0 = low;
        break;
      }
      case NormalLawKind::custom:  // 1e4 x + 3e7 x^2, which the table reproduces
        c.phi0 = (1e4 - std::sqrt(1e8 + 12e7 * weight)) / 6e7;
        break;
      default: c.phi0 = -weight / c.law.stiffness; break;
    }
    c.fn0 = -c.law.stiffness * c.phi0;
    SolvedProblem solved = solve(ContactModel::lagged, parameters, problem);
    EXPECT_TRUE(solved.certify().ok);
    EXPECT_NEAR(solved.solution.impulses[0][2], weight * dt, 1e-9 * weight * dt);
    for (const double v : solved.solution.v) EXPECT_NEAR(v, 0, 1e-11);
  }
}

TEST(LawBehaviour, BarriersStopFastBodies) {
  // 10 m/s is twenty times the speed that closes a gap of 1 mm within the step.
  ModelParameters parameters;
  for (const NormalLawKind law : {NormalLawKind::log_barrier, NormalLawKind::ipc_barrier}) {
    for (const ContactModel model : {ContactModel::lagged, ContactModel::similar}) {
      for (const double gap : {1e-3, 1e-9, 0.0, -1e-4}) {  // the step removes any overlap
        parameters.normal_law = law;
        ContactProblem problem = make_sphere(gap, {0, 0, 0, 3, 0, -10});
        problem.contacts[0].law.barrier_stiffness = 1e5;
        problem.contacts[0].law.barrier_thickness = 1e-3;
        SolvedProblem solved = solve(model, parameters, problem);
        EXPECT_TRUE(solved.certify().ok) << gap;
        EXPECT_EQ(solved.solution.islands[0].status, SolveStatus::kConverged);
        EXPECT_GT(gap + 2e-3 * solved.solution.contact_velocities[0][2], 0);
      }
    }
  }
}

TEST(LawBehaviour, SphereBetweenClosingPlatesIsInfeasible) {
  // The plates above and below the sphere move towards it by more than its gap within the step.
  ContactProblem problem = make_sphere(1e-4, {});
  contact::Contact top = problem.contacts[0];
  top.R_WC = {1, 0, 0, 0, -1, 0, 0, 0, -1};
  top.offset = {0, 0, 0.1};
  for (contact::Contact* c : {&problem.contacts[0], &top}) {
    c->bias = {0, 0, -1};
    c->law.barrier_stiffness = 1e5;
  }
  problem.contacts.push_back(top);
  problem.pairs[0].num_contacts = 2;
  ModelParameters parameters;
  parameters.normal_law = NormalLawKind::ipc_barrier;
  SolvedProblem solved = solve(ContactModel::lagged, parameters, problem);
  EXPECT_EQ(solved.solution.islands[0].status, SolveStatus::kInfeasible);
  EXPECT_FALSE(solved.certify().ok);
}

struct StiffSpring {
  contact::NormalForce calc_force(double x, double xdot) const noexcept {
    const double c = 1 + 20 * xdot;
    return x > 0 && c > 0 ? contact::NormalForce{1e5 * x * c, 1e5 * c, 2e6 * x}
                          : contact::NormalForce{};
  }
};

TEST(LawBehaviour, CustomLawHasTheSolutionOfTheSameBuiltInLaw) {
  ModelParameters custom, built_in;
  custom.normal_law = NormalLawKind::custom;
  custom.custom_law = contact::make_custom_law(StiffSpring{});
  for (const ContactModel model :
       {ContactModel::lagged, ContactModel::lagged_regularized, ContactModel::similar}) {
    ContactProblem problem = make_sphere(-1e-4, {0, 0, 0, 0.1, 0, -0.2});
    problem.contacts[0].law.dissipation = 20;
    const SolvedProblem expected = solve(model, built_in, problem);
    SolvedProblem solved = solve(model, custom, problem);
    EXPECT_TRUE(solved.certify().ok);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(solved.solution.impulses[0][i], expected.solution.impulses[0][i],
                  1e-8 * expected.solution.impulses[0][2]);
  }
}

TEST(LawBehaviour, CustomKindWithoutALawThrows) {
  ModelParameters parameters;
  parameters.normal_law = NormalLawKind::custom;
  ContactProblem problem = make_sphere(0, {});
  EXPECT_THROW((void)solve(ContactModel::lagged, parameters, problem), Error);
}

}  // namespace
}  // namespace stiction::formulations::law_behavior_test
