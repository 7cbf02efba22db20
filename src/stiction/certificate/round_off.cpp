#include "stiction/certificate/round_off.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/certificate/certifier.hpp"
#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::Row;
using contact::Segment;
namespace {

/// The rounding error of a sum of a few terms relative to the largest of them. It includes the
/// errors of v, of the products and of the sums.
constexpr double kUnit = 16 * std::numeric_limits<double>::epsilon();

/// An angular and a linear magnitude: of motions [rad/s, m/s] or of wrenches [N m s, N s].
struct Magnitude {
  double angular = 0;
  double linear = 0;
};

double norm(const double* a) { return math::hypot(a[0], a[1], a[2]); }

/// Sums the magnitudes of the terms that calc_pair_motion adds.
Magnitude calc_pair_terms(const ContactProblem& problem, const BodyPair& pair,
                          std::span<const double> v) {
  Magnitude sum;
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    const double* u = v.data() + problem.dof_start[segment.block];
    if (segment.is_rigid_body) {
      sum.angular += norm(u);
      sum.linear += norm(u + 3) + norm(segment.offset.data()) * norm(u);
      continue;
    }
    for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c) {
      const double speed = std::abs(u[problem.column_dof[c]]);
      sum.angular += speed * norm(problem.columns.data() + 6 * c);
      sum.linear += speed * norm(problem.columns.data() + 6 * c + 3);
    }
  }
  return sum;
}

/// Adds |J|^T F to f.
void add_pair_magnitude(const ContactProblem& problem, const BodyPair& pair, const Magnitude& F,
                        std::span<double> f) {
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    double* to = f.data() + problem.dof_start[segment.block];
    if (segment.is_rigid_body) {
      for (int i = 0; i < 3; ++i) {
        to[i] += F.angular + norm(segment.offset.data()) * F.linear;
        to[3 + i] += F.linear;
      }
      continue;
    }
    for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c) {
      const double* J = problem.columns.data() + 6 * c;
      to[problem.column_dof[c]] += norm(J) * F.angular + norm(J + 3) * F.linear;
    }
  }
}

/// Adds |A| x to y for magnitudes x >= 0.
void add_A_magnitude(const ContactProblem& problem, std::span<const double> x,
                     std::span<double> y) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int dof = problem.dof_start[b], n = problem.block_size(b);
    const double* A = problem.diagonal(b);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) y[dof + i] += std::abs(A[i + j * n]) * x[dof + j];
  }
  for (const contact::Coupling& c : problem.couplings) {
    const double* A = problem.A.data() + c.start;
    const int row = problem.dof_start[c.row_block], column = problem.dof_start[c.column_block];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        const double a = std::abs(A[i + j * m]);
        y[row + i] += a * x[column + j];
        y[column + j] += a * x[row + i];
      }
  }
}

/// Bounds the change of a law's impulse, linear and angular, if each component of v_c is off by
/// delta. The bound is the sum over the components of the largest change.
template <class Law>
Magnitude calc_law_change(const Law& law, const ContactVector& v_c, const ContactVector& delta) {
  const ContactVector gamma = law(v_c);
  Magnitude change;
  for (int i = 0; i < 6; ++i) {
    Magnitude largest;
    for (const double sign : {-1.0, 1.0}) {
      ContactVector moved = v_c;
      moved[i] += sign * delta[i];
      ContactVector difference = law(moved);
      for (int e = 0; e < 6; ++e) difference[e] -= gamma[e];
      largest.linear = std::max(largest.linear, norm(difference.data()));
      largest.angular = std::max(largest.angular, norm(difference.data() + 3));
    }
    change.linear += largest.linear;
    change.angular += largest.angular;
  }
  // The law itself rounds as well.
  change.linear += kUnit * norm(gamma.data());
  change.angular += kUnit * norm(gamma.data() + 3);
  return change;
}

}  // namespace

double calc_rounding_unit(const ContactProblem& problem) {
  // A term passes through some ten operations on its way to a contact, and is then one of as many
  // as there are contacts and rows.
  constexpr int kOperations = 32;
  return std::numeric_limits<double>::epsilon() *
         (kOperations + problem.num_contacts() + problem.num_rows());
}

void RoundOff::calc_sums(const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  const int num_dofs = problem.num_dofs();
  laws_.clear();
  impulse_ = 0;
  magnitude_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i)
    magnitude_[i] = std::abs(step.solution.v[i]) + std::abs(problem.v_star[i]);
  terms_.assign(num_dofs, 0.0);
  add_A_magnitude(problem, magnitude_, terms_);
  for (const BodyPair& pair : problem.pairs) add_pair_terms(step, pair);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    const double gamma = std::abs(step.solution.row_impulses[i]);
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      terms_[problem.row_dof[c]] += std::abs(problem.row_columns[c]) * gamma;
  }
  impulses_ = 0;
  if (contact::traits(step.model).is_rigid)
    for (int i = 0; i < problem.num_contacts(); ++i)
      impulses_ += std::sqrt(problem.delassus[i]) * norm(step.solution.impulses[i].data());
  unit_ = calc_rounding_unit(problem);
}

