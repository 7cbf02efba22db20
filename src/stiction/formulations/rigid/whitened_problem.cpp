#include "stiction/formulations/rigid/whitened_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using contact::SolveStatus;

namespace {

/// Adds implicit forces gamma = gamma* - weight J (v - v*) to A and to the right-hand side.
class ImplicitForces {
 public:
  explicit ImplicitForces(WhitenedProblem* out, int num_dofs) : out_(*out) {
    out_.implicit.assign(num_dofs, 0.0);
  }
  /// @param gamma impulse at v*
  template <int kSize>
  void add(const DenseJacobian<kSize>& J, int row, double weight, double gamma) {
    double* force = out_.implicit.data();
    for (std::size_t i = 0; i < J.dofs.size(); ++i) force[J.dofs[i]] += gamma * J.columns(row, i);
    out_.whitening.add(J, row, weight);
  }

 private:
  WhitenedProblem& out_;
};

void add_springs(const RigidTerms& terms, ImplicitForces* forces) {
  for (const int r : terms.springs) {
    const contact::Row& row = terms.row(r);
    const DenseJacobian<1> J = terms.row_jacobian(r);
    forces->add(J, 0, 1 / row.regularization,
                (row.target - terms.calc_row_velocity(r, terms.v_star)) / row.regularization);
  }
}

void add_soft_equalities(const RigidTerms& terms, const GapTerms& gaps,
                         std::span<const double> stiffness, ImplicitForces* forces) {
  for (std::size_t i = 0; i < stiffness.size(); ++i) {
    const DenseJacobian<1> J = terms.row_jacobian(terms.equalities[i]);
    const double speed =
        gaps.equalities[i] + terms.calc_row_velocity(terms.equalities[i], terms.v_star);
    forces->add(J, 0, stiffness[i], -stiffness[i] * speed);
  }
}

void add_viscous_friction(const RigidTerms& terms, const StickingSet& sticking,
                          ImplicitForces* forces) {
  if (terms.tangents != contact::TangentPolicy::kViscous) return;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const contact::Contact& c = terms.contact(i);
    const double weight = terms.problem->time_step * c.law.viscous_friction;
    if (!sticking.contains(i) || weight == 0) continue;
    const DenseJacobian<3> J = terms.contact_jacobian(i);
    const math::Vector3 v = J.multiply(terms.v_star);
    for (int t = 0; t < 2; ++t) forces->add(J, t, weight, -weight * (v[t] + c.bias[t]));
  }
}

/// Clears the rows of a contact that are round-off of its longest: tangents across a plane.
void clear_round_off(int n, double* const* rows) {
  double squared[3], longest = 0;
  for (int r = 0; r < 3; ++r) {
    squared[r] = math::dot(n, rows[r], rows[r]);
    longest = std::max(longest, squared[r]);
  }
  for (int r = 0; r < 3; ++r)
    if (squared[r] <= kSumRoundOff * kSumRoundOff * longest) std::fill_n(rows[r], n, 0.0);
}

/// Returns J (diag(M)^-1 - diag(A)^-1) J^T, which dampers and springs take [1/kg, 1/(kg m^2)].
double calc_held_mobility(const contact::ContactProblem& problem, const contact::Islands& islands,
                          const contact::Row& row) {
  if (problem.inertia.empty()) return 0;
  double sum = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const int dof = problem.row_dof[c];
    const int block = islands.block_of_dof(dof);
    const int i = dof - problem.dof_start[block];
    const double a = problem.diagonal(block)[i * (problem.block_size(block) + 1)];
    sum += problem.row_columns[c] * problem.row_columns[c] * (1 / problem.inertia[dof] - 1 / a);
  }
  return sum;
}

/// Estimates the mobilities of rows by inertia alone: contacts know masses, equalities their usual
/// mobilities, and other rows the regularization R, less dampers.
void estimate_inertial_mobilities(const contact::Islands& islands, const RigidTerms& terms,
                                  WhitenedRows* rows) {
  rows->inertial_n.clear();
  rows->inertial_e.clear();
  rows->bias_e.clear();
  for (int i = 0; i < terms.num_contacts(); ++i)
    rows->inertial_n.push_back(1 / terms.problem->pairs[terms.pairs[i]].reduced_mass());
  const auto estimate = [&](const contact::Row& row) {
    return std::max(
        {row.regularization, row.usual_mobility, calc_held_mobility(*terms.problem, islands, row)});
  };
  for (const int r : terms.limits) rows->inertial_n.push_back(estimate(terms.row(r)));
  for (const int r : terms.equalities) {
    rows->inertial_e.push_back(estimate(terms.row(r)));
    rows->bias_e.push_back(terms.row(r).bias);
  }
}

/// Finds the components of vector equalities: they share an error norm, and their indices follow.
void find_vectors(const RigidTerms& terms, std::vector<int>* first) {
  first->resize(terms.num_equalities());
  for (int i = 0; i < terms.num_equalities(); ++i) {
    const contact::Row& row = terms.row(terms.equalities[i]);
    (*first)[i] = i;
    if (i == 0 || row.error_norm == 0) continue;
    const int before = (*first)[i - 1];
    const contact::Row& other = terms.row(terms.equalities[before]);
    if (other.error_norm == row.error_norm && row.source - other.source < 3) (*first)[i] = before;
  }
}

