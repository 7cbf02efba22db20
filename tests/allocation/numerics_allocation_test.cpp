// Solvers reuse their memory: solving the same problems again allocates nothing.
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/row_basis.hpp"
#include "support/allocation_counter.hpp"
#include "support/random_lcp.hpp"

namespace stiction::numerics::numerics_allocation_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Case {
  RandomLcp p;
  MatrixXd Q;
  VectorXd r, z, u;
};

std::vector<Case> make_cases() {
  std::mt19937_64 rng(1);
  std::vector<Case> cases;
  for (int k = 0; k < 20; ++k) {
    Case c = {
        make_random_lcp(40, 15, Range(k % 3), true, &rng), {}, {}, VectorXd(40), VectorXd(15)};
    c.Q = c.p.Q();
    c.r = c.p.r();
    cases.push_back(std::move(c));
  }
  return cases;
}

TEST(LcpAllocation, SecondSolvesAllocateNothing) {
  std::vector<Case> cases = make_cases();
  // active_set is left out, because DAQP allocates by itself.
  for (const LcpSolver which :
       {LcpSolver::ppm_ratio, LcpSolver::ppm, LcpSolver::ppm_i, LcpSolver::lemke}) {
    AnyLcpSolver solver(which);
    const auto solve_all = [&] {
      for (Case& c : cases) {
        solver.solve(c.p.gram(), {}, span(c.z), span(c.u));
        solver.solve(dense(c.Q, c.r), {}, span(c.z));
      }
    };
    solve_all();
    const long before = support::count_allocations();
    solve_all();
    EXPECT_EQ(support::count_allocations(), before) << name(which);
  }
}

TEST(LcpAllocation, SecondBasesAndCondensationsAllocateNothing) {
  std::vector<Case> cases = make_cases();
  RowBasis basis;
  CondensedMlcp condensed;
  const MatrixXd A = MatrixXd::Identity(3, 3), C = MatrixXd::Ones(3, 40), D = C.transpose();
  const VectorXd a = VectorXd::Ones(3);
  const auto run_all = [&] {
    for (const Case& c : cases) {
      basis.find(c.p.N.data(), 40, 15, 3);
      basis.find_in_order(c.p.N.data(), 40, 15);
      condensed.condense({.num_free = 3,
                          .size = 40,
                          .A = A.data(),
                          .C = C.data(),
                          .D = D.data(),
                          .B = c.Q.data(),
                          .a = a.data(),
                          .b = c.r.data()});
    }
  };
  run_all();
  const long before = support::count_allocations();
  EXPECT_GT(before, 0);
  run_all();
  EXPECT_EQ(support::count_allocations(), before);
}

}  // namespace
}  // namespace stiction::numerics::numerics_allocation_test
