// Ten thousand bodies, in many islands and in one, under every contact model and LCP solver: the
// time and the memory of a solve are bounded.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/work_limits.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/process_memory.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::large_islands_test {
namespace {

using Clock = std::chrono::steady_clock;
using contact::Contact;
using contact::ContactModelTraits;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::SolveStatus;

constexpr double kTimeStep = 2e-3, kGravity = 9.81, kRadius = 0.1;

/// A contact model, with an LCP solver if it reads that option.
struct Case {
  const ContactModelTraits* model;
  numerics::LcpSolver lcp_solver = numerics::LcpSolver::ppm_ratio;
};

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (const ContactModelTraits& traits : contact::contact_models()) {
    if (traits.is_mj_step) continue;
    if (!traits.options.lcp_solver) {
      cases.push_back({&traits});
      continue;
    }
    for (const std::string_view name : numerics::lcp_solvers())
      if (name != "active_set" || numerics::ActiveSetQp::is_available())
        cases.push_back({&traits, numerics::parse_lcp_solver(name)});
  }
  return cases;
}

std::string name_case(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::string(c.model->name) +
         (c.model->options.lcp_solver ? "_" + std::string(numerics::name(c.lcp_solver)) : "");
}

/// Adds a contact at the lower end of a sphere, or between two spheres that touch along x.
/// @param below block of the other sphere; -1: the ground
void add_contact(int block, int below, ContactProblem* problem) {
  contact::BodyPair pair;
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.first_contact = problem->num_contacts();
  pair.num_contacts = 1;
  pair.masses = {below < 0 ? contact::kInfinity : 1.0, 1.0};
  for (const int of : {block, below}) {
    if (of < 0) continue;
    contact::Segment segment;
    segment.block = of;
    segment.is_rigid_body = true;
    segment.sign = of == block ? 1 : -1;
    segment.offset = below < 0 ? std::array<double, 3>{0, 0, -kRadius}
                               : std::array<double, 3>{-segment.sign * kRadius, 0, 0};
    problem->segments.push_back(segment);
    ++pair.num_segments;
  }
  problem->pairs.push_back(pair);
  Contact& c = problem->contacts.emplace_back();
  if (below < 0)
    c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  else
    c.R_WC = {0, 1, 0, 0, 0, 1, 1, 0, 0};  // the normal is x
  c.friction = {0.5, 0.5, 0, 0, 0};
  c.id = problem->contacts.size();
}

/// Spheres of 1 kg that begin to fall on the ground on which they lie. In one island, each touches
/// the one before it.
ContactProblem make_spheres(int count, bool is_one_island) {
  ContactProblem problem;
  problem.clear(kTimeStep);
  for (int i = 0; i < count; ++i) {
    const int block = problem.add_rigid_body();
    double* A = problem.diagonal(block);
    for (int k = 0; k < 6; ++k) A[7 * k] = k < 3 ? 0.4 * kRadius * kRadius : 1;
    problem.free_impulse[problem.dof_start[block] + 5] = -kGravity * kTimeStep;
    problem.v0[problem.dof_start[block] + 3] = 0.1 * (i % 3);
    add_contact(block, -1, &problem);
    if (is_one_island && i > 0) add_contact(block, block - 1, &problem);
  }
  return problem;
}

/// Adds a row of each kind to the first dofs of each sphere.
void add_rows(ContactProblem* problem) {
  using contact::RowKind;
  for (int block = 0; block < problem->num_blocks(); ++block) {
    int dof = problem->dof_start[block];
    for (const RowKind kind : {RowKind::kEquality, RowKind::kLimit, RowKind::kFriction}) {
      contact::Row& row = problem->rows.emplace_back();
      row.kind = kind;
      row.regularization = 1;
      row.bound = 1e-3;
      row.slip_tolerance = 1e-4;
      row.position = kind == RowKind::kEquality ? 1e-4 : 0;
      row.first_column = static_cast<int>(problem->row_dof.size());
      row.num_columns = 1;
      problem->row_dof.push_back(dof++);
      problem->row_columns.push_back(1);
    }
  }
}

/// The outcome of a solve under limits.
struct Outcome {
  bool is_stopped = false;  // by max_seconds
  double seconds = 0;
  double bytes = 0;  // by which the largest resident set of the process has grown
  ContactSolution solution;

  /// Returns the status of the first island that is not solved, if there is one.
  std::optional<SolveStatus> find_failure() const {
    for (const contact::IslandStatistics& island : solution.islands)
      if (island.status != SolveStatus::kConverged && island.status != SolveStatus::kStagnated)
        return island.status;
    return std::nullopt;
  }
};

class LargeIslands : public testing::TestWithParam<Case> {
 protected:
  static SolverOptions make_options() {
    SolverOptions options;
    options.parameters.lcp_solver = GetParam().lcp_solver;
    return options;
  }

