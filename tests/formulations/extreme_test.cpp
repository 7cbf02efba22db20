// Tests every contact model on extreme problems. The solver must terminate with finite velocities,
// and either solve the problem with a valid certificate or report that it did not.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::extreme_test {
namespace {

using contact::BodyPair;
using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Segment;
using contact::TangentPolicy;
using support::SolvedProblem;

constexpr double kTimeStep = 2e-3, kGravity = 9.81;
constexpr double kSide = 0.1;  // of cubes [m]
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Extreme : public testing::TestWithParam<ContactModel> {
 protected:
  ContactModel model() const { return GetParam(); }
  bool is_convex() const { return contact::traits(model()).has_error_bound; }

  SolvedProblem solve(const ContactProblem& problem, double tolerance = 1e-5) const {
    return {model(), problem, {.relative_tolerance = tolerance}};
  }

  /// Solves a problem and checks the result. Models that are not convex may report a failure.
  SolvedProblem expect_answer(const ContactProblem& problem, double tolerance = 1e-5) const {
    SolvedProblem out = solve(problem, tolerance);
    const certificate::Certificate certificate = out.certify();
    for (const double v : out.solution.v) EXPECT_TRUE(std::isfinite(v));
    for (const auto& impulse : out.solution.impulses)
      for (const double gamma : impulse) EXPECT_TRUE(std::isfinite(gamma));
    if (is_convex()) {
      EXPECT_FALSE(out.has_failed());
      EXPECT_EQ(certificate.round_off, 0);
    }
    EXPECT_EQ(certificate.ok, !out.has_failed())
        << "residual " << certificate.relative_residual << " impulse error "
        << certificate.impulse_error << " cone " << certificate.max_cone_excess
        << " complementarity " << certificate.rigid.complementarity << " work "
        << certificate.max_friction_work << " normal " << certificate.min_normal_impulse
        << " energy " << certificate.energy_gain;
    for (const contact::IslandStatistics& island : out.solution.islands) {
      // Convex models solve the problem itself and at most 12 problems of a continuation; tamsi
      // solves at most 2 + ... + 20 sub-steps. Rigid models make at most 1000 pivots per contact or
      // row.
      if (contact::traits(model()).is_rigid) {
        EXPECT_LE(island.iterations, 1000 * std::max(1, island.num_contacts + island.num_rows));
        continue;
      }
      const int num_problems = is_convex() ? 14 * std::max(1, island.rounds) : 209;
      EXPECT_LE(island.iterations, 100 * num_problems);
    }
    return out;
  }
};

/// Adds a homogeneous cube under gravity, with an initial speed along x.
/// @return its block
int add_cube(double mass, double speed, ContactProblem* problem) {
  const int block = problem->add_rigid_body();
  double* A = problem->diagonal(block);
  for (int i = 0; i < 6; ++i) A[7 * i] = i < 3 ? mass * kSide * kSide / 6 : mass;
  problem->v0[problem->dof_start[block] + 3] = speed;
  problem->free_impulse[problem->dof_start[block] + 5] = -kGravity * kTimeStep * mass;
  return block;
}

Contact make_contact(double x, double y, double k, double phi0, double mu) {
  Contact c;
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.offset = {x, y, 0};
  c.law.stiffness = k;
  c.phi0 = phi0;
  c.fn0 = -k * phi0;
  c.law.dissipation = 10;
  c.law.relaxation_time = 1e-4;
  c.friction = {mu, mu, 0, 0, 0};
  return c;
}

/// Adds contacts at the four corners of a cube's lower face with the cube below, or with the
/// ground.
/// @param below block of the cube below; -1: the ground
void add_face(int above, int below, double k, double phi0, double mu, ContactProblem* problem) {
  BodyPair pair;
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.first_contact = problem->num_contacts();
  pair.num_contacts = 4;
  for (const int block : {above, below}) {
    if (block < 0) continue;
    Segment segment;
    segment.block = block;
    segment.is_rigid_body = true;
    segment.sign = block == above ? 1 : -1;
    segment.offset = {0, 0, -0.5 * segment.sign * kSide};
    problem->segments.push_back(segment);
    ++pair.num_segments;
  }
  problem->pairs.push_back(pair);
  for (const double x : {-0.5, 0.5})
    for (const double y : {-0.5, 0.5})
      problem->contacts.push_back(make_contact(x * kSide, y * kSide, k, phi0, mu));
}

/// A stack of cubes on the ground with an initial speed along x. Each interface has the penetration
/// at which the cubes above it rest.
ContactProblem make_stack(const std::vector<double>& masses, double k, double mu, double speed) {
  ContactProblem problem;
  problem.clear(kTimeStep);
  double weight = 0;
  for (const double mass : masses) {
    weight += kGravity * mass;
    add_cube(mass, speed, &problem);
  }
  for (int i = 0; i < static_cast<int>(masses.size()); ++i) {
    add_face(i, i - 1, k, -weight / (4 * k), mu, &problem);
    weight -= kGravity * masses[i];
  }
  return problem;
}

TEST_P(Extreme, MassRatiosOfAMillion) {
  for (const auto& masses : {std::vector{1e6, 1.0}, {1.0, 1e6}, {1e-3, 1e3}, {1e3, 1.0, 1e-3}}) {
    for (const double k : {1e7, 1e10})
      for (const double speed : {0.0, 0.5}) (void)expect_answer(make_stack(masses, k, 0.5, speed));
  }
}

TEST_P(Extreme, HeavyCubeRestsOnALightOne) {
  // At rest each interface carries the weight above it: here a cube of a gram carries a ton. SAP's
  // rest position is deeper than the one of the stack because of its relaxation time.
  if (model() == ContactModel::sap) GTEST_SKIP() << "rests deeper";
  if (contact::traits(model()).is_rigid) GTEST_SKIP() << "corrects the penetration";
  const std::vector masses = {1e-3, 1e3};
  const SolvedProblem solved = expect_answer(make_stack(masses, 1e8, 0.5, 0), 1e-9);
  for (int face = 0; face < 2; ++face) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += solved.solution.impulses[4 * face + i][2];
    EXPECT_NEAR(sum, kGravity * kTimeStep * 1e3, 2e-5 * kGravity * kTimeStep * 1e3);
  }
}

