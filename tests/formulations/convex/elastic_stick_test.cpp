// The friction law `elastic`: the derivatives of its potential, its agreement with the
// certificate's law, the energy of its springs, and solutions of random problems.
#include "stiction/formulations/convex/contact_batch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "stiction/base/error.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "support/eigenvalues.hpp"
#include "support/law_under_test.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::elastic_stick_test {
namespace {

using certificate::ContactVector;
using contact::Anchor;
using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::ModelParameters;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::LawStart;
using support::LawUnderTest;
using support::SolvedProblem;

constexpr int kSlip[5] = {0, 1, 3, 4, 5};

ModelParameters make_parameters() {
  ModelParameters parameters;
  parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  return parameters;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : rng_(seed) {}
  double normal() { return std::normal_distribution<double>()(rng_); }
  /// Returns a number whose logarithm is uniform.
  double spread(double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(rng_));
  }
  bool flip(double chance) { return std::bernoulli_distribution(chance)(rng_); }

 private:
  std::mt19937_64 rng_;
};

/// Returns a contact that presses, with a spring that is soft or stiff, stretched or not.
LawStart make_start(int dim, Dice* dice) {
  LawStart start;
  Contact& c = start.contact;
  c.dim = dim;
  c.law.stiffness = 1e5;
  c.fn0 = dice->spread(0.1, 1e3);
  c.phi0 = -c.fn0 / c.law.stiffness;
  c.law.dissipation = 10;
  const double mu = dice->spread(0.05, 2);
  c.friction = {mu, mu, 0.01 * mu, 0.002 * mu, 0.001 * mu};
  std::fill(c.friction.begin() + (dim - 1), c.friction.end(), 0.0);
  start.time_step = dice->spread(1e-5, 0.03);
  start.delassus = 2;
  start.anchor.stiffness = dice->spread(1e3, 1e12);
  start.anchor.damping = dice->flip(0.3) ? 0 : std::sqrt(start.anchor.stiffness / start.delassus);
  const double yield = mu * c.fn0 / start.anchor.stiffness;
  for (int i = 0; i < dim - 1; ++i)
    start.anchor.stretch[i] = (dice->flip(0.2) ? 0 : dice->normal()) * yield * (i < 2 ? 1 : 100);
  return start;
}

/// Returns a velocity at which the contact sticks or slips.
VectorXd make_velocity(const LawStart& start, const LawUnderTest& law, Dice* dice) {
  const double dt = start.time_step, k = start.anchor.stiffness, c = start.anchor.damping;
  const double scale = dice->spread(1e-2, 1e2) * law.slip_scale;
  VectorXd v = VectorXd::NullaryExpr(law.size, [&] { return scale * dice->normal(); });
  // Most points are near the place where the spring has no force.
  if (dice->flip(0.7))
    for (int i = 0; i < 2; ++i) v[i] -= k * start.anchor.stretch[i] / (dt * k + c);
  v[2] = 0.01 * dice->normal();
  return v;
}

LawUnderTest make_law(ContactModel model, int dim, const LawStart& start) {
  return dim > 3 ? support::make_torsion_law(model, start, make_parameters())
                 : support::make_law(model, start, make_parameters());
}

class ElasticStickLaw : public testing::TestWithParam<ContactModel> {};

TEST_P(ElasticStickLaw, DerivativesEqualDifferences) {
  Dice dice(1);
  int num_sticking = 0, num_slipping = 0;
  for (int trial = 0; trial < support::num_trials(2000); ++trial) {
    const int dim = trial % 2 ? 3 : 6;
    const LawStart start = make_start(dim, &dice);
    const LawUnderTest law = make_law(GetParam(), dim, start);
    const VectorXd v = make_velocity(start, law, &dice);
    const VectorXd gamma = law.impulse(v);
    const MatrixXd G = law.hessian(v);
    for (const int i : kSlip) {
      if (i >= law.size) break;
      // The law is piecewise smooth; leave out steps across a kink, where G changes.
      const double h = 1e-4 * law.slip_scale;
      VectorXd before = v, after = v;
      before[i] -= h;
      after[i] += h;
      const MatrixXd change = law.hessian(after) - law.hessian(before);
      if (change.norm() > 0.01 * G.norm()) continue;
      const VectorXd slope = (law.impulse(after) - law.impulse(before)) / (2 * h);
      const double rounding = 1e-14 * (gamma.norm() + G.norm() * v.norm()) / h;
      EXPECT_LE((slope + G.col(i)).norm(), 1e-6 * G.norm() + rounding) << law.name;
      const double cost = (law.cost(after) - law.cost(before)) / (2 * h);
      const double cost_rounding = 1e-14 * (std::abs(law.cost(v)) + gamma.norm() * v.norm()) / h;
      EXPECT_NEAR(gamma[i], -cost, 1e-6 * (gamma.norm() + G.norm() * h) + cost_rounding)
          << law.name << " component " << i;
    }
    EXPECT_GE(support::calc_eigenvalues(G)[0], -1e-14 * G.norm());
    const bool slips = G.topLeftCorner(2, 2).determinant() < 1e-6 * G(0, 0) * G(1, 1);
    ++(slips ? num_slipping : num_sticking);
  }
  EXPECT_GT(num_sticking, support::num_trials(300));
  EXPECT_GT(num_slipping, support::num_trials(300));
}

