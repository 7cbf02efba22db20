#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/pivoting_ladder.hpp"
#include "stiction/numerics/principal_pivoting.hpp"

/// LCP solvers by name: one spelling in C++, Python and files.
namespace stiction::numerics {

enum class LcpSolver { ppm_ratio, ppm, lemke, active_set };

/// Names, in the order of LcpSolver.
std::span<const std::string_view> lcp_solvers();
std::string_view name(LcpSolver solver);
/// @param where of the Error: what the caller calls the choice
/// @throws Error with the nearest name if no solver has this one
LcpSolver parse_lcp_solver(std::string_view name, const char* where = "solver");

/// One of the solvers, and its memory from call to call.
class AnyLcpSolver {
 public:
  /// @throws Error kUnsupported for active_set if the library was built without DAQP
  explicit AnyLcpSolver(LcpSolver solver = LcpSolver::ppm_ratio);

  /// `ppm_ratio` goes on after failures as PivotingLadder says. Only it uses the guess, and all but
  /// `lemke` need a symmetric positive semidefinite Q: ask `check`.
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  /// `lemke` forms Q = N N^T.
  /// @param u out: size num_columns
  /// @throws std::bad_alloc
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  /// Rows whose z is free, by `lemke` those with z > 0.
  std::span<const int> active() const;

 private:
  LcpSolver solver_;
  PivotingLadder ladder_;
  PrincipalPivoting ppm_;
  Lemke lemke_;
  std::optional<ActiveSetQp> active_set_;
  std::vector<double> Q_, r_, w_;
  std::vector<int> active_;
};

}  // namespace stiction::numerics
