#include "stiction/certificate/rigid_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/residual_scale.hpp"
#include "stiction/contact/rigid_touch.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::kInfinity;
using contact::Row;
using contact::RowKind;
using contact::traits;
namespace {

/// Speed that a gap leaves, or that an overlap is corrected with [m/s].
double calc_gap_speed(double gap, double dt, const ModelParameters& parameters) {
  if (gap > 0) return gap / dt;
  return -std::min(parameters.gap_correction * -gap / dt, parameters.max_correction_speed);
}

/// |min(w gamma, v + b)|; of an overlap with b or without it, whichever is met.
double calc_complementarity(double mobility, double gamma, double velocity, double b) {
  const auto with = [&](double speed) {
    return std::abs(std::min(mobility * gamma, velocity + speed));
  };
  return b < 0 ? std::min(with(b), with(0)) : with(b);
}

/// The circumradius of the polygon with k corners, the first at t1, that friction is on the edge
/// of.
double calc_polygon_radius(const ContactVector& gamma, int k) {
  double farthest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = std::numbers::pi * (2 * m + 1) / k;
    farthest = std::max(farthest, gamma[0] * std::cos(angle) + gamma[1] * std::sin(angle));
  }
  return farthest / std::cos(std::numbers::pi / k);
}

/// The fastest slip along one of the k directions: lambda of the LCP.
double calc_polygon_slip(const ContactVector& v, int k) {
  double fastest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = 2 * std::numbers::pi * m / k;
    fastest = std::max(fastest, -(v[0] * std::cos(angle) + v[1] * std::sin(angle)));
  }
  return fastest;
}

/// Friction beyond the half-planes of `drumwright_shell`.
double calc_shell_excess(const ContactVector& gamma, double bound, int k) {
  double excess = -kInfinity;
  for (int m = 0; m < k / 2; ++m) {
    const double theta = 0.5 * std::numbers::pi * m / (0.5 * k - 1);
    excess = std::max(excess, std::abs(gamma[0]) * std::cos(theta) +
                                  std::abs(gamma[1]) * std::sin(theta) - bound);
  }
  return excess;
}

/// J diag(A)^-1 J^T, by which an impulse of a limit is compared with its velocity.
double calc_mobility(const ContactProblem& problem, const Row& row) {
  double sum = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const auto after =
        std::upper_bound(problem.dof_start.begin(), problem.dof_start.end(), problem.row_dof[c]);
    const auto block = static_cast<int>(after - problem.dof_start.begin()) - 1;
    const int own = problem.row_dof[c] - problem.dof_start[block];
    const double J = problem.row_columns[c];
    sum += J * J / problem.diagonal(block)[own * (problem.block_size(block) + 1)];
  }
  return sum;
}

double squared(double x) { return x * x; }

}  // namespace

void RigidCertifier::certify(const ContactProblem& problem, MomentumFactor* factor,
                             const Islands& islands, ContactModel model,
                             const ModelParameters& parameters, double tolerance,
                             double absolute_tolerance, const ContactSolution& solution,
                             std::vector<double>* given, std::vector<double>* imbalance,
                             Certificate* out) {
  for (auto* force : {given, &own_, &by_law_, &residual_, &momentum_})
    force->assign(problem.num_dofs(), 0.0);
  verdict_ = {};
  Sums sums;
  find_rebounds(problem, islands, model, solution);
  check_contacts(problem, model, parameters, solution, given, &sums, out);
  check_rows(problem, islands, model, parameters, solution, given, &sums, out);
  count_pushing(problem, islands, model, solution, out);
  check_balance(problem, islands, tolerance, absolute_tolerance, solution, *given, imbalance, &sums,
                out);
  judge(model, tolerance, &sums, out);
  bound_error(problem, factor, model, sums, out);
}

