#include "stiction/formulations/rigid/projected_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>
#include <Eigen/QR>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "support/dense_problem.hpp"

namespace stiction::formulations::projected_problem_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> to_rows(const MatrixXd& X) {
  const RowMajor rows = X;
  return {rows.data(), rows.data() + rows.size()};
}

/// Constraints X y = -b with some redundant rows that agree with the others.
struct RandomConstraints {
  MatrixXd X;
  VectorXd b;
  int rank = 0;

  RandomConstraints(int num_columns, int independent, int redundant, std::mt19937_64* rng)
      : rank(independent) {
    const auto random = [rng](int rows, int columns) {
      std::normal_distribution<double> normal;
      return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(*rng); }).eval();
    };
    X.resize(independent + redundant, num_columns);
    X.topRows(independent) = random(independent, num_columns);
    if (redundant > 0)
      X.bottomRows(redundant) = random(redundant, independent) * X.topRows(independent);
    b = -X * random(num_columns, 1);
  }
  void add_to(BilateralConstraints* constraints) const {
    constraints->add(to_rows(X), {b.data(), static_cast<std::size_t>(b.size())});
  }
};

int project_unilateral(BilateralConstraints* constraints, const std::vector<double>& rows,
                       const std::vector<double>& b, std::vector<double>* projected,
                       std::vector<double>* b_projected) {
  constraints->project_rows(rows, nullptr, projected);
  constraints->project_constants(rows, b, b_projected);
  return constraints->open_dependent_rows(rows, *projected, nullptr, b_projected);
}

TEST(BilateralConstraints, SatisfiesAxesInClosedForm) {
  BilateralConstraints constraints;
  constraints.start(3);
  const std::vector<double> rows = {1, 0, 0, 0, 2, 0}, b = {3, 4};
  constraints.add(rows, b);
  constraints.eliminate(std::array{constraints.num_rows()}, kRankTolerance, nullptr);
  std::vector<double> y = {10, 20, 30};
  const std::span<const double> f = constraints.satisfy(y.data());
  EXPECT_NEAR(y[0], -3, 1e-14);
  EXPECT_NEAR(y[1], -2, 1e-14);
  EXPECT_EQ(y[2], 30);
  ASSERT_EQ(constraints.kept().size(), 2u);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(f[k], constraints.kept()[k] == 0 ? -13 : -11, 1e-13);
  EXPECT_NEAR(constraints.calc_largest_impulse(), 22, 1e-12);
}

TEST(BilateralConstraints, MovesTheShortestWayToAllOfThem) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  BilateralConstraints constraints;
  for (int trial = 0; trial < 100; ++trial) {
    const RandomConstraints given(8, trial % 8, trial % 3 * (trial % 8 > 0), &rng);
    constraints.start(8);
    given.add_to(&constraints);
    constraints.eliminate(std::array{constraints.num_rows()}, kRankTolerance, nullptr);
    EXPECT_EQ(static_cast<int>(constraints.kept().size()), given.rank);
    const VectorXd before = VectorXd::NullaryExpr(8, [&] { return normal(rng); });
    VectorXd y = before;
    const std::span<const double> f = constraints.satisfy(y.data());
    EXPECT_LE((given.X * y + given.b).norm(), 1e-10 * (1 + given.b.norm()));
    // Shortest: along the rows kept, by their impulses.
    VectorXd along = VectorXd::Zero(8);
    double largest = 0;
    for (std::size_t k = 0; k < f.size(); ++k) {
      along += given.X.row(constraints.kept()[k]).transpose() * f[k];
      largest = std::max(largest, given.X.row(constraints.kept()[k]).norm() * std::abs(f[k]));
    }
    EXPECT_LE((y - before - along).norm(), 1e-9 * (1 + largest));
    EXPECT_NEAR(constraints.calc_largest_impulse(), largest, 1e-12 * largest);
  }
}

