#include "stiction/formulations/solver_base.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/rigid_island.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using contact::SolveStatus;
using contact::TangentPolicy;

namespace {

/// The numbers of things in an island, as doubles, because their products may be large.
struct IslandSize {
  double dofs = 0, pairs = 0, contacts = 0;
  double limits = 0, equalities = 0, springs = 0, dry_joints = 0;

  double num_unilateral() const { return contacts + limits; }
};

IslandSize count(const ContactProblem& problem, const contact::Islands& islands, int island) {
  IslandSize out;
  for (const int block : islands.blocks(island)) out.dofs += problem.block_size(block);
  for (const int pair : islands.pairs(island)) {
    ++out.pairs;
    out.contacts += problem.pairs[pair].num_contacts;
  }
  for (const int r : islands.rows(island)) switch (problem.rows[r].kind) {
      case RowKind::kLimit: ++out.limits; break;
      case RowKind::kEquality: ++out.equalities; break;
      case RowKind::kSpring:
      case RowKind::kDrySpring: ++out.springs; break;
      case RowKind::kFriction: ++out.dry_joints; break;
    }
  return out;
}

double square(double x) { return x * x; }

/// Returns the numbers of WhitenedProblem and ProjectedProblem.
double count_rows(const IslandSize& size, TangentPolicy tangents) {
  const bool has_friction = law_has_friction(tangents);
  const bool sticks = tangents == TangentPolicy::kBilateral;
  const double tangent_rows = has_friction || sticks ? 2 * size.contacts : 0;
  const double bilateral = size.equalities + (sticks ? tangent_rows : 0);
  const double rank = std::min(bilateral, size.dofs);
  // N and F twice; T and E with copies in X or projections; the basis; the spins of pairs.
  const double rows = 2 * (size.num_unilateral() + size.dry_joints + tangent_rows) +
                      2 * size.equalities + rank + (has_friction ? 0 : 3 * size.pairs);
  // Both forms of the factor of the basis.
  double numbers = rows * size.dofs + 2 * square(rank);
  // The matrix and the Gram matrix of ImpulseSpreading.
  if (sticks) numbers += tangent_rows * rank + square(rank);
  return numbers;
}

/// Returns the numbers of the envelope of A.
double count_envelope(const IslandSize& size, TangentPolicy tangents) {
  // Springs, viscous contacts and relaxed equalities couple any two bodies.
  const bool is_wide =
      size.springs > 0 || size.equalities > 0 || tangents == TangentPolicy::kViscous;
  return is_wide ? 0.5 * square(size.dofs) : 0;
}

/// Returns the numbers of a law that solves a dense problem with this many unknowns.
double count_dense_law(double num_unknowns, const IslandSize& size) {
  // The matrix, the tableau, as much for a fallback; the rows; frictionless pivoting.
  const double dense = std::min<double>(num_unknowns, kMaxDenseSize);
  return 4 * square(dense) + dense * size.dofs +
         0.5 * square(std::min(size.num_unilateral(), size.dofs));
}

double count_law(const IslandSize& size, TangentPolicy tangents,
                 const contact::ModelParameters& parameters) {
  const double k = parameters.friction_directions;
  switch (tangents) {
    case TangentPolicy::kFrictionPolygon:
      return count_dense_law(size.num_unilateral() + (k + 1) * size.contacts + 3 * size.dry_joints,
                             size);
    case TangentPolicy::kLeastEnergy:
      return count_dense_law(
          2 * size.num_unilateral() + (4 + 0.5 * k) * size.contacts + 3 * size.dry_joints + 1,
          size);
    // The rows as blocks with their columns, which are full after a projection; L and U.
    case TangentPolicy::kFrictionCone:
      return (size.equalities > 0 ? 3.5 * size.contacts + 1.5 * size.limits : 0) * size.dofs +
             square(size.dofs);
    case TangentPolicy::kBilateral:
    case TangentPolicy::kViscous:
    case TangentPolicy::kNone: break;
  }
  const double num_rows = size.num_unilateral() + size.dry_joints;
  const double copy = size.dry_joints > 0 ? num_rows * size.dofs : 0;
  return copy +
         numerics::count_workspace(parameters.lcp_solver, num_rows, size.dofs, size.dry_joints);
}

/// Returns an upper bound of the memory of an island's matrices under a rigid model [bytes].
double calc_island_memory(const ContactProblem& problem, const contact::Islands& islands,
                          int island, const contact::ContactModelTraits& traits,
                          const contact::ModelParameters& parameters) {
  STICTION_ASSERT(traits.is_rigid);
  const IslandSize size = count(problem, islands, island);
  const double rows = count_rows(size, traits.tangents);
  // ConflictFallbacks has a second problem in which equalities are springs.
  const double numbers = (size.equalities > 0 ? 2 : 1) * rows +
                         count_envelope(size, traits.tangents) +
                         count_law(size, traits.tangents, parameters);
  return sizeof(double) * numbers;
}

/// Solves the islands of a step with a rigid model, each with a law of its own.
class RigidSolver final : public ContactSolver {
 public:
  explicit RigidSolver(ContactModel model) : model_(model) {}