void RigidCertifier::check_balance(const ContactProblem& problem, const Islands& islands,
                                   double tolerance, double absolute_tolerance,
                                   const ContactSolution& solution, std::span<const double> given,
                                   std::vector<double>* imbalance, Sums* sums, Certificate* out) {
  const int num_dofs = problem.num_dofs();
  change_.resize(num_dofs);
  imbalance->resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) change_[i] = solution.v[i] - problem.v_star[i];
  add_A_product(problem, change_, residual_);
  for (int i = 0; i < num_dofs; ++i) {
    out->energy_gain += (problem.v_star[i] + 0.5 * change_[i]) * residual_[i];
    (*imbalance)[i] = residual_[i] - given[i] - own_[i];
    residual_[i] -= by_law_[i];
  }
  add_A_product(problem, solution.v, momentum_);
  for (int i = 0; i < num_dofs; ++i) sums->kinetic_energy += 0.5 * solution.v[i] * momentum_[i];
  for (int island = 0; island < islands.size(); ++island)
    judge_blocks(problem, islands.blocks(island), tolerance, absolute_tolerance, out);
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (islands.island_of_block(b) < 0)
      judge_blocks(problem, {&b, 1}, tolerance, absolute_tolerance, out);
}

void RigidCertifier::judge_blocks(const ContactProblem& problem, std::span<const int> blocks,
                                  double tolerance, double absolute_tolerance, Certificate* out) {
  double r2 = 0;
  for (const int b : blocks) {
    const int n = problem.block_size(b);
    for (int i = 0; i < n; ++i)
      r2 += squared(residual_[problem.dof_start[b] + i]) / problem.diagonal(b)[i * (n + 1)];
  }
  const contact::ResidualScale scale = calc_residual_scale(problem, blocks, by_law_, momentum_);
  const double residual = std::sqrt(r2);
  verdict_.require("imbalance of momentum", residual,
                   contact::calc_allowed_residual(absolute_tolerance, tolerance, scale), "sqrt(J)");
  if (residual <= absolute_tolerance || !(scale.impulses > 0)) return;
  out->relative_residual = std::max(out->relative_residual, residual / scale.impulses);
  out->residual_to_momentum = std::max(out->residual_to_momentum, residual / scale.momentum);
}

void RigidCertifier::judge(ContactModel model, double tolerance, Sums* sums, Certificate* out) {
  // Rows within 3e-7 of the span of others may keep so much of their velocity; Lemke's method ends
  // within 1e-8 of the numbers of its problem.
  const double speed_tolerance =
      1e-6 * sums->speed * (traits(model).has_error_bound ? 1 : std::max(1.0, sums->max_w));
  // An impulse is none beside the momentum that bodies have.
  for (const double p : momentum_) sums->impulse = std::max(sums->impulse, 1e-6 * std::abs(p));
  const double largest_impulse = std::max(sums->impulse, 1e-12);
  judge_impulses(*out, sums->is_finite, std::max(1e-9, 0.1 * tolerance) * largest_impulse,
                 &verdict_);
  verdict_.require("energy that friction adds", out->max_friction_work,
                   speed_tolerance * largest_impulse, "J");
  verdict_.require("velocity that held contacts or equalities forbid", out->constraint_error,
                   speed_tolerance, "m/s");
  if (model == ContactModel::drumwright_shell)
    verdict_.require("speed at which surfaces pass into each other", sums->closing, speed_tolerance,
                     "m/s");
  else
    verdict_.require("complementarity of contacts and limits", out->complementarity,
                     speed_tolerance, "m/s");
  if (!sums->may_gain)
    verdict_.require("energy gained", out->energy_gain,
                     1e-9 * (sums->kinetic_energy + std::abs(out->energy_gain)), "J");
  out->ok = verdict_.ok();
  out->failed = verdict_.failed();
}

