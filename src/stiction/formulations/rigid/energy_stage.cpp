#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "stiction/formulations/rigid/rigid_stage.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::formulations {
namespace {

using numerics::LcpReport;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of all impulses that keep bodies apart and do not separate them faster than frictionless ones
/// would, those that leave the least kinetic energy. Phase 1 is the frictionless LCP, with
/// kappa = 1^T (N u + b_n) at its solution. Phase 2, x = (f_N, s+, t+, s-, t-) >= 0:
///
///     min 1/2 x^T G G^T x + x^T (G u_hat + c)
///     N u + b_n >= 0,   1^T (N u + b_n) <= kappa
///     mu f_N + dt nu |slip0| >= cos(theta_m) (s+ + s-) + sin(theta_m) (t+ + t-),
///         theta_m = (pi / 2) m / (k / 2 - 1),   m = 0 .. k / 2 - 1
///
/// for G = [N; S; T; -S; -T], with the two directions of every dry joint, whose impulses' sum has a
/// bound, beside the tangents; its KKT conditions are an LCP. Contacts that phase 1 gives an
/// impulse come first; others are added one at a time, the one that takes most energy away first.
/// Source: [drumwright2010]; [theory:least-energy].
class EnergyStage final : public RigidLaw {
 public:
  explicit EnergyStage(int num_directions) {
    for (int m = 0; m < num_directions / 2; ++m) {
      const double theta = 0.5 * std::numbers::pi * m / (0.5 * num_directions - 1);
      const auto clean = [](double x) { return std::abs(x) < 1e-15 ? 0 : x; };
      cos_.push_back(clean(std::cos(theta)));
      sin_.push_back(clean(std::sin(theta)));
    }
  }

  /// Of more unknowns the dense matrix would not be worth its memory.
  static constexpr int kMaxSize = 3000;
  /// Contacts added to those of phase 1: the solution is one after each, only not the best.
  static constexpr int kMaxRounds = 8;

  LcpReport solve(const RigidStage& stage, StageImpulses* out) override {
    LcpReport report = solve_frictionless(stage, out);
    int pivots = report.pivots;
    if (!report.is_solved()) return report;
    is_chosen_.assign(stage.num_contacts, 0);
    for (int i = 0; i < stage.num_contacts; ++i) is_chosen_[i] = out->z[i] > 0;
    for (int round = 0; round <= kMaxRounds; ++round) {
      choose_variables(stage);
      if (size_ > kMaxSize) {
        if (round > 0) break;  // the round before is a solution
        return {.status = numerics::LcpStatus::kTooLarge};
      }
      assemble(stage);
      x_.resize(size_);
      const numerics::DenseLcp lcp{size_, Q_.data(), r_.data()};
      const LcpReport last = report;
      report = lemke_.solve(lcp, x_);
      if (!report.is_solved() && !variables_.empty()) report = solve_as_program();
      pivots += report.pivots;
      if (round > 0 && !report.is_solved()) {
        report = last;
        break;
      }
      read_out(stage, out);
      if (!report.is_solved() || !choose_next(stage, *out)) break;
    }
    report.pivots = pivots;
    report.row = -1;
    return report;
  }

 private:
  LcpReport solve_frictionless(const RigidStage& stage, StageImpulses* out) {
    out->z.resize(stage.num_unilateral);
    out->u.resize(stage.num_columns);
    out->tangents.assign(static_cast<std::size_t>(2) * stage.num_contacts, 0.0);
    out->dry.assign(stage.bound.size(), 0.0);
    const numerics::GramLcp lcp{stage.num_unilateral, stage.num_columns, stage.N.data(),
                                stage.b.data(), stage.u_hat.data()};
    const LcpReport report = pivoting_.solve(lcp, stage.guess, out->z, out->u);
    out->active.assign(pivoting_.active().begin(), pivoting_.active().end());
    kappa_ = 0;
    for (int i = 0; i < stage.num_contacts; ++i)
      kappa_ +=
          stage.b[i] + math::dot(stage.num_columns, out->u.data(),
                                 stage.N.data() + static_cast<std::size_t>(i) * stage.num_columns);
    return report;
  }

  void choose_variables(const RigidStage& stage) {
    const int m = stage.num_unilateral;
    variables_.clear();
    for (int i = 0; i < m; ++i)
      if (i >= stage.num_contacts || is_chosen_[i]) variables_.push_back({i, 0});
    frictional_.clear();
    for (int i = 0; i < stage.num_contacts; ++i)
      if (is_chosen_[i] && (stage.mu[i] > 0 || stage.nu[i] > 0)) frictional_.push_back(i);
    for (const int i : frictional_)
      for (const int direction : {1, 2, -1, -2}) variables_.push_back({i, direction});
    for (int i = 0; i < static_cast<int>(stage.bound.size()); ++i)
      for (const int direction : {kDry, -kDry}) variables_.push_back({i, direction});
    size_ = static_cast<int>(variables_.size() + m + 1 + cos_.size() * frictional_.size() +
                             stage.bound.size());
  }

