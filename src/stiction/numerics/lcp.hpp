#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

/// Linear complementarity problems (LCPs): find z with
///
///   w = Q z + r,   z >= 0,   w >= 0,   z^T w = 0.
///
/// See [theory:lcp]. The caller chooses the units.
namespace stiction::numerics {

enum class LcpStatus : std::uint8_t {
  kSolved,
  kInfeasible,    // no z >= 0 gives w >= 0; `row` is a row that cannot be satisfied
  kMaxPivots,     // the limit of pivots was reached
  kNotSolved,     // round-off, or a matrix that the solver does not support; see `residual`
  kNotSymmetric,  // Q_ij differs from Q_ji for i = `row` and some j > i
  kIndefinite,    // Q is not positive semidefinite, as seen at `row`
  kTooLarge,      // more unknowns than the caller allows
  kNotFinite,     // `row` has a number that is infinite or not a number
};

/// Returns the name of a status: "solved", "infeasible", ...
std::string_view name(LcpStatus status);

/// The outcome of a solve.
struct LcpReport {
  LcpStatus status = LcpStatus::kSolved;
  int row = -1;               // row at fault or infeasible; -1 if there is no such row
  int pivots = 0;             // changes of the basis or active set, except rows added by a guess
  double residual = 0;        // |min(z, w)|_inf of the problem as given [unit of r]
  int fallback_level = 0;     // fallback that gave the result; 0 if none was used
  bool is_by_lemke = false;   // `ppm_ratio` failed, and Lemke's method gave the result
  double least_residual = 0;  // of any z, if the problem is proved infeasible; 0 if not known

  bool is_solved() const { return status == LcpStatus::kSolved; }
};

/// The LCP of a dense matrix, w = Q z + r.
struct DenseLcp {
  int size = 0;
  const double* Q = nullptr;  // size x size, column-major
  const double* r = nullptr;  // size
};

/// A symmetric positive semidefinite LCP in factored form, Q = N N^T and r = N u_hat + b. Neither Q
/// nor r is formed:
///
///   u = u_hat + N^T z,   w = N u + b.
///
/// Equivalently, u is the point nearest to u_hat with N u + b >= 0, and z are the multipliers.
///
/// Rows may have a bound on both sides instead, as dry friction has: with a finite bound B_i >= 0
/// and a compliance c_i >= 0,
///
///   w_i = (N u + b)_i + c_i z_i,   -B_i <= z_i <= B_i,
///
/// where w_i = 0 if z_i is between its bounds, w_i >= 0 at z_i = -B_i, and w_i <= 0 at z_i = B_i.
struct GramLcp {
  int num_rows = 0, num_columns = 0;
  const double* N = nullptr;      // num_rows x num_columns, row-major
  const double* b = nullptr;      // num_rows
  const double* u_hat = nullptr;  // num_columns
  // Both null: all rows have z >= 0 and no compliance.
  const double* bounds = nullptr;      // num_rows; infinite: z >= 0
  const double* compliance = nullptr;  // num_rows; 0 for rows without a bound
  /// The largest residual of use. A problem proved to have none smaller is not modified.
  double largest_residual = std::numeric_limits<double>::infinity();
};

/// Computes w = Q z + r.
void calc_w(const DenseLcp& problem, std::span<const double> z, std::span<double> w);
/// Computes u = u_hat + N^T z and w = N u + b + c z.
void calc_w(const GramLcp& problem, std::span<const double> z, std::span<double> u,
            std::span<double> w);

/// Lists the rows with z > 0.
void find_positive(std::span<const double> z, std::vector<int>* rows);

/// Returns |min(z, w)|_inf, zero at solutions only; NaN if z or w has an entry that is NaN.
double natural_residual(std::span<const double> z, std::span<const double> w);
/// Returns the same for a problem whose rows may have bounds on both sides: the largest
/// |z - clamp(z - w)|, where the clamp is to the row's bounds.
double natural_residual(const GramLcp& problem, std::span<const double> z,
                        std::span<const double> w);

/// Returns the bound of row i; infinite if the row has z >= 0.
inline double bound(const GramLcp& problem, int i) {
  return problem.bounds ? problem.bounds[i] : std::numeric_limits<double>::infinity();
}
/// Returns true if row i has bounds on both sides.
inline bool is_bounded(const GramLcp& problem, int i) { return std::isfinite(bound(problem, i)); }

/// Returns true if y >= 0 proves by Farkas' lemma that no z >= 0 gives w >= 0. The proof of a
/// DenseLcp is Q^T y <= 0 and r^T y < 0, that of a GramLcp is N^T y = 0 and b^T y < 0. The first
/// condition must hold within round-off, the second must exceed round-off. y is 0 on rows with
/// bounds on both sides, because their z cannot grow.
///
/// The condition N^T y = 0 also holds within round-off if a solution would need so large a |u| that
/// the round-off of N u exceeded all accepted residuals: w >= 0 requires |N^T y| |u| >= -b^T y.
bool proves_infeasible(const DenseLcp& problem, std::span<const double> y);
bool proves_infeasible(const GramLcp& problem, std::span<const double> y);

/// Checks that all numbers are finite and, if `symmetric`, that Q_ij = Q_ji within 1e-9 max |Q|.
/// The cost is one pass over the data.
/// @return kSolved if the data are valid; otherwise `status` and `row` name the fault
LcpReport check(const DenseLcp& problem, bool symmetric);
LcpReport check(const GramLcp& problem);

/// A factored problem whose rows have bounds on both sides, as a dense LCP for solvers that know
/// only z >= 0. A bounded row is shifted to y = z + B >= 0, and its upper bound becomes a row of
/// its own, with the multiplier s:
///
///   w_i + s_i >= 0  _|_  y_i >= 0,     2 B_i - y_i >= 0  _|_  s_i >= 0.
///
/// The matrix [Q I; -I 0] is not symmetric, but it is positive semidefinite. Keeps its memory.
class BoundedLcp {
 public:
  /// Assembles the dense problem. The factored one must outlive the next calls.
  /// @return the problem in (y, s); valid until the next call
  DenseLcp assemble(const GramLcp& problem);
  /// The unknowns of the dense problem, which a solver fills; size of the dense problem.
  std::span<double> unknowns() { return y_; }
  /// Computes z, u and the residual of the factored problem from the unknowns.
  /// @param report of the dense solver, whose status and pivots are kept
  LcpReport read_out(const LcpReport& report, std::span<double> z, std::span<double> u);

