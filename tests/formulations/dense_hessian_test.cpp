#include "stiction/contact/dense_hessian.hpp"

#include <random>

#include <gtest/gtest.h>

#include "formulations/dense_solver.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "support/dense_problem.hpp"
#include "support/random_problem.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ContactProblem make_problem(std::mt19937_64* rng) {
  ContactProblem problem = support::make_random_problem({}, rng);
  contact::MomentumFactor factor;
  EXPECT_TRUE(factor.calc_derived(1, &problem));
  return problem;
}

MatrixXd calc_hessian(const ContactProblem& problem, ContactModel model,
                      const contact::ModelParameters& parameters, const VectorXd& v) {
  const std::vector<double> H = contact::calc_dense_hessian(
      problem, model, parameters, {v.data(), static_cast<std::size_t>(v.size())});
  return Eigen::Map<const MatrixXd>(H.data(), v.size(), v.size());
}

/// The differences of the reference laws against the derivatives that the solver uses, at the
/// solution, where contacts stick, slip and are apart, and well away from it.
TEST(DenseHessian, EqualsThatOfTheSolversLaws) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (traits.model == ContactModel::mujoco) continue;
    for (int i = 0; i < 10; ++i) {
      const ContactProblem problem = make_problem(&rng);
      const contact::ModelParameters parameters;
      VectorXd v = solve_dense(traits.model, problem, parameters);
      for (int far = 0; far < 2; ++far) {
        const MatrixXd ours = calc_hessian(problem, traits.model, parameters, v);
        const MatrixXd theirs = calc_law_hessian(traits.model, problem, parameters, v);
        // Central differences over a millionth of the impulse.
        EXPECT_LE((ours - theirs).norm(), 1e-5 * theirs.norm())
            << traits.name << " problem " << i << (far ? ", away from the solution" : "");
        EXPECT_LE((ours - ours.transpose()).norm(), 1e-5 * theirs.norm()) << traits.name;
        for (double& x : v) x += 0.1 * normal(rng);
      }
    }
  }
}

TEST(DenseHessian, WithoutContactsIsTheMomentumMatrix) {
  std::mt19937_64 rng(2);
  ContactProblem problem = support::make_random_problem({.num_pairs = 0, .num_rows = 0}, &rng);
  contact::MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  const support::DenseProblem dense(problem);
  const MatrixXd H = calc_hessian(problem, ContactModel::lagged, {}, dense.v0);
  EXPECT_LE((H - dense.A).norm(), 1e-15 * dense.A.norm());
}

}  // namespace
}  // namespace stiction::formulations
