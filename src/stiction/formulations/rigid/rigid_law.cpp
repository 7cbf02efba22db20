#include "stiction/formulations/rigid/rigid_law.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numbers>

#include <Eigen/Core>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/lemke.hpp"

namespace stiction::formulations {

using numerics::LcpStatus;

namespace {

/// The LCP of unilateral impulses z and of the dry friction f of joints,
///
///     u = u_hat + N^T z + F^T f,   0 <= z  _|_  N u + b_n >= 0,
///     f = clamp(-(F u + b_f) / c, -bound, bound),
///
/// where c is the compliance of a dry joint. The matrix is symmetric and positive semidefinite.
/// Source: [drumwright2015]; [theory:projection], [theory:dry-friction].
class FrictionlessLaw final : public RigidLaw {
 public:
  explicit FrictionlessLaw(numerics::LcpSolver solver) : solver_(solver) {}

  numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    STICTION_ASSERT(problem.mu.empty());
    RigidImpulses& impulses = out->impulses;
    const int num_unilateral = problem.num_unilateral;
    impulses.tangents.clear();
    out->u.resize(problem.num_columns);
    numerics::GramLcp lcp{.num_rows = num_unilateral,
                          .num_columns = problem.num_columns,
                          .N = problem.N.data(),
                          .b = problem.b_n.data(),
                          .u_hat = problem.u_hat.data()};
    lcp.largest_residual = problem.accepted_residual;
    if (!problem.dry_bounds.empty()) append_dry_joints(problem, &lcp);
    z_.resize(lcp.num_rows);
    const numerics::LcpReport report = solver_.solve(lcp, problem.guess, z_, out->u);
    impulses.unilateral.assign(z_.begin(), z_.begin() + num_unilateral);
    impulses.dry.assign(z_.begin() + num_unilateral, z_.end());
    read_active(num_unilateral, &out->active);
    if (report.row < num_unilateral) return report;
    numerics::LcpReport unknown = report;
    unknown.row = -1;  // the caller knows only the unilateral rows
    return unknown;
  }

 private:
  /// Stacks the rows of dry joints below the unilateral ones.
  void append_dry_joints(const ReducedProblem& problem, numerics::GramLcp* lcp) {
    rows_.assign(problem.N.begin(), problem.N.end());
    rows_.insert(rows_.end(), problem.F.begin(), problem.F.end());
    constants_.assign(problem.b_n.begin(), problem.b_n.end());
    constants_.insert(constants_.end(), problem.b_f.begin(), problem.b_f.end());
    bounds_.assign(problem.num_unilateral, std::numeric_limits<double>::infinity());
    bounds_.insert(bounds_.end(), problem.dry_bounds.begin(), problem.dry_bounds.end());
    compliance_.assign(problem.num_unilateral, 0.0);
    compliance_.insert(compliance_.end(), problem.dry_compliance.begin(),
                       problem.dry_compliance.end());
    lcp->num_rows = static_cast<int>(constants_.size());
    lcp->N = rows_.data();
    lcp->b = constants_.data();
    lcp->bounds = bounds_.data();
    lcp->compliance = compliance_.data();
  }

  void read_active(int num_unilateral, std::vector<int>* active) const {
    active->clear();
    for (const int row : solver_.active())
      if (row < num_unilateral) active->push_back(row);
  }

  numerics::AnyLcpSolver solver_;
  std::vector<double> rows_, constants_, bounds_, compliance_;
  std::vector<double> z_;  // impulses of the unilateral rows, then of the dry joints
};

/// Coulomb friction within a regular polygon of k corners: with unit tangents d_1 .. d_k of every
/// contact stacked in D, and unknowns z = (f_N, beta, lambda),
///
///     N u + b_n            >= 0  _|_  f_N >= 0
///     D u + b_t + E lambda >= 0  _|_  beta >= 0
///     mu f_N - E^T beta    >= 0  _|_  lambda >= 0,      u = u_hat + N^T f_N + D^T beta.
///
/// The dry friction of a joint is a polygon of two corners with a constant bound. Contacts without
/// friction have only a normal. The matrix is copositive. Lemke's method is therefore guaranteed
/// to end with a solution if some velocity keeps all gaps and lets no contact slip. Source:
/// [stewart1996], [anitescu1997]; [theory:stewart-trinkle].
class FrictionPolygonLaw final : public RigidLaw {
 public:
  explicit FrictionPolygonLaw(int num_directions) {
    for (int k = 0; k < num_directions; ++k)
      directions_.push_back(
          make_friction_direction(2 * std::numbers::pi * k / static_cast<double>(num_directions)));
  }

  numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    frictional_.clear();
    for (int i = 0; i < problem.num_contacts; ++i)
      if (problem.mu[i] > 0) frictional_.push_back(i);
    layout_ = make_layout(problem);
    if (layout_.size() > kMaxDenseSize) return {.status = LcpStatus::kTooLarge};

    stack_rows(problem);
    clear_round_off(problem.num_columns);
    assemble(problem);
    z_.resize(layout_.size());
    numerics::LcpReport report =
        lemke_.solve({.size = layout_.size(), .Q = Q_.data(), .r = r_.data()}, z_);
    if ((report.status == LcpStatus::kNotSolved || report.status == LcpStatus::kMaxPivots) &&
        report.residual <= kAcceptedResidual * math::max_abs(layout_.num_rows(), r_.data()))
      report.status = LcpStatus::kSolved;
    read_out(problem, out);
    // The caller knows only the unilateral rows of the LCP.
    if (report.row >= problem.num_unilateral) report.row = -1;
    return report;
  }

 private:
  /// The order of the unknowns: f_N, beta of each contact with friction, beta of each dry joint,
  /// lambda of these contacts, lambda of these joints. All but lambda have a row in G.
  struct Layout {
    int num_unilateral = 0, num_directions = 0, num_frictional = 0, num_dry = 0;

    int direction(int i, int d) const { return num_unilateral + num_directions * i + d; }
    int dry(int i, int side) const { return direction(num_frictional, 0) + 2 * i + side; }
    int num_rows() const { return dry(num_dry, 0); }
    int slip(int i) const { return num_rows() + i; }
    int dry_slip(int i) const { return slip(num_frictional) + i; }
    int size() const { return dry_slip(num_dry); }
  };

  Layout make_layout(const ReducedProblem& problem) const {
    return {.num_unilateral = problem.num_unilateral,
            .num_directions = static_cast<int>(directions_.size()),
            .num_frictional = static_cast<int>(frictional_.size()),
            .num_dry = static_cast<int>(problem.dry_bounds.size())};
  }

  double* row_of_G(int row, int n) { return G_.data() + static_cast<std::size_t>(row) * n; }

  /// Computes G = [N; D; F; -F] in the order of the unknowns, and the constants of these rows.
  void stack_rows(const ReducedProblem& problem) {
    const int n = problem.num_columns;
    base::resize_within_limits(static_cast<std::size_t>(layout_.num_rows()) * n, &G_);
    constants_.resize(layout_.num_rows());
    std::copy(problem.N.begin(), problem.N.end(), G_.begin());
    std::copy(problem.b_n.begin(), problem.b_n.end(), constants_.begin());
    for (int i = 0; i < layout_.num_frictional; ++i) {
      const int contact = frictional_[i];
      const double* t1 = problem.T.data() + static_cast<std::size_t>(2) * contact * n;
      for (int d = 0; d < layout_.num_directions; ++d) {
        const auto [cos, sin] = directions_[d];
        double* g = row_of_G(layout_.direction(i, d), n);
        for (int j = 0; j < n; ++j) g[j] = cos * t1[j] + sin * t1[n + j];
        constants_[layout_.direction(i, d)] =
            cos * problem.b_t[2 * contact] + sin * problem.b_t[2 * contact + 1];
      }
    }
    for (int i = 0; i < layout_.num_dry; ++i) {
      const double* row = problem.F.data() + static_cast<std::size_t>(i) * n;
      for (int side = 0; side < 2; ++side) {
        const double sign = side == 0 ? 1 : -1;
        double* g = row_of_G(layout_.dry(i, side), n);
        for (int j = 0; j < n; ++j) g[j] = sign * row[j];
        constants_[layout_.dry(i, side)] = sign * problem.b_f[i];
      }
    }
  }