void RigidCertifier::bound_error(const ContactProblem& problem, MomentumFactor* factor,
                                 ContactModel model, const Sums& sums, Certificate* out) {
  out->complementarity_work = sums.complementarity;
  out->error_bound = out->velocity_bound = kInfinity;
  const bool has_rebound =
      std::find(has_rebound_.begin(), has_rebound_.end(), 1) != has_rebound_.end();
  if (!traits(model).has_error_bound || has_rebound) return;
  shares_.resize(problem.num_blocks());
  factor->calc_squared_norms(residual_, shares_);
  double r2 = 0;
  for (const double share : shares_) r2 += share;
  out->error_bound =
      std::sqrt(r2) + std::sqrt(std::max(0.0, sums.complementarity) + 2 * sums.violation);
  out->velocity_bound = std::sqrt(3 * sums.max_w) * out->error_bound;
}

/// Contacts that rebound, and the islands in which one does. Impulses there are those of several
/// stages, of which velocities at the end know the last: what was pressed while bodies were
/// compressed may separate, and friction of that time may have pushed where the slip now goes.
void RigidCertifier::find_rebounds(const ContactProblem& problem, const Islands& islands,
                                   ContactModel model, const ContactSolution& solution) {
  rebounds_.assign(problem.num_contacts(), 0);
  is_struck_.assign(problem.num_contacts(), 0);
  has_rebound_.assign(islands.size(), 0);
  if (!traits(model).uses.restitution) return;
  for (int island = 0; island < islands.size(); ++island) {
    for (const int p : islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      double V0[6], V_star[6];
      calc_pair_motion(problem, pair, problem.v0, V0);
      calc_pair_motion(problem, pair, problem.v_star, V_star);
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        const Contact& c = problem.contacts[i];
        rebounds_[i] = c.law.restitution > 0 && solution.impulses[i][2] > 0 &&
                       contact::is_impact(calc_contact_velocity(c, V0)[2],
                                          calc_contact_velocity(c, V_star)[2]);
        if (rebounds_[i]) has_rebound_[island] = 1;
      }
    }
    for (const int p : islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      std::fill_n(is_struck_.begin() + pair.first_contact, pair.num_contacts, has_rebound_[island]);
    }
  }
}

