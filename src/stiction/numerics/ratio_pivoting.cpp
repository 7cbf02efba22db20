#include "stiction/numerics/ratio_pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/numerics/lcp_operators.hpp"

namespace stiction::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kRatioTolerance = 1e-10;  // accepted negative w, relative to |r|_inf
constexpr double kAcceptedRatio = 10;      // accepted residual, in units of that tolerance
constexpr int kMaxCorrections = 4;
constexpr double kNoRate = 1e-10;  // a rate that is round-off, in units of sqrt(Q_ii / Q_kk)

/// One solve of a dense or a factored problem, with z within its bounds and w = 0 if active.
template <class Operator>
class Pivoting {
 public:
  Pivoting(const Operator& op, const RatioPivotingOptions& options, RatioPivoting::Memory* memory)
      : op_(op),
        options_(options),
        m_(*memory),
        active_(memory->active),
        max_pivots_(4 * op.size() + 100) {}

  LcpReport solve(std::span<const int> guess, std::span<double> z) {
    STICTION_ASSERT(static_cast<int>(z.size()) == op_.size());
    STICTION_ASSERT(options_.compliance.empty() || options_.compliance.size() == z.size());
    std::fill(z.begin(), z.end(), 0.0);
    start();
    if (op_.size() == 0) return report_;
    calc_w();
    if (!is_finite_) return end(LcpStatus::kNotFinite);
    set_tolerance();
    if (!is_finite_) return end(LcpStatus::kNotFinite);
    if (op_.has_bounds()) clamp_sliding_rows();
    if (op_.has_bounds() || !guess.empty()) {
      start_from(guess);
      calc_w();
    }
    const LcpReport report = exchange();
    for (std::size_t k = 0; k < active_.rows.size(); ++k) z[active_.rows[k]] = active_.z[k];
    for (int k = 0; k < m_.clamped.size(); ++k) z[m_.clamped.row(k)] = m_.clamped.z(k);
    return report;
  }

 private:
  void start() {
    clear_active();
    m_.clamped.clear();
    update_base();
    m_.w.resize(op_.size());
    if (!Operator::kXIsW) m_.x.resize(op_.x_size());
    calc_x();
  }

  void clear_active() {
    m_.mask.assign(op_.size(), 1.0);
    active_.clear();
  }

  /// The array that calc_x fills with x. For a dense problem it is w.
  double* x() { return Operator::kXIsW ? m_.w.data() : m_.x.data(); }

  double compliance(int row) const {
    return op_.compliance(row) + (options_.compliance.empty() ? 0.0 : options_.compliance[row]);
  }

  bool is_bounded(int row) const { return std::isfinite(op_.bound(row)); }
  double upper(int row) const { return op_.bound(row); }
  double lower(int row) const { return is_bounded(row) ? -op_.bound(row) : 0.0; }
  /// Returns how far z is beyond the bounds of a row; negative if it is between them.
  double excess(int row, double z) const { return std::max(lower(row) - z, z - upper(row)); }

  void clamp(int row, double z) { m_.clamped.add(row, z, op_.direction(row)); }

  /// Clamps the rows that would reach their bounds alone. The others start as active rows.
  void clamp_sliding_rows() {
    for (int i = 0; i < op_.size(); ++i) {
      if (!is_bounded(i)) continue;
      const double alone = -m_.w[i] / (op_.entry(i, i) + compliance(i));
      if (!(std::abs(alone) < upper(i))) clamp(i, std::copysign(upper(i), alone));
    }
    update_base();
  }

  /// Computes what the clamped rows add to x_hat.
  void update_base() {
    if (!op_.has_bounds()) return;
    m_.base.resize(op_.x_size());
    math::add_rows(op_.x_size(), op_.x_hat(), m_.clamped.size(), m_.clamped.directions(),
                   m_.clamped.z_data(), m_.base.data());
  }
  const double* base() const { return op_.has_bounds() ? m_.base.data() : op_.x_hat(); }

  LcpReport end(LcpStatus status) {
    report_.status = status;
    report_.row = status == LcpStatus::kSolved ? -1 : least_;
    report_.residual = residual_;
    return report_;
  }

