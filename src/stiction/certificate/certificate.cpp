#include "stiction/certificate/certificate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/certificate/law_check.hpp"
#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/residual_scale.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::kInfinity;
using contact::Row;
using contact::RowKind;
using contact::traits;

Certificate Certifier::certify(const ContactProblem& problem, MomentumFactor* factor,
                               const Islands& islands, ContactModel model,
                               const ModelParameters& parameters, double tolerance,
                               double absolute_tolerance, const ContactSolution& solution) {
  Certificate out;
  if (traits(model).is_rigid) {
    rigid_.certify(problem, factor, islands, model, parameters, tolerance, absolute_tolerance,
                   solution, &given_, &imbalance_, &out);
    return out;
  }
  substeps_.calc(problem, islands, model, parameters, tolerance, absolute_tolerance, solution);
  const Laws laws = check_laws(problem, islands, model, parameters, solution, &out);
  calc_balance(problem, factor, solution);
  out.coupling_error = calc_coupling_error(problem, islands, tolerance, solution);
  // Stiff laws amplify the round-off of v; a tenth of the solver's tolerance hides no fault.
  double law_tolerance = std::max(1e-9, 0.1 * tolerance) * std::max(laws.scale, 1e-12);
  Balance balance = judge_balance(problem, islands, solution, tolerance, absolute_tolerance, {});
  const auto judge = [&] {
    Verdict verdict = balance.verdict;
    judge_impulses(out, laws.is_finite, law_tolerance, &verdict);
    verdict.require("energy that friction adds", out.max_friction_work, law_tolerance, "J");
    return verdict;
  };
  Verdict verdict = judge();
  if (!verdict.ok() && laws.is_finite) {
    // A tolerance finer than arithmetic is met when nothing but rounding is left.
    round_off_.calc(problem, model, parameters, solution.v, solution.normal_bounds);
    law_tolerance += round_off_.impulse();
    balance = judge_balance(problem, islands, solution, tolerance, absolute_tolerance,
                            round_off_.imbalance());
    verdict = judge();
  }
  out.ok = verdict.ok();
  out.failed = verdict.failed();
  out.relative_residual = balance.relative_residual;
  out.residual_to_momentum = balance.residual_to_momentum;
  out.round_off = balance.round_off;
  out.error_bound = std::sqrt(balance.bound_squared);
  // |J dv|^2 <= |J A^-1 J^T| |dv|_A^2, and the norm is at most 3 w for w = |W|_F / 3.
  out.velocity_bound = std::sqrt(3 * laws.max_w * balance.max_island_bound);
  if (!traits(model).has_error_bound) out.error_bound = out.velocity_bound = kInfinity;
  return out;
}

void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict) {
  if (!is_finite) verdict->require("size of impulses", kInfinity, 1e300, "N s");
  verdict->require("distance of impulses from their laws", certificate.impulse_error, tolerance,
                   "N s");
  verdict->require("pull of a contact", -certificate.min_normal_impulse, tolerance, "N s");
  verdict->require("friction beyond its bound", certificate.max_cone_excess, tolerance, "N s");
}

Certifier::Laws Certifier::check_laws(const ContactProblem& problem, const Islands& islands,
                                      ContactModel model, const ModelParameters& parameters,
                                      const ContactSolution& solution, Certificate* out) {
  Laws laws;
  LawCheck check;
  impulse_.assign(problem.num_dofs(), 0.0);
  given_.assign(problem.num_dofs(), 0.0);
  own_.assign(problem.num_dofs(), 0.0);
  normal_impulse_.resize(problem.num_contacts());
  const bool has_bounds = !solution.normal_bounds.empty();
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V[6], F[6] = {0, 0, 0, 0, 0, 0}, F_given[6] = {0, 0, 0, 0, 0, 0};
    const int island = islands.island_of_block(problem.segments[pair.first_segment].block);
    const bool is_divided = solution.islands[island].num_substeps > 1;
    const bool is_fine = solution.islands[island].is_compensated;
    long double V_fine[6];
    if (is_fine) calc_fine_pair_motion(problem, pair, solution.v, solution.v_low, V_fine);
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, solution.v, V);
    const int end = pair.first_contact + pair.num_contacts;
    for (int first = pair.first_contact; first < end; first += math::kNumLanes) {
      const int count = std::min(math::kNumLanes, end - first);
      const ContactQuad quad(&problem.contacts[first], count);
      const math::Lanes v_n0 = quad.calc_normal_velocity(V0);
      math::Lanes3 v = quad.calc_velocity(V);
      std::array<ContactVector, math::kNumLanes> by_law;
      math::Lanes bound{};
      for (int lane = 0; lane < count; ++lane) {
        const int i = first + lane;
        const Contact& c = problem.contacts[i];
        const ContactVector& given = solution.impulses[i];
        const double w = problem.delassus[i];
        laws.max_w = std::max(laws.max_w, w);
        ContactVector v_c = {v.x[lane], v.y[lane], v.z[lane], 0, 0, 0};
        if (c.dim > 3) v_c = calc_contact_velocity(c, V);
        if (is_fine) {
          v_c = calc_fine_contact_velocity(c, V_fine);
          v.x[lane] = v_c[0];
          v.y[lane] = v_c[1];
          v.z[lane] = v_c[2];
        }
        const ReferenceImpulse law =
            is_divided
                ? substeps_.law(i)
                : calc_reference_impulse(model, parameters, c, problem.time_step, w, v_n0[lane],
                                         v_c, has_bounds ? solution.normal_bounds[i] : 0);
        if (is_divided) check.add_friction_work(substeps_.friction_work(i));
        by_law[lane] = law.gamma;
        normal_impulse_[i] = law.gamma[2];
        bound[lane] = c.sliding_friction() * law.normal_bound;
        if (c.dim <= 3 && c.friction[0] == c.friction[1]) continue;
        bound[lane] = kInfinity;
        check.add_contact(model, c, law, given);
        if (!is_divided) check.add_friction_work(calc_friction_work(given, v_c));
        add_contact_torque(c, law.gamma, F);
        add_contact_torque(c, given, F_given);
      }
      const math::Lanes3 law = quad.read_impulses(by_law.data());
      const math::Lanes3 given = quad.read_impulses(&solution.impulses[first]);
      check.add_quad(law, given, quad.read_torques(&solution.impulses[first]), bound, count);
      // Of a divided step the sum over its parts is known, not one slip.
      if (!is_divided) check.add_friction_work(given, v);
      quad.add_wrench(law, F);
      quad.add_wrench(given, F_given);
    }
    add_pair_force(problem, pair, F, impulse_);
    add_pair_force(problem, pair, F_given, given_);
  }
  laws.scale = check.scale();
  laws.is_finite = check.is_finite();
  out->impulse_error = check.impulse_error();
  if (!problem.contacts.empty()) out->min_normal_impulse = check.min_normal_impulse();
  out->max_cone_excess = check.max_cone_excess();
  out->max_friction_work = check.max_friction_work();
  check_rows(problem, islands, solution, &laws, out);
  return laws;
}

