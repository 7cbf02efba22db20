#include "stiction/contact/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/reference_laws.hpp"

namespace stiction::contact {
namespace {

double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// y += s (a x b)
void add_cross(double s, const double* a, const double* b, double* y) {
  y[0] += s * (a[1] * b[2] - a[2] * b[1]);
  y[1] += s * (a[2] * b[0] - a[0] * b[2]);
  y[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

/// Motion of B relative to A at the pair's origin, [w; v] in the world, from the dofs' velocities.
void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      const std::vector<double>& v, double V[6]) {
  std::fill_n(V, 6, 0.0);
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    const double* u = v.data() + problem.dof_start[segment.block];
    if (segment.is_rigid_body) {
      for (int i = 0; i < 6; ++i) V[i] += segment.sign * u[i];
      add_cross(segment.sign, u, segment.offset.data(), V + 3);
      continue;
    }
    for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
      for (int i = 0; i < 6; ++i) V[i] += problem.columns[6 * c + i] * u[problem.column_dof[c]];
  }
}

/// v_c with its angular part.
ContactVector calc_contact_velocity(const Contact& c, const double V[6]) {
  double v_p[3] = {V[3], V[4], V[5]};
  add_cross(1, V, c.offset.data(), v_p);
  const double* t1 = c.R_WC.data();
  const double* t2 = t1 + 3;
  const double* n = t1 + 6;
  return {dot3(t1, v_p) + c.bias[0],
          dot3(t2, v_p) + c.bias[1],
          dot3(n, v_p) + c.bias[2],
          dot3(n, V) + c.spin_bias,
          dot3(t1, V),
          dot3(t2, V)};
}

/// F += a contact's impulse as a wrench [torque; force] about the pair's origin.
void add_contact_wrench(const Contact& c, const ContactVector& gamma, double F[6]) {
  const double* t1 = c.R_WC.data();
  double force[3];
  for (int i = 0; i < 3; ++i) {
    force[i] = t1[i] * gamma[0] + t1[3 + i] * gamma[1] + t1[6 + i] * gamma[2];
    F[i] += t1[6 + i] * gamma[3] + t1[i] * gamma[4] + t1[3 + i] * gamma[5];
    F[3 + i] += force[i];
  }
  add_cross(1, c.offset.data(), force, F);
}

/// f += J^T F.
void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const double F[6],
                    std::vector<double>* f) {
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    double* to = f->data() + problem.dof_start[segment.block];
    if (segment.is_rigid_body) {
      for (int i = 0; i < 6; ++i) to[i] += segment.sign * F[i];
      add_cross(segment.sign, segment.offset.data(), F + 3, to);
      continue;
    }
    for (int col = segment.first_column; col < segment.first_column + segment.num_columns; ++col) {
      const double* J = problem.columns.data() + 6 * col;
      to[problem.column_dof[col]] += dot3(J, F) + dot3(J + 3, F + 3);
    }
  }
}

/// y += A x.
void add_A_product(const ContactProblem& problem, const std::vector<double>& x,
                   std::vector<double>* y) {
  const auto add = [](const double* A, int m, int n, const double* from, double* to) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) to[i] += A[i + j * m] * from[j];
  };
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int dof = problem.dof_start[b], n = problem.block_size(b);
    add(problem.diagonal(b), n, n, x.data() + dof, y->data() + dof);
  }
  for (const Coupling& c : problem.couplings) {
    const double* A = problem.A.data() + c.start;
    const int row = problem.dof_start[c.row_block], column = problem.dof_start[c.column_block];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    add(A, m, n, x.data() + column, y->data() + row);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) (*y)[column + j] += A[i + j * m] * x[row + i];
  }
}

}  // namespace

