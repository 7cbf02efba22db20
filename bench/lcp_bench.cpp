// Time of LCP solvers on the grasp of two blocks by two grippers, [drumwright2015]: 36 contacts
// without slip. Solvers take turns; CPU time. `lcp_bench --json` prints one object.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/principal_pivoting.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "stiction/numerics/row_basis.hpp"

#ifdef STICTION_HAS_SICONOS
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#endif

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace stiction::numerics;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kSide = 0.1, kTimeStep = 1e-3, kGravity = 9.81, kSqueeze = 200;

/// Velocities of four bodies in a row along x, [v; w] of each: gripper, block, block, gripper.
struct Grasp {
  RowMajorMatrix normals, slips;  // rows J M^-1/2 of contacts, and of what may not move
  int num_joint_rows = 0;         // of slips, first
  VectorXd free_velocity;         // M^1/2 v*
};

constexpr int kNumBodies = 4, kNumDofs = 6 * kNumBodies;

double body_x(int body) { return (body - 1.5) * kSide; }

double inv_sqrt_mass(int body, bool is_rotation) {
  const bool is_gripper = body == 0 || body == 3;
  return is_rotation ? 1 / std::sqrt(is_gripper ? 1.0 / 6 : 1.0 / 600) : 1;
}

/// The velocity of a point of body b along a direction, less that of body a, times M^-1/2.
VectorXd make_row(int a, int b, const Vector3d& point, const Vector3d& direction) {
  VectorXd row = VectorXd::Zero(kNumDofs);
  for (const auto& [body, sign] : {std::pair(a, -1.0), std::pair(b, 1.0)}) {
    const Vector3d lever = point - Vector3d(body_x(body), 0, 0);
    row.segment<3>(6 * body) = sign * direction * inv_sqrt_mass(body, false);
    row.segment<3>(6 * body + 3) = sign * lever.cross(direction) * inv_sqrt_mass(body, true);
  }
  return row;
}

/// Each corner of a face meets the two triangles of the other's, those on its diagonal twice; from
/// both sides: 12 contacts an interface.
Grasp make_grasp(bool has_gripper_joint) {
  std::vector<VectorXd> normals, slips;
  if (has_gripper_joint) {  // prismatic along x
    const Vector3d origin(body_x(3), 0, 0);
    slips.push_back(make_row(0, 3, origin, Vector3d::UnitY()));
    slips.push_back(make_row(0, 3, origin, Vector3d::UnitZ()));
    for (int axis = 0; axis < 3; ++axis) {
      VectorXd row = VectorXd::Zero(kNumDofs);
      row[3 + axis] = -inv_sqrt_mass(0, true);
      row[18 + 3 + axis] = inv_sqrt_mass(3, true);
      slips.push_back(row);
    }
  }
  Grasp grasp;
  grasp.num_joint_rows = static_cast<int>(slips.size());
  for (int a = 0; a + 1 < kNumBodies; ++a)
    for (const double sign : {-1.0, 1.0})
      for (const auto& [y, z] : {std::pair(-1, -1), std::pair(-1, -1), std::pair(-1, 1),
                                 std::pair(1, -1), std::pair(1, 1), std::pair(1, 1)}) {
        const Vector3d point((body_x(a) + body_x(a + 1)) / 2, y * kSide / 2, z * kSide / 2);
        const int from = sign > 0 ? a : a + 1, to = sign > 0 ? a + 1 : a;
        normals.push_back(make_row(from, to, point, sign * Vector3d::UnitX()));
        slips.push_back(make_row(from, to, point, Vector3d::UnitY()));
        slips.push_back(make_row(from, to, point, sign * Vector3d::UnitZ()));
      }
  const auto stack = [](const std::vector<VectorXd>& rows) {
    RowMajorMatrix matrix(rows.size(), kNumDofs);
    for (std::size_t i = 0; i < rows.size(); ++i) matrix.row(i) = rows[i];
    return matrix;
  };
  grasp.normals = stack(normals);
  grasp.slips = stack(slips);
  grasp.free_velocity = VectorXd::Zero(kNumDofs);
  grasp.free_velocity[0] = kTimeStep * kSqueeze;
  grasp.free_velocity[18] = -kTimeStep * kSqueeze;
  grasp.free_velocity[8] = grasp.free_velocity[14] = -kTimeStep * kGravity;
  return grasp;
}

