#include "stiction/formulations/convex/dense_hessian.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/QR>

#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "support/dense_problem.hpp"
#include "support/dense_solver.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"

namespace stiction::formulations::dense_hessian_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::calc_law_hessian;
using support::DenseProblem;
using support::make_completed_problem;
using support::to_vector;

/// The solution of a problem and the Hessian at it.
struct Solved {
  VectorXd v;
  MatrixXd H;

  Solved(const ContactProblem& problem, ContactModel model,
         const contact::ModelParameters& parameters = {}) {
    const std::unique_ptr<ContactSolver> solver = make_contact_solver(model);
    contact::Islands islands;
    islands.find(problem);
    contact::ContactSolution solution;
    SolverOptions options;
    options.relative_tolerance = 1e-10;
    options.parameters = parameters;
    solver->solve(problem, islands, options, {}, nullptr, &solution);
    v = to_vector(solution.v);
    const std::vector<double> dense =
        formulations::calc_dense_hessian(problem, solver->calc_pair_hessians(problem), solution.v);
    H = Eigen::Map<const MatrixXd>(dense.data(), v.size(), v.size());
  }
};

class DenseHessian : public testing::TestWithParam<ContactModel> {};

TEST_P(DenseHessian, EqualsTheHessianOfTheCost) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 20; ++i) {
    const ContactProblem problem = make_completed_problem({}, &rng);
    const Solved solved(problem, GetParam());
    const MatrixXd expected = calc_law_hessian(GetParam(), problem, {}, solved.v);
    // The curvature amplifies the rounding of v_c (measured: 2e-11).
    EXPECT_LE((solved.H - expected).norm(), 1e-9 * expected.norm()) << "problem " << i;
  }
}

TEST_P(DenseHessian, UsesTheChosenLaws) {
  std::mt19937_64 rng(4);
  contact::ModelParameters parameters;
  parameters.normal_law = contact::NormalLawKind::hertz;
  parameters.friction_law = contact::FrictionRegularizationKind::arctan;
  for (int i = 0; i < 5; ++i) {
    const ContactProblem problem = make_completed_problem({}, &rng);
    const Solved solved(problem, GetParam(), parameters);
    const MatrixXd expected = calc_law_hessian(GetParam(), problem, parameters, solved.v);
    EXPECT_LE((solved.H - expected).norm(), 1e-9 * expected.norm()) << "problem " << i;
    EXPECT_EQ(contact::traits(GetParam()).takes_laws,
              (Solved(problem, GetParam()).H - solved.H).norm() > 1e-6 * expected.norm());
  }
}

/// Compares H d for random directions d with differences of the gradient by the reference laws,
/// which are independent of the solver's derivatives. Problems with a contact near a kink are left
/// out.
TEST_P(DenseHessian, IsTheDerivativeOfTheReferenceGradient) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  int num_smooth = 0;
  for (int i = 0; i < 20; ++i) {
    const ContactProblem problem = make_completed_problem({}, &rng);
    const Solved solved(problem, GetParam());
    const DenseProblem dense(problem);
    VectorXd d(solved.v.size());
    for (double& x : d) x = normal(rng);
    const auto difference = [&](double h) -> VectorXd {
      return (dense.calc_gradient(problem, GetParam(), {}, solved.v + h * d) -
              dense.calc_gradient(problem, GetParam(), {}, solved.v - h * d)) /
             (2 * h);
    };
    const VectorXd g1 = difference(1e-8), g2 = difference(2e-8);
    if ((g1 - g2).norm() > 1e-5 * g1.norm()) continue;  // there is a kink within h
    ++num_smooth;
    EXPECT_LE((solved.H * d - g1).norm(), 1e-4 * g1.norm()) << "problem " << i;
  }
  EXPECT_GE(num_smooth, 5);
}

TEST_P(DenseHessian, WithoutContactsIsTheMomentumMatrix) {
  std::mt19937_64 rng(3);
  const ContactProblem problem = make_completed_problem({.num_pairs = 0, .num_rows = 0}, &rng);
  const MatrixXd H = Solved(problem, GetParam()).H;
  const MatrixXd A = DenseProblem(problem).A;
  EXPECT_LE((H - A).norm(), 1e-15 * A.norm());
}

INSTANTIATE_TEST_SUITE_P(Models, DenseHessian,
                         testing::ValuesIn(support::without(ContactModel::coulomb,
                                                            support::convex_models())),
                         support::model_name);

/// Many equal bodies cause many equal eigenvalues.
TEST(ConditionNumber, IsAccurateForRepeatedEigenvalues) {
  constexpr int kSize = 60;
  const MatrixXd Q = Eigen::HouseholderQR<MatrixXd>(MatrixXd::Random(kSize, kSize)).householderQ();
  VectorXd eigenvalues(kSize);
  for (int i = 0; i < kSize; ++i) eigenvalues[i] = i % 3 == 0 ? 5e-4 : i % 3 == 1 ? 1 : 2e3;
  const MatrixXd H = Q * eigenvalues.asDiagonal() * Q.transpose();
  EXPECT_NEAR(formulations::calc_condition_number({H.data(), kSize * kSize}), 4e6, 1);
}

}  // namespace
}  // namespace stiction::formulations::dense_hessian_test