TEST_P(Extreme, StiffnessesOverSixteenDecades) {
  for (const double k : {1e-3, 1.0, 1e5, 1e9, 1e11, 1e13}) {
    for (const double speed : {0.0, 0.5}) {
      ContactProblem problem = make_stack({1.0, 1.0, 1.0}, k, 0.5, speed);
      // Limit the penetration of soft cubes to a tenth of a millimeter.
      for (Contact& c : problem.contacts) {
        c.phi0 = std::max(c.phi0, -1e-4);
        c.fn0 = -c.law.stiffness * c.phi0;
      }
      (void)expect_answer(problem);
    }
  }
}

TEST_P(Extreme, DeepStiffContactBetweenFastBodies) {
  // The friction bound of `lagged` follows from the penetration: 2e7 N s for 1 mm at 1e13 N/m. With
  // the slip tolerance v_s the slope of friction is 1e11 kg, so a relative rounding error of 1e-16
  // of 7 m/s changes the impulse by 7e-5 N s.
  ContactProblem problem = make_stack({1.0, 1.0}, 1e13, 0.5, 7);
  problem.pairs.erase(problem.pairs.begin());  // no ground
  problem.contacts.erase(problem.contacts.begin(), problem.contacts.begin() + 4);
  problem.pairs[0].first_contact = 0;
  for (int i = 0; i < problem.num_dofs(); ++i) problem.v0[i] += 0.3 * std::sin(i + 1);
  for (Contact& c : problem.contacts) {
    c.phi0 = -1e-3;
    c.fn0 = -c.law.stiffness * c.phi0;
  }
  SolvedProblem solved = expect_answer(problem);
  if (model() != ContactModel::lagged) return;
  EXPECT_TRUE(solved.solution.islands[0].is_compensated);
  // The solution rounded to double precision is not accurate enough.
  ContactSolution rounded = solved.solution;
  rounded.v_low.assign(rounded.v.size(), 0.0);
  EXPECT_GT(solved.certify(rounded).relative_residual, 1e-5);
}

TEST_P(Extreme, ContactWithoutStiffnessHasAConstantForce) {
  // A pressure-field face may have a force that does not depend on penetration, or no force.
  if (contact::traits(model()).is_rigid) GTEST_SKIP() << "does not use fn0";
  for (const double force : {0.0, -1.0, 2.0}) {
    ContactProblem problem = make_stack({1.0}, 1e5, 0.5, 0);
    for (Contact& c : problem.contacts) {
      c.law.stiffness = 0;
      c.fn0 = force;
      c.law.dissipation = c.law.relaxation_time = 0;
    }
    const SolvedProblem solved = expect_answer(problem, 1e-10);
    ASSERT_FALSE(solved.has_failed());
    for (const auto& impulse : solved.solution.impulses)
      EXPECT_NEAR(impulse[2], kTimeStep * std::max(0.0, force), 1e-9 * kTimeStep);
  }
}