  /// Lets rows with a negative w enter until no w is negative.
  LcpReport exchange() {
    int corrections = 0;
    while (is_finite_) {
      if (least_w() < -tolerance_) {
        const LcpStatus status = enter(least_);
        if (status != LcpStatus::kSolved) {
          const int row = least_;
          calc_w();
          calc_residual();
          least_ = row;
          return end(status);
        }
        calc_w();
        continue;
      }
      calc_residual();
      if (error_ > tolerance_ && corrections < kMaxCorrections) {
        // The updates accumulate round-off. Correct z first; if that is not enough, factor again.
        if (corrections++ % 2 == 0)
          correct();
        else
          refresh();
      } else if (op_.has_bounds() && !is_refined_) {
        // A small compliance turns an error of w into a large one of z.
        is_refined_ = true;
        correct();
      } else {
        move_into_bounds();
        if (!std::isfinite(residual_)) break;
        return end(residual_ <= kAcceptedRatio * tolerance_ ? LcpStatus::kSolved
                                                            : LcpStatus::kNotSolved);
      }
      calc_w();
    }
    residual_ = kInfinity;
    return end(LcpStatus::kNotFinite);
  }

  /// Moves z of `row` from its bound until its w is zero, or z reaches the other bound and stays
  /// there. Active rows whose z reaches a bound before that leave.
  /// @return the fault, or kSolved if the row entered or the factors were computed again
  LcpStatus enter(int row) {
    const double* g = op_.direction(row);
    const double diagonal = op_.entry(row, row) + compliance(row);
    double z = is_bounded(row) ? m_.clamped.remove(row) : 0;
    update_base();
    const double sign = z > 0 ? -1 : 1;  // z moves this way
    const double way = upper(row) - lower(row);
    double passed = 0, w = m_.w[row];  // calc_w gave w the sign that it has along this way
    for (;;) {
      if (++report_.pivots > max_pivots_) return LcpStatus::kMaxPivots;
      base::count_iteration();
      const double pivot = calc_rates(row, diagonal);  // dw / dz
      if (!std::isfinite(pivot)) return LcpStatus::kNotFinite;
      if (diagonal < 0 || pivot < -options_.dependence * diagonal) return LcpStatus::kIndefinite;
      const bool is_free = pivot > options_.dependence * diagonal;
      const double to_zero = is_free ? std::max(0.0, -w / pivot) : kInfinity;
      double to_blocking = kInfinity;
      const int blocking =
          may_block(to_zero) ? find_blocking_row(sign, is_free ? 0 : diagonal, &to_blocking) : -1;
      const double to_other_bound = way - passed;
      const double step = std::min({to_zero, to_blocking, to_other_bound});
      // Nothing limits z: judge this ray with fresh factors.
      if (step == kInfinity) {
        --report_.pivots;
        if (z == 0 && w >= -tolerance_) return LcpStatus::kSolved;
        if (refreshed_at_ == report_.pivots) return judge_ray(row, diagonal);
        refresh();
        return LcpStatus::kSolved;
      }
      z += sign * step;
      passed += step;
      math::add_multiple(size(), -sign * step, active_.a.data(), active_.z.data());
      if (to_zero <= to_blocking && to_zero <= to_other_bound) {
        append(row, z, std::sqrt(pivot));
        return LcpStatus::kSolved;
      }
      if (to_other_bound < to_blocking) {
        clamp(row, sign * upper(row));
        update_base();
        return LcpStatus::kSolved;
      }
      // Nothing blocks if w or z overflowed, as comparisons with a NaN are false.
      if (blocking < 0) return LcpStatus::kNotFinite;
      leave(blocking);
      calc_x();
      math::add_multiple(op_.x_size(), z, g, x());
      w = sign * (op_.value(row, x()) + compliance(row) * z);
    }
  }

  /// Removes an active row whose z is at a bound.
  void leave(int place) {
    const int row = active_.rows[place];
    const double z = active_.z[place];
    active_.remove(place);
    m_.mask[row] = 1;
    if (!is_bounded(row)) return;
    clamp(row, std::copysign(upper(row), z));
    update_base();
  }

  /// Finds out why z can grow along a ray y: if Q is semidefinite, Q y = 0 and r^T y < 0.
  LcpStatus judge_ray(int row, double diagonal) {
    m_.ray.assign(op_.size(), 0.0);
    m_.ray[row] = 1;
    for (int k = 0; k < size(); ++k)
      if (!is_bounded(active_.rows[k])) m_.ray[active_.rows[k]] = std::max(0.0, -active_.a[k]);
    if (op_.proves_infeasible(m_.ray)) {
      report_.least_residual = op_.calc_least_residual(m_.ray);
      return LcpStatus::kInfeasible;
    }
    return op_.proves_indefinite(m_.ray, options_.dependence * diagonal) ? LcpStatus::kIndefinite
                                                                         : LcpStatus::kNotSolved;
  }

