// Tangential impulses under no_slip: of least norm, and not held by short levers.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "support/dense_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::least_norm_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::SolvedProblem;

constexpr double kTimeStep = 1e-3, kGravity = 9.81;

/// A cube of 10 cm and 1 kg on the ground, with contacts at random places of its lower face whose
/// heights differ by up to `roughness`. Random forces of about 1 N push it.
ContactProblem make_pushed_box(int num_contacts, double roughness, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  ContactProblem problem;
  problem.clear(kTimeStep);
  problem.add_rigid_body();
  double* A = problem.diagonal(0);
  for (int i = 0; i < 6; ++i) A[7 * i] = i < 3 ? 0.01 / 6 : 1;
  for (int i = 0; i < 6; ++i)
    problem.free_impulse[i] = kTimeStep * normal(*rng) * (i < 3 ? 0.03 : 1);
  problem.free_impulse[5] -= kTimeStep * kGravity;
  contact::BodyPair pair;
  pair.num_segments = 1;
  pair.num_contacts = num_contacts;
  problem.pairs.push_back(pair);
  contact::Segment segment;
  segment.block = 0;
  segment.is_rigid_body = true;
  segment.offset = {0, 0, -0.05};
  problem.segments.push_back(segment);
  for (int i = 0; i < num_contacts; ++i) {
    contact::Contact& c = problem.contacts.emplace_back();
    c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    // The first four are the corners, so that the box does not tip over.
    const double x = i < 4 ? (i % 2 ? 0.05 : -0.05) : 0.05 * uniform(*rng);
    const double y = i < 4 ? (i / 2 ? 0.05 : -0.05) : 0.05 * uniform(*rng);
    const double z = roughness * uniform(*rng);
    c.offset = {x, y, z};
    c.friction = {1, 1, 0, 0, 0};
    c.id = problem.contacts.size();
  }
  return problem;
}

/// The tangential impulses of all contacts.
VectorXd gather_tangents(const SolvedProblem& solved) {
  VectorXd f(2 * solved.problem.num_contacts());
  for (int i = 0; i < solved.problem.num_contacts(); ++i)
    for (int t = 0; t < 2; ++t) f[2 * i + t] = solved.solution.impulses[i][t];
  return f;
}

/// The f' of least norm with T^T f' = T^T f is the projection of f on the range of T.
TEST(LeastNorm, TangentialImpulsesAreInTheRangeOfTheirRows) {
  std::mt19937_64 rng(1);
  for (int k = 0; k < 60; ++k) {
    const int num_contacts = 4 + static_cast<int>(rng() % 20);
    SolvedProblem solved(ContactModel::no_slip, make_pushed_box(num_contacts, 0, &rng));
    ASSERT_FALSE(solved.has_failed());
    EXPECT_TRUE(solved.certify().ok);
    const support::DenseProblem dense(solved.problem);
    MatrixXd T(2 * num_contacts, 6);
    for (int i = 0; i < num_contacts; ++i) T.middleRows(2 * i, 2) = dense.J[i].topRows(2);
    const Eigen::JacobiSVD<MatrixXd> svd(T, Eigen::ComputeThinU);
    const MatrixXd U = svd.matrixU().leftCols((svd.singularValues().array() > 1e-9).count());
    const VectorXd f = gather_tangents(solved);
    EXPECT_LE((f - U * (U.transpose() * f)).norm(), 1e-9 * f.norm()) << "box " << k;
  }
}

TEST(LeastNorm, RoughnessBelowTheTouchDistanceDoesNotChangeImpulses) {
  for (const double roughness : {1e-15, 1e-12, 1e-9, 4e-7}) {
    for (int seed = 0; seed < 20; ++seed) {
      std::mt19937_64 rng(seed), same(seed);
      const int num_contacts = 4 + seed % 10;
      SolvedProblem flat(ContactModel::no_slip, make_pushed_box(num_contacts, 0, &rng));
      SolvedProblem rough(ContactModel::no_slip, make_pushed_box(num_contacts, roughness, &same));
      ASSERT_FALSE(rough.has_failed());
      EXPECT_TRUE(rough.certify().ok);
      const VectorXd f = gather_tangents(flat);
      // Levers of 4e-7 m turn the forces of about 10 N by 1e-5 of their levers of 0.05 m.
      EXPECT_LE((gather_tangents(rough) - f).norm(), 1e-4 * (f.norm() + kGravity * kTimeStep))
          << "roughness " << roughness << ", seed " << seed;
    }
  }
}

// A contact that closes a gap in the step may slip by a lever as short as the gaps of its pair. The
// impulses of least norm must not push it on.
TEST(LeastNorm, FrictionDoesNoWorkWhereContactsCloseTheirGaps) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  int num_slipping = 0;
  for (int seed = 0; seed < 100; ++seed) {
    std::mt19937_64 rng(seed);
    ContactProblem problem = make_pushed_box(6, 0, &rng);
    for (contact::Contact& c : problem.contacts) {
      c.phi0 = 1e-3 * (1 + uniform(rng)) / 2;
      c.offset[2] = -c.phi0;
    }
    for (int i = 0; i < 6; ++i) problem.v0[i] = (i < 3 ? 5 : 1) * uniform(rng);
    problem.v0[5] = -2;
    SolvedProblem solved(ContactModel::no_slip, problem);
    if (solved.has_failed()) continue;
    double largest = 0;
    for (const auto& impulse : solved.solution.impulses)
      for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(impulse[k]));
    for (int i = 0; i < problem.num_contacts(); ++i) {
      const auto& f = solved.solution.impulses[i];
      const auto& v = solved.solution.contact_velocities[i];
      num_slipping += std::hypot(v[0], v[1]) > 1e-4;
      EXPECT_LE(f[0] * v[0] + f[1] * v[1], 1e-5 * largest) << "seed " << seed;
    }
  }
  EXPECT_GT(num_slipping, 10);
}

TEST(LeastNorm, LeversAboveTheTouchDistanceHold) {
  // Contacts at heights that differ by 1 mm prevent the box from rolling about its edge.
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937_64 rng(seed);
    SolvedProblem solved(ContactModel::no_slip, make_pushed_box(6, 1e-3, &rng));
    ASSERT_FALSE(solved.has_failed());
    EXPECT_TRUE(solved.certify().ok);
    for (const auto& v : solved.solution.contact_velocities)
      EXPECT_LE(std::hypot(v[0], v[1]), 1e-12);
  }
}

}  // namespace
}  // namespace stiction::formulations::least_norm_test