/// Adds |J|^T |gamma| of a pair's contacts to terms_.
void RoundOff::add_pair_terms(const SolvedStep& step, const BodyPair& pair) {
  Magnitude F;
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    const ContactVector& gamma = step.solution.impulses[i];
    const double force = norm(gamma.data());
    F.linear += force;
    F.angular += norm(gamma.data() + 3) + norm(step.problem.contacts[i].offset.data()) * force;
  }
  add_pair_magnitude(step.problem, pair, F, terms_);
}

void RoundOff::calc_laws(const SolvedStep& step) {
  laws_.assign(step.problem.num_dofs(), 0.0);
  contact_impulses_.resize(step.problem.num_contacts());
  impulse_ = 0;
  for (const BodyPair& pair : step.problem.pairs) add_pair(step, pair);
  for (const Row& row : step.problem.rows) add_row(step, row);
}

double RoundOff::calc_residual(const ContactProblem& problem, std::span<const int> blocks,
                               double momentum) const {
  double terms2 = 0, laws2 = 0;
  for (const int b : blocks) {
    const int n = problem.block_size(b);
    for (int i = 0; i < n; ++i) {
      const int dof = problem.dof_start[b] + i;
      const double a = problem.diagonal(b)[i * (n + 1)];
      terms2 += terms_[dof] * terms_[dof] / a;
      if (!laws_.empty()) laws2 += laws_[dof] * laws_[dof] / a;
    }
  }
  const double terms = std::sqrt(terms2);
  // A result that laws amplify to a larger rounding error is not a solution.
  constexpr double kMaxRoundOff = 1e-4;  // relative to the momentum or the impulses
  return unit_ * (terms + impulses_) +
         std::min(std::sqrt(laws2), kMaxRoundOff * std::max(momentum, terms));
}

void RoundOff::add_pair(const SolvedStep& step, const BodyPair& pair) {
  const ContactProblem& problem = step.problem;
  const ContactSolution& solution = step.solution;
  double V0[6], V[6];
  calc_pair_motion(problem, pair, problem.v0, V0);
  calc_pair_motion(problem, pair, solution.v, V);
  const Magnitude terms = calc_pair_terms(problem, pair, solution.v);
  Magnitude F;
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    const Contact& c = problem.contacts[i];
    const ContactState state = {
        .time_step = problem.time_step,
        .w = problem.delassus[i],
        .v_n0 = calc_contact_velocity(c, V0)[2],
        .given_bound = solution.normal_bounds.empty() ? 0 : solution.normal_bounds[i],
        .lagged_impulse = problem.find_lagged_impulse(i),
        .anchor = step.find_anchor(i)};
    const auto law = [&](const ContactVector& v_c) {
      return calc_reference_impulse(step.model, step.parameters, c, state, v_c).gamma;
    };
    // The rounding errors of v_c, linear and angular.
    const double arm = norm(c.offset.data());
    const double linear = kUnit * (terms.linear + arm * terms.angular + norm(c.bias.data()));
    const double angular = kUnit * (terms.angular + std::abs(c.spin_bias));
    const Magnitude change = calc_law_change(law, calc_contact_velocity(c, V),
                                             {linear, linear, linear, angular, angular, angular});
    F.linear += change.linear;
    F.angular += change.angular + arm * change.linear;
    contact_impulses_[i] = change.linear;
    impulse_ = std::max({impulse_, change.linear, change.angular});
  }
  add_pair_magnitude(problem, pair, F, laws_);
}

void RoundOff::add_row(const SolvedStep& step, const Row& row) {
  const ContactProblem& problem = step.problem;
  const std::vector<double>& v = step.solution.v;
  double terms = std::abs(row.bias);
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    terms += std::abs(problem.row_columns[c] * v[problem.row_dof[c]]);
  const double v_r = calc_row_velocity(problem, row, v);
  const double gamma = calc_reference_row_impulse(row, v_r);
  double change = 0;
  for (const double sign : {-1.0, 1.0}) {
    const double moved = calc_reference_row_impulse(row, v_r + sign * kUnit * terms);
    change = std::max(change, std::abs(moved - gamma));
  }
  change += kUnit * std::abs(gamma);  // rounding errors of the law itself
  impulse_ = std::max(impulse_, change);
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    laws_[problem.row_dof[c]] += std::abs(problem.row_columns[c]) * change;
}

}  // namespace stiction::certificate