TEST_P(Extreme, FrictionCoefficientsOfZeroAndTen) {
  for (const double mu : {0.0, 10.0}) {
    for (const double speed : {0.0, 1e-3, 3.0}) {
      for (const double k : {1e5, 1e8}) {
        const SolvedProblem solved = expect_answer(make_stack({1.0, 2.0}, k, mu, speed));
        if (mu > 0 || contact::traits(model()).tangents == TangentPolicy::kBilateral) continue;
        for (const auto& impulse : solved.solution.impulses)
          EXPECT_EQ(std::hypot(impulse[0], impulse[1]), 0);
        EXPECT_NEAR(solved.solution.v[3], speed, 1e-6);
      }
    }
  }
}

TEST_P(Extreme, CoincidentContactsShareTheLoad) {
  // N equal contacts with stiffness k / N act like one contact with stiffness k.
  const ContactProblem once = make_stack({1.0}, 1e6, 0.5, 0.1);
  constexpr int kNum = 25;
  ContactProblem many = once;
  many.contacts.clear();
  for (const Contact& c : once.contacts) {
    for (int i = 0; i < kNum; ++i) {
      many.contacts.push_back(c);
      many.contacts.back().law.stiffness /= kNum;
      many.contacts.back().fn0 /= kNum;
    }
  }
  many.pairs[0].num_contacts *= kNum;
  const SolvedProblem a = expect_answer(once, 1e-10), b = expect_answer(many, 1e-10);
  ASSERT_EQ(a.has_failed(), b.has_failed());
  // SAP limits the stiffness of each contact by its mobility, and slip tolerances may grow with the
  // impulse of each contact. Their solutions differ.
  const contact::ContactModelTraits& traits = contact::traits(model());
  if (a.has_failed() || traits.options.friction_regularization) return;
  // Phase 2 of the law of least energy has a tolerance of 1e-6 m/s.
  const double tolerance = traits.tangents == TangentPolicy::kLeastEnergy ? 1e-6 : 1e-8;
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(a.solution.v[i], b.solution.v[i], tolerance);
}

TEST_P(Extreme, ManyContactsOnOneBody) {
  constexpr int kNum = 100;  // per direction
  ContactProblem problem = make_stack({1.0}, 1e7, 0.5, 0.3);
  problem.contacts.clear();
  for (int i = 0; i < kNum; ++i)
    for (int j = 0; j < kNum; ++j)
      problem.contacts.push_back(make_contact(0.1 * (i - 0.5 * kNum) / kNum,
                                              0.1 * (j - 0.5 * kNum) / kNum, 1e7 / (kNum * kNum),
                                              -1e-6, 0.5));
  problem.pairs[0].num_contacts = kNum * kNum;
  (void)expect_answer(problem);
}

TEST_P(Extreme, BodiesWithoutContactsMoveFreely) {
  ContactProblem problem = make_stack({1.0, 2.0}, 1e6, 0.5, 0.1);
  problem.contacts.clear();
  problem.pairs.clear();
  problem.segments.clear();
  SolvedProblem solved = expect_answer(problem);
  EXPECT_EQ(solved.solution.v, (std::vector<double>{0, 0, 0, 0.1, 0, -kGravity * kTimeStep, 0, 0, 0,
                                                    0.1, 0, -kGravity * kTimeStep}));
  EXPECT_EQ(solved.certify().relative_residual, 0);
  ContactProblem empty;
  empty.clear(kTimeStep);
  EXPECT_TRUE(solve(empty).certify().ok);
}

/// A chain of four dofs whose last link touches its first. One block moves both bodies of the pair.
/// @param num_dofs number of dofs that move the two links relative to each other, in [0, 4]
ContactProblem make_loop(int num_dofs, double phi0) {
  ContactProblem problem;
  problem.clear(kTimeStep);
  const int block = problem.add_block(4);
  double* A = problem.diagonal(block);
  for (int i = 0; i < 4; ++i) A[5 * i] = 0.01;
  for (int i = 0; i < 3; ++i) A[5 * i + 1] = A[5 * i + 4] = 0.004;
  problem.v0 = {0.3, -0.5, 0.2, -0.4};
  Segment segment;
  segment.block = block;
  for (int dof = 0; dof < num_dofs; ++dof) {
    problem.column_dof.push_back(dof);
    for (const double x : {0.1, 1.0, 0.0, 0.05 * dof, 0.02, -0.1}) problem.columns.push_back(x);
  }
  segment.num_columns = num_dofs;
  problem.segments.push_back(segment);
  BodyPair pair;
  pair.num_segments = 1;
  pair.num_contacts = 2;
  problem.pairs.push_back(pair);
  for (const double x : {-0.01, 0.01})
    problem.contacts.push_back(make_contact(x, 0, contact::kInfinity, phi0, 0.8));
  return problem;
}