void RigidCertifier::check_contacts(const ContactProblem& problem, ContactModel model,
                                    const ModelParameters& parameters,
                                    const ContactSolution& solution, std::vector<double>* given,
                                    Sums* sums, Certificate* out) {
  const double dt = problem.time_step;
  const int k = parameters.friction_directions;
  is_held_.assign(problem.num_contacts(), 0);
  if (!problem.contacts.empty()) out->min_normal_impulse = kInfinity;
  const auto grow = [](double value, double* to) { *to = std::max(*to, value); };
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V_star[6], V[6], F[6] = {}, F_law[6] = {};
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, problem.v_star, V_star);
    calc_pair_motion(problem, pair, solution.v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const Contact& c = problem.contacts[i];
      const ContactVector& gamma = solution.impulses[i];
      const ContactVector v0 = calc_contact_velocity(c, V0);
      const ContactVector v_star = calc_contact_velocity(c, V_star);
      const ContactVector v = calc_contact_velocity(c, V);
      ContactVector law = gamma;
      for (const double x : gamma) sums->is_finite = sums->is_finite && std::isfinite(x);
      for (const double x : v) sums->is_finite = sums->is_finite && std::isfinite(x);
      const double slip = std::hypot(v[0], v[1]), friction = std::hypot(gamma[0], gamma[1]);
      const double mobility = problem.delassus[i];
      grow(mobility, &sums->max_w);
      for (const ContactVector& x : {v0, v_star, v})
        grow(std::hypot(x[0], x[1], x[2]), &sums->speed);
      grow(std::hypot(gamma[0], gamma[1], gamma[2]), &sums->impulse);
      out->min_normal_impulse = std::min(out->min_normal_impulse, gamma[2]);
      const bool moves = c.bias != std::array<double, 3>{} || c.phi0 < 0;
      sums->may_gain = sums->may_gain || moves;

      // Normal.
      double b = calc_gap_speed(c.phi0, dt, parameters);
      grow(std::max(0.0, -v[2] - std::max(b, 0.0)), &sums->closing);
      bool is_open = false;  // of no account to the model
      if (model == ContactModel::anitescu_potra) {
        is_open = !is_touching(c);
        b = std::min(b, 0.0);
      }
      if (is_open) {
        grow(std::max(std::abs(gamma[2]), friction), &out->impulse_error);
      } else if (is_struck_[i]) {
        grow(std::max(0.0, -v[2] - std::max(b, 0.0)), &out->complementarity);
      } else {
        grow(calc_complementarity(mobility, gamma[2], v[2], b), &out->complementarity);
        if (c.phi0 < 0 && gamma[2] > 0 && std::abs(v[2]) < std::abs(v[2] + b)) b = 0;
        const double work = gamma[2] * (v[2] + b);
        sums->complementarity += std::max(0.0, work);
        sums->violation += std::max(0.0, -work);
      }

      // Tangents.
      const double bound = c.sliding_friction() * gamma[2];
      // What closes within the step may be held as well: its impulse says so.
      const bool must_hold =
          gamma[2] > 0 || (is_touching(c) && holds_all_touching(model, parameters));
      is_held_[i] = (must_hold && c.dim > 1) || friction > 0;
      switch (model) {
        case ContactModel::no_slip:
          if (is_held_[i]) grow(slip, &out->constraint_error);
          sums->violation += slip * friction;
          if (c.dim == 1) grow(friction, &out->max_cone_excess);
          break;
        case ContactModel::viscous:
          for (int t = 0; t < 2; ++t)
            law[t] = is_held_[i] ? -dt * c.law.viscous_friction * v[t] : 0;
          grow(std::hypot(gamma[0] - law[0], gamma[1] - law[1]), &out->impulse_error);
          break;
        case ContactModel::drumwright_shell:
          grow(calc_shell_excess(gamma,
                                 bound + dt * c.law.viscous_friction * std::hypot(v0[0], v0[1]), k),
               &out->max_cone_excess);
          break;
        default: {
          const double radius = calc_polygon_radius(gamma, k);
          grow(radius - bound, &out->max_cone_excess);
          if (is_struck_[i]) break;
          const double work = gamma[0] * v[0] + gamma[1] * v[1];
          grow(work, &out->max_friction_work);
          // lambda _|_ mu f_N - 1^T beta, and beta _|_ D v + lambda: what slips has all its
          // friction, along the directions that slip fastest.
          const double fastest = calc_polygon_slip(v, k);
          sums->complementarity += std::max(0.0, bound * fastest + work);
          grow(std::min(fastest, mobility * (bound - radius)), &out->complementarity);
          if (radius > 0)
            grow(std::min(fastest + work / radius, mobility * radius), &out->complementarity);
        }
      }
      add_contact_wrench(c, gamma, F);
      add_contact_wrench(c, law, F_law);
    }
    add_pair_force(problem, pair, F, *given);
    add_pair_force(problem, pair, F_law, by_law_);
  }
}

