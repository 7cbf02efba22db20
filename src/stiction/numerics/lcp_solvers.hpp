#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/pivoting_with_fallbacks.hpp"
#include "stiction/numerics/principal_pivoting.hpp"

/// LCP solvers by name. A name has the same spelling in C++, in Python and in files.
namespace stiction::numerics {

/// The LCP solvers: PivotingWithFallbacks, PrincipalPivoting by two rules, Lemke and ActiveSetQp.
enum class LcpSolver { ppm_ratio, ppm, ppm_i, lemke, active_set };

/// Returns the names of all solvers, in the order of LcpSolver.
std::span<const std::string_view> lcp_solvers();
std::string_view name(LcpSolver solver);
/// Returns true if a solver takes rows with bounds on both sides: all but `active_set`.
bool takes_bounds(LcpSolver solver);
/// Returns true if a solver takes a Q that is not symmetric: `lemke` and `ppm_i`.
bool takes_unsymmetric(LcpSolver solver);
/// Returns an upper bound of the numbers that a solver keeps for a factored problem, besides the
/// problem itself.
/// @param num_bounded number of rows with bounds on both sides
double count_workspace(LcpSolver solver, double num_rows, double num_columns, double num_bounded);
/// Returns the solver of this name.
/// @param where the name of the caller's option; it becomes `where` of the Error
/// @throws Error kUnknownName, with the nearest name, if no solver has this name
LcpSolver parse_lcp_solver(std::string_view name, const char* where = "solver");

/// One of the LCP solvers, chosen at run time. Memory is reused from call to call.
class AnyLcpSolver {
 public:
  /// @throws Error kUnsupported for active_set if the library was built without DAQP
  explicit AnyLcpSolver(LcpSolver solver = LcpSolver::ppm_ratio);

  /// Solves a dense problem. Solvers that do not take an unsymmetric Q need a symmetric positive
  /// semidefinite one; call `check` first.
  /// @param guess rows that may be active; only `ppm_ratio` uses it
  /// @param z     out: size of the problem, >= 0
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  /// Solves a factored problem. `lemke` forms Q = N N^T, and so do `ppm` and `ppm_i` if rows have
  /// bounds on both sides. Such problems are not solved, and nothing is computed, unless the solver
  /// takes bounds.
  /// @param z out: size num_rows, within its bounds
  /// @param u out: size num_columns
  /// @throws std::bad_alloc
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  /// Returns the rows with z > 0; of `ppm_ratio`, `ppm` and `ppm_i` the whole active set.
  std::span<const int> active() const;

 private:
  LcpReport solve_bounded(const GramLcp& problem, std::span<double> z, std::span<double> u);

  LcpSolver solver_;
  PivotingWithFallbacks ppm_ratio_;
  PrincipalPivoting ppm_;  // `ppm` or `ppm_i`
  Lemke lemke_;
  std::optional<ActiveSetQp> active_set_;
  BoundedLcp bounded_;
  bool was_bounded_ = false;  // in the last solve, rows had bounds on both sides
  std::vector<double> Q_, r_, w_;
  std::vector<int> active_;
};

}  // namespace stiction::numerics