void Certifier::check_rows(const ContactProblem& problem, const Islands& islands,
                           const ContactSolution& solution, Laws* laws, Certificate* out) {
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
    add_row_force(problem, row, given, row.kind == RowKind::kSpring ? own_ : given_);
    laws->is_finite = laws->is_finite && std::isfinite(given);
    laws->scale = std::max(laws->scale, std::abs(gamma));
    out->impulse_error = std::max(out->impulse_error, std::abs(gamma - given));
  }
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
  dual_shares_.resize(problem.num_blocks());
  factor->calc_squared_norms(residual_, dual_shares_);
}

double Certifier::calc_coupling_error(const ContactProblem& problem, const Islands& islands,
                                      double tolerance, const ContactSolution& solution) const {
  double worst = 0;
  if (solution.normal_bounds.empty()) return worst;
  for (int island = 0; island < islands.size(); ++island) {
    double largest = 0, sum = 0, max_w = 0;
    int num = 0;
    for (const int p : islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i, ++num) {
        largest = std::max(largest, std::abs(solution.normal_bounds[i] - normal_impulse_[i]));
        sum += normal_impulse_[i];
        max_w = std::max(max_w, problem.delassus[i]);
      }
    }
    if (!(largest > 0)) continue;
    const double scale =
        calc_residual_scale(problem, islands.blocks(island), impulse_, momentum_).impulses;
    const double resolution = max_w > 0 ? tolerance * scale / std::sqrt(max_w) : 0;
    worst = std::max(worst, largest / std::max(sum / num, resolution));
  }
  return worst;
}

Certifier::Balance Certifier::judge_balance(const ContactProblem& problem, const Islands& islands,
                                            const ContactSolution& solution, double tolerance,
                                            double absolute_tolerance,
                                            std::span<const double> allowance) const {
  Balance out;
  const auto add_blocks = [&](std::span<const int> blocks) {
    double r2 = 0, e2 = 0, a2 = 0;
    for (const int b : blocks) {
      const int n = problem.block_size(b);
      e2 += dual_shares_[b];
      for (int i = 0; i < n; ++i) {
        const int dof = problem.dof_start[b] + i;
        const double D2 = 1 / problem.diagonal(b)[i * (n + 1)];
        r2 += D2 * residual_[dof] * residual_[dof];
        if (!allowance.empty()) a2 += D2 * allowance[dof] * allowance[dof];
      }
    }
    const contact::ResidualScale scales = calc_residual_scale(problem, blocks, impulse_, momentum_);
    const double scale = scales.impulses;
    const double residual = std::sqrt(r2);
    const double enough = contact::calc_allowed_residual(absolute_tolerance, tolerance, scales);
    // Beyond this, what rounding leaves of a step is no solution.
    constexpr double kMaxRoundOff = 1e-4;
    const double rounding = std::min(std::sqrt(a2), kMaxRoundOff * scales.momentum);
    out.verdict.require("imbalance of momentum", residual, enough + rounding, "sqrt(J)");
    if (residual > absolute_tolerance && scale > 0) {
      out.relative_residual = std::max(out.relative_residual, residual / scale);
      if (scales.momentum > 0)
        out.residual_to_momentum = std::max(out.residual_to_momentum, residual / scales.momentum);
      if (residual > enough)
        out.round_off = std::max(out.round_off, std::min(residual, rounding) / scale);
    }
    out.bound_squared += e2;
    out.max_island_bound = std::max(out.max_island_bound, e2);
  };
  out.verdict = substeps_.verdict();
  out.relative_residual = substeps_.relative_residual();
  for (int island = 0; island < islands.size(); ++island)
    if (solution.islands[island].num_substeps == 1) add_blocks(islands.blocks(island));
  // Blocks in no island, whose exact velocity is v*.
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (islands.island_of_block(b) < 0) add_blocks({&b, 1});
  return out;
}

}  // namespace stiction::certificate