TEST_P(ElasticStickLaw, EqualsTheCertificatesLaw) {
  Dice dice(2);
  for (int trial = 0; trial < support::num_trials(3000); ++trial) {
    const int dim = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 4 : 6;
    const LawStart start = make_start(dim, &dice);
    const LawUnderTest law = make_law(GetParam(), dim, start);
    const VectorXd v = make_velocity(start, law, &dice);
    ContactVector v_c{};
    std::copy(v.begin(), v.end(), v_c.begin());
    const double x = start.time_step * start.contact.fn0;
    const auto reference =
        certificate::calc_reference_impulse(GetParam(), make_parameters(), start.contact,
                                            {.time_step = start.time_step,
                                             .w = start.delassus,
                                             .given_bound = x,
                                             .anchor = &start.anchor},
                                            v_c);
    const VectorXd gamma = law.impulse(v);
    const double sensitivity = law.hessian(v).norm() * v.norm();
    for (int i = 0; i < law.size; ++i)
      EXPECT_NEAR(gamma[i], reference.gamma[i], 1e-13 * gamma.norm() + 1e-14 * sensitivity)
          << law.name << " dim " << dim << " component " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ElasticStickLaw, testing::ValuesIn(support::models_with_anchors()),
                         support::model_name);

/// Returns the stretch at the end of a step by return mapping, and the energy of a stretch.
struct Spring {
  double stiffness = 0, damping = 0;  // of one component

  static Spring make(const Contact& c, const Anchor& anchor, int i) {
    const double largest = *std::max_element(c.friction.begin(), c.friction.end());
    const double ratio = c.friction[i] / largest;
    return {anchor.stiffness * ratio * ratio, anchor.damping * ratio * ratio};
  }
  double next(double dt, double u, double gamma) const {
    const double inertia = dt * (dt * stiffness + damping);
    return inertia > 0 ? u + dt * (-gamma - dt * stiffness * u) / inertia : u;
  }
  double energy(double u) const { return 0.5 * stiffness * u * u; }
};

TEST(ElasticStickEnergy, FrictionGivesBackAtMostWhatTheSpringHolds) {
  // Sequences of steps whose bounds and slips change, while the spring keeps its stretch.
  Dice dice(3);
  const int num_sequences = support::num_trials(10000);
  constexpr int kNumSteps = 100;  // 1e6 steps in all
  int num_returned = 0;
  for (int sequence = 0; sequence < num_sequences; ++sequence) {
    const int dim = sequence % 2 ? 3 : 6;
    LawStart start = make_start(dim, &dice);
    Contact& c = start.contact;
    const double k = start.anchor.stiffness, yield = c.friction[0] * c.fn0 / k;
    for (int step = 0; step < kNumSteps; ++step) {
      const double dt = start.time_step;
      const double x = dt * c.fn0 * (dice.flip(0.1) ? 0 : dice.spread(0.1, 10));
      ContactVector v{};
      const double speed = dice.spread(1e-3, 10) * yield / dt;
      for (int i = 0; i < dim - 1; ++i) v[kSlip[i]] = speed * dice.normal();
      const ContactVector gamma =
          certificate::calc_reference_impulse(
              ContactModel::coulomb, make_parameters(), c,
              {.time_step = dt, .w = 1, .given_bound = x, .anchor = &start.anchor}, v)
              .gamma;
      // The sum is computed here as the specification writes it, and by the certificate.
      double before = 0, after = 0, work = 0, size = 0;
      Anchor next = start.anchor;
      for (int i = 0; i < dim - 1; ++i) {
        const Spring spring = Spring::make(c, start.anchor, i);
        const double u = start.anchor.stretch[i], g = gamma[kSlip[i]];
        next.stretch[i] = spring.next(dt, u, g);
        before += spring.energy(u);
        after += spring.energy(next.stretch[i]);
        work += g * v[kSlip[i]];
        size += std::abs(g * v[kSlip[i]]);
      }
      ASSERT_LE(work, before - after + 1e-13 * (before + after + size))
          << "step " << step << " of sequence " << sequence;
      ASSERT_LE(certificate::calc_anchor_gain(c, start.anchor, dt, gamma, v), 0);
      num_returned += work > 0;
      start.anchor = next;
    }
  }
  // The test is about springs that give energy back.
  EXPECT_GT(num_returned, num_sequences * kNumSteps / 20);
}

TEST(ElasticStickEnergy, CertificateFindsFrictionThatGivesBackTooMuch) {
  Dice dice(4);
  LawStart start = make_start(3, &dice);
  const double dt = start.time_step;
  start.anchor.stretch = {};
  ContactVector v{}, gamma{};
  v[0] = 1;
  gamma[0] = 1e-6 * dt * start.contact.fn0;  // along the slip, although nothing is stretched
  EXPECT_GT(certificate::calc_anchor_gain(start.contact, start.anchor, dt, gamma, v), 0);
}

/// Gives every contact of a problem a random spring.
void add_anchors(ContactProblem* problem, Dice* dice) {
  for (const Contact& c : problem->contacts) {
    Anchor anchor;
    anchor.stiffness = dice->spread(1e3, 1e9);
    anchor.damping = dice->flip(0.5) ? 0 : std::sqrt(anchor.stiffness);
    for (int i = 0; i < c.dim - 1; ++i) anchor.stretch[i] = 10 * dice->normal() / anchor.stiffness;
    problem->anchors.push_back(anchor);
  }
}

class ElasticStickProblem : public testing::TestWithParam<ContactModel> {};

TEST_P(ElasticStickProblem, SolutionsPassTheirCertificates) {
  std::mt19937_64 rng(6);
  Dice dice(5);
  for (int trial = 0; trial < support::num_trials(60); ++trial) {
    ContactProblem problem = support::make_random_problem({}, &rng);
    add_anchors(&problem, &dice);
    SolvedProblem solved(GetParam(), problem, {.parameters = make_parameters()});
    EXPECT_FALSE(solved.has_failed()) << "trial " << trial;
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << "trial " << trial << ": " << certificate.failed.quantity;
  }
}

TEST_P(ElasticStickProblem, AStretchedSpringPullsBackABodyThatRests) {
  ContactProblem problem;
  problem.clear(1e-3);
  (void)problem.add_rigid_body();
  for (int i = 0; i < 6; ++i) problem.A[7 * i] = 2;  // mass and inertia
  contact::BodyPair pair{
      .first_segment = 0, .num_segments = 1, .num_contacts = 1, .masses = {contact::kInfinity, 2}};
  problem.pairs = {pair};
  problem.segments = {{.block = 0, .is_rigid_body = true}};
  Contact c;
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.law.stiffness = 1e6;
  c.phi0 = -1e-4;
  c.fn0 = 100;
  c.friction = {1, 1};
  problem.contacts = {c};
  problem.anchors = {{.stretch = {1e-5, 0, 0, 0, 0}, .stiffness = 1e5}};
  problem.free_impulse.assign(6, 0.0);
  problem.free_impulse[5] = -0.1;  // presses with 100 N
  SolvedProblem solved(GetParam(), problem,
                       {.parameters = make_parameters(), .relative_tolerance = 1e-12});
  EXPECT_TRUE(solved.certify().ok);
  // m v = -dt k (u + dt v)
  const double dt = 1e-3, k = 1e5;
  EXPECT_NEAR(solved.solution.v[3], -dt * k * 1e-5 / (2 + dt * dt * k), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, ElasticStickProblem,
                         testing::ValuesIn(support::models_with_anchors()), support::model_name);

TEST(ElasticStick, NeedsAnchorsAndAModelThatTakesThem) {
  std::mt19937_64 rng(7);
  const ContactProblem problem = support::make_random_problem({}, &rng);
  const SolverOptions options = {.parameters = make_parameters()};
  const auto message = [&](ContactModel model) -> std::string {
    try {
      const SolvedProblem solved(model, problem, options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message(ContactModel::lagged).find("ContactProblem::anchors"), std::string::npos);
  EXPECT_NE(message(ContactModel::similar).find("no springs along the surface"), std::string::npos);
}

}  // namespace
}  // namespace stiction::formulations::elastic_stick_test