  int size() const { return active_.size(); }

  /// Computes l = L^-1 Q_ai and a = L^-T l = -dz_a/dz_i for an entering row i.
  /// @return dw_i/dz_i
  double calc_rates(int row, double diagonal) {
    calc_products(op_.direction(row));
    active_.solve();
    return diagonal - math::dot(active_.cholesky.padded_size(), active_.l.data(), active_.l.data());
  }
  /// Computes q = the products of the active rows with x, see lcp_operators.hpp.
  void calc_products(const double* x) {
    active_.fit();
    op_.products(size(), active_.rows.data(), active_.directions.data(), x, active_.q.data());
  }

  /// Returns false, as most pivots do, if surely no z reaches its bound within `step`.
  bool may_block(double step) const {
    if (op_.has_bounds()) return true;
    const double longest = step * (1 + 4 * kEpsilon);
    bool any = false;
    for (int k = 0; k < size(); ++k) any |= !(active_.z[k] >= longest * active_.a[k]);
    return any;
  }

  /// Returns the place of the active row whose z reaches a bound first, of ties the lowest; or -1.
  /// @param sign     direction in which the entering z moves
  /// @param diagonal of an entering row that depends on the active ones, for which rates of rows
  ///                 with bounds that are round-off do not block; 0: it is independent
  /// @param step in, out: change of the entering z at which that happens
  int find_blocking_row(double sign, double diagonal, double* step) const {
    int blocking = -1;
    for (int k = 0; k < size(); ++k) {
      const double fall = sign * active_.a[k];
      const int row = active_.rows[k];
      const bool rises = fall < 0 && is_bounded(row);
      if (!(fall > 0) && !rises) continue;
      if (diagonal > 0 && is_bounded(row) &&
          fall * fall * (op_.entry(row, row) + compliance(row)) <= kNoRate * kNoRate * diagonal)
        continue;
      const double left = rises ? upper(row) - active_.z[k] : active_.z[k] - lower(row);
      const double t = std::max(0.0, left) / std::abs(fall);  // infinite if a is denormal
      const bool is_tie = blocking >= 0 && t == *step && active_.rows[k] < active_.rows[blocking];
      if (!(t < *step) && !is_tie) continue;
      *step = t;
      blocking = k;
    }
    return blocking;
  }

  /// Makes the row of the last calc_rates active.
  void append(int row, double z, double pivot) {
    active_.append(row, z, op_.direction(row), pivot);
    m_.mask[row] = 0;
  }

  /// Starts from the unclamped rows with bounds, and the rows of a guess that are independent.
  void start_from(std::span<const int> guess) {
    clear_active();
    for (int row = 0; row < op_.size() && op_.has_bounds(); ++row) {
      if (!is_bounded(row) || m_.clamped.contains(row)) continue;
      base::check_limits();
      if (!try_append(row)) clamp(row, upper(row));
    }
    update_base();
    for (const int row : guess) {
      base::check_limits();
      const bool is_full = !op_.has_bounds() && size() == op_.x_size();
      if (0 <= row && row < op_.size() && !is_full && !is_bounded(row)) (void)try_append(row);
    }
    solve_active();
    for (int p = find_worst_z(); p >= 0; p = find_worst_z()) {
      ++report_.pivots;
      base::count_iteration();
      leave(p);
      solve_active();
    }
  }

  /// Makes a row active, with z = 0, if it does not depend on the active rows.
  bool try_append(int row) {
    const double diagonal = op_.entry(row, row) + compliance(row);
    const double pivot = calc_rates(row, diagonal);
    if (!(pivot > options_.dependence * diagonal)) return false;
    append(row, 0, std::sqrt(pivot));
    return true;
  }

  /// Factors the matrix of the active rows again.
  void refresh() {
    m_.guess.assign(active_.rows.begin(), active_.rows.end());
    start_from(m_.guess);
    refreshed_at_ = report_.pivots;
  }

  /// Computes z_a = -Q_aa^-1 r_a.
  void solve_active() {
    std::fill(active_.z.begin(), active_.z.end(), 0.0);
    correct_at(base());  // x of z = 0
    correct();
  }

  /// Does one step of iterative refinement, z_a -= Q_aa^-1 w_a.
  void correct() {
    calc_x();
    correct_at(x());
  }
  void correct_at(const double* x) {
    calc_products(x);
    for (int k = 0; k < size(); ++k) {
      const int row = active_.rows[k];
      active_.q[k] += op_.constant(row) + compliance(row) * active_.z[k];
    }
    active_.solve();
    for (int k = 0; k < size(); ++k) active_.z[k] -= active_.a[k];
  }

