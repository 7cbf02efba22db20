#include "support/dense_solver.hpp"

#include <vector>

#include <Eigen/Cholesky>

#include "stiction/laws/row_impulse.hpp"
#include "support/law_under_test.hpp"

namespace stiction::support {
namespace {

using contact::Contact;
using contact::ContactModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::DenseProblem;

/// The convex cost of a problem, from its laws and dense matrices.
class DenseCost {
 public:
  DenseCost(ContactModel model, const contact::ContactProblem& problem,
            const contact::ModelParameters& parameters)
      : problem_(problem), dense_(problem) {
    for (int i = 0; i < problem.num_contacts(); ++i) {
      const Contact& c = problem.contacts[i];
      LawStart start;
      start.contact = c;
      start.v_n0 = (dense_.J[i] * dense_.v0 + dense_.b[i])[2];
      start.delassus = problem.delassus[i];
      start.time_step = problem.time_step;
      const bool needs_six = c.dim > 3 || (c.dim == 3 && c.friction[0] != c.friction[1]);
      laws_.push_back(needs_six && contact::traits(model).takes_torsion
                          ? make_torsion_law(model, start, parameters)
                          : make_law(model, start, parameters));
    }
  }

  const DenseProblem& dense() const { return dense_; }

  double calc_cost(const VectorXd& v) const {
    const VectorXd change = v - dense_.v_star;
    double cost = 0.5 * change.dot(dense_.A * change);
    for (std::size_t i = 0; i < laws_.size(); ++i) cost += laws_[i].cost(contact_velocity(i, v));
    for (std::size_t i = 0; i < dense_.rows.size(); ++i)
      cost += laws::calc_row_cost(problem_.rows[i], dense_.rows[i] * v + problem_.rows[i].bias);
    return cost;
  }

  VectorXd calc_gradient(const VectorXd& v) const {
    VectorXd g = dense_.A * (v - dense_.v_star);
    for (std::size_t i = 0; i < laws_.size(); ++i)
      g -= jacobian(i).transpose() * laws_[i].impulse(contact_velocity(i, v));
    for (std::size_t i = 0; i < dense_.rows.size(); ++i)
      g -= dense_.rows[i].transpose() *
           laws::calc_row_impulse(problem_.rows[i], dense_.rows[i] * v + problem_.rows[i].bias)
               .gamma;
    return g;
  }

  MatrixXd calc_hessian(const VectorXd& v) const {
    MatrixXd H = dense_.A;
    for (std::size_t i = 0; i < laws_.size(); ++i)
      H += jacobian(i).transpose() * laws_[i].hessian(contact_velocity(i, v)) * jacobian(i);
    for (std::size_t i = 0; i < dense_.rows.size(); ++i)
      H += laws::calc_row_impulse(problem_.rows[i], dense_.rows[i] * v + problem_.rows[i].bias)
               .stiffness *
           dense_.rows[i].transpose() * dense_.rows[i];
    return H;
  }

 private:
  MatrixXd jacobian(std::size_t i) const { return dense_.J[i].topRows(laws_[i].size); }
  VectorXd contact_velocity(std::size_t i, const VectorXd& v) const {
    return (dense_.J[i] * v + dense_.b[i]).head(laws_[i].size);
  }

  const contact::ContactProblem& problem_;
  DenseProblem dense_;
  std::vector<LawUnderTest> laws_;
};

/// Finds the root of d . gradient(v + alpha d) in (0, 2] by bisection.
double bisect(const DenseCost& cost, const VectorXd& v, const VectorXd& d) {
  const auto slope = [&](double alpha) { return d.dot(cost.calc_gradient(v + alpha * d)); };
  if (std::abs(slope(1)) <= 1e-3 * std::abs(slope(0))) return 1;
  double low = 0, high = 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0 ? low : high) = middle;
  }
  return high;
}

}  // namespace

VectorXd solve_dense(ContactModel model, const contact::ContactProblem& problem,
                     const contact::ModelParameters& parameters) {
  const DenseCost cost(model, problem, parameters);
  VectorXd v = cost.dense().v0, best = v;
  double best_residual = HUGE_VAL;
  const double near = 1e-6 * (1 + cost.dense().calc_norm(v));
  // Iterate until round-off: close to the minimum, steps no longer reduce the gradient.
  for (int iteration = 0, stalled = 0; iteration < 1000 && stalled < 8; ++iteration) {
    const VectorXd g = cost.calc_gradient(v);
    const double residual = cost.dense().calc_dual_norm(g);
    stalled = residual < 0.5 * best_residual ? 0 : stalled + (best_residual < near);
    if (residual < best_residual) {
      best = v;
      best_residual = residual;
    }
    const VectorXd d = -cost.calc_hessian(v).llt().solve(g);
    v += bisect(cost, v, d) * d;
  }
  return best;
}

double calc_dense_cost(ContactModel model, const contact::ContactProblem& problem,
                       const contact::ModelParameters& parameters, const VectorXd& v) {
  return DenseCost(model, problem, parameters).calc_cost(v);
}

MatrixXd calc_law_hessian(ContactModel model, const contact::ContactProblem& problem,
                          const contact::ModelParameters& parameters, const VectorXd& v) {
  return DenseCost(model, problem, parameters).calc_hessian(v);
}

}  // namespace stiction::support