/// Whitens the rows N, T, E and F.
/// @param has_equalities false: E is empty
void whiten_rows(const RigidTerms& terms, bool has_equalities, Whitening* whitening,
                 WhitenedRows* rows) {
  const auto n = static_cast<std::size_t>(terms.num_dofs());
  const bool has_tangents =
      terms.law_has_friction() || terms.tangents == contact::TangentPolicy::kBilateral;
  base::resize_within_limits(n * terms.num_unilateral(), &rows->N);
  base::resize_within_limits(has_tangents ? n * 2 * terms.num_contacts() : 0, &rows->T);
  base::resize_within_limits(has_equalities ? n * terms.num_equalities() : 0, &rows->E);
  base::resize_within_limits(n * terms.dry_joints.size(), &rows->F);
  for (int i = 0; i < terms.num_contacts(); ++i) {
    base::check_limits();
    double* const t1 = has_tangents ? rows->T.data() + 2 * i * n : nullptr;
    double* const all[] = {t1, has_tangents ? t1 + n : nullptr, rows->N.data() + i * n};
    whitening->whiten(terms.contact_jacobian(i), has_tangents ? 0 : 2, all);
    if (has_tangents) clear_round_off(terms.num_dofs(), all);
  }
  const auto whiten_each = [&](std::span<const int> indices, double* first) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      base::check_limits();
      whitening->whiten(terms.row_jacobian(indices[i]), first + i * n);
    }
  };
  whiten_each(terms.limits, rows->N.data() + n * terms.num_contacts());
  if (has_equalities) whiten_each(terms.equalities, rows->E.data());
  whiten_each(terms.dry_joints, rows->F.data());
}

bool is_finite(const WhitenedProblem& problem) {
  const WhitenedRows& rows = problem.rows;
  for (const auto* values :
       {&rows.N, &rows.T, &rows.E, &rows.F, &rows.b_n, &rows.b_t, &problem.y_free})
    if (!math::all_finite(static_cast<int>(values->size()), values->data())) return false;
  return true;
}

}  // namespace

void start_whitening(const contact::Islands& islands, int island, std::span<const int> first_dof,
                     const RigidTerms& terms, WhitenedProblem* out) {
  Whitening& whitening = out->whitening;
  whitening.start(*terms.problem, islands, island, first_dof, terms.num_dofs());
  estimate_inertial_mobilities(islands, terms, &out->rows);
  find_vectors(terms, &out->rows.vector_e);
  for (const int r : terms.springs) whitening.couple(terms.row_jacobian(r).dofs);
  if (terms.tangents != contact::TangentPolicy::kViscous) return;
  for (int i = 0; i < terms.num_contacts(); ++i)
    if (terms.contact(i).law.viscous_friction != 0)
      whitening.couple(terms.contact_jacobian(i).dofs);
}

SolveStatus whiten(const RigidTerms& terms, const RigidIterate& iterate,
                   std::span<const double> equality_stiffness, WhitenedProblem* out) {
  STICTION_ASSERT(equality_stiffness.empty() ||
                  static_cast<int>(equality_stiffness.size()) == terms.num_equalities());
  const int n = terms.num_dofs();
  Whitening& whitening = out->whitening;

  // A and its implicit forces.
  whitening.begin(*terms.problem);
  ImplicitForces forces(out, n);
  add_springs(terms, &forces);
  add_soft_equalities(terms, iterate.gaps, equality_stiffness, &forces);
  add_viscous_friction(terms, iterate.sticking, &forces);
  if (!whitening.factor()) return SolveStatus::kNotPositiveDefinite;

  // y_free = L^T v* + L^-1 J^T gamma*.
  out->y_free = terms.v_star;
  whitening.to_y(out->y_free.data());
  whitening.whiten(out->implicit.data());
  math::add_multiple(n, 1, out->implicit.data(), out->y_free.data());
  for (double& y : out->y_free)
    if (std::abs(y) < kNoMotion) y = 0;

  whiten_rows(terms, equality_stiffness.empty(), &whitening, &out->rows);
  ++out->version;
  if (!terms.law_has_friction()) out->levers.assemble(terms, whitening);
  set_constants(terms, iterate.gaps, &out->rows);
  return is_finite(*out) ? SolveStatus::kConverged : SolveStatus::kNotFinite;
}

void set_constants(const RigidTerms& terms, const GapTerms& gaps, WhitenedRows* rows) {
  const int num_contacts = terms.num_contacts();
  rows->b_n.resize(terms.num_unilateral());
  rows->b_t.resize(static_cast<std::size_t>(2) * num_contacts);
  rows->b_f.clear();
  for (const int r : terms.dry_joints) rows->b_f.push_back(terms.row(r).bias);
  for (int i = 0; i < num_contacts; ++i) {
    const auto& bias = terms.contact(i).bias;
    std::copy_n(bias.data(), 2, rows->b_t.data() + 2 * i);
    rows->b_n[i] = bias[2] + gaps.contacts[i];
  }
  for (int i = 0; i < terms.num_limits(); ++i)
    rows->b_n[num_contacts + i] = terms.row(terms.limits[i]).bias + gaps.limits[i];
  rows->b_e.clear();
  for (int i = 0; i < terms.num_equalities() && !rows->E.empty(); ++i)
    rows->b_e.push_back(terms.row(terms.equalities[i]).bias + gaps.equalities[i]);
}

}  // namespace stiction::formulations
