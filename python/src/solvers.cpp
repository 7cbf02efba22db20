// Solvers of LCPs and of friction cones on NumPy arrays. stiction/lcp.py and stiction/cones.py
// check the shapes before they call these functions.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone/cone_solver.hpp"
#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using formulations::ConeReport;
using numerics::AnyLcpSolver;
using numerics::DenseLcp;
using numerics::GramLcp;
using numerics::LcpReport;
using numerics::LcpSolver;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Guess = std::vector<int>;

/// The report and the vectors of a solve.
struct LcpResult {
  LcpReport report;
  std::vector<double> z, w, u;
  std::vector<int> active;
};

int size_of(const Vector& x) { return static_cast<int>(x.size()); }

/// Computes the residual of a problem that is not solved, because solvers that reject a problem do
/// not compute it.
void set_residual(LcpResult* result) {
  if (result->report.is_solved()) return;
  result->report.residual = numerics::natural_residual(result->z, result->w);
}

LcpResult solve_dense(const DenseLcp& problem, const std::string& solver_name, const Guess& guess) {
  const LcpSolver which = numerics::parse_lcp_solver(solver_name);
  AnyLcpSolver solver(which);
  LcpResult result;
  result.z.resize(problem.size);
  result.w.resize(problem.size);
  result.report = numerics::check(problem, !numerics::takes_unsymmetric(which));
  if (result.report.is_solved()) {
    result.report = solver.solve(problem, guess, result.z);
    const auto active = solver.active();
    result.active.assign(active.begin(), active.end());
  }
  numerics::calc_w(problem, result.z, result.w);
  set_residual(&result);
  return result;
}

LcpResult solve_lcp(const Columns& Q, const Vector& r, const std::string& solver,
                    const Guess& guess) {
  return solve_dense({.size = size_of(r), .Q = Q.data(), .r = r.data()}, solver, guess);
}

LcpResult solve_gram(const Rows& N, const Vector& b, const Vector& u_hat,
                     const std::string& solver_name, const Guess& guess) {
  const GramLcp problem = {.num_rows = size_of(b),
                           .num_columns = size_of(u_hat),
                           .N = N.data(),
                           .b = b.data(),
                           .u_hat = u_hat.data()};
  AnyLcpSolver solver(numerics::parse_lcp_solver(solver_name));
  LcpResult result;
  result.z.resize(problem.num_rows);
  result.w.resize(problem.num_rows);
  result.u.assign(u_hat.data(), u_hat.data() + u_hat.size());
  result.report = numerics::check(problem);
  if (result.report.is_solved()) {
    result.report = solver.solve(problem, guess, result.z, result.u);
    const auto active = solver.active();
    result.active.assign(active.begin(), active.end());
  }
  numerics::calc_w(problem, result.z, result.u, result.w);
  set_residual(&result);
  return result;
}

LcpResult solve_mlcp(const Columns& A, const Columns& C, const Columns& D, const Columns& B,
                     const Vector& a, const Vector& b, const std::string& solver,
                     const Guess& guess) {
  const numerics::Mlcp problem = {.num_free = size_of(a),
                                  .size = size_of(b),
                                  .A = A.data(),
                                  .C = C.data(),
                                  .D = D.data(),
                                  .B = B.data(),
                                  .a = a.data(),
                                  .b = b.data()};
  numerics::parse_lcp_solver(solver);
  numerics::CondensedMlcp condensed;
  LcpResult result;
  result.report = condensed.condense(problem);
  const bool is_condensed = result.report.is_solved();
  if (is_condensed) result = solve_dense(condensed.lcp(), solver, guess);
  result.z.resize(problem.size);
  result.w.resize(problem.size);
  result.u.resize(problem.num_free);
  if (is_condensed) condensed.calc_u(result.z, result.u);
  // Condensing may lose accuracy, so the residual is computed from the problem as given.
  const auto residual = numerics::calc_residual(problem, result.z, result.u, result.w);
  result.report.residual = residual.value;
  if (result.report.is_solved() && !residual.is_accepted())
    result.report.status = numerics::LcpStatus::kNotSolved;
  return result;
}

