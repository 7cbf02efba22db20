#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// The balance of momentum of a step, A (v - v*) = J^T gamma.
///
/// Its residual with the impulses that the laws prescribe at v is the gradient of the cost of a
/// convex model. Its imbalance is the same difference with the impulses that the solution reports.
/// plant::MomentumCheck compares the imbalance with MuJoCo's matrices.
class BalanceCheck {
 public:
  /// Computes the residual, the imbalance and the momentum.
  void calc(const SolvedStep& step, const GeneralizedImpulses& impulses);

  /// The entries of Certificate with the same names, and the verdict on them.
  struct Result {
    Verdict verdict;
    double relative_residual = 0;
    double residual_to_momentum = 0;
    double round_off = 0;
  };
  /// Compares the residual with the tolerance. Each island that was solved whole is judged alone,
  /// and so is each block outside all islands; the exact velocity of such a block is v*.
  /// @param impulses as in calc
  /// @param rounding bounds of the rounding errors, which are then allowed; null for no allowance
  /// @param result   in, out: keeps the larger of its own values and those of this step
  void judge(const SolvedStep& step, const GeneralizedImpulses& impulses, const RoundOff* rounding,
             Result* result) const;

  std::span<const double> inertial() const { return inertial_; }    // A (v - v*)
  std::span<const double> residual() const { return residual_; }    // inertial - J^T gamma by law
  std::span<const double> imbalance() const { return imbalance_; }  // inertial - J^T gamma reported
  std::span<const double> momentum() const { return momentum_; }    // A v

 private:
  double calc_norm(const SolvedStep& step, std::span<const int> blocks) const;

  std::vector<double> change_, inertial_, residual_, imbalance_, momentum_;  // size num_dofs
};

/// Calls f(blocks) for each island that was solved whole, and for each block in no island.
template <class F>
void for_each_whole_group(const SolvedStep& step, F&& f) {
  for (int island = 0; island < step.islands.size(); ++island)
    if (step.is_whole(island)) f(step.islands.blocks(island));
  for (int b = 0; b < step.problem.num_blocks(); ++b)
    if (step.islands.island_of_block(b) < 0) f(std::span<const int>(&b, 1));
}

/// The energy that contacts and rows add in a step,
///
///     1/2 |v|_A^2 - 1/2 |v*|_A^2 = sum gamma (J v) - 1/2 |v - v*|_A^2 + r v,
///
/// where r is the momentum residual. Friction takes energy away. Springs, corrections of positions
/// and moving surfaces may add some, and the checks of contacts and rows bound how much.
/// Source: [theory:energy-check].
struct Energy {
  double gain = 0;      // [J]
  double residual = 0;  // largest gain that the momentum residual explains [J]
  double kinetic = 0;   // the larger of 1/2 |v|_A^2 and 1/2 |v*|_A^2 [J]

  /// Adds the energies of some dofs whose momentum is balanced alone.
  void add(const Energy& other);
};

/// Computes the energy of the islands that were solved whole.
Energy calc_energy(const SolvedStep& step, const BalanceCheck& balance);

/// Checks that the gain is not larger than what explains it.
/// @param explained the largest gain by springs, corrections and moving surfaces [J]
/// @param rounding  bound on the rounding error of the gain [J]
void judge_energy(const Energy& energy, double explained, double rounding, Verdict* verdict);

/// Returns the bound on the rounding error of the gain, which grows with pressing bodies [J].
double calc_energy_rounding(const SolvedStep& step, const RoundOff& rounding);

}  // namespace stiction::certificate
