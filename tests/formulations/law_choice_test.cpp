// Tests every model that takes laws with every normal law and friction regularization: its laws
// against the formulas of the certificate, and its solutions.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "stiction/certificate/reference_laws.hpp"
#include "support/dense_solver.hpp"
#include "support/eigenvalues.hpp"
#include "support/law_under_test.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::law_choice_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::ModelParameters;
using contact::NormalLawKind;
using contact::SolveStatus;
using Eigen::VectorXd;
using support::calc_dense_cost;
using support::calc_law_hessian;
using support::LawStart;
using support::LawUnderTest;
using support::make_law;
using support::make_law_choices;
using support::make_law_starts;
using support::make_torsion_law;
using support::SolvedProblem;

constexpr double kTolerance = 1e-9;

struct Choice {
  ContactModel model;
  ModelParameters parameters;
};

bool is_barrier(const ModelParameters& parameters) {
  return contact::traits(parameters.normal_law).is_barrier;
}

class LawChoice : public testing::TestWithParam<Choice> {
 protected:
  ContactModel model() const { return GetParam().model; }
  const ModelParameters& parameters() const { return GetParam().parameters; }

  double friction_factor() const {
    return contact::traits(model()).lifts_sliding && is_barrier(parameters()) ? 0.05 : 1;
  }

  /// Calls check(v_c, impulse of the solver's law, reference impulse) at velocities of all sizes.
  /// v_c has six components.
  template <class Function>
  void for_each_velocity(const LawStart& start, const LawUnderTest& law, Function&& check) {
    std::normal_distribution<double> normal;
    for (const double ratio : {0.0, 1e-3, 1.0, 50.0, 1e9}) {
      for (const double kink : law.normal_kinks) {
        for (const double offset : {-10.0, -0.5, -0.01, 0.5}) {
          VectorXd v = VectorXd::NullaryExpr(6, [&] { return normal(rng_); });
          v *= ratio * law.slip_scale;
          v[2] = kink + offset * std::max(1e-4, std::abs(kink));
          const VectorXd gamma = law.impulse(v.head(law.size));
          if (!gamma.allFinite()) continue;  // outside the domain of a barrier
          certificate::ContactVector v_c;
          Eigen::Map<Eigen::Matrix<double, 6, 1>>(v_c.data()) = v;
          check(v, gamma,
                certificate::calc_reference_impulse(
                    model(), parameters(), start.contact,
                    {.time_step = start.time_step, .w = start.delassus, .v_n0 = start.v_n0}, v_c));
        }
      }
    }
  }

  SolvedProblem solve(const ContactProblem& problem) const {
    return {model(), problem, {.parameters = parameters(), .relative_tolerance = kTolerance}};
  }

  std::mt19937 rng_{5};
};

TEST_P(LawChoice, ReferenceLawsEqualTheSolversLaws) {
  int num_checked = 0;
  for (LawStart start : make_law_starts()) {
    for (const int dim : {3, 6}) {
      start.contact.dim = dim;
      const bool torsion = dim > 3 && contact::traits(model()).takes_torsion;
      const LawUnderTest law = torsion ? make_torsion_law(model(), start, parameters())
                                       : make_law(model(), start, parameters());
      for_each_velocity(start, law, [&](const VectorXd& v, const VectorXd& gamma, const auto& r) {
        const VectorXd expected = Eigen::Map<const VectorXd>(r.gamma.data(), 6).head(law.size);
        // Velocities and penetrations are rounded before the law is evaluated.
        const double place = v.norm() + std::abs(start.contact.phi0) / start.time_step;
        const double sensitivity = law.hessian(v.head(law.size)).norm() * place;
        EXPECT_LE((gamma - expected).norm(), 1e-13 * gamma.norm() + 1e-14 * sensitivity)
            << law.name << " dim " << dim << " at " << v.transpose();
        num_checked += gamma[2] > 0;
      });
    }
  }
  EXPECT_GT(num_checked, 300);
}

TEST_P(LawChoice, FrictionOpposesSlipWithinItsBound) {
  for (LawStart start : make_law_starts()) {
    start.contact.dim = 3;
    const LawUnderTest law = make_law(model(), start, parameters());
    const double mu = start.contact.friction[0];
    for_each_velocity(start, law, [&](const VectorXd& v, const VectorXd& gamma, const auto& r) {
      EXPECT_GE(gamma[2], 0);
      EXPECT_LE(gamma.head(2).norm(), mu * r.normal_bound * (1 + 1e-13));
      EXPECT_LE(gamma.head(2).dot(v.head(2)), 0);
    });
  }
}