void RigidCertifier::check_rows(const ContactProblem& problem, const Islands& islands,
                                ContactModel model, const ModelParameters& parameters,
                                const ContactSolution& solution, std::vector<double>* given,
                                Sums* sums, Certificate* out) {
  const double dt = problem.time_step;
  const auto find_island = [&](const Row& row) {
    return islands.island_of_block(islands.block_of_dof(problem.row_dof[row.first_column]));
  };
  corrections_.assign(islands.size(), 0.0);
  for (const Row& row : problem.rows)
    if (row.kind == RowKind::kEquality)
      corrections_[find_island(row)] +=
          squared(calc_gap_speed(-std::abs(row.position), dt, parameters));
  for (double& norm : corrections_) norm = std::sqrt(norm);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    const double v = calc_row_velocity(problem, row, solution.v);
    const double gamma = solution.row_impulses[i];
    double law = gamma;
    const int island = find_island(row);
    const bool is_struck = has_rebound_[island] != 0;
    sums->is_finite = sums->is_finite && std::isfinite(gamma);
    // Of a step without the rebound, against which it may push then.
    sums->may_gain = sums->may_gain || (is_struck && row.kind == RowKind::kFriction);
    sums->impulse = std::max(sums->impulse, std::abs(gamma));
    sums->speed = std::max(sums->speed, std::abs(v));
    if (row.kind == RowKind::kLimit) {
      const double mobility = calc_mobility(problem, row);
      const double b = calc_gap_speed(row.position, dt, parameters);
      out->complementarity =
          std::max(out->complementarity, is_struck ? std::max(0.0, -v - std::max(b, 0.0))
                                                   : calc_complementarity(mobility, gamma, v, b));
      sums->closing = std::max(sums->closing, -v - std::max(b, 0.0));
      sums->complementarity += std::max(0.0, gamma * std::min(v + b, v + std::max(b, 0.0)));
      sums->may_gain = sums->may_gain || row.position < 0;
      if (gamma < 0) out->min_normal_impulse = std::min(out->min_normal_impulse, gamma);
    } else if (row.kind == RowKind::kEquality) {
      const double speed = -calc_gap_speed(-std::abs(row.position), dt, parameters);
      const double target = row.position > 0 ? -speed : speed;
      const double error = std::min(std::abs(v - target), std::abs(v));
      // Rows that others imply have no correction of their own, and conflicts bend those of all.
      const double excess = std::max(0.0, error - corrections_[island]);
      out->constraint_error = std::max(out->constraint_error, excess);
      sums->violation += error * std::abs(gamma);
      sums->may_gain = sums->may_gain || row.position != 0;
    } else if (row.kind == RowKind::kFriction && (is_struck || traits(model).uses_friction)) {
      out->max_cone_excess = std::max(out->max_cone_excess, std::abs(gamma) - row.bound);
      // Coulomb's law: what is within its bound sticks, and the rest opposes the motion.
      if (!is_struck && model != ContactModel::drumwright_shell) {
        out->max_friction_work = std::max(out->max_friction_work, gamma * v);
        out->complementarity = std::max(
            out->complementarity,
            std::min(std::abs(v), calc_mobility(problem, row) * (row.bound - std::abs(gamma))));
      }
    } else {
      // What is solved for is a share of the bound, however little the joint is loaded.
      if (row.kind == RowKind::kFriction) sums->impulse = std::max(sums->impulse, row.bound);
      law = calc_reference_row_impulse(row, v);
      out->impulse_error = std::max(out->impulse_error, std::abs(law - gamma));
      sums->may_gain = sums->may_gain || row.kind == RowKind::kSpring;
    }
    add_row_force(problem, row, gamma, row.kind == RowKind::kSpring ? own_ : *given);
    add_row_force(problem, row, law, by_law_);
  }
}

/// n - rank X, of islands where the bound could be passed.
void RigidCertifier::count_pushing(const ContactProblem& problem, const Islands& islands,
                                   ContactModel model, const ContactSolution& solution,
                                   Certificate* out) {
  for (int island = 0; island < islands.size(); ++island) {
    dofs_.clear();
    for (const int block : islands.blocks(island))
      for (int dof = problem.dof_start[block]; dof < problem.dof_start[block + 1]; ++dof)
        dofs_.push_back(dof);
    const auto n = static_cast<int>(dofs_.size());
    int num_pushing = 0, num_bilateral = 0;
    for (const int p : islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        num_pushing += solution.impulses[i][2] > 0;
        num_bilateral += model == ContactModel::no_slip && is_held_[i] ? 2 : 0;
      }
    }
    for (const int r : islands.rows(island)) {
      const Row& row = problem.rows[r];
      num_pushing += row.kind == RowKind::kLimit && solution.row_impulses[r] > 0;
      num_bilateral += row.kind == RowKind::kEquality;
    }
    // Of an island too large for its rank to be worth the time, what is certain: rank X <= its
    // rows.
    constexpr double kMostWork = 1e8;
    int rank = 0;
    if (1.0 * num_bilateral * n * n < kMostWork) rank = find_rank(problem, islands, island, model);
    out->num_pushing += num_pushing;
    out->max_pushing += n - rank;
    // Impulses of several stages add up, and those of friction cones are no projection.
    if (traits(model).has_error_bound && !has_rebound_[island])
      verdict_.require("number of contacts that push", num_pushing, n - rank, "");
  }
}

