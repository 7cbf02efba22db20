#include "stiction/certificate/certifier.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/impulse_check.hpp"
#include "stiction/certificate/rigid_certifier.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/substep_check.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::certificate {

using contact::kInfinity;

namespace {

/// Returns the coupling error of one island, see Certificate.
/// @param rounding of each contact's impulse, which is no error [N s]; may be empty
double calc_island_coupling(const SolvedStep& step, int island, const ImpulseCheck& laws,
                            std::span<const double> by_law, std::span<const double> momentum,
                            std::span<const double> rounding) {
  const ContactProblem& problem = step.problem;
  double largest = 0, sum = 0, max_w = 0, surfaces2 = 0;
  int num = 0;
  for (const int p : step.islands.pairs(island)) {
    const contact::BodyPair& pair = problem.pairs[p];
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i, ++num) {
      const double impulse = laws.normal_impulses()[i];
      const double allowed = rounding.empty() ? 0 : rounding[i];
      largest = std::max(largest, std::abs(laws.normal_bounds()[i] - impulse) - allowed);
      sum += impulse;
      max_w = std::max(max_w, problem.delassus[i]);
      surfaces2 = std::max(surfaces2, contact::calc_surface_momentum2(problem, i));
    }
  }
  if (!(largest > 0)) return 0;
  const auto blocks = step.islands.blocks(island);
  const double scale =
      calc_residual_scale(problem, blocks, by_law, momentum, 1, surfaces2).impulses;
  const double relative = std::max(step.resolution, step.relative_tolerance);
  const double resolved = step.absolute_resolution + relative * scale;
  const double resolution = max_w > 0 ? resolved / std::sqrt(max_w) : 0;
  return largest / std::max(sum / num, resolution);
}

/// Certifies steps of compliant models, whose impulses are functions of the velocities.
///
///  1. The laws are evaluated at v, and their impulses are compared with those of the solution.
///  2. In every island the momentum must balance with the impulses of the laws.
///  3. The energy must not grow by more than springs and moving surfaces explain.
///  4. If a check fails, all are repeated with an allowance for rounding.
///  5. The norm of the momentum residual, |grad l|_{A^-1}, bounds the error of v.
class CompliantCertifier {
 public:
  /// Computes the certificate of a step.
  /// @param impulses in: cleared; out: the generalized impulses of the step
  /// @param balance  out: the balance of momentum of the step
  Certificate certify(const SolvedStep& step, contact::MomentumFactor* factor,
                      GeneralizedImpulses* impulses, BalanceCheck* balance) {
    Certificate out;
    substeps_.calc(step);
    laws_.calc(step, substeps_, impulses);
    laws_.write(step, &out);
    balance->calc(step, *impulses);
    out.coupling_error = calc_coupling(step, *impulses, *balance);
    const Verdict verdict = judge(step, *impulses, *balance, &out);
    out.ok = verdict.ok();
    out.failed = verdict.failed();
    calc_bounds(step, factor, *balance, &out);
    return out;
  }

 private:
  /// Returns the largest coupling error of an island, and if the model solves for it and it is
  /// large, what rounding does not explain: a stiffness of 1e13 N/m turns the last place of a
  /// velocity into impulses of a touching contact.
  double calc_coupling(const SolvedStep& step, const GeneralizedImpulses& impulses,
                       const BalanceCheck& balance) {
    const auto find_largest = [&](std::span<const double> rounding) {
      double largest = 0;
      for (int island = 0; island < step.islands.size(); ++island)
        largest = std::max(largest, calc_island_coupling(step, island, laws_, impulses.by_law,
                                                         balance.momentum(), rounding));
      return largest;
    };
    constexpr double kLarge = 1e-3;  // default of SolverOptions::coupling_tolerance
    const double error = find_largest({});
    if (step.solution.normal_bounds.empty() || error <= kLarge) return error;
    round_off_.calc_laws(step);
    return find_largest(round_off_.contact_impulses());
  }