TEST(BilateralConstraints, ConstraintsOfAllDirectionsLeaveNothingOfARow) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  BilateralConstraints constraints;
  std::vector<double> projected, b_projected;
  for (int trial = 0; trial < 20; ++trial) {
    const RandomConstraints given(6, 6, trial % 4, &rng);
    constraints.start(6);
    given.add_to(&constraints);
    constraints.eliminate(std::array{constraints.num_rows()}, kRankTolerance, nullptr);
    const MatrixXd N = MatrixXd::NullaryExpr(4, 6, [&] { return normal(rng); });
    const std::vector<double> rows = to_rows(N), b(4, 0.0);
    constraints.project_rows(rows, nullptr, &projected);
    EXPECT_EQ(projected, std::vector<double>(rows.size(), 0.0));
    // Their velocities are those of the only motion that the constraints permit.
    constraints.project_constants(rows, b, &b_projected);
    const VectorXd y = given.X.topRows(6).colPivHouseholderQr().solve(-given.b.head(6));
    const VectorXd w = N * y;
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(b_projected[i], w[i], 1e-8 * (1 + w.norm()));
  }
}

TEST(BilateralConstraints, ProjectedRowsHaveTheSameVelocitiesAndAreOrthogonalToTheConstraints) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  BilateralConstraints constraints;
  std::vector<double> projected, b_projected;
  for (int trial = 0; trial < 50; ++trial) {
    const RandomConstraints given(7, 1 + trial % 5, trial % 2, &rng);
    constraints.start(7);
    given.add_to(&constraints);
    constraints.eliminate(std::array{constraints.num_rows()}, kRankTolerance, nullptr);
    const MatrixXd N = MatrixXd::NullaryExpr(4, 7, [&] { return normal(rng); });
    const std::vector<double> b = {1, -2, 3, 0};
    EXPECT_EQ(project_unilateral(&constraints, to_rows(N), b, &projected, &b_projected), -1);
    const Eigen::Map<const RowMajor> P(projected.data(), 4, 7);
    EXPECT_LE((P * given.X.transpose()).norm(), 1e-12 * given.X.norm());
    VectorXd y = VectorXd::NullaryExpr(7, [&] { return normal(rng); });
    constraints.satisfy(y.data());
    const VectorXd w = N * y, w_projected = P * y;
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(w[i] + b[i], w_projected[i] + b_projected[i], 1e-10 * (1 + w.norm()));
  }
}

