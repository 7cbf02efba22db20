#pragma once

#include <optional>
#include <random>
#include <span>

#include <Eigen/Dense>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline std::span<double> span(Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// An LCP in factors that owns its numbers: Q = N N^T, r = N u_hat + b.
struct RandomLcp {
  RowMajorMatrix N;
  Eigen::VectorXd b, u_hat;

  int size() const { return static_cast<int>(N.rows()); }
  Eigen::MatrixXd Q() const { return N * N.transpose(); }
  Eigen::VectorXd r() const { return N * u_hat + b; }
  GramLcp gram() const {
    return {size(), static_cast<int>(N.cols()), N.data(), b.data(), u_hat.data()};
  }
};

enum class Range {
  inside,   // b = 0, so that r is in the range of N
  outside,  // b such that a known z and w solve the problem
  any,      // b at random: solvable or not
};

/// Normal entries; a third of the rows are others' duplicates where asked for.
RandomLcp make_random_lcp(int size, int rank, Range range, bool duplicates, std::mt19937_64* rng);

/// w of the solution, found by trying all active sets, or none if there is no solution. The w of a
/// positive semidefinite LCP is unique.
std::optional<Eigen::VectorXd> enumerate(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r);

inline DenseLcp dense(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r) {
  return {static_cast<int>(r.size()), Q.data(), r.data()};
}

/// What a solver gives for a problem.
struct Solved {
  LcpReport report;
  Eigen::VectorXd z, u;  // u of a problem in factors
};

/// In factors.
/// @param more what the solver takes besides: options
template <class Solver, class... More>
Solved solve(const RandomLcp& p, Solver* solver, std::span<const int> guess = {},
             const More&... more) {
  Solved s;
  s.z.resize(p.size());
  s.u.resize(p.u_hat.size());
  s.report = solver->solve(p.gram(), guess, span(s.z), span(s.u), more...);
  return s;
}

/// Dense.
template <class Solver>
Solved solve(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r, Solver* solver) {
  Solved s;
  s.z.resize(r.size());
  if constexpr (requires { solver->solve(dense(Q, r), std::span<const int>(), span(s.z)); })
    s.report = solver->solve(dense(Q, r), {}, span(s.z));
  else
    s.report = solver->solve(dense(Q, r), span(s.z));
  return s;
}

/// |min(z, Q z + r)|_inf / (1 + |r|_inf).
double scaled_residual(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r,
                       const Eigen::VectorXd& z);

}  // namespace stiction::numerics
