#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Linear complementarity problems: find z with
///
///   w = Q z + r,   z >= 0,   w >= 0,   z^T w = 0.
namespace stiction::numerics {

enum class LcpStatus : std::uint8_t {
  kSolved,
  kInfeasible,    // no z >= 0 has w >= 0; `row` is one that asks for too much
  kMaxPivots,     // out of pivots
  kNotSolved,     // round-off, or a matrix that the solver is not made for; see `residual`
  kNotSymmetric,  // `row` and one after it disagree
  kIndefinite,    // not positive semidefinite, seen at `row`
  kTooLarge,      // more unknowns than the caller wants to wait for
  kNotFinite,     // `row` has an infinite number or one that is not a number
};

/// "solved", "infeasible", ...
std::string_view name(LcpStatus status);

struct LcpReport {
  LcpStatus status = LcpStatus::kSolved;
  int row = -1;         // at fault or infeasible
  int pivots = 0;       // exchanges, those of a guess not counted
  double residual = 0;  // |min(z, w)|_inf, on the problem as it was given, in the unit of r
  int rung = 0;         // of what is done after a failure; 0: nothing was

  bool is_solved() const { return status == LcpStatus::kSolved; }
};

/// w = Q z + r.
struct DenseLcp {
  int size = 0;
  const double* Q = nullptr;  // size x size, column-major
  const double* r = nullptr;  // size
};

/// A symmetric positive semidefinite LCP in factors, Q = N N^T and r = N u_hat + b, neither of
/// which is formed:
///
///   u = u_hat + N^T z,   w = N u + b.
///
/// Equivalently, u is the point nearest to u_hat with N u + b >= 0, and z its multipliers.
struct GramLcp {
  int num_rows = 0, num_columns = 0;
  const double* N = nullptr;      // num_rows x num_columns, row-major
  const double* b = nullptr;      // num_rows
  const double* u_hat = nullptr;  // num_columns
};

/// w = Q z + r.
void calc_w(const DenseLcp& problem, std::span<const double> z, std::span<double> w);
/// u = u_hat + N^T z and w = N u + b.
void calc_w(const GramLcp& problem, std::span<const double> z, std::span<double> u,
            std::span<double> w);

/// Rows with z > 0.
void find_positive(std::span<const double> z, std::vector<int>* rows);

/// |min(z, w)|_inf: zero at solutions only. Not a number where z or w has one that is not.
double natural_residual(std::span<const double> z, std::span<const double> w);

/// True if y >= 0 proves that no z >= 0 has w >= 0, by Farkas' lemma: Q^T y <= 0 and r^T y < 0, of
/// a GramLcp N^T y = 0 and b^T y < 0, within and beyond the round-off of their terms.
bool proves_infeasible(const DenseLcp& problem, std::span<const double> y);
bool proves_infeasible(const GramLcp& problem, std::span<const double> y);

/// Whether numbers are finite, and for `symmetric` Q_ij = Q_ji within 1e-9 max |Q|; status and row
/// say what is wrong. Cost: one pass.
LcpReport check(const DenseLcp& problem, bool symmetric);
LcpReport check(const GramLcp& problem);

}  // namespace stiction::numerics