 private:
  GramLcp problem_;
  std::vector<int> bounded_;  // rows with bounds on both sides
  std::vector<double> Q_, r_, y_, w_;
};

/// A mixed LCP with free unknowns u and complementary unknowns z,
///
///   A u + C z + a = 0,   0 <= z  _|_  D u + B z + b >= 0.
///
/// All matrices are column-major. See [theory:lcp].
struct Mlcp {
  int num_free = 0, size = 0;
  const double* A = nullptr;  // num_free x num_free, nonsingular
  const double* C = nullptr;  // num_free x size
  const double* D = nullptr;  // size x num_free
  const double* B = nullptr;  // size x size
  const double* a = nullptr;  // num_free
  const double* b = nullptr;  // size
};

/// The error of a point (u, z) in the problem as given.
struct MlcpResidual {
  double value = 0;      // max of |A u + C z + a|_inf and |min(z, w)|_inf
  double magnitude = 0;  // largest sum of the magnitudes of the terms of a row
  static constexpr double kAccepted = 1e-8;
  /// True if the error is small and finite. Terms that overflow make both numbers infinite.
  bool is_accepted() const { return value <= kAccepted * magnitude && std::isfinite(value); }
};
/// Computes w = D u + B z + b and the error of u and z.
/// @param w out: size `size`
MlcpResidual calc_residual(const Mlcp& problem, std::span<const double> z,
                           std::span<const double> u, std::span<double> w) noexcept;

/// Condenses a mixed problem to an LCP in z, by u = -A^-1 (C z + a). Keeps its memory.
class CondensedMlcp {
 public:
  /// Computes Q and r.
  /// @return kSolved; kNotSolved with a column of A in `row` if A is singular; kNotFinite with a
  /// row
  ///   of [A C a; D B b] in `row` if a number is not finite
  LcpReport condense(const Mlcp& problem);
  /// The LCP in z of the last successful `condense`. It is valid until the next call.
  DenseLcp lcp() const { return {size_, Q_.data(), r_.data()}; }
  /// Computes u, size num_free, for a given z, size `size`.
  void calc_u(std::span<const double> z, std::span<double> u) const noexcept;

 private:
  int num_free_ = 0, size_ = 0;
  std::vector<double> A_;
  std::vector<double> X_;  // A^-1 [C a], num_free x (size + 1), row-major
  std::vector<double> Q_, r_;
};

}  // namespace stiction::numerics
