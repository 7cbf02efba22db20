#include "stiction/formulations/rigid/kkt_projection.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using numerics::LcpReport;
using numerics::LcpStatus;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::span<double> as_span(VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// Returns the rows of the constraints A x + a >= 0 and x >= 0 in terms of u = L^T x.
RowMajor calc_rows(const Eigen::LLT<MatrixXd>& factor, const Eigen::Ref<const MatrixXd>& A) {
  const Eigen::Index p = A.cols();
  RowMajor rows(A.rows() + p, p);
  rows << A, MatrixXd::Identity(p, p);
  return factor.matrixL().solve(rows.transpose()).transpose();
}

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

}  // namespace stiction::formulations