  /// [[H, -A^T], [A, 0]] with H = G G^T.
  void assemble(const RigidStage& stage) {
    const int n = stage.num_columns, m = stage.num_unilateral;
    const int p = static_cast<int>(variables_.size()), f = static_cast<int>(frictional_.size());
    const int num_edges = static_cast<int>(cos_.size());
    const int num_dry = static_cast<int>(stage.bound.size());
    const int num_constraints = m + 1 + num_edges * f + num_dry;
    G_.assign(static_cast<std::size_t>(p) * n, 0.0);
    gradient_.assign(p, 0.0);
    for (int v = 0; v < p; ++v) {
      const auto [i, direction] = variables_[v];
      const int tangent = 2 * i + std::abs(direction) - 1;
      const double sign = direction < 0 ? -1 : 1;
      const bool is_dry = std::abs(direction) == kDry;
      const double* row = direction == 0 ? stage.N.data() + static_cast<std::size_t>(i) * n
                          : is_dry       ? stage.F.data() + static_cast<std::size_t>(i) * n
                                         : stage.T.data() + static_cast<std::size_t>(tangent) * n;
      for (int j = 0; j < n; ++j) G_[static_cast<std::size_t>(v) * n + j] = sign * row[j];
      if (direction != 0) gradient_[v] = sign * (is_dry ? stage.b_f[i] : stage.b_t[tangent]);
    }
    Q_.assign(static_cast<std::size_t>(size_) * size_, 0.0);
    r_.assign(size_, 0.0);
    // By our own kernels, whose sums do not depend on where memory begins.
    for (int v = 0; v < p; ++v) {
      const double* g = G_.data() + static_cast<std::size_t>(v) * n;
      double* column = Q_.data() + static_cast<std::size_t>(v) * size_;
      math::multiply_rows(p, n, G_.data(), g, nullptr, column);
      math::multiply_rows(m, n, stage.N.data(), g, nullptr, column + p);
      // The sum of contacts, not of limits.
      for (int i = 0; i < stage.num_contacts; ++i) column[p + m] -= column[p + i];
    }
    math::multiply_rows(p, n, G_.data(), stage.u_hat.data(), gradient_.data(), r_.data());
    math::multiply_rows(m, n, stage.N.data(), stage.u_hat.data(), stage.b.data(), r_.data() + p);
    // Without some play the feasible set has no inside, and multipliers no bound: complementary to
    // round-off is then not the least energy.
    constexpr double kPlay = 1e-6;  // [m/s]
    r_[p + m] = kappa_ + kPlay * (1 + math::max_abs(m, r_.data() + p));
    for (int i = 0; i < stage.num_contacts; ++i) r_[p + m] -= r_[p + i];
    Eigen::Map<Eigen::MatrixXd> Q(Q_.data(), size_, size_);
    auto A = Q.bottomLeftCorner(num_constraints, p);
    for (int i = 0; i < f; ++i) {
      const int contact = frictional_[i];
      const int normal = static_cast<int>(
          std::find_if(variables_.begin(), variables_.end(),
                       [&](const Variable& v) { return v.row == contact && v.direction == 0; }) -
          variables_.begin());
      const int first = p - 2 * num_dry - 4 * f + 4 * i;
      for (int e = 0; e < num_edges; ++e) {
        const int row = m + 1 + num_edges * i + e;
        A(row, normal) = stage.mu[contact];
        for (int d = 0; d < 4; ++d) A(row, first + d) = -(d % 2 == 0 ? cos_[e] : sin_[e]);
        r_[p + row] = stage.nu[contact] * stage.slip0[contact];
      }
    }
    for (int i = 0; i < num_dry; ++i) {
      const int row = m + 1 + num_edges * f + i, first = p - 2 * num_dry + 2 * i;
      A(row, first) = A(row, first + 1) = -1;
      r_[p + row] = stage.bound[i];
    }
    Q.topRightCorner(p, num_constraints) = -A.transpose();
  }

