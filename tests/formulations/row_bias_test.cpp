// The prescribed velocity of a row: v_r = J v + b.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::row_bias_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::Row;
using contact::RowKind;
using support::SolvedProblem;

double find_largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

class RowBias : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, RowBias, testing::ValuesIn(support::compliant_models()),
                         support::model_name);

TEST_P(RowBias, IsAChangeOfTheTarget) {
  std::mt19937_64 rng(7);
  SolverOptions options;
  options.relative_tolerance = 1e-9;
  for (int trial = 0; trial < 10; ++trial) {
    ContactProblem problem = support::make_random_problem({.driven_rows = true}, &rng);
    std::erase_if(problem.rows, [](const Row& row) { return row.kind == RowKind::kFriction; });
    ASSERT_TRUE(std::any_of(problem.rows.begin(), problem.rows.end(),
                            [](const Row& row) { return row.bias != 0; }));
    ContactProblem shifted = problem;
    for (Row& row : shifted.rows) row.target -= std::exchange(row.bias, 0);
    SolvedProblem with_bias(GetParam(), problem, options), twin(GetParam(), shifted, options);
    if (with_bias.has_failed() || twin.has_failed()) continue;  // tamsi may
    EXPECT_TRUE(with_bias.certify().ok);
    EXPECT_LT(find_largest_difference(with_bias.solution.v, twin.solution.v), 1e-7);
  }
}

class RigidRowBias : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, RigidRowBias, testing::ValuesIn(support::rigid_models()),
                         support::model_name);

/// A body of 2 kg on a line, with an equality and a limit that another body drives.
ContactProblem make_driven(RowKind kind, double bias) {
  ContactProblem problem;
  problem.clear(0.01);
  const int block = problem.add_block(1);
  problem.diagonal(block)[0] = 2;
  problem.v0[0] = 0.1;
  Row row;
  row.kind = kind;
  row.regularization = 1e-3;
  row.bias = bias;
  row.num_columns = 1;
  problem.row_dof.push_back(0);
  problem.row_columns.push_back(1);
  problem.rows.push_back(row);
  return problem;
}

TEST_P(RigidRowBias, IsTheVelocityOfWhatDrivesTheRow) {
  for (const double bias : {-3.0, 0.5, 3.0}) {
    SolvedProblem equality(GetParam(), make_driven(RowKind::kEquality, bias));
    EXPECT_NEAR(equality.solution.v[0], -bias, 1e-12);
    EXPECT_TRUE(equality.certify().ok);
    SolvedProblem limit(GetParam(), make_driven(RowKind::kLimit, bias));
    EXPECT_NEAR(limit.solution.v[0], std::max(0.1, -bias), 1e-12);
    EXPECT_TRUE(limit.certify().ok);
  }
}

TEST_P(RigidRowBias, MustBeInTheSolution) {
  // The solution of the row without its bias lags behind what drives it.
  for (const RowKind kind : {RowKind::kEquality, RowKind::kLimit}) {
    SolvedProblem solved(GetParam(), make_driven(kind, -0.5));
    const SolvedProblem lagging(GetParam(), make_driven(kind, 0));
    EXPECT_FALSE(solved.certify(lagging.solution).ok);
  }
}

}  // namespace
}  // namespace stiction::formulations::row_bias_test