  /// Clears the rows of G that are round-off of projections: constraints prevent any motion there.
  void clear_round_off(int n) {
    const auto squared = [&](int row) { return math::dot(n, row_of_G(row, n), row_of_G(row, n)); };
    double longest = 0;
    for (int row = 0; row < layout_.num_rows(); ++row) longest = std::max(longest, squared(row));
    for (int row = 0; row < layout_.num_rows(); ++row)
      if (squared(row) < kProjectionRoundOff * kProjectionRoundOff * longest)
        std::fill_n(row_of_G(row, n), n, 0.0);
  }

  /// Computes Q = G G^T and r = G u_hat + constants, and the rows and columns of lambda.
  void assemble(const ReducedProblem& problem) {
    const int n = problem.num_columns, size = layout_.size(), num_rows = layout_.num_rows();
    base::fill_zeros_within_limits(static_cast<std::size_t>(size) * size, &Q_);
    r_.assign(size, 0.0);
    for (int row = 0; row < num_rows; ++row) {
      base::check_limits();
      math::multiply_rows(num_rows, n, G_.data(), row_of_G(row, n), nullptr,
                          Q_.data() + static_cast<std::size_t>(row) * size);
    }
    math::multiply_rows(num_rows, n, G_.data(), problem.u_hat.data(), constants_.data(), r_.data());

    Eigen::Map<Eigen::MatrixXd> Q(Q_.data(), size, size);
    const auto couple = [&Q](int beta, int lambda) {
      Q(beta, lambda) = 1;
      Q(lambda, beta) = -1;
    };
    for (int i = 0; i < layout_.num_frictional; ++i) {
      Q(layout_.slip(i), frictional_[i]) = problem.mu[frictional_[i]];
      for (int d = 0; d < layout_.num_directions; ++d)
        couple(layout_.direction(i, d), layout_.slip(i));
    }
    for (int i = 0; i < layout_.num_dry; ++i) {
      r_[layout_.dry_slip(i)] = problem.dry_bounds[i];
      for (int side = 0; side < 2; ++side) couple(layout_.dry(i, side), layout_.dry_slip(i));
    }
  }

  void read_out(const ReducedProblem& problem, ReducedSolution* out) const {
    RigidImpulses& impulses = out->impulses;
    impulses.unilateral.assign(z_.begin(), z_.begin() + problem.num_unilateral);
    impulses.tangents.assign(static_cast<std::size_t>(2) * problem.num_contacts, 0.0);
    for (int i = 0; i < layout_.num_frictional; ++i) {
      double* t = impulses.tangents.data() + 2 * frictional_[i];
      for (int d = 0; d < layout_.num_directions; ++d) {
        const double beta = z_[layout_.direction(i, d)];
        t[0] += directions_[d].cos * beta;
        t[1] += directions_[d].sin * beta;
      }
    }
    impulses.dry.resize(layout_.num_dry);
    for (int i = 0; i < layout_.num_dry; ++i)
      impulses.dry[i] = z_[layout_.dry(i, 0)] - z_[layout_.dry(i, 1)];

    const int n = problem.num_columns;
    out->u.assign(problem.u_hat.begin(), problem.u_hat.end());
    for (int row = 0; row < layout_.num_rows(); ++row)
      math::add_multiple(n, z_[row], G_.data() + static_cast<std::size_t>(row) * n, out->u.data());
    numerics::find_positive(impulses.unilateral, &out->active);
  }

  std::vector<FrictionDirection> directions_;
  Layout layout_;
  std::vector<int> frictional_;        // contacts with friction
  std::vector<double> G_, constants_;  // rows that have an impulse
  std::vector<double> Q_, r_, z_;      // the LCP, column-major
  numerics::Lemke lemke_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_frictionless_law(numerics::LcpSolver solver) {
  return std::make_unique<FrictionlessLaw>(solver);
}

std::unique_ptr<RigidLaw> make_friction_polygon_law(int num_directions) {
  STICTION_ASSERT(num_directions >= 4 && num_directions % 2 == 0);
  return std::make_unique<FrictionPolygonLaw>(num_directions);
}

}  // namespace stiction::formulations
