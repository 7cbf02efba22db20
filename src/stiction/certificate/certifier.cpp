#include "stiction/certificate/certifier.hpp"

#include "stiction/certificate/compliant_certifier.hpp"
#include "stiction/certificate/rigid_certifier.hpp"
#include "stiction/certificate/round_off.hpp"

namespace stiction::certificate {

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
  // Compliant models have a law for each impulse. Rigid models have conditions that impulses and
  // velocities fulfil together.
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