  /// Returns the place of the active row whose z is farthest beyond a bound; -1 if there is none.
  int find_worst_z() const {
    int worst = -1;
    double most = 0;
    for (int k = 0; k < size(); ++k) {
      const double e = excess(active_.rows[k], active_.z[k]);
      if (!(e > most)) continue;
      most = e;
      worst = k;
    }
    return worst;
  }

  /// Moves z to its bound where round-off put it beyond, and computes w again.
  void move_into_bounds() {
    if (find_worst_z() < 0) return;
    for (int k = 0; k < size(); ++k)
      active_.z[k] = std::clamp(active_.z[k], lower(active_.rows[k]), upper(active_.rows[k]));
    calc_w();
    calc_residual();
  }

  /// Computes x of the present z.
  void calc_x() {
    math::add_rows(op_.x_size(), base(), size(), active_.directions.data(), active_.z.data(), x());
  }

  /// Computes w, without the compliance of active rows, and finds the least of the other rows.
  void calc_w() {
    calc_x();
    op_.values(x(), m_.w.data());
    calc_clamped_w();
    const math::LeastEntry least = math::find_least(op_.size(), m_.w.data(), m_.mask.data());
    is_finite_ = least.all_finite;
    least_ = least.index;
    if (!is_finite_)
      while (std::isfinite(m_.w[least_])) ++least_;
  }
  double least_w() const { return m_.mask[least_] * m_.w[least_]; }

  /// Measures the errors of the present w and z.
  void calc_residual() {
    double error = 0, residual = is_finite_ ? std::max(0.0, -least_w()) : kInfinity;
    for (int k = 0; k < size(); ++k) {
      const int row = active_.rows[k];
      const double z = active_.z[k], w = m_.w[row] + compliance(row) * z;
      error = std::max(error, std::abs(w));
      residual = std::max(residual, std::abs(is_bounded(row) ? w : std::min(w, z)));
    }
    error_ = error;
    residual_ = residual;
  }

  /// Completes w of the clamped rows, with the sign for which a negative w is wrong.
  void calc_clamped_w() {
    for (int k = 0; k < m_.clamped.size(); ++k) {
      const int row = m_.clamped.row(k);
      const double z = m_.clamped.z(k);
      double& w = m_.w[row];
      w += compliance(row) * z;
      if (z > 0) w = -w;
      if (z == 0 && std::isfinite(w)) w = 0;  // a bound of 0 allows any w
    }
  }

  /// Sets the tolerance of w to a fraction of |r|_inf, at least to the round-off of the least r.
  void set_tolerance() {
    const double scale = math::max_abs(op_.size(), m_.w.data());
    constexpr double kLeastNormal = std::numeric_limits<double>::min();
    tolerance_ =
        std::max({kRatioTolerance * scale, 16 * kEpsilon * op_.magnitude(least_), kLeastNormal});
    // No digit is correct of products of denormal numbers, and of squares that overflow.
    if (!std::isfinite(tolerance_)) is_finite_ = false;
  }

  Operator op_;
  const RatioPivotingOptions& options_;
  RatioPivoting::Memory& m_;
  ActiveRows& active_;
  LcpReport report_;
  int max_pivots_;
  int refreshed_at_ = -1;  // number of pivots at the last refresh
  bool is_refined_ = false;
  double tolerance_ = 0;  // accepted negative w
  bool is_finite_ = true;
  int least_ = 0;                // row of the least w, or the first that is not finite
  double error_ = 0;             // |w_a|_inf of the active rows
  double residual_ = kInfinity;  // residual of the whole problem
};

}  // namespace

LcpReport RatioPivoting::solve(const DenseLcp& problem, std::span<const int> guess,
                               std::span<double> z, const RatioPivotingOptions& options) {
  return Pivoting(DenseOperator{problem}, options, &memory_).solve(guess, z);
}

LcpReport RatioPivoting::solve(const GramLcp& problem, std::span<const int> guess,
                               std::span<double> z, std::span<double> u,
                               const RatioPivotingOptions& options) {
  STICTION_ASSERT(static_cast<int>(u.size()) == problem.num_columns);
  const LcpReport report = Pivoting(GramOperator{problem}, options, &memory_).solve(guess, z);
  std::copy(memory_.x.begin(), memory_.x.end(), u.begin());
  return report;
}

}  // namespace stiction::numerics