  void solve(const ContactProblem& problem, const contact::Islands& islands,
             const SolverOptions& options, std::span<const double> guess, base::ThreadPool* threads,
             contact::ContactSolution* solution) override {
    // The guess is not used: the warm start is the last active set, from which v follows.
    begin_solution(problem, islands, options, guess, solution);
    grow(islands.size(), options.parameters);
    allot_memory(problem, islands, options.parameters);
    place_blocks(problem, islands, &first_dof_);

    // Islands are independent.
    auto solve_one = [&](int i) {
      RigidIsland& island = islands_[i];
      island.assemble(problem, islands, i, first_dof_, model_, options);
      solution->islands[i] = memory_.is_granted(i) ? island.solve(active_keys_, laws_[i].get())
                                                   : island.refuse(required_bytes_[i]);
      island.read_out(solution);
      SolveStatus& status = solution->islands[i].status;
      if (status == SolveStatus::kConverged &&
          !has_finite_velocities(problem, islands.blocks(i), *solution))
        status = SolveStatus::kNotFinite;  // numbers of the problem that overflow when used
    };
    base::run_tasks(threads, islands.size(), solve_one);

    gather_active_keys(islands.size());
  }

  void write_memory(base::WordWriter* words) const override { write_keys(active_keys_, words); }
  void read_memory(base::WordReader* words) override { read_keys(words, &active_keys_); }
  bool has_memory() const override {
    return !active_keys_.first.empty() || !active_keys_.last.empty();
  }
  void forget_memory() override {
    active_keys_.first.clear();
    active_keys_.last.clear();
  }

 private:
  static bool has_finite_velocities(const ContactProblem& problem, std::span<const int> blocks,
                                    const contact::ContactSolution& solution) {
    return std::all_of(blocks.begin(), blocks.end(), [&](int block) {
      const auto v = solution.v.begin();
      return std::all_of(v + problem.dof_start[block], v + problem.dof_start[block + 1],
                         [](double x) { return std::isfinite(x); });
    });
  }

  /// Makes islands and laws as needed.
  void grow(int num_islands, const contact::ModelParameters& parameters) {
    // A law is made for fixed parameters. If they change, make new laws.
    if (parameters.friction_directions != num_directions_ || parameters.lcp_solver != lcp_solver_)
      laws_.clear();
    num_directions_ = parameters.friction_directions;
    lcp_solver_ = parameters.lcp_solver;
    while (static_cast<int>(laws_.size()) < num_islands) laws_.push_back(make_law());
    if (static_cast<int>(islands_.size()) < num_islands) islands_.resize(num_islands);
  }

  /// Shares the memory among the islands, and releases what is kept if both exceed the limit.
  void allot_memory(const ContactProblem& problem, const contact::Islands& islands,
                    const contact::ModelParameters& parameters) {
    required_bytes_.resize(islands.size());
    for (int i = 0; i < islands.size(); ++i)
      required_bytes_[i] =
          calc_island_memory(problem, islands, i, contact::traits(model_), parameters);
    if (memory_.allot(required_bytes_, parameters.max_memory_gb)) return;
    islands_.clear();
    laws_.clear();
    grow(islands.size(), parameters);
  }

  std::unique_ptr<RigidLaw> make_law() const {
    switch (contact::traits(model_).tangents) {
      case TangentPolicy::kFrictionPolygon: return make_friction_polygon_law(num_directions_);
      case TangentPolicy::kLeastEnergy: return make_least_energy_law(num_directions_);
      case TangentPolicy::kFrictionCone: return make_friction_cone_law();
      case TangentPolicy::kBilateral:
      case TangentPolicy::kViscous:
      case TangentPolicy::kNone: break;
    }
    return make_frictionless_law(lcp_solver_);
  }

  /// Collects the active keys of all islands, ascending.
  void gather_active_keys(int num_islands) {
    for (const auto keys : {&ActiveKeys::first, &ActiveKeys::last}) {
      std::vector<std::uint64_t>& all = active_keys_.*keys;
      all.clear();
      for (int i = 0; i < num_islands; ++i) {
        const std::vector<std::uint64_t>& some = islands_[i].active_keys().*keys;
        all.insert(all.end(), some.begin(), some.end());
      }
      std::sort(all.begin(), all.end());
    }
  }

  const ContactModel model_;
  int num_directions_ = 0;
  numerics::LcpSolver lcp_solver_{};
  std::vector<int> first_dof_;
  std::vector<RigidIsland> islands_;
  std::vector<std::unique_ptr<RigidLaw>> laws_;  // one per island
  ActiveKeys active_keys_;                       // of the last step, ascending
  std::vector<double> required_bytes_;           // of the islands of this step
  MemoryAllotment memory_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_rigid_solver(ContactModel model) {
  STICTION_ASSERT(contact::traits(model).is_rigid);
  return std::make_unique<RigidSolver>(model);
}

}  // namespace stiction::formulations