TEST_P(Extreme, ChainThatTouchesItself) {
  for (const int num_dofs : {4, 2, 1})
    for (const double phi0 : {-1e-3, -1e-6, 1e-5}) (void)expect_answer(make_loop(num_dofs, phi0));
}

TEST_P(Extreme, ContactThatNoDofMovesChangesNothing) {
  // Both shapes belong to one rigid body, so no impulse changes a velocity.
  for (const double k : {contact::kInfinity, 1e6}) {
    for (const double phi0 : {-1e-3, 1e-5}) {
      ContactProblem problem = make_loop(0, phi0);
      for (Contact& c : problem.contacts) {
        c.law.stiffness = k;
        c.fn0 = std::isfinite(k) ? -k * phi0 : 0;
      }
      const SolvedProblem solved = expect_answer(problem);
      for (int i = 0; i < 4; ++i) EXPECT_NEAR(solved.solution.v[i], problem.v0[i], 1e-12);
    }
  }
}

TEST_P(Extreme, NonFiniteInputStaysInItsIsland) {
  const ContactProblem good = make_stack({1.0, 2.0}, 1e7, 0.5, 0.1);
  const SolvedProblem expected = solve(good);
  for (int fault = 0; fault < 5; ++fault) {
    if (fault == 2 && contact::traits(model()).is_rigid) continue;  // rigid models do not read fn0
    ContactProblem bad = good;
    if (fault == 0) bad.v0[3] = kNan;
    if (fault == 1) bad.free_impulse[5] = contact::kInfinity;
    if (fault == 2) bad.contacts[5].fn0 = kNan;
    if (fault == 3) bad.contacts[1].offset[1] = kNan;
    if (fault == 4) bad.contacts[0].bias[2] = -contact::kInfinity;
    ContactProblem both = good;
    support::append_problem(bad, &both);
    SolvedProblem solved = solve(both);
    EXPECT_TRUE(solved.has_failed()) << fault;
    EXPECT_FALSE(solved.certify().ok) << fault;
    for (int i = 0; i < 12; ++i) EXPECT_EQ(solved.solution.v[i], expected.solution.v[i]) << fault;
  }
}

/// Returns true if a contact slips that touches and does not separate, but has no impulse. Under
/// `no_slip` it has to stick, because it could share the load. The certificate cannot know this.
bool has_idle_slip(const SolvedProblem& solved) {
  if (solved.model != ContactModel::no_slip) return false;
  for (int i = 0; i < solved.problem.num_contacts(); ++i) {
    const auto& impulse = solved.solution.impulses[i];
    const auto& v = solved.solution.contact_velocities[i];
    const bool is_idle = impulse[0] == 0 && impulse[1] == 0 && impulse[2] == 0;
    if (contact::is_touching(solved.problem.contacts[i]) && is_idle && v[2] < 1e-9 &&
        std::hypot(v[0], v[1]) > 1e-6)
      return true;
  }
  return false;
}

TEST_P(Extreme, RandomProblemsAtAnyStiffness) {
  std::mt19937_64 rng(11);
  for (int trial = 0; trial < support::num_trials(24); ++trial) {
    ContactProblem problem = support::make_random_problem(
        {.num_bodies = 1 + trial % 5, .num_trees = trial % 3, .num_pairs = 2 + trial % 7}, &rng);
    const double factor = std::pow(10, 2 * (trial % 4));  // times 1e3 to 1e7 N/m
    for (Contact& c : problem.contacts) {
      if (!std::isfinite(c.law.stiffness)) continue;
      c.law.stiffness *= factor;
      c.phi0 /= factor;
    }
    SCOPED_TRACE(trial);
    if (contact::traits(model()).is_rigid) {
      // A rigid problem with conflicting surface motions or rows has no solution.
      SolvedProblem solved = solve(problem);
      if (solved.has_failed() && has_idle_slip(solved)) continue;
      // The solver accepts a tenth of the certificate's tolerance, so they may differ between both.
      if (solved.has_failed() && solved.solution.islands[0].residual <= 10 * kAcceptedResidual)
        continue;
      EXPECT_EQ(solved.certify().ok, !solved.has_failed())
          << solved.certify().rigid.complementarity << " "
          << solved.certify().rigid.constraint_error << " " << solved.certify().impulse_error << " "
          << solved.certify().max_cone_excess;
      continue;
    }
    (void)expect_answer(problem);
  }
}

std::vector<ContactModel> list_models() {
  std::vector<ContactModel> models;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (!traits.is_mj_step) models.push_back(traits.model);
  return models;
}
INSTANTIATE_TEST_SUITE_P(Models, Extreme, testing::ValuesIn(list_models()), [](const auto& test) {
  return std::string(contact::traits(test.param).name);
});

}  // namespace
}  // namespace stiction::formulations::extreme_test