int RigidCertifier::find_rank(const ContactProblem& problem, const Islands& islands, int island,
                              ContactModel model) {
  rows_.clear();
  row_.assign(problem.num_dofs(), 0.0);
  for (const int r : islands.rows(island)) {
    const Row& row = problem.rows[r];
    if (row.kind != RowKind::kEquality) continue;
    add_row_force(problem, row, 1, row_);
    add_unit_row(problem, islands);
  }
  if (model != ContactModel::no_slip) return count_independent();
  for (const int p : islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      for (int t = 0; t < 2 && is_held_[i]; ++t) {
        ContactVector unit{};
        unit[t] = 1;
        double F[6] = {};
        add_contact_wrench(problem.contacts[i], unit, F);
        add_pair_force(problem, pair, F, row_);
        add_unit_row(problem, islands);
      }
    }
  }
  return count_independent();
}

/// Appends row_ in units in which A has a diagonal of ones, and leaves it zero.
void RigidCertifier::add_unit_row(const ContactProblem& problem, const Islands& islands) {
  const std::size_t n = dofs_.size();
  double squares = 0;
  for (const int dof : dofs_) {
    const int block = islands.block_of_dof(dof);
    const int own = dof - problem.dof_start[block];
    const double a = problem.diagonal(block)[own * (problem.block_size(block) + 1)];
    rows_.push_back(row_[dof] / std::sqrt(a));
    squares += squared(rows_.back());
    row_[dof] = 0;
  }
  for (std::size_t i = rows_.size() - n; i < rows_.size() && squares > 0; ++i)
    rows_[i] /= std::sqrt(squares);
}

/// Gram-Schmidt on rows_, the row first that most is left of: in another order several small shares
/// may stand for one that is nothing.
int RigidCertifier::count_independent() {
  const auto n = static_cast<std::ptrdiff_t>(dofs_.size());
  const auto num_rows = static_cast<std::ptrdiff_t>(rows_.size()) / n;
  const auto dot = [n](const double* a, const double* b) {
    return std::inner_product(a, a + n, b, 0.0);
  };
  for (std::ptrdiff_t rank = 0; rank < std::min(n, num_rows); ++rank) {
    double* q = rows_.data() + rank * n;
    double most = 0;
    for (std::ptrdiff_t i = rank; i < num_rows; ++i) {
      double* x = rows_.data() + i * n;
      const double left = dot(x, x);
      if (left <= most) continue;
      most = left;
      if (i > rank) std::swap_ranges(q, q + n, x);
    }
    constexpr double kDependent = 1e-10;
    if (!(most > kDependent)) return static_cast<int>(rank);
    for (std::ptrdiff_t k = 0; k < n; ++k) q[k] /= std::sqrt(most);
    for (std::ptrdiff_t i = rank + 1; i < num_rows; ++i) {
      double* x = rows_.data() + i * n;
      const double share = dot(q, x);
      for (std::ptrdiff_t k = 0; k < n; ++k) x[k] -= share * q[k];
    }
  }
  return static_cast<int>(std::min(n, num_rows));
}

}  // namespace stiction::certificate
