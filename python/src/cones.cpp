// The solver of friction cones on NumPy arrays. stiction/cones.py checks the shapes before it calls
// these functions.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone/cone_solver.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using formulations::ConeReport;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> view(const Vector& x) { return {x.data(), x.size()}; }

/// The report and the vectors of a solve.
struct ConeResult {
  ConeReport report;
  std::vector<double> r, u;  // r: n, t1, t2 of each contact

  std::string_view status() const {
    return report.is_solved ? "solved" : report.has_conflict ? "conflict" : "not_solved";
  }
};

ConeResult solve(const Rows& G, const Vector& b, const Vector& mu, const Vector& u_hat,
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

}  // namespace

void bind_cones(nb::module_& m) {
  nb::class_<ConeResult>(m, "ConeSolution", "The outcome of cones_solve.")
      .def_ro("r", &ConeResult::r)
      .def_ro("u", &ConeResult::u)
      .def_prop_ro("status", &ConeResult::status)
      .def_prop_ro("residual", [](const ConeResult& r) { return r.report.residual; })
      .def_prop_ro("worst", [](const ConeResult& r) { return r.report.worst_block; })
      .def_prop_ro("newton_steps", [](const ConeResult& r) { return r.report.newton_steps; })
      .def_prop_ro("sweeps", [](const ConeResult& r) { return r.report.sweeps; });
  m.def("cones_solve", &solve, "G"_a, "b"_a, "mu"_a, "u_hat"_a, "method"_a,
        nb::sig("def cones_solve(G: numpy.ndarray, b: numpy.ndarray, mu: numpy.ndarray, "
                "u_hat: numpy.ndarray, method: int) -> ConeSolution"));
}

}  // namespace stiction::python
