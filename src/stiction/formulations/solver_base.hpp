#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/contact_solver.hpp"

/// The parts that the solvers of convex models, of rigid models and of `tamsi` share.
namespace stiction::formulations {

/// Makes the solver of `tamsi`, see TamsiIsland; an iteration of n dofs costs O(n^3).
std::unique_ptr<ContactSolver> make_tamsi_solver();
/// Makes the solver of a contact model with the trait is_rigid.
std::unique_ptr<ContactSolver> make_rigid_solver(contact::ContactModel model);

/// Returns true if sizes and indices of the problem are in range, MomentumFactor::calc_derived has
/// run on it, `islands` were found for it, and the guess is empty or has one velocity per dof.
/// Numbers may be anything: solvers report numbers that are not finite by a status. Only assertions
/// ask, because it reads the whole problem.
bool is_ready_to_solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                       std::span<const double> guess);
/// Returns true if all options are in the ranges of SolverOptions and ModelParameters.
bool are_in_range(const SolverOptions& options);

/// Begins ContactSolver::solve: asserts its arguments, sets v to v*, and sizes the solution.
void begin_solution(const contact::ContactProblem& problem, const contact::Islands& islands,
                    const SolverOptions& options, std::span<const double> guess,
                    contact::ContactSolution* solution);

/// Shares the memory that ModelParameters::max_memory_gb allows among islands with dense matrices.
/// An island keeps the largest memory of the slot of its index.
class MemoryAllotment {
 public:
  /// Decides which islands of a step are solved: in their order, as long as the sum of what they
  /// need is within the limit.
  /// @param required_bytes upper bounds for the islands of the step
  /// @return false if the limit would be exceeded together with the memory that slots keep; the
  ///         caller then releases the memory of all slots
  [[nodiscard]] bool allot(const std::vector<double>& required_bytes, double max_gigabytes) {
    constexpr double kBytesPerGigabyte = 1e9;
    const double limit = kBytesPerGigabyte * max_gigabytes;
    const std::size_t num_islands = required_bytes.size();
    granted_.assign(num_islands, 0.0);
    is_granted_.assign(num_islands, 0);
    if (kept_.size() < num_islands) kept_.resize(num_islands);
    double sum = 0;
    for (std::size_t i = 0; i < num_islands; ++i) {
      if (!(sum + required_bytes[i] <= limit)) continue;
      is_granted_[i] = 1;
      granted_[i] = required_bytes[i];
      sum += granted_[i];
    }
    double sum_kept = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (i < num_islands) kept_[i] = std::max(kept_[i], granted_[i]);
      sum_kept += kept_[i];
    }
    if (sum_kept <= limit) return true;
    kept_ = granted_;
    return false;
  }

  /// True if the island is solved.
  bool is_granted(int island) const {
    STICTION_ASSERT(0 <= island && island < static_cast<int>(is_granted_.size()));
    return is_granted_[island] != 0;
  }

 private:
  std::vector<double> granted_, kept_;  // [bytes]
  std::vector<char> is_granted_;
};

}  // namespace stiction::formulations