/// Makes a problem with the properties that any law reads, and with open and closed contacts.
///
/// With a barrier, `similar` requires v_n > mu |v_t| + x0 / dt. Slip at one contact may be approach
/// at another with a different normal, so with much friction no velocity may satisfy all contacts.
/// @param friction_factor factor of all friction coefficients
ContactProblem make_problem(int trial, std::mt19937_64* rng, double friction_factor) {
  ContactProblem problem = support::make_random_problem(
      {.num_bodies = 2 + trial % 4, .num_trees = trial % 2, .num_pairs = 3 + trial % 6}, rng);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (contact::Contact& c : problem.contacts) {
    if (uniform(*rng) < 0.8) c.law.hertz_stiffness = std::pow(10, 5 + 3 * uniform(*rng));
    if (uniform(*rng) < 0.8) c.law.barrier_stiffness = std::pow(10, 4 + 3 * uniform(*rng));
    c.law.barrier_thickness = std::pow(10, -3 + uniform(*rng));
    for (double& mu : c.friction) mu *= friction_factor;
  }
  return problem;
}

TEST_P(LawChoice, SolvedProblemsPassTheirCertificate) {
  std::mt19937_64 rng(7);
  for (int trial = 0; trial < support::num_trials(20); ++trial) {
    SolvedProblem solved = solve(make_problem(trial, &rng, friction_factor()));
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << "trial " << trial;
    EXPECT_GE(certificate.min_normal_impulse, 0);
    EXPECT_FALSE(solved.has_failed()) << "trial " << trial;
    if (!is_barrier(parameters())) continue;
    const ContactProblem& problem = solved.problem;
    for (int i = 0; i < problem.num_contacts(); ++i)
      EXPECT_GT(
          problem.contacts[i].phi0 + problem.time_step * solved.solution.contact_velocities[i][2],
          0)
          << "a barrier was crossed";
  }
}

TEST_P(LawChoice, SolutionIsTheMinimumOfTheCost) {
  std::mt19937_64 rng(8);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < support::num_trials(4); ++trial) {
    const SolvedProblem solved = solve(make_problem(trial, &rng, friction_factor()));
    const ContactProblem& problem = solved.problem;
    const support::DenseProblem dense(problem);
    const VectorXd v = support::to_vector(solved.solution.v);
    const double cost = calc_dense_cost(model(), problem, parameters(), v);
    for (const double size : {1e-4, 1e-2, 1.0}) {
      VectorXd change = VectorXd::NullaryExpr(v.size(), [&] { return normal(rng); });
      change *= size / change.norm();
      const double other = calc_dense_cost(model(), problem, parameters(), v + change);
      const double energy = 0.5 * std::pow(dense.calc_norm(change), 2);
      // The cost of the logarithmic barrier may be negative; outside a domain it is infinite.
      if (std::isfinite(other)) {
        EXPECT_GE(other, cost + energy - 1e-8 * (std::abs(cost) + std::abs(other)));
      }
    }
  }
}

/// The cost of the problem is computed with the solver's laws, the gradient with the certificate's,
/// and the Hessian by the solver. Each must be the derivative of the one before.
TEST_P(LawChoice, RandomScenesHaveAConvexPotential) {
  std::mt19937_64 rng(9);
  std::normal_distribution<double> normal;
  int num_checked = 0;
  for (int trial = 0; trial < support::num_trials(4); ++trial) {
    const SolvedProblem solved = solve(make_problem(trial, &rng, friction_factor()));
    const ContactProblem& problem = solved.problem;
    const support::DenseProblem dense(problem);
    const VectorXd at = support::to_vector(solved.solution.v);
    const auto random_direction = [&] {
      const VectorXd d = VectorXd::NullaryExpr(at.size(), [&] { return normal(rng); });
      return VectorXd(d / d.norm());
    };
    for (int k = 0; k < 20; ++k) {
      // Stay within the domain of barriers, which may be small.
      const VectorXd aside = random_direction();
      double size = 1e-2;
      while (!std::isfinite(calc_dense_cost(model(), problem, parameters(), at + size * aside)))
        size /= 2;
      const VectorXd v = at + 0.9 * size * aside;
      const VectorXd d = random_direction();
      const auto cost = [&](double h) {
        return calc_dense_cost(model(), problem, parameters(), v + h * d);
      };
      // Differences of fourth order. If those with two step sizes disagree, there is a kink nearby.
      const auto differentiate = [&](double h) {
        return (8 * (cost(h) - cost(-h)) - (cost(2 * h) - cost(-2 * h))) / (12 * h);
      };
      const double h = 1e-4 * size;
      const double slope = differentiate(h), again = differentiate(2 * h);
      const VectorXd g = dense.calc_gradient(problem, model(), parameters(), v);
      const double round_off = 1e-15 * std::abs(cost(0)) / h;
      const double tolerance = 1e-6 * g.norm() + 20 * round_off;
      if (!std::isfinite(slope) || !(std::abs(slope - again) <= tolerance)) continue;
      EXPECT_NEAR(slope, g.dot(d), 2 * tolerance) << "trial " << trial;
      num_checked += tolerance < 1e-3 * g.norm();
    }
    const Eigen::MatrixXd H = calc_law_hessian(model(), problem, parameters(), at);
    EXPECT_LE((H - H.transpose()).norm(), 1e-15 * H.norm());
    EXPECT_GE(support::calc_eigenvalues(H - dense.A)[0], -1e-13 * H.norm()) << "trial " << trial;
  }
  EXPECT_GT(num_checked, support::num_trials(20)) << "too few checks with a tight tolerance";
}

