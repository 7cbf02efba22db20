#include "stiction/certificate/plain_kinematics.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/six.hpp"

namespace stiction::certificate {

namespace {

template <class T>
T dot3(const double* a, const T* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Adds s (a x b) to y.
template <class T>
void add_cross(double s, const T* a, const double* b, T* y) {
  y[0] += s * (a[1] * b[2] - a[2] * b[1]);
  y[1] += s * (a[2] * b[0] - a[0] * b[2]);
  y[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

/// Sums the motions of the pair's segments.
/// @param speed function that returns the velocity of a dof
template <class T, class Speed>
void calc_motion(const ContactProblem& problem, const BodyPair& pair, Speed&& speed, T V[6]) {
  T sum[6] = {};  // a local array stays in registers; V would be stored after each term
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const contact::Segment& segment = problem.segments[s];
    const int dof = problem.dof_start[segment.block];
    if (segment.is_rigid_body) {
      T u[6];
      for (int i = 0; i < 6; ++i) u[i] = speed(dof + i);
      for (int i = 0; i < 6; ++i) sum[i] += segment.sign * u[i];
      add_cross(segment.sign, u, segment.offset.data(), sum + 3);
      continue;
    }
    for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c) {
      const double* J = problem.columns.data() + 6 * c;
      const T v = speed(dof + problem.column_dof[c]);
      for (int i = 0; i < 6; ++i) sum[i] += J[i] * v;
    }
  }
  std::copy_n(sum, 6, V);
}

/// Computes v_c from the pair's motion.
template <class T>
ContactVector calc_velocity(const Contact& c, const T V[6]) {
  T v_p[3] = {V[3], V[4], V[5]};
  add_cross(1, V, c.offset.data(), v_p);
  const double* t1 = c.R_WC.data();
  const double* t2 = t1 + 3;
  const double* n = t1 + 6;
  return {static_cast<double>(dot3(t1, v_p) + c.bias[0]),
          static_cast<double>(dot3(t2, v_p) + c.bias[1]),
          static_cast<double>(dot3(n, v_p) + c.bias[2]),
          static_cast<double>(dot3(n, V) + c.spin_bias),
          static_cast<double>(dot3(t1, V)),
          static_cast<double>(dot3(t2, V))};
}

/// Adds the product of as many rows of an m x n block as V has lanes with x to y.
template <class V>
void add_rows_product(const double* A, int m, int n, const double* x, double* y) {
  V sum = math::load<V>(y);
#pragma GCC unroll 6
  for (int j = 0; j < n; ++j) sum += math::load<V>(A + j * m) * x[j];
  math::store(y, sum);
}

/// Adds the product of an m x n block with x to y.
void add_block_product(const double* A, int m, int n, const double* x, double* y) {
  int i = 0;
  for (; i + 4 <= m; i += 4) add_rows_product<math::Vec4>(A + i, m, n, x, y + i);
  for (; i + 2 <= m; i += 2) add_rows_product<math::Vec2>(A + i, m, n, x, y + i);
  for (; i < m; ++i) add_rows_product<double>(A + i, m, n, x, y + i);
}

/// Adds the product of a 6 x 6 block, such as a free body's, with x to y.
void add_six_product(const double* A, const double* x, double* y) {
  math::Six sum = math::Six::load(y);
  for (int j = 0; j < 6; ++j) sum += math::Six::load(A + 6 * j) * x[j];
  sum.store(y);
}

}  // namespace

void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      std::span<const double> v, double V[6]) {
  calc_motion(
      problem, pair, [&](int dof) { return v[dof]; }, V);
}

ContactVector calc_contact_velocity(const Contact& c, const double V[6]) {
  return calc_velocity(c, V);
}

void calc_compensated_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                                  std::span<const double> v, std::span<const double> v_low,
                                  math::DoubleDouble V[6]) {
  const auto speed = [&](int dof) { return math::DoubleDouble::sum(v[dof], v_low[dof]); };
  calc_motion(problem, pair, speed, V);
}

ContactVector calc_compensated_contact_velocity(const Contact& c, const math::DoubleDouble V[6]) {
  return calc_velocity(c, V);
}

void add_contact_wrench(const Contact& c, const ContactVector& gamma, double F[6]) {
  const double* t1 = c.R_WC.data();
  double force[3];
  for (int i = 0; i < 3; ++i) {
    force[i] = t1[i] * gamma[0] + t1[3 + i] * gamma[1] + t1[6 + i] * gamma[2];
    F[3 + i] += force[i];
  }
  add_cross(1, c.offset.data(), force, F);
  add_contact_torque(c, gamma, F);
}

void add_contact_torque(const Contact& c, const ContactVector& gamma, double F[6]) {
  const double* t1 = c.R_WC.data();
  for (int i = 0; i < 3; ++i)
    F[i] += t1[6 + i] * gamma[3] + t1[i] * gamma[4] + t1[3 + i] * gamma[5];
}

