#include "stiction/contact/plain_kinematics.hpp"

#include <algorithm>

namespace stiction::contact {
namespace {

double dot3(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// y += s (a x b)
void add_cross(double s, const double* a, const double* b, double* y) {
  y[0] += s * (a[1] * b[2] - a[2] * b[1]);
  y[1] += s * (a[2] * b[0] - a[0] * b[2]);
  y[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

}  // namespace

void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      std::span<const double> v, double V[6]) {
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

void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const double F[6],
                    std::span<double> f) {
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    double* to = f.data() + problem.dof_start[segment.block];
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

double calc_row_velocity(const ContactProblem& problem, const Row& row, std::span<const double> v) {
  double v_r = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    v_r += problem.row_columns[c] * v[problem.row_dof[c]];
  return v_r;
}

void add_row_force(const ContactProblem& problem, const Row& row, double gamma,
                   std::span<double> f) {
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    f[problem.row_dof[c]] += problem.row_columns[c] * gamma;
}

void add_A_product(const ContactProblem& problem, std::span<const double> x, std::span<double> y) {
  const auto add = [](const double* A, int m, int n, const double* from, double* to) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) to[i] += A[i + j * m] * from[j];
  };
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int dof = problem.dof_start[b], n = problem.block_size(b);
    add(problem.diagonal(b), n, n, x.data() + dof, y.data() + dof);
  }
  for (const Coupling& c : problem.couplings) {
    const double* A = problem.A.data() + c.start;
    const int row = problem.dof_start[c.row_block], column = problem.dof_start[c.column_block];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    add(A, m, n, x.data() + column, y.data() + row);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) y[column + j] += A[i + j * m] * x[row + i];
  }
}

}  // namespace stiction::contact