TEST(BilateralConstraints, NewConstantsGiveWhatANewEliminationGives) {
  std::mt19937_64 rng(7);
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(rng); };
  constexpr int kColumns = 6, kEqualities = 1, kPairs = 2;
  for (int trial = 0; trial < 20; ++trial) {
    const auto rows = to_rows(MatrixXd::NullaryExpr(kEqualities + 2 * kPairs, kColumns, any));
    const auto N = to_rows(MatrixXd::NullaryExpr(3, kColumns, any));
    std::vector<double> b(5), b_new(5), b_n(3), start(kColumns);
    for (auto* values : {&b, &b_new, &b_n, &start})
      for (double& x : *values) x = normal(rng);
    std::vector<double> results[2];
    for (const bool is_new : {true, false}) {
      BilateralConstraints constraints;
      constraints.start(kColumns);
      constraints.add(rows, is_new ? b_new : b);
      const int ends[] = {kEqualities, constraints.num_rows()};
      constraints.eliminate(ends, kRankTolerance, nullptr, kPairs);
      if (!is_new)
        constraints.set_constants(std::span(b_new).first(kEqualities),
                                  std::span(b_new).subspan(kEqualities));
      std::vector<double>& result = results[is_new];
      constraints.project_constants(N, b_n, &result);
      std::vector<double> y = start;
      constraints.satisfy(y.data());
      result.insert(result.end(), y.begin(), y.end());
      // The constraints hold: rows y = -b.
      for (int i = 0; i < 5; ++i) {
        double v = b_new[i];
        for (int k = 0; k < kColumns; ++k) v += rows[i * kColumns + k] * y[k];
        EXPECT_NEAR(v, 0, 1e-11);
      }
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(BilateralConstraints, WithoutRowsChangeNothing) {
  BilateralConstraints constraints;
  constraints.start(2);
  constraints.eliminate(std::array{constraints.num_rows()}, kRankTolerance, nullptr);
  const std::vector<double> rows = {1, 2}, b = {-3};
  std::vector<double> projected, b_projected, y = {5, 6};
  EXPECT_EQ(project_unilateral(&constraints, rows, b, &projected, &b_projected), -1);
  EXPECT_EQ(projected, rows);
  EXPECT_EQ(b_projected, b);
  EXPECT_TRUE(constraints.satisfy(y.data()).empty());
  EXPECT_EQ(y, (std::vector<double>{5, 6}));
  EXPECT_EQ(constraints.calc_largest_impulse(), 0);
}

TEST(BilateralConstraints, TheFirstRowsAreKeptEvenIfOthersAreLonger) {
  BilateralConstraints constraints;
  constraints.start(2);
  const std::vector<double> first = {1e-3, 0}, b_first = {1e-3};
  const std::vector<double> others = {5, 0, 0, 5}, b_others = {7, 0};
  constraints.add(first, b_first);
  constraints.add(others, b_others);
  constraints.eliminate(std::array{1, constraints.num_rows()}, kRankTolerance, nullptr);
  std::vector<int> kept(constraints.kept().begin(), constraints.kept().end());
  EXPECT_EQ(kept, (std::vector<int>{0, 2}));
  std::vector<double> y = {0, 1};
  constraints.satisfy(y.data());
  EXPECT_NEAR(y[0], -1, 1e-14);
}

TEST(BilateralConstraints, RowsWithinTheRankToleranceAreRedundant) {
  // The second row is (1, angle): 1 / (1 + 1 / angle^2) of its square is left.
  for (const double angle : {1e-8, 1e-6, 1e-4}) {
    for (const double tolerance : {kRankTolerance, kWideRankTolerance}) {
      BilateralConstraints constraints;
      constraints.start(2);
      const std::vector<double> rows = {1, 0, 1, angle}, b = {0, 0};
      constraints.add(rows, b);
      constraints.eliminate(std::array{1, constraints.num_rows()}, tolerance, nullptr);
      EXPECT_EQ(constraints.kept().size(), angle * angle > tolerance ? 2u : 1u)
          << angle << " " << tolerance;
      EXPECT_EQ(constraints.rank_tolerance(), tolerance);
    }
  }
}

TEST(BilateralConstraints, FindARowThatTheyForceToPenetrate) {
  // x = -b_x, and the unilateral row -x + b >= 0.
  const auto project = [](double b, std::vector<double>* b_projected) {
    BilateralConstraints constraints;
    constraints.start(2);
    const std::vector<double> x = {1, 0}, b_x = {-1};
    constraints.add(x, b_x);
    constraints.eliminate(std::array{1, constraints.num_rows()}, kRankTolerance, nullptr);
    std::vector<double> projected;
    const std::vector<double> rows = {0, 1, -1, 0}, constants = {0, b};
    const int forced = project_unilateral(&constraints, rows, constants, &projected, b_projected);
    EXPECT_EQ(projected, (std::vector<double>{0, 1, 0, 0}));  // no impulse can move it
    return forced;
  };
  std::vector<double> b;
  EXPECT_EQ(project(1.5, &b), -1);  // open by 0.5
  EXPECT_NEAR(b[1], 0.5, 1e-15);
  EXPECT_EQ(project(1 - 0.5 * kMissedVelocity, &b), -1);
  EXPECT_EQ(b[1], 0);
  EXPECT_EQ(project(1 - 2 * kMissedVelocity, &b), 1);
  EXPECT_EQ(b[1], 0);
}

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;

int project_all(RigidFixture* fixture, double rank_tolerance = kRankTolerance) {
  return project(fixture->terms, fixture->system.whitened, fixture->iterate.sticking,
                 rank_tolerance, &fixture->system.projected);
}

Eigen::Map<const RowMajor> as_rows(const std::vector<double>& rows, std::size_t num_columns) {
  return {rows.data(), static_cast<Eigen::Index>(rows.size() / num_columns),
          static_cast<Eigen::Index>(num_columns)};
}

TEST(ProjectedProblem, ConstraintsRemoveTheDirectionsThatTheyFix) {
  // x is an equality, the contact sticks in x and y, and its normal is left.
  ContactProblem problem = make_particle({1, 2, 3});
  add_ground_contact(0, 0.5, &problem).bias = {0.5, 0.25, 0};
  add_row(RowKind::kEquality, 0, 0, &problem);
  contact::ModelParameters parameters;
  parameters.drop_separating = false;
  RigidFixture fixture(ContactModel::no_slip, problem, parameters);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), -1);
  ProjectedProblem& projected = fixture.system.projected;
  EXPECT_EQ(projected.sticking, std::vector<int>{0});
  // The equality comes first, so that the tangent that contradicts it is redundant.
  ASSERT_EQ(projected.bilateral.kept().size(), 2u);
  EXPECT_EQ(projected.bilateral.kept()[0], 0);
  // The remaining tangent is along y.
  EXPECT_NEAR(std::abs(projected.bilateral.direction(projected.bilateral.kept()[1])[1]), 1, 1e-15);
  start_from(fixture.system.whitened.y_free, &projected);
  EXPECT_EQ(projected.u_hat, (std::vector<double>{0, -0.25, 3}));
  EXPECT_EQ(projected.N, (std::vector<double>{0, 0, 1}));
  EXPECT_TRUE(projected.T.empty());
}