ContactQuad::ContactQuad(const Contact* first, int count) : count_(count) {
  STICTION_ASSERT(1 <= count && count <= math::kNumLanes);
  static constexpr double kNothing[24] = {};
  const double* from[4];
  for (int i = 0; i < 4; ++i) from[i] = i < count ? first[i].R_WC.data() : kNothing;
  const auto read = [&](int k) {
    using math::Lanes;
    return math::transpose(math::load<Lanes>(from[0] + k), math::load<Lanes>(from[1] + k),
                           math::load<Lanes>(from[2] + k), math::load<Lanes>(from[3] + k));
  };
  // R_WC, offset and bias are contiguous in a Contact.
  static_assert(offsetof(Contact, offset) == offsetof(Contact, R_WC) + 9 * sizeof(double) &&
                offsetof(Contact, bias) == offsetof(Contact, R_WC) + 12 * sizeof(double));
  const math::FourLanes k0 = read(0), k4 = read(4), k8 = read(8), k12 = read(12);
  t1_ = {k0.a, k0.b, k0.c};
  t2_ = {k0.d, k4.a, k4.b};
  n_ = {k4.c, k4.d, k8.a};
  r_ = {k8.b, k8.c, k8.d};
  bias_ = {k12.a, k12.b, k12.c};
}

math::Lanes3 ContactQuad::calc_velocity(const double V[6]) const {
  const math::Lanes3 v_p = {V[3] + V[1] * r_.z - V[2] * r_.y, V[4] + V[2] * r_.x - V[0] * r_.z,
                            V[5] + V[0] * r_.y - V[1] * r_.x};
  return {t1_.x * v_p.x + t1_.y * v_p.y + t1_.z * v_p.z + bias_.x,
          t2_.x * v_p.x + t2_.y * v_p.y + t2_.z * v_p.z + bias_.y,
          n_.x * v_p.x + n_.y * v_p.y + n_.z * v_p.z + bias_.z};
}

math::Lanes ContactQuad::calc_normal_velocity(const double V[6]) const {
  return n_.x * (V[3] + V[1] * r_.z - V[2] * r_.y) + n_.y * (V[4] + V[2] * r_.x - V[0] * r_.z) +
         n_.z * (V[5] + V[0] * r_.y - V[1] * r_.x) + bias_.z;
}

math::FourLanes ContactQuad::read(const ContactVector* gamma, int first) const {
  static constexpr ContactVector kNothing{};
  const auto load = [&](int i) {
    return math::load<math::Lanes>((i < count_ ? gamma[i] : kNothing).data() + first);
  };
  return math::transpose(load(0), load(1), load(2), load(3));
}

math::Lanes3 ContactQuad::read_impulses(const ContactVector* gamma) const {
  const math::FourLanes g = read(gamma, 0);
  return {g.a, g.b, g.c};
}

math::Lanes3 ContactQuad::read_torques(const ContactVector* gamma) const {
  const math::FourLanes g = read(gamma, 2);
  return {g.b, g.c, g.d};
}

void ContactQuad::add_wrench(const math::Lanes3& g, double F[6]) const {
  const math::Lanes fx = t1_.x * g.x + t2_.x * g.y + n_.x * g.z;
  const math::Lanes fy = t1_.y * g.x + t2_.y * g.y + n_.y * g.z;
  const math::Lanes fz = t1_.z * g.x + t2_.z * g.y + n_.z * g.z;
  const math::Lanes torque_and_fx =
      math::sum_each(r_.y * fz - r_.z * fy, r_.z * fx - r_.x * fz, r_.x * fy - r_.y * fx, fx);
  const math::Lanes rest = math::sum_each(fy, fz, fy, fz);
  for (int i = 0; i < 4; ++i) F[i] += torque_and_fx[i];
  F[4] += rest[0];
  F[5] += rest[1];
}

void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const double F[6],
                    std::span<double> f) {
  STICTION_ASSERT(static_cast<int>(f.size()) == problem.num_dofs());
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const contact::Segment& segment = problem.segments[s];
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
  STICTION_ASSERT(static_cast<int>(v.size()) == problem.num_dofs());
  double v_r = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    v_r += problem.row_columns[c] * v[problem.row_dof[c]];
  return v_r + row.bias;
}

double calc_row_mobility(const ContactProblem& problem, const contact::Islands& islands,
                         const Row& row) {
  double sum = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const int dof = problem.row_dof[c], block = islands.block_of_dof(dof);
    const int i = dof - problem.dof_start[block];
    const double J = problem.row_columns[c];
    sum += J * J / problem.diagonal(block)[i * (problem.block_size(block) + 1)];
  }
  return sum;
}

double calc_inertial_mobility(const ContactProblem& problem, const contact::Islands& islands,
                              const Row& row) {
  if (problem.inertia.empty()) return calc_row_mobility(problem, islands, row);
  double sum = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const double J = problem.row_columns[c];
    sum += J * J / problem.inertia[problem.row_dof[c]];
  }
  return sum;
}

void add_row_force(const ContactProblem& problem, const Row& row, double gamma,
                   std::span<double> f) {
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    f[problem.row_dof[c]] += problem.row_columns[c] * gamma;
}

void add_A_product(const ContactProblem& problem, std::span<const double> x, std::span<double> y) {
  STICTION_ASSERT(x.size() == problem.v0.size() && y.size() == problem.v0.size());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int dof = problem.dof_start[b], n = problem.block_size(b);
    if (n == 6)
      add_six_product(problem.diagonal(b), x.data() + dof, y.data() + dof);
    else
      add_block_product(problem.diagonal(b), n, n, x.data() + dof, y.data() + dof);
  }
  for (const contact::Coupling& c : problem.couplings) {
    const double* A = problem.A.data() + c.start;
    const int row = problem.dof_start[c.row_block], column = problem.dof_start[c.column_block];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    add_block_product(A, m, n, x.data() + column, y.data() + row);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) y[column + j] += A[i + j * m] * x[row + i];
  }
}

}  // namespace stiction::certificate
