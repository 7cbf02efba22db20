#include "stiction/numerics/principal_pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/numerics/lcp_operators.hpp"

namespace stiction::numerics {
namespace {

constexpr double kTolerance = 1e-10;  // negative w relative to |r|_inf, negative z to |z|_inf
constexpr double kAcceptedByPivoting = 1e-8;  // residual of a solution, relative to |r|_inf

/// One solve of a dense or a factored problem.
template <class Operator>
class Passes {
 public:
  Passes(const Operator& op, PivotRule rule, PrincipalPivoting::Memory* memory)
      : op_(op), rule_(rule), m_(*memory) {}

  LcpReport solve(std::span<double> z) {
    STICTION_ASSERT(static_cast<int>(z.size()) == op_.size());
    std::fill(z.begin(), z.end(), 0.0);
    m_.active.clear();
    m_.z.clear();
    m_.is_active.assign(op_.size(), 0);
    m_.x.resize(op_.x_size());
    m_.w.resize(op_.size());
    calc_w();
    LcpReport report;
    if (op_.size() == 0) return report;
    for (int i = 0; i < op_.size(); ++i)
      if (!std::isfinite(m_.w[i])) return {.status = LcpStatus::kNotFinite, .row = i};
    scale_ = math::max_abs(m_.w);
    report.status = run(&report.pivots);
    for (std::size_t k = 0; k < m_.active.size(); ++k)
      z[m_.active[k]] = m_.z[k] = std::max(0.0, m_.z[k]);
    calc_w();
    report.residual = natural_residual(z, m_.w);
    if (report.is_solved() && !(report.residual <= kAcceptedByPivoting * scale_))
      report.status = LcpStatus::kNotSolved;
    return report;
  }

 private:
  /// Exchanges rows until w and z are not negative, within the tolerance.
  LcpStatus run(int* pivots) {
    const long max_passes = std::max(1000L, static_cast<long>(op_.size()) * op_.size());
    for (long pass = 0; pass < max_passes; ++pass) {
      if (!exchange(pivots)) return LcpStatus::kSolved;
      base::count_iteration();
      if (static_cast<int>(m_.active.size()) > op_.x_size() || !solve_active())
        return LcpStatus::kNotSolved;
      calc_w();
    }
    return LcpStatus::kMaxPivots;
  }

  /// Exchanges rows by the rule.
  /// @return false if no w and no z is negative
  bool exchange(int* pivots) {
    return rule_ == PivotRule::least_values ? exchange_least_values(pivots)
                                            : exchange_least_index(pivots);
  }

  bool exchange_least_values(int* pivots) {
    const int enters = find_least_w();
    const int leaves = find_least_z();
    const bool is_feasible = enters < 0 || !is_negative_w(enters);
    const bool is_z_nonnegative = leaves < 0 || !is_negative_z(leaves);
    if (!is_z_nonnegative) remove(leaves, pivots);
    if (!is_feasible) append(enters, pivots);
    return !is_feasible || !is_z_nonnegative;
  }

  bool exchange_least_index(int* pivots) {
    int enters = -1, leaves = -1;  // the first row that may enter; the place of the first to leave
    for (int i = op_.size() - 1; i >= 0; --i)
      if (!m_.is_active[i] && is_negative_w(i)) enters = i;
    for (int k = 0; k < static_cast<int>(m_.active.size()); ++k)
      if (is_negative_z(k) && (leaves < 0 || m_.active[k] < m_.active[leaves])) leaves = k;
    if (enters < 0 && leaves < 0) return false;
    if (leaves < 0 || (enters >= 0 && enters < m_.active[leaves]))
      append(enters, pivots);
    else
      remove(leaves, pivots);
    return true;
  }

  bool is_negative_w(int row) const { return m_.w[row] < -kTolerance * scale_; }
  bool is_negative_z(int place) const { return m_.z[place] < -kTolerance * math::max_abs(m_.z); }

  /// Returns the inactive row with the least w, or -1.
  int find_least_w() const {
    int least = -1;
    for (int i = 0; i < op_.size(); ++i)
      if (!m_.is_active[i] && (least < 0 || m_.w[i] < m_.w[least])) least = i;
    return least;
  }

  /// Returns the place of the least z in the list of active rows, or -1. Ties go to the lowest row.
  int find_least_z() const {
    int least = -1;
    for (int k = 0; k < static_cast<int>(m_.z.size()); ++k)
      if (least < 0 || m_.z[k] < m_.z[least] ||
          (m_.z[k] == m_.z[least] && m_.active[k] < m_.active[least]))
        least = k;
    return least;
  }

  void append(int row, int* pivots) {
    m_.active.push_back(row);
    m_.z.push_back(0);
    m_.is_active[row] = 1;
    ++*pivots;
  }

  void remove(int place, int* pivots) {
    m_.is_active[m_.active[place]] = 0;
    m_.active.erase(m_.active.begin() + place);
    m_.z.erase(m_.z.begin() + place);
    ++*pivots;
  }

  /// Computes z_a = -Q_aa^-1 r_a. The matrix of the active rows is built and factored each time.
  bool solve_active() {
    const int m = static_cast<int>(m_.active.size());
    base::resize_within_limits(static_cast<std::size_t>(m) * m, &m_.matrix);
    for (int i = 0; i < m; ++i) {
      base::check_limits();
      for (int j = 0; j < m; ++j) m_.matrix[i * m + j] = op_.entry(m_.active[i], m_.active[j]);
      m_.z[i] = -op_.value(m_.active[i], op_.x_hat());
    }
    return solve_in_place(m, m_.matrix.data(), 1, m_.z.data()) < 0;
  }

  /// Computes x and w of the present z.
  void calc_w() {
    std::copy_n(op_.x_hat(), op_.x_size(), m_.x.begin());
    for (std::size_t k = 0; k < m_.z.size(); ++k)
      math::add_multiple(op_.x_size(), m_.z[k], op_.direction(m_.active[k]), m_.x.data());
    op_.values(m_.x.data(), m_.w.data());
  }

  Operator op_;
  PivotRule rule_;
  PrincipalPivoting::Memory& m_;
  double scale_ = 0;  // |r|_inf
};

}  // namespace

LcpReport PrincipalPivoting::solve(const DenseLcp& problem, std::span<const int> /*guess*/,
                                   std::span<double> z) {
  return Passes(DenseOperator{problem}, rule_, &memory_).solve(z);
}

LcpReport PrincipalPivoting::solve(const GramLcp& problem, std::span<const int> /*guess*/,
                                   std::span<double> z, std::span<double> u) {
  STICTION_ASSERT(static_cast<int>(u.size()) == problem.num_columns);
  const LcpReport report = Passes(GramOperator{problem}, rule_, &memory_).solve(z);
  std::copy(memory_.x.begin(), memory_.x.end(), u.begin());
  return report;
}

}  // namespace stiction::numerics