/// Selects independent rows of X, with pivoting or in order. Returns the selected rows, the basis
/// and the factor, see RowBasis.
nb::tuple select_rows(const Rows& X, int num_first, bool pivoted, double tolerance) {
  const int rows = static_cast<int>(X.shape(0)), columns = static_cast<int>(X.shape(1));
  numerics::RowBasis basis;
  if (pivoted)
    basis.find(X.data(), rows, columns, num_first, tolerance);
  else
    basis.find_in_order(X.data(), rows, columns, tolerance);
  const auto copy = [](auto span) { return std::vector(span.begin(), span.end()); };
  return nb::make_tuple(make_array(copy(basis.selected())), make_array(copy(basis.basis())),
                        make_array(copy(basis.factor())));
}

void bind_lcp_result(nb::module_& m) {
  const auto status = [](const LcpResult& r) {
    return std::string(numerics::name(r.report.status));
  };
  nb::class_<LcpResult>(m, "LcpResult", "The result of solve, solve_gram or solve_mlcp.")
      .def_prop_ro(
          "z", [](const LcpResult& r) { return make_array(r.z); },
          nb::sig("def z(self) -> numpy.ndarray"),
          "The solution z >= 0, shape (size,) [unit of r / Q].")
      .def_prop_ro(
          "w", [](const LcpResult& r) { return make_array(r.w); },
          nb::sig("def w(self) -> numpy.ndarray"), "w = Q z + r, shape (size,) [unit of r].")
      .def_prop_ro(
          "u", [](const LcpResult& r) { return make_array(r.u); },
          nb::sig("def u(self) -> numpy.ndarray"),
          "u = u_hat + N^T z after solve_gram, the free unknowns after solve_mlcp, empty after "
          "solve.")
      .def_prop_ro(
          "active", [](const LcpResult& r) { return make_array(r.active); },
          nb::sig("def active(self) -> numpy.ndarray"),
          "Indices of the active rows, where z is free. Use them as the guess for a similar "
          "problem.")
      .def_prop_ro("status", status,
                   "Outcome of the solve: 'solved', 'infeasible', 'max_pivots', 'not_solved', "
                   "'not_symmetric', 'indefinite' or 'not_finite'.")
      .def_prop_ro(
          "is_solved", [](const LcpResult& r) { return r.report.is_solved(); },
          "True if the status is 'solved'.")
      .def_prop_ro(
          "row", [](const LcpResult& r) { return r.report.row; },
          "The row that is infeasible or at fault; -1 if there is no such row.")
      .def_prop_ro(
          "pivots", [](const LcpResult& r) { return r.report.pivots; },
          "Number of exchanges, or of DAQP's iterations for 'active_set'.")
      .def_prop_ro(
          "residual", [](const LcpResult& r) { return r.report.residual; },
          "Largest |min(z, w)| of a row, computed from the problem as given; for a mixed problem "
          "also the largest |A u + C z + a| [unit of r].")
      .def_prop_ro(
          "fallback_level", [](const LcpResult& r) { return r.report.fallback_level; },
          "Level of the fallback that gave the result, 0 if none was used; see the page on LCP "
          "solvers.")
      .def("__repr__", [status](const LcpResult& r) {
        return "<LcpResult " + status(r) + ", size " + std::to_string(r.z.size()) + ", pivots " +
               std::to_string(r.report.pivots) + ">";
      });
}

