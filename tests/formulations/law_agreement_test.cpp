// Tests that the laws of the solver agree with each other and with those of the certificate.
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "stiction/certificate/reference_laws.hpp"
#include "support/law_under_test.hpp"
#include "support/models.hpp"

namespace stiction::formulations::law_agreement_test {
namespace {

using contact::ContactModel;
using Eigen::VectorXd;
using support::LawStart;
using support::LawUnderTest;
using support::make_law;
using support::make_law_starts;
using support::make_torsion_law;

VectorXd random_vector(int n, std::mt19937* rng) {
  std::normal_distribution<double> normal;
  return VectorXd::NullaryExpr(n, [&] { return normal(*rng); });
}

/// Calls check(v_c) at slips and normal velocities of all sizes. v_c has six components.
template <class Function>
void for_each_velocity(const LawUnderTest& law, Function&& check) {
  std::mt19937 rng(3);
  for (const double ratio : {0.0, 1e-3, 1.0, 50.0, 1e9}) {
    for (const double kink : law.normal_kinks) {
      for (const double offset : {-10.0, -0.5, 0.5}) {
        VectorXd v = random_vector(6, &rng);
        v *= ratio * law.slip_scale;
        v[2] = kink + offset * std::max(1e-4, std::abs(kink));
        check(v);
      }
    }
  }
}

/// Returns the normal impulse of the state at the start of the step, the initial x of `coulomb`.
double calc_first_bound(const LawStart& start) {
  const contact::Contact& c = start.contact;
  return start.time_step * std::max(0.0, c.fn0) * std::max(0.0, 1 - c.law.dissipation * start.v_n0);
}

TEST(LawAgreement, ReferenceLawsEqualTheSolversLaws) {
  // The velocity at which an impulse is evaluated is rounded, so the tolerance has a term of the
  // derivative.
  const contact::ModelParameters parameters;
  for (const ContactModel model : support::convex_models()) {
    for (LawStart start : make_law_starts()) {
      const bool torsion = contact::traits(model).takes_torsion;
      for (const int dim : {3, 4, 6}) {
        start.contact.dim = dim;
        const LawUnderTest law = torsion && dim > 3 ? make_torsion_law(model, start, parameters)
                                                    : make_law(model, start, parameters);
        for_each_velocity(law, [&](const VectorXd& v) {
          certificate::ContactVector v_c;
          Eigen::Map<Eigen::Matrix<double, 6, 1>>(v_c.data()) = v;
          const certificate::ReferenceImpulse reference =
              certificate::calc_reference_impulse(model, parameters, start.contact,
                                                  {.time_step = start.time_step,
                                                   .w = start.delassus,
                                                   .v_n0 = start.v_n0,
                                                   .given_bound = calc_first_bound(start)},
                                                  v_c);
          const VectorXd gamma = law.impulse(v.head(law.size));
          const VectorXd expected =
              Eigen::Map<const VectorXd>(reference.gamma.data(), 6).head(law.size);
          const double sensitivity = law.hessian(v.head(law.size)).norm() * v.norm();
          EXPECT_LE((gamma - expected).norm(), 1e-13 * (gamma.norm() + sensitivity))
              << law.name << " dim " << dim << " at " << v.transpose();
        });
      }
    }
  }
}

TEST(LawAgreement, TorsionLawWithOnlyTangentialFrictionEqualsLagged) {
  for (const ContactModel model : {ContactModel::lagged, ContactModel::lagged_regularized}) {
    for (LawStart start : make_law_starts()) {
      if (start.contact.friction[0] == 0) continue;  // both laws then have different tolerances
      start.contact.dim = 3;
      const LawUnderTest three = make_law(model, start, {});
      const LawUnderTest six = make_torsion_law(model, start, {});
      for_each_velocity(three, [&](const VectorXd& v) {
        const VectorXd gamma = six.impulse(v);
        EXPECT_LE((gamma.head(3) - three.impulse(v.head(3))).norm(), 1e-14 * gamma.norm());
        EXPECT_EQ(gamma.tail(3), VectorXd::Zero(3));
        const double cost = three.cost(v.head(3));
        EXPECT_NEAR(six.cost(v), cost, 1e-14 * cost);
        const Eigen::MatrixXd G = three.hessian(v.head(3));
        EXPECT_LE((six.hessian(v).topLeftCorner(3, 3) - G).norm(), 1e-13 * G.norm());
        EXPECT_EQ(six.hessian(v).bottomRows(3).norm(), 0);
      });
    }
  }
}

TEST(LawAgreement, LaggedRegularizedWithoutRegularizationEqualsLagged) {
  contact::ModelParameters parameters;
  parameters.friction_regularization = 0;
  for (const LawStart& start : make_law_starts()) {
    const LawUnderTest lagged = make_law(ContactModel::lagged, start, parameters);
    const LawUnderTest regularized = make_law(ContactModel::lagged_regularized, start, parameters);
    for_each_velocity(lagged, [&](const VectorXd& v) {
      EXPECT_EQ(lagged.impulse(v.head(3)), regularized.impulse(v.head(3)));
    });
  }
}

TEST(LawAgreement, SapImpulseIsTheProjectionOntoTheCone) {
  // Optimality: gamma is in the cone, and (y - gamma) . R (c - gamma) <= 0 for every c in the cone.
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  const contact::ModelParameters parameters;
  for (const LawStart& start : make_law_starts()) {
    const contact::Contact& c = start.contact;
    const double mu = c.friction[0], w = start.delassus, dt = start.time_step;
    const double near_rigid = w / (4 * std::numbers::pi * std::numbers::pi);
    const double R_n =
        std::max(near_rigid, 1 / (dt * c.law.stiffness * (dt + c.law.relaxation_time)));
    const double R_t = parameters.friction_regularization * w;
    const double v_hat = -c.phi0 / (dt + c.law.relaxation_time);
    const Eigen::Vector3d R(R_t, R_t, R_n);
    const LawUnderTest law = make_law(ContactModel::sap, start, parameters);
    for_each_velocity(law, [&](const VectorXd& v) {
      const Eigen::Vector3d gamma = law.impulse(v.head(3));
      const Eigen::Vector3d y = (Eigen::Vector3d(0, 0, v_hat) - v.head<3>()).cwiseQuotient(R);
      EXPECT_LE(gamma.head<2>().norm(), mu * gamma.z() + 1e-14 * gamma.norm());
      for (int trial = 0; trial < 20; ++trial) {
        const double angle = 2 * std::numbers::pi * uniform(rng), n = y.norm() * uniform(rng);
        const double t = mu * n * uniform(rng);
        const Eigen::Vector3d inside(t * std::cos(angle), t * std::sin(angle), n);
        const Eigen::Vector3d to_y = (y - gamma).cwiseProduct(R);
        const double round_off = 1e-15 * y.cwiseProduct(R).norm();
        EXPECT_LE(to_y.dot(inside - gamma),
                  (1e-13 * to_y.norm() + round_off) * (inside - gamma).norm())
            << "v_c " << v.head<3>().transpose() << " y " << y.transpose() << " mu " << mu;
      }
    });
  }
}

TEST(LawAgreement, FrictionlessContactIgnoresItsCoefficients) {
  for (const ContactModel model : support::convex_models()) {
    for (LawStart start : make_law_starts()) {
      start.contact.dim = 1;
      const LawUnderTest law = make_law(model, start, {});
      for_each_velocity(law, [&](const VectorXd& v) {
        EXPECT_EQ(law.impulse(v.head(3)).head(2).norm(), 0);
        EXPECT_EQ(law.hessian(v.head(3)).topRows(2).norm(), 0);
      });
    }
  }
}

TEST(LawAgreement, TorsionWithoutSlidingFrictionHasATolerance) {
  // With torsional friction only, the tolerance is a rotation with speed v_s at a radius of 1 m.
  LawStart start;
  start.contact.law.stiffness = 1e4;
  start.contact.fn0 = 10;
  start.contact.dim = 4;
  start.contact.friction = {0, 0, 0.02, 0, 0};
  const LawUnderTest law = make_torsion_law(ContactModel::lagged, start, {});
  const double v_s = contact::ModelParameters().stiction_tolerance;
  VectorXd v = VectorXd::Zero(6);
  v[3] = v_s;
  // The impulse at the tolerance is gamma_n0 mu / sqrt(2).
  EXPECT_NEAR(law.impulse(v)[3], -0.02 * 10 * start.time_step / std::sqrt(2), 1e-15);
}

TEST(LawAgreement, SapWithoutFrictionNeverPulls) {
  // Without friction and slip, y is on the boundary of the cone.
  for (LawStart start : make_law_starts()) {
    start.contact.friction = {};
    const LawUnderTest law = make_law(ContactModel::sap, start, {});
    for (const double offset : {-1.0, -1e-9, 0.0, 1e-9, 1.0}) {
      const Eigen::Vector3d v(0, 0, law.normal_kinks[0] + offset);
      EXPECT_GE(law.impulse(v)[2], 0);
      EXPECT_EQ(law.impulse(v)[2] > 0, v.z() < law.normal_kinks[0]);
    }
  }
}

TEST(LawAgreement, FrictionOpposesSlipWithinItsBound) {
  for (const ContactModel model : support::convex_models()) {
    for (LawStart start : make_law_starts()) {
      start.contact.dim = 3;
      const LawUnderTest law = make_law(model, start, {});
      const double mu = start.contact.friction[0];
      const double elastic = std::max(0.0, start.contact.fn0);
      const double gamma_n0 =
          start.time_step * elastic * (1 - start.contact.law.dissipation * start.v_n0);
      for_each_velocity(law, [&](const VectorXd& v) {
        const VectorXd gamma = law.impulse(v.head(3));
        const bool is_lagged = model == ContactModel::lagged || model == ContactModel::coulomb ||
                               model == ContactModel::lagged_regularized;
        const double bound = mu * (is_lagged ? gamma_n0 : gamma[2]);
        EXPECT_GE(gamma[2], 0);
        EXPECT_LE(gamma.head(2).norm(), bound * (1 + 1e-14));
        EXPECT_LE(gamma.head(2).dot(v.head(2)), 0);
        // Friction reaches its bound far above the slip tolerance.
        if (v.head(2).norm() > 1e8 * law.slip_scale && gamma[2] > 0) {
          EXPECT_NEAR(gamma.head(2).norm(), bound, 1e-12 * bound);
        }
      });
    }
  }
}

}  // namespace
}  // namespace stiction::formulations::law_agreement_test
