#include "stiction/contact/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/plain_kinematics.hpp"
#include "stiction/contact/reference_laws.hpp"

namespace stiction::contact {
namespace {

constexpr int kSlip[5] = {0, 1, 3, 4, 5};  // components of friction: tangents, torsion, rolling

/// How far a friction impulse is outside the model's ellipsoid sum (gamma_i / mu_i)^2 <= bound^2,
/// in impulse at the largest coefficient [N s].
double calc_cone_excess(ContactModel model, const Contact& c, const ContactVector& gamma,
                        double bound) {
  double largest = 0, ratio2 = 0, forbidden2 = 0;
  for (int i = 0; i < 5; ++i) {
    const bool has_slip = i < c.dim - 1 && (i < 2 || traits(model).takes_torsion);
    const double own = traits(model).takes_torsion ? c.friction[i] : c.sliding_friction();
    const double mu = has_slip ? own : 0;
    const double g = gamma[kSlip[i]];
    largest = std::max(largest, mu);
    (mu > 0 ? ratio2 : forbidden2) += mu > 0 ? (g / mu) * (g / mu) : g * g;
  }
  return largest * (std::sqrt(ratio2) - bound) + std::sqrt(forbidden2);
}

}  // namespace

Certificate Certifier::certify(const ContactProblem& problem, MomentumFactor* factor,
                               const Islands& islands, ContactModel model,
                               const ModelParameters& parameters, double tolerance,
                               double absolute_tolerance, const ContactSolution& solution) {
  Certificate out;
  substeps_.calc(problem, islands, model, parameters, tolerance, absolute_tolerance, solution);
  const Laws laws = check_laws(problem, islands, model, parameters, solution, &out);
  calc_balance(problem, factor, solution);
  // Stiff laws amplify the round-off of v; a tenth of the solver's tolerance hides no fault.
  double law_tolerance = std::max(1e-9, 0.1 * tolerance) * std::max(laws.scale, 1e-12);
  Balance balance = judge_balance(problem, islands, solution, tolerance, absolute_tolerance, {});
  const auto holds = [&] {
    return balance.ok && laws.is_finite && out.impulse_error <= law_tolerance &&
           out.min_normal_impulse >= -law_tolerance && out.max_cone_excess <= law_tolerance &&
           out.max_friction_work <= law_tolerance;
  };
  out.ok = holds();
  if (!out.ok && laws.is_finite) {
    // A tolerance finer than arithmetic is met when nothing but rounding is left.
    round_off_.calc(problem, model, parameters, solution.v);
    law_tolerance += round_off_.impulse();
    balance = judge_balance(problem, islands, solution, tolerance, absolute_tolerance,
                            round_off_.imbalance());
    out.ok = holds();
  }
  out.relative_residual = balance.relative_residual;
  out.round_off = balance.round_off;
  out.error_bound = std::sqrt(balance.bound_squared);
  // |J dv|^2 <= |J A^-1 J^T| |dv|_A^2, and the norm is at most 3 w for w = |W|_F / 3.
  out.velocity_bound = std::sqrt(3 * laws.max_w * balance.max_island_bound);
  if (!traits(model).has_error_bound) out.error_bound = out.velocity_bound = kInfinity;
  return out;
}

Certifier::Laws Certifier::check_laws(const ContactProblem& problem, const Islands& islands,
                                      ContactModel model, const ModelParameters& parameters,
                                      const ContactSolution& solution, Certificate* out) {
  Laws laws;
  impulse_.assign(problem.num_dofs(), 0.0);
  given_.assign(problem.num_dofs(), 0.0);
  own_.assign(problem.num_dofs(), 0.0);
  if (!problem.contacts.empty()) out->min_normal_impulse = kInfinity;
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V[6], F[6] = {0, 0, 0, 0, 0, 0}, F_given[6] = {0, 0, 0, 0, 0, 0};
    const int island = islands.island_of_block(problem.segments[pair.first_segment].block);
    const bool is_divided = solution.islands[island].num_substeps > 1;
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, solution.v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const Contact& c = problem.contacts[i];
      const double w = problem.delassus[i];
      laws.max_w = std::max(laws.max_w, w);
      const double v_n0 = calc_contact_velocity(c, V0)[2];
      const ContactVector v_c = calc_contact_velocity(c, V);
      const ReferenceImpulse law =
          is_divided
              ? substeps_.law(i)
              : calc_reference_impulse(model, parameters, c, problem.time_step, w, v_n0, v_c);
      const ContactVector& given = solution.impulses[i];
      add_contact_wrench(c, law.gamma, F);
      add_contact_wrench(c, given, F_given);

      for (int e = 0; e < 6; ++e) {
        // Comparisons alone would let a NaN pass.
        laws.is_finite = laws.is_finite && std::isfinite(given[e]);
        laws.scale = std::max(laws.scale, std::abs(law.gamma[e]));
        out->impulse_error = std::max(out->impulse_error, std::abs(given[e] - law.gamma[e]));
      }
      out->min_normal_impulse = std::min(out->min_normal_impulse, given[2]);
      out->max_cone_excess =
          std::max(out->max_cone_excess, calc_cone_excess(model, c, given, law.normal_bound));
      out->max_friction_work =
          std::max(out->max_friction_work,
                   is_divided ? substeps_.friction_work(i) : calc_friction_work(given, v_c));
    }
    add_pair_force(problem, pair, F, impulse_);
    add_pair_force(problem, pair, F_given, given_);
  }
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    const int island =
        islands.island_of_block(islands.block_of_dof(problem.row_dof[row.first_column]));
    const double gamma =
        solution.islands[island].num_substeps > 1
            ? substeps_.row_impulse(i)
            : calc_reference_row_impulse(row, calc_row_velocity(problem, row, solution.v));
    const double given = solution.row_impulses[i];
    add_row_force(problem, row, gamma, impulse_);
    add_row_force(problem, row, given, row.source >= 0 ? given_ : own_);
    laws.is_finite = laws.is_finite && std::isfinite(given);
    laws.scale = std::max(laws.scale, std::abs(gamma));
    out->impulse_error = std::max(out->impulse_error, std::abs(gamma - given));
  }
  return laws;
}

