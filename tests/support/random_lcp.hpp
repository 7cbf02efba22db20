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

/// A factored LCP that owns its data: Q = N N^T, r = N u_hat + b.
struct RandomLcp {
  RowMajorMatrix N;
  Eigen::VectorXd b, u_hat;

  int size() const { return static_cast<int>(N.rows()); }
  Eigen::MatrixXd Q() const { return N * N.transpose(); }
  Eigen::VectorXd r() const { return N * u_hat + b; }
  GramLcp gram() const {
    return {.num_rows = size(),
            .num_columns = static_cast<int>(N.cols()),
            .N = N.data(),
            .b = b.data(),
            .u_hat = u_hat.data()};
  }
};

/// The position of r relative to the range of N.
enum class Range {
  inside,   // b = 0, so r is in the range of N
  outside,  // b is chosen such that a known z and w solve the problem
  any,      // b is random, and the problem may have no solution
};

/// Makes a problem with normally distributed entries.
/// @param duplicates if true, a third of the rows are copies of others
RandomLcp make_random_lcp(int size, int rank, Range range, bool duplicates, std::mt19937_64* rng);

/// Returns w of the solution, found by trying all active sets; empty if there is no solution. w is
/// unique for a positive semidefinite LCP.
std::optional<Eigen::VectorXd> enumerate(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r);

inline DenseLcp dense(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r) {
  return {static_cast<int>(r.size()), Q.data(), r.data()};
}

/// The result of a solver.
struct Solved {
  LcpReport report;
  Eigen::VectorXd z, u;  // u for factored problems only
};

/// Solves a factored problem.
/// @param more further arguments of the solver, such as its options
template <class Solver, class... More>
Solved solve(const RandomLcp& p, Solver* solver, std::span<const int> guess = {},
             const More&... more) {
  Solved s;
  s.z.resize(p.size());
  s.u.resize(p.u_hat.size());
  s.report = solver->solve(p.gram(), guess, span(s.z), span(s.u), more...);
  return s;
}

/// Solves a dense problem.
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

/// Returns |min(z, Q z + r)|_inf / (1 + |r|_inf).
double scaled_residual(const Eigen::MatrixXd& Q, const Eigen::VectorXd& r,
                       const Eigen::VectorXd& z);

}  // namespace stiction::numerics
