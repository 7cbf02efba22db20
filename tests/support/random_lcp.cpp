#include "support/random_lcp.hpp"

#include <cmath>
#include <vector>

namespace stiction::numerics {

using Eigen::MatrixXd;
using Eigen::VectorXd;

RandomLcp make_random_lcp(int size, int rank, Range range, bool duplicates, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(*rng); };
  RandomLcp p;
  p.N = RowMajorMatrix::NullaryExpr(size, rank, any);
  if (duplicates)
    for (int i = 2; i < size; i += 3) p.N.row(i) = p.N.row((7 * i + 1) % size);
  p.u_hat = VectorXd::NullaryExpr(rank, any);
  p.b = VectorXd::Zero(size);
  if (range == Range::any) p.b = VectorXd::NullaryExpr(size, any);
  if (range != Range::outside) return p;
  VectorXd z = VectorXd::Zero(size), w = VectorXd::Zero(size);
  for (int i = 0; i < size; ++i) {
    const double x = any();
    (x > 0 ? z : w)[i] = std::abs(x);
  }
  p.b = w - p.N * (p.N.transpose() * z + p.u_hat);
  return p;
}

std::optional<VectorXd> enumerate(const MatrixXd& Q, const VectorXd& r) {
  const int c = static_cast<int>(r.size());
  for (unsigned set = 0; set < 1u << c; ++set) {
    std::vector<int> active;
    for (int i = 0; i < c; ++i)
      if (set >> i & 1) active.push_back(i);
    VectorXd z = VectorXd::Zero(c);
    if (!active.empty()) {
      const Eigen::FullPivLU<MatrixXd> lu(MatrixXd(Q(active, active)));
      if (!lu.isInvertible()) continue;  // Another active set has the solution.
      z(active) = -lu.solve(VectorXd(r(active)));
    }
    const VectorXd w = Q * z + r;
    if (z.minCoeff() > -1e-9 && w.minCoeff() > -1e-9) return w;
  }
  return std::nullopt;
}

double scaled_residual(const MatrixXd& Q, const VectorXd& r, const VectorXd& z) {
  const VectorXd w = Q * z + r;
  return z.cwiseMin(w).lpNorm<Eigen::Infinity>() / (1 + r.lpNorm<Eigen::Infinity>());
}

}  // namespace stiction::numerics