Certificate Certifier::certify(const ContactProblem& problem, MomentumFactor* factor,
                               const Islands& islands, ContactModel model,
                               const ModelParameters& parameters, double tolerance,
                               double absolute_tolerance, const ContactSolution& solution) {
  Certificate out;
  const int num_dofs = problem.num_dofs();
  impulse_.assign(num_dofs, 0.0);
  given_.assign(num_dofs, 0.0);

  // The laws, contact by contact, and J^T gamma of the laws' impulses and of those given.
  double law_scale = 0;  // the largest impulse, by which round-off is judged
  double max_w = 0;
  bool is_finite = true;  // comparisons alone would let a NaN pass
  if (!problem.contacts.empty()) out.min_normal_impulse = kInfinity;
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V[6], F[6] = {0, 0, 0, 0, 0, 0}, F_given[6] = {0, 0, 0, 0, 0, 0};
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, solution.v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const Contact& c = problem.contacts[i];
      const double w = problem.delassus[i];
      max_w = std::max(max_w, w);
      const double v_n0 = calc_contact_velocity(c, V0)[2];
      const ContactVector v_c = calc_contact_velocity(c, V);
      const ReferenceImpulse law =
          calc_reference_impulse(model, parameters, c, problem.time_step, w, v_n0, v_c);
      add_contact_wrench(c, law.gamma, F);

      const ContactVector& given = solution.impulses[i];
      add_contact_wrench(c, given, F_given);
      for (int e = 0; e < 6; ++e) {
        is_finite = is_finite && std::isfinite(given[e]);
        out.impulse_error = std::max(out.impulse_error, std::abs(given[e] - law.gamma[e]));
        law_scale = std::max(law_scale, std::abs(law.gamma[e]));
      }
      out.min_normal_impulse = std::min(out.min_normal_impulse, given[2]);
      const double mu = c.dim > 1 ? std::max(c.friction[0], c.friction[1]) : 0;
      const double bound = mu * law.normal_bound;
      out.max_cone_excess = std::max(out.max_cone_excess, std::hypot(given[0], given[1]) - bound);
      out.max_friction_work =
          std::max(out.max_friction_work, given[0] * v_c[0] + given[1] * v_c[1]);
    }
    add_pair_force(problem, pair, F, &impulse_);
    add_pair_force(problem, pair, F_given, &given_);
  }
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    double v_r = 0;
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      v_r += problem.row_columns[c] * solution.v[problem.row_dof[c]];
    const double gamma = calc_reference_row_impulse(row, v_r);
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
      impulse_[problem.row_dof[c]] += problem.row_columns[c] * gamma;
      given_[problem.row_dof[c]] += problem.row_columns[c] * solution.row_impulses[i];
    }
    is_finite = is_finite && std::isfinite(solution.row_impulses[i]);
    out.impulse_error = std::max(out.impulse_error, std::abs(gamma - solution.row_impulses[i]));
    law_scale = std::max(law_scale, std::abs(gamma));
  }

  // Balance of momentum, A (v - v*) - J^T gamma, and its norms, island by island.
  change_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) change_[i] = solution.v[i] - problem.v_star[i];
  residual_.assign(num_dofs, 0.0);
  add_A_product(problem, change_, &residual_);
  imbalance_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) {
    imbalance_[i] = residual_[i] - given_[i];
    residual_[i] -= impulse_[i];
  }
  momentum_.assign(num_dofs, 0.0);
  add_A_product(problem, solution.v, &momentum_);
  whitened_.resize(num_dofs);
  factor->solve_lower(residual_, whitened_);
  double bound_squared = 0;
  double max_island_bound = 0;
  bool balanced = true;
  const auto add_blocks = [&](std::span<const int> blocks) {
    double r2 = 0, p2 = 0, f2 = 0, e2 = 0;
    for (const int b : blocks) {
      const int n = problem.block_size(b);
      for (int i = 0; i < n; ++i) {
        const int dof = problem.dof_start[b] + i;
        const double D2 = 1 / problem.diagonal(b)[i * (n + 1)];
        r2 += D2 * residual_[dof] * residual_[dof];
        p2 += D2 * momentum_[dof] * momentum_[dof];
        f2 += D2 * impulse_[dof] * impulse_[dof];
        e2 += whitened_[dof] * whitened_[dof];
      }
    }
    const double scale = std::sqrt(std::max(p2, f2));
    const double residual = std::sqrt(r2);
    if (residual > absolute_tolerance && scale > 0)
      out.relative_residual = std::max(out.relative_residual, residual / scale);
    // A quarter more than the solver's own test: its sum of the same terms is rounded differently.
    if (!(residual <= 1.25 * (absolute_tolerance + tolerance * scale))) balanced = false;
    bound_squared += e2;
    max_island_bound = std::max(max_island_bound, e2);
  };
  for (int island = 0; island < islands.size(); ++island) add_blocks(islands.blocks(island));
  // Blocks in no island, whose exact velocity is v*.
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (islands.island_of_block(b) < 0) add_blocks({&b, 1});
  out.error_bound = std::sqrt(bound_squared);
  // |J dv|^2 <= |J A^-1 J^T| |dv|_A^2, and the norm is at most 3 w for w = |W|_F / 3.
  out.velocity_bound = std::sqrt(3 * max_w * max_island_bound);

  // Stiff laws amplify the round-off of v; a tenth of the solver's tolerance hides no fault.
  const double law_tolerance = std::max(1e-9, 0.1 * tolerance) * std::max(law_scale, 1e-12);
  out.ok = balanced && is_finite && out.impulse_error <= law_tolerance &&
           out.min_normal_impulse >= -law_tolerance && out.max_cone_excess <= law_tolerance &&
           out.max_friction_work <= law_tolerance;
  return out;
}

}  // namespace stiction::contact