void bind_lcp(nb::module_& m) {
  m.def("lcp_solve", &solve_lcp, "Q"_a, "r"_a, "solver"_a, "guess"_a,
        nb::sig("def lcp_solve(Q: numpy.ndarray, r: numpy.ndarray, solver: str, guess: list[int]) "
                "-> LcpResult"));
  m.def("lcp_solve_gram", &solve_gram, "N"_a, "b"_a, "u_hat"_a, "solver"_a, "guess"_a,
        nb::sig("def lcp_solve_gram(N: numpy.ndarray, b: numpy.ndarray, u_hat: numpy.ndarray, "
                "solver: str, guess: list[int]) -> LcpResult"));
  m.def("lcp_solve_mlcp", &solve_mlcp, "A"_a, "C"_a, "D"_a, "B"_a, "a"_a, "b"_a, "solver"_a,
        "guess"_a,
        nb::sig("def lcp_solve_mlcp(A: numpy.ndarray, C: numpy.ndarray, D: numpy.ndarray, B: "
                "numpy.ndarray, a: numpy.ndarray, b: numpy.ndarray, solver: str, guess: list[int]) "
                "-> LcpResult"));
  m.def("lcp_select_rows", &select_rows, "X"_a, "num_first"_a, "pivoted"_a, "tolerance"_a,
        nb::sig("def lcp_select_rows(X: numpy.ndarray, num_first: int, pivoted: bool, tolerance: "
                "float) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]"));
}

// ---- friction cones -----------------------------------------------------------------------------

std::span<const double> view(const Vector& x) { return {x.data(), x.size()}; }

/// The report and the vectors of a solve.
struct ConeResult {
  ConeReport report;
  std::vector<double> r, u;  // r: n, t1, t2 of each contact

  std::string_view status() const {
    return report.is_solved ? "solved" : report.has_conflict ? "conflict" : "not_solved";
  }
};

ConeResult solve_cones(const Rows& G, const Vector& b, const Vector& mu, const Vector& u_hat,
                       int method) {
  // The solver has normals and tangents in separate matrices.
  const std::size_t n = u_hat.size(), num_contacts = mu.size();
  std::vector<double> N, T, b_n, b_t;
  for (std::size_t i = 0; i < 3 * num_contacts; ++i) {
    const double* const row = G.data() + i * n;
    std::vector<double>& rows = i % 3 == 0 ? N : T;
    rows.insert(rows.end(), row, row + n);
    (i % 3 == 0 ? b_n : b_t).push_back(b.data()[i]);
  }
  formulations::ConeBlocks blocks;
  blocks.assemble({.num_columns = static_cast<int>(n),
                   .num_contacts = static_cast<int>(num_contacts),
                   .num_unilateral = static_cast<int>(num_contacts),
                   .N = N,
                   .b_n = b_n,
                   .T = T,
                   .b_t = b_t,
                   .F = {},
                   .b_f = {},
                   .dry_bounds = {},
                   .dry_compliance = {},
                   .mu = view(mu),
                   .nu = {},
                   .slip0 = {},
                   .u_hat = view(u_hat),
                   .guess = {}});
  formulations::ConeSolver solver;
  ConeResult result;
  result.report = solver.solve(blocks, static_cast<formulations::ConeMethod>(method));
  for (const formulations::BlockVector& r : solver.impulses())
    result.r.insert(result.r.end(), r.begin(), r.end());
  result.u.assign(solver.motion().begin(), solver.motion().end());
  return result;
}

void bind_cones(nb::module_& m) {
  nb::class_<ConeResult>(m, "ConeSolution", "The outcome of cones_solve.")
      .def_ro("r", &ConeResult::r)
      .def_ro("u", &ConeResult::u)
      .def_prop_ro("status", &ConeResult::status)
      .def_prop_ro("residual", [](const ConeResult& r) { return r.report.residual; })
      .def_prop_ro("worst", [](const ConeResult& r) { return r.report.worst_block; })
      .def_prop_ro("newton_steps", [](const ConeResult& r) { return r.report.newton_steps; })
      .def_prop_ro("sweeps", [](const ConeResult& r) { return r.report.sweeps; });
  m.def("cones_solve", &solve_cones, "G"_a, "b"_a, "mu"_a, "u_hat"_a, "method"_a,
        nb::sig("def cones_solve(G: numpy.ndarray, b: numpy.ndarray, mu: numpy.ndarray, u_hat: "
                "numpy.ndarray, method: int) -> ConeSolution"));
}

}  // namespace

void bind_solvers(nb::module_& m) {
  bind_lcp_result(m);
  bind_lcp(m);
  bind_cones(m);
}

}  // namespace stiction::python
