// Tests that every rigid model takes a step whose constraints contradict each other.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "support/models.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::contradictions_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::SolvedProblem;

constexpr double kTolerance = 1.1e-6;  // that of the solver, with a margin for round-off

/// Adds a row that acts on the first dofs.
contact::Row& add_row_along(const VectorXd& direction, RowKind kind, double position,
                            ContactProblem* problem) {
  contact::Row& row = add_row(kind, 0, position, problem, direction[0]);
  row.num_columns = static_cast<int>(direction.size());
  for (int i = 1; i < direction.size(); ++i) {
    problem->row_dof.push_back(i);
    problem->row_columns.push_back(direction[i]);
  }
  return row;
}

class Contradictions {
 public:
  explicit Contradictions(int seed) : rng_(seed) {}

  /// Limits and equalities along few directions, which are the same but for their sign and for
  /// angles from 1e-17 to 0.1.
  ContactProblem make() {
    ContactProblem problem;
    problem.clear(kTimeStep);
    const int n = 1 + pick(5);
    const MatrixXd B = random(n, n);
    Eigen::Map<MatrixXd>(problem.diagonal(problem.add_block(n)), n, n) =
        B * B.transpose() / n + 0.1 * MatrixXd::Identity(n, n);
    for (int i = 0; i < n; ++i) {
      problem.v0[i] = normal();
      problem.free_impulse[i] = 0.1 * normal();
    }
    for (int num_directions = 1 + pick(3); num_directions > 0; --num_directions) {
      const VectorXd direction = random(n, 1).normalized();
      for (int num_rows = 2 + pick(2); num_rows > 0; --num_rows) {
        const double angle = std::pow(10, uniform(-17, -1));
        const double sign = pick(2) == 0 ? 1 : -1, length = std::pow(10, uniform(-1.5, 0));
        const VectorXd row = sign * length * (direction + angle * random(n, 1));
        const RowKind kind = pick(4) > 0 ? RowKind::kLimit : RowKind::kEquality;
        add_row_along(row, kind, position(), &problem);
      }
    }
    if (pick(2) == 0) add_squeezed_point(n, &problem);
    if (pick(2) == 0) {
      contact::Row& row = add_row_along(random(n, 1), RowKind::kFriction, 0, &problem);
      row.bound = 1e-3 * std::pow(10, uniform(-1, 1));
      row.slip_tolerance = 1e-4;
    }
    return problem;
  }

 private:
  /// Adds contacts of a point between two walls that face each other, up to an angle.
  void add_squeezed_point(int n, ContactProblem* problem) {
    contact::Segment segment;
    segment.block = 0;
    segment.first_column = static_cast<int>(problem->column_dof.size());
    segment.num_columns = n;
    const MatrixXd J = random(3, n) / std::sqrt(n);
    for (int dof = 0; dof < n; ++dof) {
      problem->column_dof.push_back(dof);
      for (int k = 0; k < 6; ++k) problem->columns.push_back(k < 3 ? 0 : J(k - 3, dof));
    }
    contact::BodyPair pair;
    pair.first_segment = static_cast<int>(problem->segments.size());
    pair.num_segments = 1;
    pair.first_contact = problem->num_contacts();
    pair.num_contacts = 1 + pick(3);
    problem->segments.push_back(segment);
    problem->pairs.push_back(pair);
    for (int i = 0; i < pair.num_contacts; ++i) {
      contact::Contact& c = problem->contacts.emplace_back();
      const double sign = i % 2 == 0 ? 1 : -1, angle = std::pow(10, uniform(-17, -1));
      const double cos = std::cos(angle), sin = std::sin(angle);
      c.R_WC = {cos, 0, sin, 0, sign, 0, -sign * sin, 0, sign * cos};
      c.phi0 = position();
      c.friction = {0, 0, 0, 0, 0};
      c.id = problem->contacts.size();
    }
  }

  static constexpr double kTimeStep = 2e-3;

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  double normal() { return std::normal_distribution<double>()(rng_); }
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  MatrixXd random(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(); });
  }
  /// Usually violated, at times closed or with a small gap.
  double position() {
    const double size = std::pow(10, uniform(-13, -1));
    switch (pick(4)) {
      case 0: return 0;
      case 1: return 1e-2 * size;
      default: return -size;
    }
  }

  std::mt19937_64 rng_;
};

/// Checks a motion against the rows of its problem, by dense matrices.
class MotionCheck {
 public:
  explicit MotionCheck(const SolvedProblem& solved)
      : solved_(solved),
        problem_(solved.problem),
        A_(Eigen::Map<const MatrixXd>(problem_.diagonal(0), num_dofs(), num_dofs())),
        v_(Eigen::Map<const VectorXd>(solved.solution.v.data(), num_dofs())) {
    for (const contact::Row& row : problem_.rows)
      speed_ = std::max(speed_, std::abs(make_row(row).dot(v_)));
    for (const auto& v : solved.solution.contact_velocities)
      speed_ = std::max(speed_, std::hypot(v[0], v[1], v[2]));
  }