  /// The quadratic program itself, where round-off is too much for its KKT conditions: with
  /// H + e I = L L^T in place of H it asks for the point u = L^T x of a polyhedron that is nearest
  /// to another, and each time that it is solved about the last x takes e away.
  LcpReport solve_as_program() {
    constexpr double kShare = 1e-9;  // e relative to H's largest entry
    constexpr int kPasses = 3;
    const auto p = static_cast<int>(variables_.size()), num_constraints = size_ - p;
    const Eigen::Map<const Eigen::MatrixXd> Q(Q_.data(), size_, size_);
    const Eigen::Map<const Eigen::VectorXd> r(r_.data(), size_);
    const double e = kShare * Q.topLeftCorner(p, p).diagonal().maxCoeff();
    Eigen::MatrixXd H = Q.topLeftCorner(p, p);
    H.diagonal().array() += e;
    const Eigen::LLT<Eigen::MatrixXd> factor(H);
    if (factor.info() != Eigen::Success) return {.status = numerics::LcpStatus::kIndefinite};
    RowMajor rows(num_constraints + p, p);
    rows << Q.bottomLeftCorner(num_constraints, p), Eigen::MatrixXd::Identity(p, p);
    rows = factor.matrixL().solve(rows.transpose()).transpose().eval();
    Eigen::VectorXd b = Eigen::VectorXd::Zero(num_constraints + p);
    b.head(num_constraints) = r.tail(num_constraints);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(p), u_hat(p), u(p), z(num_constraints + p);
    LcpReport report;
    int pivots = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      u_hat = factor.matrixL().solve(e * x - r.head(p));
      const numerics::GramLcp lcp{num_constraints + p, p, rows.data(), b.data(), u_hat.data()};
      const std::vector<int> guess(pivoting_.active().begin(), pivoting_.active().end());
      report = pivoting_.solve(lcp, pass > 0 ? std::span<const int>(guess) : std::span<const int>(),
                               {z.data(), static_cast<std::size_t>(z.size())},
                               {u.data(), static_cast<std::size_t>(u.size())});
      pivots += report.pivots;
      // All that the certificate asks for.
      constexpr double kAccepted = 1e-7;
      const bool is_near = report.residual <= kAccepted * math::max_abs(r_);
      if (report.status == numerics::LcpStatus::kNotFinite || (!report.is_solved() && !is_near))
        break;
      report.status = numerics::LcpStatus::kSolved;
      x = factor.matrixU().solve(u).cwiseMax(0.0);
    }
    std::copy_n(x.data(), p, x_.begin());
    report.pivots = pivots;
    return report;
  }

  void read_out(const RigidStage& stage, StageImpulses* out) const {
    std::fill(out->z.begin(), out->z.end(), 0.0);
    std::fill(out->tangents.begin(), out->tangents.end(), 0.0);
    std::fill(out->dry.begin(), out->dry.end(), 0.0);
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const auto [i, direction] = variables_[v];
      if (direction == 0)
        out->z[i] = x_[v];
      else if (std::abs(direction) == kDry)
        out->dry[i] += direction < 0 ? -x_[v] : x_[v];
      else
        out->tangents[2 * i + std::abs(direction) - 1] += direction < 0 ? -x_[v] : x_[v];
    }
    const int n = stage.num_columns;
    out->u.assign(stage.u_hat.begin(), stage.u_hat.end());
    for (std::size_t v = 0; v < variables_.size(); ++v)
      math::add_multiple(n, x_[v], G_.data() + v * n, out->u.data());
  }

  /// The contact whose impulse would take most energy away.
  /// @return false if there is none
  bool choose_next(const RigidStage& stage, const StageImpulses& at) {
    constexpr double kTolerance = 1e-10;  // [m/s]
    const int n = stage.num_columns;
    const auto velocity = [&](std::span<const double> rows, int i) {
      return math::dot(n, rows.data() + static_cast<std::size_t>(i) * n, at.u.data());
    };
    int best = -1;
    double most = kTolerance;
    for (int i = 0; i < stage.num_contacts; ++i) {
      if (is_chosen_[i]) continue;
      const double slip = std::max(std::abs(velocity(stage.T, 2 * i) + stage.b_t[2 * i]),
                                   std::abs(velocity(stage.T, 2 * i + 1) + stage.b_t[2 * i + 1]));
      const double gain = stage.mu[i] * slip - velocity(stage.N, i);
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    if (best >= 0) is_chosen_[best] = 1;
    return best >= 0;
  }

  static constexpr int kDry = 3;
  struct Variable {
    int row;        // unilateral, or a dry joint's
    int direction;  // 0: normal; +-1, +-2: tangents; +-kDry
  };

  std::vector<double> cos_, sin_;
  double kappa_ = 0;
  int size_ = 0;
  std::vector<char> is_chosen_;
  std::vector<int> frictional_;
  std::vector<Variable> variables_;
  std::vector<double> G_, gradient_, Q_, r_, x_;
  numerics::RatioPivoting pivoting_;
  numerics::Lemke lemke_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_energy_stage(int num_directions) {
  return std::make_unique<EnergyStage>(num_directions);
}

}  // namespace stiction::formulations
