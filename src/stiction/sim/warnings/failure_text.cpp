#include "stiction/sim/warnings/failure_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/plant/model/model_check.hpp"

namespace stiction::sim {
namespace {

using contact::IslandStatistics;
using contact::SolveStatus;

std::string name_geom(const StepInputs& in, int geom) {
  return plant::describe(in.model, mjOBJ_GEOM, geom);
}

std::string name_body_of_block(const StepInputs& in, int block) {
  return plant::describe(in.model, mjOBJ_BODY, in.plant.block(block).body);
}

bool is_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool is_block_finite(const contact::ContactProblem& problem, int block) {
  const std::size_t start = problem.dof_start[block], n = problem.block_size(block);
  return is_finite({problem.diagonal(block), n * n}) && is_finite({problem.v0.data() + start, n}) &&
         is_finite({problem.free_impulse.data() + start, n});
}

bool is_row_finite(const contact::ContactProblem& problem, const contact::Row& row) {
  const double values[] = {row.regularization, row.target, row.bound};
  return is_finite(values) && is_finite({problem.row_columns.data() + row.first_column,
                                         static_cast<std::size_t>(row.num_columns)});
}

/// Returns " of body 'x'" for the first body whose part of the problem is not finite, or an empty
/// text if all is finite.
std::string find_non_finite_body(const StepInputs& in, const SolvedContacts& contacts) {
  const contact::ContactProblem& problem = contacts.problem;
  for (int block = 0; block < problem.num_blocks(); ++block)
    if (!is_block_finite(problem, block)) return " of " + name_body_of_block(in, block);
  for (const contact::Row& row : problem.rows) {
    if (is_row_finite(problem, row)) continue;
    const int block = contacts.islands.block_of_dof(problem.row_dof[row.first_column]);
    return " of the constraints of " + name_body_of_block(in, block);
  }
  return "";
}

/// @param name of the island, as the beginning of a sentence
std::string describe_memory(const StepInputs& in, const std::string& name, double bytes) {
  char text[300];
  std::snprintf(text, sizeof text,
                " needs %.2g GB for its matrices, and all islands may take max_memory_gb = %.3g; "
                "use a compliant contact model, whose memory grows with the number of contacts, "
                "let fewer bodies touch each other, or raise max_memory_gb",
                bytes / 1e9, in.options.parameters.max_memory_gb);
  return name + text;
}

}  // namespace

std::string find_conflict(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                          const IslandStatistics& island) {
  const contact::ContactProblem& problem = contacts.problem;
  if (island.conflict_contact >= 0) {
    const int* geoms = d->contact[problem.contacts[island.conflict_contact].source].geom;
    return ", found at " + name_geom(in, geoms[0]) + " and " + name_geom(in, geoms[1]);
  }
  if (island.conflict_row < 0) return "";
  const contact::Row& row = problem.rows[island.conflict_row];
  const int block = contacts.islands.block_of_dof(problem.row_dof[row.first_column]);
  return (row.kind == contact::RowKind::kLimit ? ", found at a limit of "
                                               : ", found at an equality constraint of ") +
         name_body_of_block(in, block);
}

std::string describe_failure(const StepInputs& in, const mjData* d, const SolvedContacts& contacts,
                             int index) {
  const IslandStatistics& island = contacts.solution.islands[index];
  const contact::ContactModelTraits& model = in.contact_model();
  const std::string name = "the island of " +
                           name_body_of_block(in, contacts.islands.blocks(index)[0]) + ", with " +
                           std::to_string(island.num_dofs) + " dofs and " +
                           std::to_string(island.num_contacts) + " contacts,";
  if (island.required_bytes > 0) return describe_memory(in, name, island.required_bytes);
  if (island.status == SolveStatus::kTooLarge)
    return name + " has more than " + std::to_string(formulations::kMaxDenseSize) +
           " unknowns, the limit for friction polygons; use fewer friction_directions, fewer "
           "contacts or another contact model";
  const std::string text = name + " stopped after " + std::to_string(island.iterations) +
                           (island.iterations == 1 ? " iteration" : " iterations");
  const double residual = island.scale > 0 ? island.residual / island.scale : island.residual;
  if (!std::isfinite(residual))
    return text + " because a value" + find_non_finite_body(in, contacts) +
           " is not finite; check the forces and the numbers of the model";
  const std::string masses = describe_mass_ratio(in, contacts, index);
  if (!masses.empty()) return text + masses;
  const bool has_cones = model.tangents == contact::TangentPolicy::kFrictionCone;
  if (has_cones && !island.has_conflict)
    return text +
           " because the solver of friction cones does not find the motion; take a smaller step, "
           "or "
           "another contact model";
  if (model.is_rigid && island.status != SolveStatus::kNotFinite)
    return text + " because no velocities satisfy all contacts and limits" +
           find_conflict(in, d, contacts, island) +
           ": surfaces push the same body in opposite directions, or " +
           (has_cones ? "the solver of friction cones does not find the motion; "
                      : "round-off corrupts the LCP; ") +
           "take a smaller step, or use a compliant contact model";
  if (island.status == SolveStatus::kNotPositiveDefinite)
    return text +
           " because its Newton matrix has no factorization in double precision: inertias, "
           "stiffnesses or velocities differ by too many digits; take a smaller step, softer "
           "contacts, or less extreme masses and velocities";
  if (island.status == SolveStatus::kInfeasible)
    return text +
           " because it found no velocities that keep all surfaces with barriers apart; take a "
           "smaller step, thicker or softer barriers, or less friction";
  char accuracy[80];
  std::snprintf(accuracy, sizeof accuracy, " at a relative residual of %.1e (tolerance %.1e)",
                residual, calc_solver_tolerance(in.options));
  if (!model.failure_note.empty()) return text + accuracy + "; " + std::string(model.failure_note);
  return text + accuracy + "; raise max_iterations, which allows " +
         std::to_string(in.options.max_iterations) +
         " in each solve of the step, or take a smaller step";
}

std::string describe_mass_ratio(const StepInputs& in, const SolvedContacts& contacts, int island) {
  if (!in.contact_model().is_rigid) return "";
  double lightest = contact::kInfinity, heaviest = 0;
  for (const int p : contacts.islands.pairs(island))
    for (const double mass : contacts.problem.pairs[p].masses) {
      if (mass == contact::kInfinity) continue;
      lightest = std::min(lightest, mass);
      heaviest = std::max(heaviest, mass);
    }
  if (!(heaviest > kLargeMassRatio * lightest)) return "";
  return " because bodies that touch each other have masses that differ by a factor of " +
         base::to_text(heaviest / lightest, 2) +
         ", which rigid contact models may not resolve in double precision; make the masses more "
         "alike, or use a compliant contact model";
}

std::string describe_mass_ratio(const StepInputs& in, const SolvedContacts& contacts) {
  for (int i = 0; i < contacts.islands.size(); ++i) {
    std::string text = describe_mass_ratio(in, contacts, i);
    if (!text.empty()) return text;
  }
  return "";
}

std::string describe_stop(const StepInputs& in, double time, base::StopReason reason) {
  const std::string step = "the step from time " + base::to_text(time) + " was given up, ";
  const StepOptions& options = in.options;
  switch (reason) {
    case base::StopReason::kOutOfTime:
      return step + "because it takes longer than max_seconds = " +
             base::to_text(options.max_seconds.value_or(0)) +
             "; allow more time, take a smaller step, or use a cheaper contact model";
    case base::StopReason::kOutOfIterations:
      return step + "because an island needs more iterations than iteration_budget = " +
             std::to_string(options.iteration_budget) +
             "; allow more, take a smaller step, or use another contact model";
    case base::StopReason::kInterrupted:
    case base::StopReason::kNone: break;
  }
  return step + "because the caller interrupted it; take it again to continue";
}

std::string describe_non_finite_velocities(const StepInputs& in, const SolvedContacts& contacts) {
  const std::string place = find_non_finite_body(in, contacts);
  return "the velocities are not finite" +
         (place.empty() ? place : " because a value" + place + " is not finite") +
         "; check the forces and the numbers of the model";
}

}  // namespace stiction::sim
