#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Which geoms push each other, and where they slip; also which limits push, and which dry joints
/// slip. Two solutions with the same pattern differ smoothly; see AdvanceExtrapolation.
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

/// Returns the kinematic tree of one of the solver's dofs.
int find_tree(const mjModel* model, const plant::Model& plant, int solver_dof);

}  // namespace stiction::sim