  /// Expects that nothing is violated further. Rest violates no row, so this is always possible.
  void expect_no_violation() const {
    ASSERT_TRUE(v_.allFinite());
    const bool has_gaps = contact::traits(solved_.model).gaps == contact::GapPolicy::kSpeculative;
    for (int i = 0; i < problem_.num_contacts(); ++i)
      if (has_gaps || problem_.contacts[i].phi0 <= 0)
        expect_open(problem_.contacts[i].phi0, solved_.solution.contact_velocities[i][2]);
    const double corrected = calc_equality_speed();
    for (const contact::Row& row : problem_.rows) {
      const double v = make_row(row).dot(v_);
      if (row.kind == RowKind::kLimit) expect_open(row.position, v);
      if (row.kind == RowKind::kEquality) {
        EXPECT_LE(std::abs(v), corrected * make_row(row).norm() + calc_dependent_speed(row) +
                                   kTolerance * speed_);
      }
    }
  }

  double speed() const { return speed_; }

  /// Expects that only corrections add energy, each at most as [theory:correction-speed] allows.
  void expect_bounded_energy() const {
    const Eigen::LLT<MatrixXd> factor(A_);
    const auto add = [&](const VectorXd& row, double position, double* sum) {
      *sum += calc_correction(position) / std::sqrt(row.dot(factor.solve(row)));
    };
    double added = 0;
    for (const contact::Row& row : problem_.rows)
      if (row.kind != RowKind::kFriction) add(make_row(row), std::min(row.position, 0.0), &added);
    for (const contact::Row& row : problem_.rows)
      if (row.kind == RowKind::kEquality) add(make_row(row), row.position, &added);
    for (const contact::Contact& c : problem_.contacts)
      add(make_normal(c), std::min(c.phi0, 0.0), &added);
    const Eigen::Map<const VectorXd> v0(problem_.v0.data(), num_dofs());
    const Eigen::Map<const VectorXd> impulse(problem_.free_impulse.data(), num_dofs());
    const VectorXd v_free = v0 + factor.solve(impulse);
    const double most = std::sqrt(v_free.dot(A_ * v_free)) + 10 * added;
    EXPECT_LE(v_.dot(A_ * v_), (1 + kTolerance) * most * most);
  }

 private:
  int num_dofs() const { return problem_.num_dofs(); }

  VectorXd make_row(const contact::Row& row) const {
    VectorXd out = VectorXd::Zero(num_dofs());
    for (int k = row.first_column; k < row.first_column + row.num_columns; ++k)
      out[problem_.row_dof[k]] = problem_.row_columns[k];
    return out;
  }

  VectorXd make_normal(const contact::Contact& c) const {
    VectorXd out = VectorXd::Zero(num_dofs());
    for (int dof = 0; dof < num_dofs(); ++dof)
      for (int k = 0; k < 3; ++k) out[dof] += c.R_WC[3 * k + 2] * problem_.columns[6 * dof + 3 + k];
    return out;
  }

  /// Returns the speed at which a violation is corrected.
  double calc_correction(double position) const {
    const contact::ModelParameters parameters;
    return std::min(parameters.gap_correction * std::abs(position) / problem_.time_step,
                    parameters.max_correction_speed);
  }

  /// Returns the speed per length of a row that corrections of equalities may cause together, see
  /// [theory:correction-speed].
  double calc_equality_speed() const {
    double sum = 0;
    for (const contact::Row& row : problem_.rows)
      if (row.kind == RowKind::kEquality)
        sum += calc_correction(row.position) / make_row(row).norm();
    return 10 * sum;
  }

  /// Returns by how much an equality may miss its velocity as a row that depends on others: by the
  /// angle up to which the last level of fallbacks drops such rows.
  double calc_dependent_speed(const contact::Row& row) const {
    const VectorXd J = make_row(row);
    return std::sqrt(kWideRankTolerance * J.dot(A_.llt().solve(J)) * v_.dot(A_ * v_));
  }

  void expect_open(double position, double v) const {
    EXPECT_GE(v + std::max(0.0, position) / problem_.time_step, -kTolerance * speed_);
  }

  const SolvedProblem& solved_;
  const ContactProblem& problem_;
  MatrixXd A_;
  VectorXd v_;
  double speed_ = 1;  // of the fastest row or contact
};

class ContradictionsTest : public testing::TestWithParam<ContactModel> {};

TEST_P(ContradictionsTest, EveryStepViolatesNothingFurther) {
  const int num_problems = support::num_trials(6000);
  int num_conflicts = 0;
  for (int seed = 0; seed < num_problems; ++seed) {
    SCOPED_TRACE(seed);
    SolvedProblem solved(GetParam(), Contradictions(seed).make());
    ASSERT_FALSE(solved.has_failed());
    const MotionCheck check(solved);
    check.expect_no_violation();
    check.expect_bounded_energy();
    EXPECT_LE(solved.certify().rigid.constraint_error, kTolerance * check.speed());
    num_conflicts += solved.solution.islands[0].has_conflict;
  }
  EXPECT_GT(num_conflicts, num_problems / 2);
}

INSTANTIATE_TEST_SUITE_P(Models, ContradictionsTest, testing::ValuesIn(support::rigid_models()),
                         support::model_name);

}  // namespace
}  // namespace stiction::formulations::contradictions_test