  /// Runs all checks, and again with an allowance for rounding if they fail. Writes residuals.
  Verdict judge(const SolvedStep& step, const GeneralizedImpulses& impulses,
                const BalanceCheck& balance, Certificate* out) {
    Energy energy = calc_energy(step, balance);
    energy.add(substeps_.energy());
    out->energy_gain = energy.gain;
    const double explained = laws_.gain() + substeps_.gain();
    const auto judge_with = [&](const RoundOff* rounding, double law_tolerance) {
      BalanceCheck::Result momentum = {.verdict = substeps_.judge(step, rounding),
                                       .relative_residual = substeps_.relative_residual()};
      balance.judge(step, impulses, rounding, &momentum);
      out->relative_residual = momentum.relative_residual;
      out->residual_to_momentum = momentum.residual_to_momentum;
      out->round_off = momentum.round_off;
      Verdict verdict = momentum.verdict;
      judge_impulses(*out, laws_.is_finite(), law_tolerance, &verdict);
      verdict.require("positive work of friction", out->max_friction_work, law_tolerance, "J");
      judge_energy(energy, explained, rounding ? calc_energy_rounding(step, *rounding) : 0,
                   &verdict);
      return verdict;
    };
    // Stiff laws amplify rounding of v; a tenth of the solver's tolerance hides no error of it.
    const double law_tolerance =
        std::max(1e-9, 0.1 * step.relative_tolerance) * std::max(laws_.scale(), 1e-12);
    const Verdict verdict = judge_with(nullptr, law_tolerance);
    if (verdict.ok() || !laws_.is_finite()) return verdict;
    // A tolerance that arithmetic cannot resolve is met if rounding explains the rest.
    round_off_.calc_sums(step);
    round_off_.calc_laws(step);
    return judge_with(&round_off_, law_tolerance + round_off_.impulse());
  }

  void calc_bounds(const SolvedStep& step, contact::MomentumFactor* factor,
                   const BalanceCheck& balance, Certificate* out) {
    dual_shares_.resize(step.problem.num_blocks());
    factor->calc_squared_norms(balance.residual(), dual_shares_);
    double all = 0, max_island = 0;  // |grad l|_{A^-1}^2 [J]
    for_each_whole_group(step, [&](std::span<const int> blocks) {
      double island = 0;
      for (const int b : blocks) island += dual_shares_[b];
      all += island;
      max_island = std::max(max_island, island);
    });
    out->error_bound = std::sqrt(all);
    // |J dv|^2 <= |J A^-1 J^T| |dv|_A^2, and the norm is at most 3 w for w = |W|_F / 3.
    out->velocity_bound = std::sqrt(3 * laws_.max_w() * max_island);
    if (!contact::traits(step.model).has_error_bound)
      out->error_bound = out->velocity_bound = kInfinity;
  }

  SubstepCheck substeps_;
  ImpulseCheck laws_;
  RoundOff round_off_;
  std::vector<double> dual_shares_;  // of each block in |residual|_{A^-1}^2 [J]
};

}  // namespace

struct Certifier::Checks {
  GeneralizedImpulses impulses;
  BalanceCheck balance;
  CompliantCertifier compliant;
  RigidCertifier rigid;
  RoundOff round_off;
  std::vector<double> imbalance_rounding;
};

Certifier::Certifier() : checks_(std::make_unique<Checks>()) {}
Certifier::~Certifier() = default;
Certifier::Certifier(Certifier&&) noexcept = default;
Certifier& Certifier::operator=(Certifier&&) noexcept = default;

Certificate Certifier::certify(const SolvedStep& step, contact::MomentumFactor* factor) {
  GeneralizedImpulses* impulses = &checks_->impulses;
  impulses->clear(step.problem.num_dofs());
  // Compliant models have a law for each impulse, rigid models conditions on all together.
  return contact::traits(step.model).is_rigid
             ? checks_->rigid.certify(step, factor, impulses, &checks_->balance)
             : checks_->compliant.certify(step, factor, impulses, &checks_->balance);
}

std::span<const double> Certifier::constraint_impulse() const {
  return checks_->impulses.constraint;
}

std::span<const double> Certifier::imbalance() const { return checks_->balance.imbalance(); }

std::span<const double> Certifier::calc_imbalance_rounding(const SolvedStep& step) {
  checks_->round_off.calc_sums(step);
  std::vector<double>& out = checks_->imbalance_rounding;
  out.assign(checks_->round_off.terms().begin(), checks_->round_off.terms().end());
  for (double& bound : out) bound *= checks_->round_off.unit();
  return out;
}

}  // namespace stiction::certificate
