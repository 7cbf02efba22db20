// Dry friction of joints under all rigid models, against a formula that tries every state of every
// joint and limit.
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/models.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::dry_joints_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::SolvedProblem;

/// A chain of n scalar joints with dry friction. The first joints have limits too, at rest against
/// them. Masses of neighbors differ by up to a factor of 30, so the joints act on each other.
ContactProblem make_chain(int n, int num_limits, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  MatrixXd J = MatrixXd::Identity(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) J(i, j) = 0.5 * normal(*rng);
  VectorXd masses(n);
  for (double& mass : masses) mass = std::pow(30.0, -uniform(*rng));
  ContactProblem problem;
  problem.clear(1e-3);
  const int block = problem.add_block(n);
  Eigen::Map<MatrixXd> A(problem.diagonal(block), n, n);
  A = J.transpose() * masses.asDiagonal() * J;
  VectorXd v0(n);
  for (double& v : v0) v = normal(*rng);
  for (int i = 0; i < n; ++i) problem.v0[i] = v0[i];
  for (int i = 0; i < n; ++i) problem.free_impulse[i] = 0.1 * normal(*rng);
  for (int i = 0; i < n; ++i) {
    contact::Row& row = add_row(RowKind::kFriction, i, 0, &problem);
    row.bound = uniform(*rng) * A(i, i);
    if (i % 4 == 3) row.bound = 0;
    row.slip_tolerance = i % 2 == 0 ? 1e-4 : 1e-2;
  }
  for (int i = 0; i < std::min(n, num_limits); ++i)
    add_row(RowKind::kLimit, i, 0, &problem, i % 2 ? -1 : 1);
  return problem;
}

/// Returns the velocities that satisfy the laws of all rows of a chain: friction
/// -bound clamp(v / (c bound), -1, 1) and limits 0 <= gamma _|_ v >= 0. Each joint is tried as
/// sticking, slipping forward and slipping backward, and each limit as open and closed.
/// @param is_exact true: c = 0
VectorXd find_motion(const ContactProblem& problem, bool is_exact) {
  const int n = problem.num_dofs(), num_rows = problem.num_rows();
  const Eigen::Map<const MatrixXd> A(problem.diagonal(0), n, n);
  const Eigen::Map<const VectorXd> v0(problem.v0.data(), n), p(problem.free_impulse.data(), n);
  int num_states = 1;
  for (int i = 0; i < num_rows; ++i) num_states *= 3;
  for (int code = 0; code < num_states; ++code) {
    // A v + [rows of sticking joints and closed limits]^T gamma = right-hand side.
    MatrixXd K = MatrixXd::Zero(n + num_rows, n + num_rows);
    VectorXd f = VectorXd::Zero(n + num_rows);
    K.topLeftCorner(n, n) = A;
    f.head(n) = A * v0 + p;
    bool exists = true;
    for (int i = 0, rest = code; i < num_rows; ++i, rest /= 3) {
      const contact::Row& row = problem.rows[i];
      const int dof = problem.row_dof[row.first_column], state = rest % 3;
      const double column = problem.row_columns[row.first_column];
      K(dof, n + i) = -column;
      K(n + i, n + i) = 1;
      if (row.kind == RowKind::kLimit) {
        exists = exists && state < 2;
        if (state == 0) continue;  // open: gamma = 0
        K(n + i, n + i) = 0;
        K(n + i, dof) = column;
      } else if (state == 0 && row.bound > 0) {
        K(n + i, n + i) = is_exact ? 0 : row.slip_tolerance / row.bound;
        K(n + i, dof) = column;
      } else {
        f[n + i] = state == 2 ? row.bound : -row.bound;
      }
    }
    if (!exists) continue;
    const Eigen::FullPivLU<MatrixXd> lu(K);
    if (!lu.isInvertible()) continue;
    const VectorXd x = lu.solve(f);
    bool is_solution = true;
    for (int i = 0, rest = code; i < num_rows; ++i, rest /= 3) {
      const contact::Row& row = problem.rows[i];
      const double v = problem.row_columns[row.first_column] * x[problem.row_dof[row.first_column]];
      const double gamma = x[n + i];
      constexpr double kEps = 1e-11;
      if (row.kind == RowKind::kLimit)
        is_solution = is_solution && v >= -kEps && gamma >= -kEps;
      else if (rest % 3 == 0)
        is_solution = is_solution && std::abs(gamma) <= row.bound + kEps;
      else
        is_solution = is_solution && (rest % 3 == 1 ? v : -v) >= -kEps;
    }
    if (is_solution) return x.head(n);
  }
  ADD_FAILURE() << "no combination of states is a solution";
  return VectorXd::Zero(n);
}

