// Measures the CPU time of LCP solvers on a grasp of two blocks by two grippers [drumwright2015]:
// 36 contacts without slip. The solvers take turns. `lcp_bench --json` prints one JSON object.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "grasp.hpp"
#include "lcp_peers.hpp"
#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/principal_pivoting.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "stiction/numerics/row_basis.hpp"
#include "turns.hpp"

namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace stiction::bench;
using namespace stiction::numerics;
using stiction::contact::ContactProblem;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The constraint rows J M^-1/2.
struct Rows {
  RowMajorMatrix normals, slips;  // slips: the rows without motion, joints first, then tangents
  int num_joint_rows = 0;
  VectorXd free_velocity;  // M^1/2 v*, from rest
};

Rows make_rows(const ContactProblem& problem) {
  const int n = problem.num_dofs(), num_contacts = problem.num_contacts();
  VectorXd inv_sqrt_mass(n);
  for (int i = 0; i < n; ++i)
    inv_sqrt_mass[i] = 1 / std::sqrt(problem.diagonal(i / 6)[7 * (i % 6)]);
  Rows rows;
  rows.num_joint_rows = problem.num_rows();
  rows.normals.setZero(num_contacts, n);
  rows.slips.setZero(rows.num_joint_rows + 2 * num_contacts, n);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const auto& row = problem.rows[i];
    for (int k = row.first_column; k < row.first_column + row.num_columns; ++k)
      rows.slips(i, problem.row_dof[k]) = problem.row_columns[k];
  }
  for (const auto& pair : problem.pairs)
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
      for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
        const auto& contact = problem.contacts[i];
        const auto& segment = problem.segments[s];
        const Vector3d lever =
            Map<const Vector3d>(segment.offset.data()) + Map<const Vector3d>(contact.offset.data());
        for (int r = 0; r < 3; ++r) {
          const Map<const Vector3d> direction(contact.R_WC.data() + 3 * r);
          auto row = r == 2 ? rows.normals.row(i) : rows.slips.row(rows.num_joint_rows + 2 * i + r);
          row.segment<3>(6 * segment.block) = segment.sign * lever.cross(direction);
          row.segment<3>(6 * segment.block + 3) = segment.sign * direction;
        }
      }
  rows.normals *= inv_sqrt_mass.asDiagonal();
  rows.slips *= inv_sqrt_mass.asDiagonal();
  rows.free_velocity =
      inv_sqrt_mass.cwiseProduct(Map<const VectorXd>(problem.free_impulse.data(), n));
  return rows;
}

/// The LCP of the normals when no contact slips. Its rows and its velocity are orthogonal to the
/// slip rows.
struct Problem {
  RowMajorMatrix N;
  VectorXd b, u_hat, r;
  MatrixXd Q;

  GramLcp gram() const {
    return {.num_rows = static_cast<int>(N.rows()),
            .num_columns = static_cast<int>(N.cols()),
            .N = N.data(),
            .b = b.data(),
            .u_hat = u_hat.data()};
  }
  DenseLcp dense() const { return {static_cast<int>(r.size()), Q.data(), r.data()}; }
};

/// Selects independent slip rows, those of the joints first.
void select(const Rows& rows, RowBasis* basis) {
  basis->find(rows.slips.data(), static_cast<int>(rows.slips.rows()),
              static_cast<int>(rows.slips.cols()), rows.num_joint_rows);
}

Problem make_lcp(const Rows& rows) {
  RowBasis basis;
  select(rows, &basis);
  const Map<const RowMajorMatrix> q(basis.basis().data(), basis.rank(), rows.slips.cols());
  Problem p;
  p.N = rows.normals - rows.normals * q.transpose() * q;
  p.u_hat = rows.free_velocity - q.transpose() * (q * rows.free_velocity);
  p.b = VectorXd::Zero(p.N.rows());
  p.Q = p.N * p.N.transpose();
  p.r = p.N * p.u_hat;
  return p;
}

double residual_of(const Problem& p, const VectorXd& z) {
  return z.cwiseMin(p.Q * z + p.r).lpNorm<Eigen::Infinity>();
}

/// The last result of a solver.
struct Result {
  bool is_solver = true;  // false for the selection of rows, which has no z
  VectorXd z;
  LcpReport report = {};
};

