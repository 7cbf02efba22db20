#include "stiction/contact/contact_problem.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "support/random_problem.hpp"

namespace stiction::contact::problem_check_test {
namespace {

std::string fault_of(const ContactProblem& problem) {
  try {
    validate(problem);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

ContactProblem make_problem(int seed) {
  std::mt19937_64 rng(seed);
  return support::make_random_problem({}, &rng);
}

TEST(ProblemCheck, AcceptsRandomProblemsBeforeAndAfterDerivation) {
  for (int seed = 0; seed < 50; ++seed) {
    ContactProblem problem = make_problem(seed);
    EXPECT_EQ(fault_of(problem), "");
    MomentumFactor factor;
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    EXPECT_EQ(fault_of(problem), "");
  }
}

TEST(ProblemCheck, AcceptsAnEmptyProblem) {
  ContactProblem problem;
  problem.clear(1e-3);
  EXPECT_EQ(fault_of(problem), "");
}

/// A corruption of a problem, and the fault that it causes.
struct Case {
  std::string text;  // part of the message
  std::function<void(ContactProblem*)> corrupt;
};

/// Returns the first segment that has columns.
int find_column_segment(const ContactProblem& p) {
  for (std::size_t s = 0; s < p.segments.size(); ++s)
    if (!p.segments[s].is_rigid_body) return static_cast<int>(s);
  return -1;
}

TEST(ProblemCheck, NamesArrayIndexAndValueOfEachFault) {
  const double nan = std::nan("");
  const std::vector<Case> cases = {
      {"time_step is -1, must be finite and above 0", [](auto* p) { p->time_step = -1; }},
      {"dof_start[0] must be 0", [](auto* p) { p->dof_start[0] = 1; }},
      {"is_rigid_body has 1 entries, must have", [](auto* p) { p->is_rigid_body.resize(1); }},
      {"diagonal_start[0] is the range [999999", [](auto* p) { p->diagonal_start[0] = 999999; }},
      {"diagonal_start[0] is the range [-3", [](auto* p) { p->diagonal_start[0] = -3; }},
      {"v0 has 2 entries, must have", [](auto* p) { p->v0.resize(2); }},
      {"inertia has 2 entries, must have", [](auto* p) { p->inertia.assign(2, 1.0); }},
      {"free_impulse has 0 entries", [](auto* p) { p->free_impulse.clear(); }},
      {"couplings[0] must refer to two different blocks",
       [](auto* p) { p->couplings[0].row_block = p->couplings[0].column_block; }},
      {"couplings[0] must refer to two different blocks",
       [](auto* p) { p->couplings[0].row_block = 77; }},
      {"couplings[0].start is the range", [](auto* p) { p->couplings[0].start = 1 << 30; }},
      {"pairs[0].num_segments is 0, must be at least 1",
       [](auto* p) { p->pairs[0].num_segments = 0; }},
      {"pairs[0].first_segment, .num_segments is the range",
       [](auto* p) { p->pairs[0].first_segment = -1; }},
      {"segments[0].block is 99, must be the index of a block",
       [](auto* p) { p->segments[0].block = 99; }},
      {"column_dof[0] is 6000, must be the index of a dof within the segment's block",
       [](auto* p) { p->column_dof[0] = 6000; }},
      {"columns has ", [](auto* p) { p->columns.pop_back(); }},
      {"pairs[1].first_contact is ", [](auto* p) { ++p->pairs[1].first_contact; }},
      {"pairs[1].masses is 0, must be above 0", [](auto* p) { p->pairs[1].masses[1] = 0; }},
      {"pairs[0].load is inf, must be finite", [](auto* p) { p->pairs[0].load = kInfinity; }},
      {"contacts has ", [](auto* p) { p->contacts.pop_back(); }},
      {"normal_guess has 1 entries", [](auto* p) { p->normal_guess = {0}; }},
      {"lagged_impulse has 1 entries", [](auto* p) { p->lagged_impulse = {0}; }},
      {"row_columns has ", [](auto* p) { p->row_columns.pop_back(); }},
      {"rows[0].num_columns is 0", [](auto* p) { p->rows[0].num_columns = 0; }},
      {"rows[1].first_column, .num_columns is the range",
       [](auto* p) { p->rows[1].first_column = 1 << 20; }},
      {"row_dof[2] is -4, must be the index of a dof", [](auto* p) { p->row_dof[2] = -4; }},
      {"A[3] is nan, must be finite", [=](auto* p) { p->A[3] = nan; }},
      {"inertia[1] is not positive",
       [](auto* p) {
         p->inertia.assign(p->v0.size(), 1.0);
         p->inertia[1] = 0;
       }},
      {"A[0] has a diagonal entry that is not positive", [](auto* p) { p->diagonal(0)[0] = 0; }},
      {"v0[1] is inf, must be finite", [](auto* p) { p->v0[1] = kInfinity; }},
      {"normal_guess[1] is -1, must be finite and at least 0",
       [](auto* p) {
         p->normal_guess.resize(p->num_contacts());
         p->normal_guess[1] = -1;
       }},
      {"lagged_impulse[1] is inf, must be finite and at least 0",
       [](auto* p) {
         p->lagged_impulse.resize(p->num_contacts());
         p->lagged_impulse[1] = kInfinity;
       }},
      {"contacts[2].R_WC is not a frame; its columns",
       [](auto* p) { p->contacts[2].R_WC[0] += 1e-3; }},
      {"contacts[2].R_WC is not a frame; its columns",
       [](auto* p) {
         for (int i = 0; i < 3; ++i) p->contacts[2].R_WC[i] *= -1;
       }},
      {"contacts[0].phi0 is nan", [=](auto* p) { p->contacts[0].phi0 = nan; }},
      {"contacts[0].fn0 is 0, must be -law.stiffness * phi0 = 20 N, the elastic force at the start",
       [](auto* p) {
         p->contacts[0].phi0 = -0.002;
         p->contacts[0].law.stiffness = 1e4;
         p->contacts[0].fn0 = 0;
       }},
      {"contacts[0].fn0 is 0, must be -law.stiffness * phi0 = -5 N",
       [](auto* p) {
         p->contacts[0].phi0 = 0.0005;
         p->contacts[0].law.stiffness = 1e4;
         p->contacts[0].fn0 = 0;
       }},
      {"contacts[0].dim is 2, must be 1, 3, 4 or 6", [](auto* p) { p->contacts[0].dim = 2; }},
      {"contacts[1].friction is -0.5", [](auto* p) { p->contacts[1].friction[0] = -0.5; }},
      {"contacts[1].law.stiffness is -1, must be at least 0",
       [](auto* p) { p->contacts[1].law.stiffness = -1; }},
      {"contacts[1].law.dissipation is nan",
       [=](auto* p) { p->contacts[1].law.dissipation = nan; }},
      {"contacts[1].law.barrier_thickness is 0",
       [](auto* p) { p->contacts[1].law.barrier_thickness = 0; }},
      {"contacts[1].law.restitution is 1.5, must be in [0, 1]",
       [](auto* p) { p->contacts[1].law.restitution = 1.5; }},
      {"rows[0].regularization is 0, must be finite and above 0",
       [](auto* p) { p->rows[0].regularization = 0; }},
      {"rows[2].slip_tolerance is 0, must be above 0",
       [](auto* p) { p->rows[2].slip_tolerance = 0; }},
  };
  for (const Case& c : cases) {
    ContactProblem problem = make_problem(5);
    c.corrupt(&problem);
    const std::string fault = fault_of(problem);
    EXPECT_EQ(fault.find("contact problem: "), 0u) << fault;
    EXPECT_NE(fault.find(c.text), std::string::npos) << c.text << "\nin\n" << fault;
  }
}

TEST(ProblemCheck, SegmentsAgreeWithTheirBlocks) {
  ContactProblem problem = make_problem(5);
  const int s = find_column_segment(problem);
  ASSERT_GE(s, 0);
  problem.segments[s].is_rigid_body = true;
  EXPECT_NE(
      fault_of(problem).find(".is_rigid_body must be equal to problem.is_rigid_body of its block"),
      std::string::npos);
  problem = make_problem(5);
  BodyPair& pair = problem.pairs[0];
  pair.num_segments = 2;
  pair.first_segment = static_cast<int>(problem.segments.size());
  problem.segments.push_back(problem.segments[0]);
  problem.segments.push_back(problem.segments[0]);
  EXPECT_NE(fault_of(problem).find("is also the block of another segment of the pair"),
            std::string::npos);
}

TEST(ProblemCheck, IndexCheckIgnoresNumbers) {
  ContactProblem problem = make_problem(5);
  problem.v0[0] = std::nan("");
  problem.contacts[0].law.stiffness = -1;
  EXPECT_EQ(find_index_fault(problem), "");
  problem.rows[0].first_column = -1;
  EXPECT_NE(find_index_fault(problem), "");
}

}  // namespace
}  // namespace stiction::contact::problem_check_test