class DryJoints : public testing::TestWithParam<ContactModel> {};

TEST_P(DryJoints, ChainsMoveAsTheFormulaSays) {
  const contact::ContactModelTraits& traits = contact::traits(GetParam());
  std::mt19937_64 rng(4);
  for (int k = 0; k < 150; ++k) {
    const int n = 1 + static_cast<int>(rng() % 4), num_limits = static_cast<int>(rng() % 3);
    SolvedProblem solved(GetParam(), make_chain(n, num_limits, &rng));
    ASSERT_FALSE(solved.has_failed()) << "chain " << k;
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << "chain " << k << ": " << certificate.failed.quantity;
    // Least energy has laws of its own where a limit acts, and a play of 1e-6 m/s.
    const bool is_least_energy = traits.tangents == contact::TangentPolicy::kLeastEnergy;
    if (is_least_energy && num_limits > 0) continue;
    const VectorXd v = find_motion(solved.problem, traits.uses_friction);
    const double tolerance = is_least_energy ? 1e-5 : 1e-8;
    for (int i = 0; i < n; ++i) EXPECT_NEAR(solved.solution.v[i], v[i], tolerance) << "chain " << k;
  }
}

TEST_P(DryJoints, LongChainsAreSolved) {
  std::mt19937_64 rng(5);
  for (int k = 0; k < 100; ++k) {
    SolvedProblem solved(GetParam(), make_chain(20, 6, &rng));
    const contact::IslandStatistics& island = solved.solution.islands[0];
    EXPECT_FALSE(solved.has_failed())
        << "chain " << k << ": status " << static_cast<int>(island.status) << ", residual "
        << island.residual << " after " << island.iterations << " pivots";
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << "chain " << k << ": " << certificate.failed.quantity << " "
                                << certificate.failed.value << " > " << certificate.failed.limit;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DryJoints, testing::ValuesIn(support::rigid_models()),
                         support::model_name);

TEST(DryJointSolvers, AllLcpSolversThatTakeBoundsAgree) {
  std::mt19937_64 rng(6);
  for (int k = 0; k < 60; ++k) {
    const ContactProblem problem = make_chain(1 + static_cast<int>(rng() % 12), k % 3, &rng);
    const SolvedProblem reference(ContactModel::no_slip, problem);
    for (const numerics::LcpSolver solver :
         {numerics::LcpSolver::ppm, numerics::LcpSolver::lemke}) {
      SolverOptions options;
      options.parameters.lcp_solver = solver;
      SolvedProblem solved(ContactModel::no_slip, problem, options);
      if (solver == numerics::LcpSolver::ppm && solved.has_failed()) continue;  // no guarantee
      ASSERT_FALSE(solved.has_failed()) << numerics::name(solver) << ", chain " << k;
      EXPECT_TRUE(solved.certify().ok) << numerics::name(solver) << ", chain " << k;
      for (int i = 0; i < problem.num_dofs(); ++i)
        EXPECT_NEAR(solved.solution.v[i], reference.solution.v[i], 1e-7);
    }
  }
}

}  // namespace
}  // namespace stiction::formulations::dry_joints_test