std::span<double> span(VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// Runs all solvers on one problem. Each solver reuses its memory, as it does from step to step.
/// Only the ones named "warm" get a guess.
class Comparison {
 public:
  Comparison(const Problem& p, const Rows& rows) : p_(p), u_(p.u_hat.size()) {
    add("ppm_ratio, in factors",
        [&](VectorXd& z) { return gram_.solve(p_.gram(), {}, span(z), span(u_)); });
    add("ppm_ratio, dense", [&](VectorXd& z) { return dense_.solve(p_.dense(), {}, span(z)); });
    add("ppm_ratio, warm, in factors", [&](VectorXd& z) {
      guess_.assign(warm_.active().begin(), warm_.active().end());
      return warm_.solve(p_.gram(), guess_, span(z), span(u_));
    });
    add("ppm_ratio, warm, dense", [&](VectorXd& z) {
      guess_.assign(warm_dense_.active().begin(), warm_dense_.active().end());
      return warm_dense_.solve(p_.dense(), guess_, span(z));
    });
    add("ppm, in factors",
        [&](VectorXd& z) { return ppm_gram_.solve(p_.gram(), {}, span(z), span(u_)); });
    add("ppm, dense", [&](VectorXd& z) { return ppm_dense_.solve(p_.dense(), {}, span(z)); });
    add_peer(make_published_rule());
    add("lemke", [&](VectorXd& z) { return lemke_.solve(p_.dense(), span(z)); });
    if (ActiveSetQp::is_available()) {
      active_set_ = std::make_unique<ActiveSetQp>();
      add("active_set (DAQP), in factors",
          [&](VectorXd& z) { return active_set_->solve(p_.gram(), span(z), span(u_)); });
    }
    add_peer(make_daqp_dense());
    add_peer(make_siconos_lemke());
    add("selection of rows", [&](VectorXd&) -> LcpReport {
      select(rows, &basis_);
      return {};
    });
    results_.back().is_solver = false;
  }

  void run() { run_in_turns(25, &contestants_); }

  void print(const char* variant, bool as_json, bool is_first) const {
    if (!as_json)
      std::printf("%s\n%-32s %9s %9s %7s  residual\n", variant, "", "min us", "median", "pivots");
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const Contestant& c = contestants_[i];
      const LcpReport& report = results_[i].report;
      const double residual = results_[i].is_solver ? residual_of(p_, results_[i].z) : 0;
      if (!as_json) {
        std::printf("%-32s %9.3f %9.3f %7d  %.1e%s\n", c.name.c_str(), c.min_us(), c.median_us(),
                    report.pivots, residual, report.is_solved() ? "" : "  not solved");
        continue;
      }
      std::printf(
          "%s\n  {\"variant\": \"%s\", \"solver\": \"%s\", \"us\": %.4g, \"median_us\": %.4g, "
          "\"pivots\": %d, \"residual\": %.3g, \"solved\": %s}",
          is_first ? "" : ",", variant, c.name.c_str(), c.min_us(), c.median_us(), report.pivots,
          residual, report.is_solved() ? "true" : "false");
      is_first = false;
    }
  }

 private:
  template <class Solve>
  void add(const char* name, Solve solve) {
    Result& result = results_.emplace_back();
    result.z.resize(p_.r.size());
    contestants_.push_back(
        {.name = name, .run = [&result, solve] { result.report = solve(result.z); }});
  }
  void add_peer(std::unique_ptr<LcpPeer> peer) {
    if (!peer) return;
    LcpPeer* kept = peers_.emplace_back(std::move(peer)).get();
    add(kept->name(), [this, kept](VectorXd& z) { return kept->solve(p_.dense(), z.data()); });
  }

  const Problem& p_;
  VectorXd u_;
  std::vector<Contestant> contestants_;
  std::deque<Result> results_;  // one per contestant; addresses stay valid
  std::vector<int> guess_;
  RatioPivoting gram_, dense_, warm_, warm_dense_;
  PrincipalPivoting ppm_gram_, ppm_dense_;
  Lemke lemke_;
  std::unique_ptr<ActiveSetQp> active_set_;
  std::vector<std::unique_ptr<LcpPeer>> peers_;
  RowBasis basis_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool as_json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  if (as_json) std::printf("{\"cases\": [");
  if (!make_siconos_lemke())
    std::fprintf(stderr,
                 "lcp_bench: Siconos is left out, because this build does not have it; run "
                 "apt-get install libsiconos-numerics-dev and configure again\n");
  if (!ActiveSetQp::is_available())
    std::fprintf(
        stderr,
        "lcp_bench: DAQP is left out, because this build does not have it; run ./dev setup "
        "and configure again\n");
  bool is_first = true;
  for (const auto& [variant, has_joint] :
       {std::pair("gripper joint", true), std::pair("no joint", false)}) {
    const Rows rows = make_rows(Grasp(has_joint).make_problem());
    const Problem problem = make_lcp(rows);
    Comparison comparison(problem, rows);
    comparison.run();
    comparison.print(variant, as_json, is_first);
    is_first = false;
  }
  if (as_json) std::printf("\n]}\n");
  return 0;
}
