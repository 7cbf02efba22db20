#pragma once

#include <vector>

#include "stiction/contact/contact_solution.hpp"

namespace stiction::sim {

/// The course of Newton's method in a step: arrays with one entry per iterate. Empty unless
/// StepOptions::trace is set.
///
/// A step solves its islands again if the solution reaches more contacts, and once more for each
/// part of a divided step. An island takes several runs of Newton's method if its problem is solved
/// by way of softer problems, in rounds (`coulomb`) or in sub-steps (`tamsi`).
struct TraceReport {
  std::vector<int> solve;      // 0, 1, ...
  std::vector<int> island;     // index in StepReport::islands of that solve
  std::vector<int> run;        // 0, 1, ... of the island
  std::vector<int> iteration;  // 0, 1, ... of the run
  /// Cost l at the iterate minus l at the start of the run [J]; NaN under `tamsi`, which has no
  /// cost.
  std::vector<double> cost;
  std::vector<double> gradient_norm;  // |D grad l| [sqrt(J)]
  std::vector<double> step_length;  // of the step from the iterate, 1 for a full step; 0 at the end
  int num_solves = 0;

  int size() const { return static_cast<int>(solve.size()); }
};

/// Empties a report, keeping its memory.
void clear_trace(TraceReport* report);

/// Appends the traces of a solution. Does nothing if the solver recorded none.
void append_traces(const contact::ContactSolution& solution, TraceReport* report);

}  // namespace stiction::sim