TEST(ProjectedProblem, OnTheConstraintsProjectedRowsHaveTheSameVelocities) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  int num_sticking = 0, num_equalities = 0;
  for (const ContactModel model : {ContactModel::no_slip, ContactModel::stewart_trinkle}) {
    contact::ModelParameters parameters;
    parameters.drop_separating = false;
    for (int trial = 0; trial < 20; ++trial) {
      RigidFixture fixture(model, make_rigid_problem(&rng), parameters);
      ASSERT_TRUE(fixture.whiten_all());
      (void)project_all(&fixture);
      const WhitenedRows& rows = fixture.system.whitened.rows;
      ProjectedProblem& projected = fixture.system.projected;
      const auto n = static_cast<std::size_t>(fixture.terms.num_dofs());
      std::vector<double> y(n);
      for (double& x : y) x = normal(rng);
      start_from(y, &projected);
      const VectorXd u = support::to_vector(projected.u_hat);
      const auto expect_same = [&](const std::vector<double>& J, const std::vector<double>& b,
                                   const std::vector<double>& J_projected,
                                   const std::vector<double>& b_projected) {
        const VectorXd w = as_rows(J, n) * u, w_projected = as_rows(J_projected, n) * u;
        for (std::size_t i = 0; i < b.size(); ++i) {
          // A row of which nothing is left has at least 0.
          if (as_rows(J_projected, n).row(static_cast<Eigen::Index>(i)).isZero(0)) continue;
          EXPECT_NEAR(w[i] + b[i], w_projected[i] + b_projected[i], 1e-8 * (1 + w.norm()));
        }
      };
      expect_same(rows.N, rows.b_n, projected.N, projected.b_n);
      if (fixture.terms.law_has_friction())
        expect_same(rows.T, rows.b_t, projected.T, projected.b_t);
      expect_same(rows.F, rows.b_f, projected.F, projected.b_f);
      num_sticking += static_cast<int>(projected.sticking.size());
      num_equalities += fixture.terms.num_equalities();
    }
  }
  EXPECT_GT(num_sticking, 20);
  EXPECT_GT(num_equalities, 20);
}

TEST(ProjectedProblem, FindsAContactThatAnEqualityDrivesIntoTheGround) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(1, 0.5, &problem);
  add_ground_contact(0, 0.5, &problem);
  add_row(RowKind::kEquality, 2, 1e-4, &problem);  // corrected by -10 mm/s
  RigidFixture fixture(ContactModel::viscous, problem);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), 1);
}

TEST(ProjectedProblem, TheLawGetsTheProjectedRows) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(0, 0.7, &problem);
  contact::Row& dry = add_row(RowKind::kFriction, 1, 0, &problem);
  dry.bound = 3;
  dry.slip_tolerance = 1e-4;
  RigidFixture fixture(ContactModel::stewart_trinkle, problem);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), -1);
  start_from(fixture.system.whitened.y_free, &fixture.system.projected);
  FrictionConstants friction = fixture.terms.friction;
  friction.mu[0] = 0.1;
  const ReducedProblem reduced =
      make_reduced_problem(fixture.terms, friction, fixture.system.projected);
  EXPECT_EQ(reduced.num_columns, 3);
  EXPECT_EQ(reduced.num_contacts, 1);
  EXPECT_EQ(reduced.num_unilateral, 1);
  EXPECT_EQ(reduced.T.size(), 6u);
  EXPECT_EQ(reduced.F.size(), 3u);
  EXPECT_EQ(reduced.mu[0], 0.1);
  EXPECT_EQ(reduced.dry_bounds[0], 3);
  EXPECT_TRUE(reduced.guess.empty());
}

}  // namespace

}  // namespace stiction::formulations::projected_problem_test