/// The LCP of what is left when nothing slips: rows and velocity less what the basis spans.
struct Problem {
  RowMajorMatrix N;
  VectorXd b, u_hat, r;
  MatrixXd Q;

  GramLcp gram() const {
    return {static_cast<int>(N.rows()), static_cast<int>(N.cols()), N.data(), b.data(),
            u_hat.data()};
  }
  DenseLcp dense() const { return {static_cast<int>(r.size()), Q.data(), r.data()}; }
};

Problem make_problem(const Grasp& grasp) {
  RowBasis basis;
  basis.find(grasp.slips.data(), static_cast<int>(grasp.slips.rows()), kNumDofs,
             grasp.num_joint_rows);
  const Eigen::Map<const RowMajorMatrix> q(basis.basis().data(), basis.rank(), kNumDofs);
  Problem p;
  p.N = grasp.normals - grasp.normals * q.transpose() * q;
  p.u_hat = grasp.free_velocity - q.transpose() * (q * grasp.free_velocity);
  p.b = VectorXd::Zero(p.N.rows());
  p.Q = p.N * p.N.transpose();
  p.r = p.N * p.u_hat;
  return p;
}

double residual_of(const Problem& p, const VectorXd& z) {
  return z.cwiseMin(p.Q * z + p.r).lpNorm<Eigen::Infinity>();
}

