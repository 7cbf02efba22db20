// LCPs, mixed LCPs and row bases of arbitrary numbers under every LCP solver.
#include <cmath>
#include <limits>
#include <vector>

#include "fuzz/input.hpp"
#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::fuzz {
namespace {

using namespace numerics;

std::vector<double> make_numbers(int size, bool is_raw, Input* input) {
  std::vector<double> out(size);
  for (double& x : out) x = is_raw ? input->raw_number() : input->number();
  return out;
}

double max_abs(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::fmax(most, std::abs(value));
  return most;
}

void require_not_negative(const std::vector<double>& z) {
  for (const double x : z) require(x >= 0);
}

/// The sizes and options of a problem.
struct Case {
  LcpSolver solver;
  int n, k;
  bool is_raw;
  std::vector<int> guess;

  explicit Case(Input* input) {
    solver = static_cast<LcpSolver>(input->integer(0, static_cast<int>(lcp_solvers().size()) - 1));
    n = input->integer(0, 9);
    k = input->integer(1, 8);
    is_raw = input->flag();
    for (int i = input->integer(0, 12); i > 0; --i) guess.push_back(input->integer(0, 12));
  }
};

/// Returns Q = N N^T of random rows N, or any matrix, column-major.
std::vector<double> make_matrix(const Case& c, Input* input) {
  if (!input->flag()) return make_numbers(c.n * c.n, c.is_raw, input);
  const std::vector<double> N = make_numbers(c.n * c.k, c.is_raw, input);
  std::vector<double> Q(c.n * c.n);
  for (int i = 0; i < c.n; ++i)
    for (int j = 0; j < c.n; ++j)
      for (int l = 0; l < c.k; ++l) Q[i + j * c.n] += N[i * c.k + l] * N[j * c.k + l];
  return Q;
}

/// A solver's solutions satisfy the problem.
void solve_dense(const Case& c, Input* input) {
  const std::vector<double> Q = make_matrix(c, input), r = make_numbers(c.n, c.is_raw, input);
  const DenseLcp lcp{c.n, Q.data(), r.data()};
  if (!check(lcp, c.solver != LcpSolver::lemke).is_solved()) return;
  AnyLcpSolver solver(c.solver);
  std::vector<double> z(c.n), w(c.n);
  for (int round = 0; round < 2; ++round) {
    if (solver.solve(lcp, c.guess, z).is_solved()) {
      require_not_negative(z);
      calc_w(lcp, z, w);
      // Denormal numbers have no digits that a solver could get right.
      const double scale = max_abs(r) + max_abs(Q) * max_abs(z);
      require(natural_residual(z, w) <= 1e-6 * scale + 10 * std::numeric_limits<double>::min());
    }
    for (const int row : solver.active()) require(0 <= row && row < c.n);
  }
}

void solve_factored(const Case& c, Input* input) {
  const std::vector<double> N = make_numbers(c.n * c.k, c.is_raw, input),
                            b = make_numbers(c.n, c.is_raw, input),
                            u_hat = make_numbers(c.k, c.is_raw, input);
  const GramLcp lcp{c.n, c.k, N.data(), b.data(), u_hat.data()};
  if (!check(lcp).is_solved()) return;
  AnyLcpSolver solver(c.solver);
  std::vector<double> z(c.n), u(c.k);
  if (solver.solve(lcp, c.guess, z, u).is_solved()) require_not_negative(z);
}

void solve_mixed(const Case& c, Input* input) {
  const auto make = [&](int size) { return make_numbers(size, c.is_raw, input); };
  const std::vector<double> A = make(c.k * c.k), C = make(c.k * c.n), D = make(c.n * c.k),
                            B = make(c.n * c.n), a = make(c.k), b = make(c.n);
  const Mlcp mixed{.num_free = c.k,
                   .size = c.n,
                   .A = A.data(),
                   .C = C.data(),
                   .D = D.data(),
                   .B = B.data(),
                   .a = a.data(),
                   .b = b.data()};
  CondensedMlcp condensed;
  if (!condensed.condense(mixed).is_solved()) return;
  const DenseLcp lcp = condensed.lcp();
  if (!check(lcp, c.solver != LcpSolver::lemke).is_solved()) return;
  std::vector<double> z(c.n), u(c.k), w(c.n);
  AnyLcpSolver(c.solver).solve(lcp, c.guess, z);
  condensed.calc_u(z, u);
  (void)calc_residual(mixed, z, u, w);
}

void find_basis(const Case& c, Input* input) {
  const std::vector<double> X = make_numbers(c.n * c.k, c.is_raw, input);
  RowBasis basis;
  if (input->flag())
    basis.find_in_order(X.data(), c.n, c.k);
  else
    basis.find(X.data(), c.n, c.k, input->integer(0, c.n), input->flag() ? 0 : 1e-8);
  require(basis.rank() <= c.k);
  for (const int row : basis.selected()) require(0 <= row && row < c.n);
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction::fuzz;
  Input input(data, size);
  const int kind = input.integer(0, 4);
  const Case c(&input);
  switch (kind) {
    case 0: solve_factored(c, &input); break;
    case 1: solve_mixed(c, &input); break;
    case 2: find_basis(c, &input); break;
    default: solve_dense(c, &input);
  }
  return 0;
}