  static Outcome solve(ContactProblem problem, double max_seconds,
                       const SolverOptions& options = make_options()) {
    contact::MomentumFactor factor;
    EXPECT_TRUE(factor.calc_derived(1, &problem));
    contact::Islands islands;
    islands.find(problem);
    Outcome out;
    base::WorkLimits limits;
    limits.max_seconds = max_seconds;
    const double bytes = support::read_peak_bytes();
    const Clock::time_point start = Clock::now();
    try {
      limits.begin_call();
      limits.begin_step();
      const base::LimitedTask task(&limits, true);
      make_contact_solver(GetParam().model->model)
          ->solve(problem, islands, options, {}, nullptr, &out.solution);
    } catch (const base::WorkStopped&) {
      out.is_stopped = true;
    }
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    out.bytes = support::read_peak_bytes() - bytes;
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Models, LargeIslands, testing::ValuesIn(make_cases()), name_case);

constexpr int kNumBodies = 10'000;
/// Peak memory of ten thousand bodies in islands of one body each, or of a compliant model: 30 kB
/// for each body. The measured values are 3 to 13 kB.
constexpr double kBytesOfManyIslands = 30e3 * kNumBodies;
/// A hundred times the limit of 0.05 s, because tests share their processors and sanitizers are
/// slow. Without limits inside their loops the solvers take minutes.
constexpr double kMaxSeconds = 0.05, kSecondsAllowed = 5;

TEST_P(LargeIslands, TenThousandBodiesInAsManyIslandsAreSolved) {
  const int num_bodies = support::num_trials(kNumBodies);
  const Outcome outcome = solve(make_spheres(num_bodies, false), contact::kInfinity);
  EXPECT_EQ(outcome.find_failure(), std::nullopt);
  ASSERT_EQ(outcome.solution.islands.size(), static_cast<std::size_t>(num_bodies));
  for (const auto& impulse : outcome.solution.impulses) ASSERT_GT(impulse[2], 0);
  if (!support::kSanitized) {
    EXPECT_LT(outcome.bytes, kBytesOfManyIslands);
  }
}

TEST_P(LargeIslands, TenThousandBodiesInOneIslandAreRefusedOrStoppedInTime) {
  const Outcome outcome = solve(make_spheres(kNumBodies, true), kMaxSeconds);
  EXPECT_LT(outcome.seconds, kSecondsAllowed);
  if (GetParam().model->options.max_memory_gb) {
    ASSERT_FALSE(outcome.is_stopped);
    EXPECT_EQ(outcome.find_failure(), SolveStatus::kTooLarge);
    // N and its projection, or the matrix of tamsi, would alone take 19 GB.
    EXPECT_GT(outcome.solution.islands[0].required_bytes, 19e9);
  } else {
    EXPECT_TRUE(outcome.is_stopped || !outcome.find_failure());
  }
  if (!support::kSanitized) {
    EXPECT_LT(outcome.bytes, kBytesOfManyIslands);
  }
}

TEST_P(LargeIslands, IslandsWithinTheMemoryStopInTime) {
  for (const int count : {30, 100, 300, 600}) {
    // With sanitizers, tamsi takes 6 s for 600 bodies between two looks at the clock.
    if (support::kSanitized && count > 300) continue;
    const Outcome outcome = solve(make_spheres(count, true), kMaxSeconds);
    EXPECT_LT(outcome.seconds, kSecondsAllowed) << count;
    const std::optional<SolveStatus> failure = outcome.find_failure();
    EXPECT_TRUE(!failure || failure == SolveStatus::kTooLarge) << count;
  }
}

// The same islands, with a limit that all but the last two fit into: these are refused, and move as
// if nothing touched them.
TEST_P(LargeIslands, TheMemoryOfAllIslandsIsLimited) {
  if (!GetParam().model->options.max_memory_gb) GTEST_SKIP() << "has no dense matrices";
  const ContactProblem problem = make_spheres(10, false);
  SolverOptions options = make_options();
  options.parameters.max_memory_gb = 1e-12;
  const double one = solve(problem, contact::kInfinity, options).solution.islands[0].required_bytes;
  ASSERT_GE(one, 8 * 6 * 6);
  options.parameters.max_memory_gb = 1e-9 * 8.5 * one;
  const Outcome outcome = solve(problem, contact::kInfinity, options);
  for (int i = 0; i < 10; ++i) {
    const contact::IslandStatistics& island = outcome.solution.islands[i];
    EXPECT_EQ(island.status, i < 8 ? SolveStatus::kConverged : SolveStatus::kTooLarge) << i;
    EXPECT_EQ(island.required_bytes, i < 8 ? 0 : one);
    EXPECT_EQ(outcome.solution.impulses[i][2] > 0, i < 8);
    EXPECT_NEAR(outcome.solution.v[6 * i + 5], i < 8 ? 0 : -kGravity * kTimeStep, 1e-3);
  }
}

// The bound of an island's memory, by which it is refused, is not below what the solver allocates.
// Index lists and vectors, which are small in islands of many dofs, are not in the bound.
TEST_P(LargeIslands, AnIslandTakesNoMoreMemoryThanItsBound) {
  if (!GetParam().model->options.max_memory_gb) GTEST_SKIP() << "has no dense matrices";
  if (support::kSanitized) GTEST_SKIP() << "sanitizers replace malloc";
  constexpr double kSmallArrays = 200e3;
  ContactProblem problem = make_spheres(40, true);
  add_rows(&problem);
  contact::MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  contact::Islands islands;
  islands.find(problem);
  ASSERT_EQ(islands.size(), 1);
  SolverOptions options = make_options();
  options.parameters.max_memory_gb = 1e-12;
  const auto solver = make_contact_solver(GetParam().model->model);
  ContactSolution solution;
  solver->solve(problem, islands, options, {}, nullptr, &solution);
  const double bound = solution.islands[0].required_bytes;
  options.parameters.max_memory_gb = 4;
  const double before = support::count_bytes_in_use();
  solver->solve(problem, islands, options, {}, nullptr, &solution);
  const double used = support::count_bytes_in_use() - before;
  EXPECT_NE(solution.islands[0].status, SolveStatus::kTooLarge);
  EXPECT_LE(used, bound + kSmallArrays);
  EXPECT_GE(used, 0.1 * bound);
}

}  // namespace
}  // namespace stiction::formulations::large_islands_test
