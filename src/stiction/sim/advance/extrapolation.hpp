#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/report/step_report.hpp"
#include "stiction/sim/sleep/sleep_state.hpp"

namespace stiction::sim {

/// The geoms that push each other, and those of them that slip; also the limits that push, and the
/// dry joints that slip. Two solutions with the same pattern differ smoothly; see
/// AdvanceExtrapolation.
class AdvancePattern {
 public:
  /// A problem, and the report of its contacts, which names their geoms.
  struct Problem {
    const mjModel* model;
    const mjData* data;
    const plant::Model& plant;
    const contact::ContactProblem& problem;
    const ContactReport& contacts;
  };

  /// Reads which overlaps and limits push at the start of the step. Velocities do not tell which of
  /// them slip: they are those of a solution at the geometry of the step before, and a body that is
  /// held while it turns seems to slip by the turn of a step.
  void read_start(const Problem& p);
  /// Reads the pattern of a solution.
  void read(const Problem& p, const contact::ContactSolution& solution);

  /// Calls f(tree) for the kinematic trees at contacts and rows in which two patterns differ.
  /// @param compares_slip false to compare only what pushes
  template <class F>
  void for_each_difference(const AdvancePattern& other, bool compares_slip, F&& f) const {
    auto a = entries_.begin(), b = other.entries_.begin();
    while (a != entries_.end() || b != other.entries_.end()) {
      if (b == other.entries_.end() || (a != entries_.end() && a->key < b->key)) {
        f((a++)->tree);
      } else if (a == entries_.end() || b->key < a->key) {
        f((b++)->tree);
      } else {
        if (a->num_pushing != b->num_pushing ||
            (compares_slip && a->num_slipping != b->num_slipping))
          f(a->tree);
        ++a, ++b;
      }
    }
  }

 private:
  /// Two geoms, or a row, that push.
  struct Entry {
    std::uint64_t key = 0;  // names the geoms, or the row
    int tree = -1;          // one that they move
    bool is_patch = false;
    int num_pushing = 0;
    int num_slipping = 0;  // of those that push
  };
  template <class Push, class Slip>
  void read_with(const Problem& p, Push&& pushes, Slip&& slips);
  void add_row(const Problem& p, int row, bool pushes, bool slips);
  void merge();

  std::vector<Entry> entries_;  // ascending keys
};

/// Local extrapolation. A step of h ends at x_f, two of h/2 at x_2, and both have an error of first
/// order, so that 2 x_2 - x_f has one of second order where motion is smooth. At an impact it
/// would throw bodies, because the velocities differ by as much as the impact changes them, for any
/// h. So each island is extrapolated only if one of these holds:
///
///  1. The contacts that push are the same at the start, in x_f, and in both halves, and so are
///     those that slip in x_f and in both halves.
///  2. The velocities of x_f and x_2 differ by at most a tenth of their way, in the norm of levers.
///
/// Source: [theory:error-control].
class AdvanceExtrapolation {
 public:
  /// The velocities of a step, in MuJoCo's dofs, size nv.
  struct Velocities {
    std::span<const double> start, full, first, second;
  };

  /// Begins a step.
  void start(const mjModel* model);
  /// Joins the trees of each island of a solve.
  void join(const mjModel* model, const plant::Model& plant, const contact::Islands& islands);
  /// Notes the trees at which the patterns of a step differ.
  /// @param start, full of the start and of x_f
  /// @param first, second of both halves
  void compare(const AdvancePattern& start, const AdvancePattern& full, const AdvancePattern& first,
               const AdvancePattern& second);

  /// Chooses the islands that are extrapolated, by their dofs.
  /// @return true if all are
  bool choose(const mjModel* model, const Velocities& v, std::span<const double> levers);

  /// Replaces x_2 in data by the extrapolated state in the islands that are chosen, and in
  /// activations that are not clamped.
  /// @param dq       q_2 minus q_f by mj_differentiatePos, size nv; it is overwritten
  /// @param full_act activations of x_f
  void apply(const mjModel* model, mjData* data, std::span<double> dq, const Velocities& v,
             std::span<const double> full_act) const;

 private:
  TreeGroups groups_;
  std::vector<char> has_changed_;    // per tree
  std::vector<char> group_changed_;  // per tree that names a group
  std::vector<double> gap_, way_;    // of velocities, per group [m/s]
  std::vector<char> is_chosen_;      // per dof
};

}  // namespace stiction::sim