struct Solver {
  std::string name;
  std::function<LcpReport(VectorXd&)> solve;
  std::vector<double> us = {};  // of each turn
  LcpReport report = {};
  double residual = 0;
};

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::span<double> span(VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

#ifdef STICTION_HAS_SICONOS
/// Siconos' lexicographic Lemke, on memory of its own.
struct Siconos {
  explicit Siconos(const Problem& p) : Q(p.Q), r(p.r), w(p.r.size()) {
    const int c = static_cast<int>(r.size());
    lcp.size = c;
    lcp.M = NM_create_from_data(NM_DENSE, c, c, Q.data());
    lcp.q = r.data();
    options = solver_options_create(SICONOS_LCP_LEMKE);
  }
  LcpReport solve(VectorXd& z) {
    z.setZero();
    const int info = linearComplementarity_driver(&lcp, z.data(), w.data(), options);
    return {.status = info == 0 ? LcpStatus::kSolved : LcpStatus::kNotSolved};
  }
  MatrixXd Q;
  VectorXd r, w;
  LinearComplementarityProblem lcp;
  SolverOptions* options;
};
#endif

std::vector<Solver> make_solvers(const Problem& p, const Grasp& grasp) {
  // Each solver keeps its memory, as in steps; no guess is given.
  static RatioPivoting gram, dense;
  static PrincipalPivoting ppm_gram, ppm_dense;
  static Lemke lemke;
  static RowBasis basis;
  static VectorXd u(kNumDofs);
  std::vector<Solver> solvers;
  const auto add = [&](const char* name, auto solve) {
    solvers.push_back({.name = name, .solve = solve});
  };
  add("ppm_ratio, in factors",
      [&](VectorXd& z) { return gram.solve(p.gram(), {}, span(z), span(u)); });
  add("ppm_ratio, dense", [&](VectorXd& z) { return dense.solve(p.dense(), {}, span(z)); });
  static RatioPivoting warm;
  static std::vector<int> guess;
  VectorXd z(p.r.size());
  warm.solve(p.gram(), {}, span(z), span(u));
  guess.assign(warm.active().begin(), warm.active().end());
  add("ppm_ratio, its own guess",
      [&](VectorXd& z) { return warm.solve(p.gram(), guess, span(z), span(u)); });
  add("ppm, in factors",
      [&](VectorXd& z) { return ppm_gram.solve(p.gram(), {}, span(z), span(u)); });
  add("ppm, dense", [&](VectorXd& z) { return ppm_dense.solve(p.dense(), {}, span(z)); });
  add("lemke", [&](VectorXd& z) { return lemke.solve(p.dense(), span(z)); });
  if (ActiveSetQp::is_available()) {
    static ActiveSetQp active_set;
    add("active_set", [&](VectorXd& z) { return active_set.solve(p.gram(), span(z), span(u)); });
  }
#ifdef STICTION_HAS_SICONOS
  static std::vector<Siconos> kept;
  kept.reserve(4);
  Siconos& siconos = kept.emplace_back(p);
  add("Siconos lemke", [&siconos](VectorXd& z) { return siconos.solve(z); });
#endif
  add("selection of rows", [&](VectorXd& z) -> LcpReport {
    basis.find(grasp.slips.data(), static_cast<int>(grasp.slips.rows()), kNumDofs,
               grasp.num_joint_rows);
    z.setZero();
    return {};
  });
  return solvers;
}

void run_in_turns(const Problem& p, int num_turns, std::vector<Solver>* solvers) {
  VectorXd z(p.r.size());
  for (int turn = 0; turn <= num_turns; ++turn)
    for (Solver& s : *solvers) {
      int count = 0;
      const double start = cpu_seconds();
      double seconds = 0;
      do {
        for (int i = 0; i < 20; ++i) s.report = s.solve(z);
        count += 20;
        seconds = cpu_seconds() - start;
      } while (seconds < 2e-3);
      s.residual = residual_of(p, z);
      if (turn > 0) s.us.push_back(1e6 * seconds / count);  // the first warms up
    }
}

void print(const char* variant, std::vector<Solver>& solvers, bool as_json, bool is_first) {
  if (!as_json)
    std::printf("%s\n%-24s %9s %9s %7s  residual\n", variant, "", "min us", "median", "pivots");
  for (Solver& s : solvers) {
    std::sort(s.us.begin(), s.us.end());
    const double min = s.us.front(), median = s.us[s.us.size() / 2];
    const bool is_solver = s.name != "selection of rows";
    if (!as_json) {
      std::printf("%-24s %9.3f %9.3f %7d  %.1e%s\n", s.name.c_str(), min, median, s.report.pivots,
                  is_solver ? s.residual : 0, s.report.is_solved() ? "" : "  not solved");
      continue;
    }
    std::printf(
        "%s\n  {\"variant\": \"%s\", \"solver\": \"%s\", \"us\": %.4g, \"median_us\": %.4g, "
        "\"pivots\": %d, \"residual\": %.3g, \"solved\": %s}",
        is_first ? "" : ",", variant, s.name.c_str(), min, median, s.report.pivots,
        is_solver ? s.residual : 0, s.report.is_solved() ? "true" : "false");
    is_first = false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool as_json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  if (as_json) std::printf("{\"cases\": [");
#ifndef STICTION_HAS_SICONOS
  std::fprintf(
      stderr,
      "lcp_bench: without Siconos; apt-get install libsiconos-numerics-dev and configure again\n");
#endif
  if (!ActiveSetQp::is_available())
    std::fprintf(stderr, "lcp_bench: without DAQP; run ./dev setup and configure again\n");
  bool is_first = true;
  for (const auto& [variant, has_joint] :
       {std::pair("gripper joint", true), std::pair("no joint", false)}) {
    const Grasp grasp = make_grasp(has_joint);
    const Problem problem = make_problem(grasp);
    std::vector<Solver> solvers = make_solvers(problem, grasp);
    run_in_turns(problem, 25, &solvers);
    print(variant, solvers, as_json, is_first);
    is_first = false;
  }
  if (as_json) std::printf("\n]}\n");
  return 0;
}
