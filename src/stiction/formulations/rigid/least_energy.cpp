#include "stiction/formulations/rigid/least_energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lemke.hpp"

namespace stiction::formulations {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using numerics::LcpReport;
using numerics::LcpStatus;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::span<double> as_span(VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// Returns the rows of the constraints A x + a >= 0 and x >= 0 in terms of u = L^T x.
RowMajor calc_rows(const Eigen::LLT<MatrixXd>& factor, const Eigen::Ref<const MatrixXd>& A) {
  const Eigen::Index p = A.cols();
  RowMajor rows(A.rows() + p, p);
  rows << A, MatrixXd::Identity(p, p);
  return factor.matrixL().solve(rows.transpose()).transpose();
}

/// The quadratic program of least kinetic energy over the impulses
/// x = (f_N, s+, t+, s-, t-, dry) >= 0 of a chosen set of contacts,
///
///     min 1/2 x^T G G^T x + x^T (G u_hat + c)
///     N u + b_n >= 0,   1^T (N u + b_n) <= kappa
///     mu f_N + dt nu |slip0| >= cos(theta_m) (s+ + s-) + sin(theta_m) (t+ + t-),
///         theta_m = (pi / 2) m / (k / 2 - 1),   m = 0 .. k / 2 - 1,
///
/// with the rows G = [N; S; T; -S; -T; F; -F] of these impulses, and a bound on the sum of the two
/// impulses of each dry joint. It is solved as the LCP of its KKT conditions,
/// [[H, -A^T], [A, 0]] with H = G G^T. If that fails, KktProjection solves it. Keeps its memory.
/// Source: [drumwright2010]; [theory:least-energy].
class LeastEnergyProgram {
 public:
  /// @param num_directions k, even, >= 4
  explicit LeastEnergyProgram(int num_directions) {
    STICTION_ASSERT(num_directions >= 4 && num_directions % 2 == 0);
    for (int m = 0; m < num_directions / 2; ++m)
      half_planes_.push_back(
          make_friction_direction(0.5 * std::numbers::pi * m / (0.5 * num_directions - 1)));
  }

  /// Chooses the unknowns: normals of the chosen contacts, all limits, friction of the chosen
  /// contacts, and dry joints.
  /// @param is_chosen size num_contacts
  /// @return number of unknowns of the LCP, multipliers included
  int choose_variables(const ReducedProblem& problem, std::span<const char> is_chosen) {
    STICTION_ASSERT(static_cast<int>(is_chosen.size()) == problem.num_contacts);
    variables_.clear();
    for (int i = 0; i < problem.num_unilateral; ++i)
      if (i >= problem.num_contacts || is_chosen[i])
        variables_.push_back({.kind = ImpulseKind::kUnilateral, .row = i, .sign = 1});
    frictional_.clear();
    for (int i = 0; i < problem.num_contacts; ++i)
      if (is_chosen[i] && (problem.mu[i] > 0 || problem.nu[i] > 0)) frictional_.push_back(i);
    for (const int i : frictional_)
      for (const double sign : {1.0, -1.0})
        for (const int row : {2 * i, 2 * i + 1})
          variables_.push_back({.kind = ImpulseKind::kTangent, .row = row, .sign = sign});
    for (int i = 0; i < static_cast<int>(problem.dry_bounds.size()); ++i)
      for (const double sign : {1.0, -1.0})
        variables_.push_back({.kind = ImpulseKind::kDry, .row = i, .sign = sign});
    return num_variables() + num_multipliers(problem);
  }

  /// Solves for the variables that were chosen last.
  /// @param kappa sum of the separation speeds of frictionless contacts [m/s]
  numerics::LcpReport solve(const ReducedProblem& problem, double kappa) {
    const int size = num_variables() + num_multipliers(problem);
    stack_rows(problem);
    base::fill_zeros_within_limits(static_cast<std::size_t>(size) * size, &Q_);
    r_.assign(size, 0.0);
    assemble_energy(problem, kappa);
    assemble_friction_bounds(problem);
    // The upper right block, -A^T.
    const int p = num_variables();
    Eigen::Map<MatrixXd> Q(Q_.data(), size, size);
    Q.topRightCorner(p, size - p) = -Q.bottomLeftCorner(size - p, p).transpose();

    x_.resize(size);
    const numerics::DenseLcp kkt{.size = size, .Q = Q_.data(), .r = r_.data()};
    LcpReport report = lemke_.solve(kkt, x_);
    if (!report.is_solved() && p > 0) report = projection_.solve(kkt, std::span(x_).first(p));
    return report;
  }

  /// Writes the impulses of the last solve, and u. Does not change `active`.
  void read_out(const ReducedProblem& problem, ReducedSolution* out) const {
    RigidImpulses& impulses = out->impulses;
    for (auto* values : {&impulses.unilateral, &impulses.tangents, &impulses.dry})
      std::fill(values->begin(), values->end(), 0.0);
    out->u.assign(problem.u_hat.begin(), problem.u_hat.end());
    for (int v = 0; v < num_variables(); ++v) {
      const auto [kind, row, sign] = variables_[v];
      if (kind == ImpulseKind::kUnilateral) impulses.unilateral[row] = x_[v];
      if (kind == ImpulseKind::kTangent) impulses.tangents[row] += sign * x_[v];
      if (kind == ImpulseKind::kDry) impulses.dry[row] += sign * x_[v];
      math::add_multiple(problem.num_columns, x_[v],
                         G_.data() + static_cast<std::size_t>(v) * problem.num_columns,
                         out->u.data());
    }
  }

 private:
  enum class ImpulseKind { kUnilateral, kTangent, kDry };
  /// An impulse along plus or minus one row of the problem.
  struct Variable {
    ImpulseKind kind = ImpulseKind::kUnilateral;
    int row = 0;      // in N, T or F
    double sign = 1;  // 1 or -1
  };

  int num_variables() const { return static_cast<int>(variables_.size()); }
  /// Returns the number of multipliers: of N u + b_n >= 0, kappa, half-planes and dry bounds.
  int num_multipliers(const ReducedProblem& problem) const {
    return problem.num_unilateral + 1 +
           static_cast<int>(half_planes_.size() * frictional_.size() + problem.dry_bounds.size());
  }

  /// Computes the rows G of the variables, and their constants.
  void stack_rows(const ReducedProblem& problem) {
    const int n = problem.num_columns;
    base::fill_zeros_within_limits(static_cast<std::size_t>(num_variables()) * n, &G_);
    constants_.assign(num_variables(), 0.0);
    for (int v = 0; v < num_variables(); ++v) {
      const auto [kind, i, sign] = variables_[v];
      const std::span<const double> rows = kind == ImpulseKind::kUnilateral ? problem.N
                                           : kind == ImpulseKind::kTangent  ? problem.T
                                                                            : problem.F;
      const double* row = rows.data() + static_cast<std::size_t>(i) * n;
      for (int j = 0; j < n; ++j) G_[static_cast<std::size_t>(v) * n + j] = sign * row[j];
      if (kind == ImpulseKind::kTangent) constants_[v] = sign * problem.b_t[i];
      if (kind == ImpulseKind::kDry) constants_[v] = sign * problem.b_f[i];
    }
  }

  /// Computes H, the gradient at x = 0, and the constraints on the velocities of unilateral rows.
  void assemble_energy(const ReducedProblem& problem, double kappa) {
    const int n = problem.num_columns, m = problem.num_unilateral, p = num_variables();
    const std::size_t size = r_.size();
    // Use the project's own kernels: their sums do not depend on the alignment of memory.
    for (int v = 0; v < p; ++v) {
      base::check_limits();
      const double* g = G_.data() + static_cast<std::size_t>(v) * n;
      double* column = Q_.data() + static_cast<std::size_t>(v) * size;
      math::multiply_rows(p, n, G_.data(), g, nullptr, column);
      math::multiply_rows(m, n, problem.N.data(), g, nullptr, column + p);
      // kappa bounds the sum over contacts, without limits.
      for (int i = 0; i < problem.num_contacts; ++i) column[p + m] -= column[p + i];
    }
    double* const separation = r_.data() + p;  // N u_hat + b_n
    math::multiply_rows(p, n, G_.data(), problem.u_hat.data(), constants_.data(), r_.data());
    math::multiply_rows(m, n, problem.N.data(), problem.u_hat.data(), problem.b_n.data(),
                        separation);
    separation[m] = kappa + kEnergyPlay * (1 + math::max_abs(m, separation));
    for (int i = 0; i < problem.num_contacts; ++i) separation[m] -= separation[i];
  }

  /// Writes the half-planes that bound friction, and the bounds of dry joints.
  void assemble_friction_bounds(const ReducedProblem& problem) {
    const int p = num_variables(), num_edges = static_cast<int>(half_planes_.size());
    const int num_frictional = static_cast<int>(frictional_.size());
    const int num_dry = static_cast<int>(problem.dry_bounds.size());
    const auto size = static_cast<Eigen::Index>(r_.size());
    Eigen::Map<MatrixXd> Q(Q_.data(), size, size);
    auto A = Q.bottomLeftCorner(size - p, p);
    const int first_edge = problem.num_unilateral + 1, first_dry = p - 2 * num_dry;
    for (int i = 0; i < num_frictional; ++i) {
      const int contact = frictional_[i];
      const auto is_normal = [contact](const Variable& v) {
        return v.kind == ImpulseKind::kUnilateral && v.row == contact;
      };
      const auto normal = std::find_if(variables_.begin(), variables_.end(), is_normal);
      STICTION_ASSERT(normal != variables_.end());
      const int tangent = first_dry - 4 * num_frictional + 4 * i;
      for (int e = 0; e < num_edges; ++e) {
        const int row = first_edge + num_edges * i + e;
        A(row, normal - variables_.begin()) = problem.mu[contact];
        for (int d = 0; d < 4; ++d)
          A(row, tangent + d) = -(d % 2 == 0 ? half_planes_[e].cos : half_planes_[e].sin);
        r_[p + row] = problem.nu[contact] * problem.slip0[contact];
      }
    }
    for (int i = 0; i < num_dry; ++i) {
      const int row = first_edge + num_edges * num_frictional + i, variable = first_dry + 2 * i;
      A(row, variable) = A(row, variable + 1) = -1;
      r_[p + row] = problem.dry_bounds[i];
    }
  }

  std::vector<FrictionDirection> half_planes_;  // cos and sin of theta_m
  std::vector<int> frictional_;                 // chosen contacts with friction
  std::vector<Variable> variables_;
  std::vector<double> G_, constants_;  // rows of the variables, and c
  std::vector<double> Q_, r_, x_;      // the LCP, column-major; x: variables, then multipliers
  numerics::Lemke lemke_;
  KktProjection projection_;
};

/// Finds the impulses that leave the least kinetic energy, among all that keep bodies apart and do
/// not separate them faster than frictionless impulses would. Phase 1 is the frictionless LCP, with
/// kappa = 1^T (N u + b_n) at its solution. Phase 2 is LeastEnergyProgram for the contacts that
/// have an impulse in phase 1. Other contacts are added one at a time, first the one whose
/// impulse removes the most energy. Source: [drumwright2010]; [theory:least-energy].
class LeastEnergyLaw final : public RigidLaw {
 public:
  explicit LeastEnergyLaw(int num_directions) : program_(num_directions) {}

  LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) override {
    LcpReport report = solve_frictionless(problem, out);
    int pivots = report.pivots;
    if (!report.is_solved()) return report;
    const double kappa = calc_separation(problem, out->u);
    is_chosen_.assign(problem.num_contacts, 0);
    for (int i = 0; i < problem.num_contacts; ++i) is_chosen_[i] = out->impulses.unilateral[i] > 0;
    for (int round = 0; round <= kMaxContactsAdded; ++round) {
      if (program_.choose_variables(problem, is_chosen_) > kMaxDenseSize) {
        if (round > 0) break;  // keep the solution of the round before
        return {.status = numerics::LcpStatus::kTooLarge};
      }
      const LcpReport last = report;
      report = program_.solve(problem, kappa);
      pivots += report.pivots;
      if (round > 0 && !report.is_solved()) {
        report = last;
        break;
      }
      program_.read_out(problem, out);
      if (!report.is_solved() || !choose_next(problem, out->u)) break;
    }
    report.pivots = pivots;
    report.row = -1;
    return report;
  }

 private:
  /// Solves phase 1. Its active set is the guess for the next problem.
  LcpReport solve_frictionless(const ReducedProblem& problem, ReducedSolution* out) {
    RigidImpulses& impulses = out->impulses;
    impulses.unilateral.resize(problem.num_unilateral);
    impulses.tangents.assign(static_cast<std::size_t>(2) * problem.num_contacts, 0.0);
    impulses.dry.assign(problem.dry_bounds.size(), 0.0);
    out->u.resize(problem.num_columns);
    const numerics::GramLcp lcp{.num_rows = problem.num_unilateral,
                                .num_columns = problem.num_columns,
                                .N = problem.N.data(),
                                .b = problem.b_n.data(),
                                .u_hat = problem.u_hat.data()};
    const LcpReport report = pivoting_.solve(lcp, problem.guess, impulses.unilateral, out->u);
    out->active.assign(pivoting_.active().begin(), pivoting_.active().end());
    return report;
  }

  /// Computes kappa, the sum of the separation speeds of contacts [m/s].
  static double calc_separation(const ReducedProblem& problem, const std::vector<double>& u) {
    const int n = problem.num_columns;
    double sum = 0;
    for (int i = 0; i < problem.num_contacts; ++i)
      sum += problem.b_n[i] +
             math::dot(n, u.data(), problem.N.data() + static_cast<std::size_t>(i) * n);
    return sum;
  }

  /// Adds the contact whose impulse would remove the most energy.
  /// @return false if no impulse would remove any
  bool choose_next(const ReducedProblem& problem, const std::vector<double>& u) {
    const int n = problem.num_columns;
    const auto velocity = [&](std::span<const double> rows, int i) {
      return math::dot(n, rows.data() + static_cast<std::size_t>(i) * n, u.data());
    };
    const auto slip = [&](int tangent) {
      return std::abs(velocity(problem.T, tangent) + problem.b_t[tangent]);
    };
    int best = -1;
    double most = kLeastEnergyGain;
    for (int i = 0; i < problem.num_contacts; ++i) {
      if (is_chosen_[i]) continue;
      const double gain =
          problem.mu[i] * std::max(slip(2 * i), slip(2 * i + 1)) - velocity(problem.N, i);
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    if (best >= 0) is_chosen_[best] = 1;
    return best >= 0;
  }

  std::vector<char> is_chosen_;  // contacts that may have impulses in phase 2
  LeastEnergyProgram program_;
  numerics::RatioPivoting pivoting_;
};

}  // namespace

LcpReport KktProjection::solve(const numerics::DenseLcp& kkt, std::span<double> x_out) {
  const auto p = static_cast<Eigen::Index>(x_out.size());
  const Eigen::Index size = kkt.size, num_constraints = size - p;
  STICTION_ASSERT(0 < p && p <= size);
  const Eigen::Map<const MatrixXd> Q(kkt.Q, size, size);
  const Eigen::Map<const VectorXd> r(kkt.r, size);
  const double e = kProgramShift * Q.topLeftCorner(p, p).diagonal().maxCoeff();
  MatrixXd H = Q.topLeftCorner(p, p);
  H.diagonal().array() += e;
  const Eigen::LLT<MatrixXd> factor(H);
  if (factor.info() != Eigen::Success) return {.status = LcpStatus::kIndefinite};

  const RowMajor rows = calc_rows(factor, Q.bottomLeftCorner(num_constraints, p));
  VectorXd b = VectorXd::Zero(num_constraints + p);
  b.head(num_constraints) = r.tail(num_constraints);

  VectorXd x = VectorXd::Zero(p), u_hat(p), u(p), z(num_constraints + p);
  LcpReport report;
  int pivots = 0;
  for (int pass = 0; pass < kProgramPasses; ++pass) {
    base::check_limits();
    u_hat = factor.matrixL().solve(e * x - r.head(p));
    const numerics::GramLcp lcp{.num_rows = static_cast<int>(num_constraints + p),
                                .num_columns = static_cast<int>(p),
                                .N = rows.data(),
                                .b = b.data(),
                                .u_hat = u_hat.data()};
    const std::vector<int> guess(pivoting_.active().begin(), pivoting_.active().end());
    report = pivoting_.solve(lcp, pass > 0 ? std::span<const int>(guess) : std::span<const int>(),
                             as_span(z), as_span(u));
    pivots += report.pivots;
    const bool is_near = report.residual <= kAcceptedResidual * math::max_abs(kkt.size, kkt.r);
    if (report.status == LcpStatus::kNotFinite || (!report.is_solved() && !is_near)) break;
    report.status = LcpStatus::kSolved;
    x = factor.matrixU().solve(u).cwiseMax(0.0);
  }
  std::copy_n(x.data(), p, x_out.begin());
  report.pivots = pivots;
  return report;
}

std::unique_ptr<RigidLaw> make_least_energy_law(int num_directions) {
  return std::make_unique<LeastEnergyLaw>(num_directions);
}

}  // namespace stiction::formulations