/// Checks that impulses push, lie in the friction cone and dissipate energy, from their
/// definitions.
void expect_physical(const ContactModel model, const ModelParameters& parameters,
                     const ContactProblem& problem, const ContactSolution& solution) {
  const support::DenseProblem dense(problem);
  const VectorXd v = support::to_vector(solution.v);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const contact::Contact& c = problem.contacts[i];
    const Eigen::Matrix<double, 6, 1> v_c = dense.J[i] * v + dense.b[i];
    const auto& gamma = solution.impulses[i];
    EXPECT_GE(gamma[2], 0) << "adhesion";
    // MuJoCo's elliptic cone, with the slips v_t1, v_t2, w_n, w_t1, w_t2.
    constexpr int kSlip[5] = {0, 1, 3, 4, 5};
    double cone = 0, work = 0, size = 0;
    for (int k = 0; k < c.dim - 1; ++k) {
      const double friction = gamma[kSlip[k]];
      // Models with one coefficient have the mean of both tangential ones.
      const bool has_own = contact::traits(model).takes_torsion;
      const double mu = has_own || k > 1 ? c.friction[k] : c.sliding_friction();
      if (friction != 0) cone += std::pow(friction / mu, 2);
      work += friction * v_c[kSlip[k]];
      size += std::abs(friction) * v.norm();
    }
    EXPECT_LE(work, 1e-13 * size) << "friction adds energy";
    // The bound follows from the normal impulse at the end of the step, or from that at its start.
    const double v_n0 = (dense.J[i] * dense.v0 + dense.b[i])[2];
    certificate::ContactVector v_i;
    Eigen::Map<Eigen::Matrix<double, 6, 1>>(v_i.data()) = v_c;
    const double given = solution.normal_bounds.empty() ? 0 : solution.normal_bounds[i];
    const double bound = certificate::calc_reference_impulse(model, parameters, c,
                                                             {.time_step = problem.time_step,
                                                              .w = dense.delassus[i],
                                                              .v_n0 = v_n0,
                                                              .given_bound = given},
                                                             v_i)
                             .normal_bound;
    EXPECT_LE(std::sqrt(cone), bound + 1e-9 * (bound + gamma[2])) << "outside the cone";
  }
}

bool is_infeasible(const ContactSolution& solution) {
  return std::any_of(solution.islands.begin(), solution.islands.end(),
                     [](const auto& island) { return island.status == SolveStatus::kInfeasible; });
}
bool is_divided(const ContactSolution& solution) {
  return std::any_of(solution.islands.begin(), solution.islands.end(),
                     [](const auto& island) { return island.num_substeps > 1; });
}

TEST(LawChoices, ImpulsesOfAllModelsAreInTheirConesAndDissipate) {
  std::mt19937_64 rng(11);
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    // Rigid models have no law that a single contact satisfies.
    if (traits.is_mj_step || traits.is_rigid) continue;
    const auto choices = traits.takes_laws ? make_law_choices() : std::vector<ModelParameters>(1);
    for (const ModelParameters& parameters : choices) {
      SCOPED_TRACE(traits.name);
      SCOPED_TRACE(contact::traits(parameters.normal_law).name);
      int num_checked = 0;
      const bool is_lifted = traits.lifts_sliding && is_barrier(parameters);
      for (int trial = 0; trial < 6; ++trial) {
        SolvedProblem solved(traits.model, make_problem(trial, &rng, is_lifted ? 0.05 : 1),
                             {.parameters = parameters, .relative_tolerance = kTolerance});
        if (!solved.certify().ok) {
          // There may be no velocity that keeps all surfaces apart.
          EXPECT_TRUE(!traits.has_error_bound || is_infeasible(solved.solution));
          continue;
        }
        if (is_divided(solved.solution)) continue;  // impulses are sums over sub-steps
        expect_physical(traits.model, parameters, solved.problem, solved.solution);
        ++num_checked;
      }
      EXPECT_GE(num_checked, 1);
    }
  }
}

std::vector<Choice> make_choices() {
  std::vector<Choice> choices;
  for (const ModelParameters& parameters : make_law_choices())
    // coulomb_test.cpp has coulomb, whose solution is the end of a sequence of convex problems.
    for (const ContactModel model :
         support::without(ContactModel::coulomb, support::models_with_laws()))
      choices.push_back({model, parameters});
  return choices;
}

std::string describe(const Choice& choice) {
  std::string name(contact::traits(choice.model).name);
  name.append("_").append(contact::traits(choice.parameters.normal_law).name);
  name.append("_").append(contact::name_of(choice.parameters.friction_law));
  return name;
}
void PrintTo(const Choice& choice, std::ostream* out) { *out << describe(choice); }
std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  return describe(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, LawChoice, testing::ValuesIn(support::sample_cases(make_choices())),
                         name_of_choice);

}  // namespace
}  // namespace stiction::formulations::law_choice_test