void Certifier::calc_balance(const ContactProblem& problem, MomentumFactor* factor,
                             const ContactSolution& solution) {
  const int num_dofs = problem.num_dofs();
  change_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) change_[i] = solution.v[i] - problem.v_star[i];
  residual_.assign(num_dofs, 0.0);
  add_A_product(problem, change_, residual_);
  imbalance_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) {
    imbalance_[i] = residual_[i] - given_[i] - own_[i];
    residual_[i] -= impulse_[i];
  }
  momentum_.assign(num_dofs, 0.0);
  add_A_product(problem, solution.v, momentum_);
  whitened_.resize(num_dofs);
  factor->solve_lower(residual_, whitened_);
}

Certifier::Balance Certifier::judge_balance(const ContactProblem& problem, const Islands& islands,
                                            const ContactSolution& solution, double tolerance,
                                            double absolute_tolerance,
                                            std::span<const double> allowance) const {
  Balance out;
  const auto add_blocks = [&](std::span<const int> blocks) {
    double r2 = 0, p2 = 0, f2 = 0, e2 = 0, a2 = 0;
    for (const int b : blocks) {
      const int n = problem.block_size(b);
      for (int i = 0; i < n; ++i) {
        const int dof = problem.dof_start[b] + i;
        const double D2 = 1 / problem.diagonal(b)[i * (n + 1)];
        r2 += D2 * residual_[dof] * residual_[dof];
        p2 += D2 * momentum_[dof] * momentum_[dof];
        f2 += D2 * impulse_[dof] * impulse_[dof];
        e2 += whitened_[dof] * whitened_[dof];
        if (!allowance.empty()) a2 += D2 * allowance[dof] * allowance[dof];
      }
    }
    const double scale = std::sqrt(std::max(p2, f2));
    const double residual = std::sqrt(r2);
    // A quarter more than the solver's own test: its sum of the same terms is rounded differently.
    const double enough = 1.25 * (absolute_tolerance + tolerance * scale);
    // Beyond this, what rounding leaves of a step is no solution.
    constexpr double kMaxRoundOff = 1e-4;
    const double rounding = std::min(std::sqrt(a2), kMaxRoundOff * scale);
    if (!(residual <= enough + rounding)) out.ok = false;
    if (residual > absolute_tolerance && scale > 0) {
      out.relative_residual = std::max(out.relative_residual, residual / scale);
      if (residual > enough)
        out.round_off = std::max(out.round_off, std::min(residual, rounding) / scale);
    }
    out.bound_squared += e2;
    out.max_island_bound = std::max(out.max_island_bound, e2);
  };
  out.ok = substeps_.ok();
  out.relative_residual = substeps_.relative_residual();
  for (int island = 0; island < islands.size(); ++island)
    if (solution.islands[island].num_substeps == 1) add_blocks(islands.blocks(island));
  // Blocks in no island, whose exact velocity is v*.
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (islands.island_of_block(b) < 0) add_blocks({&b, 1});
  return out;
}

}  // namespace stiction::contact
