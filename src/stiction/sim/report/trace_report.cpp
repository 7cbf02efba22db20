#include "stiction/sim/report/trace_report.hpp"

namespace stiction::sim {

void clear_trace(TraceReport* report) {
  for (auto* numbers : {&report->solve, &report->island, &report->run, &report->iteration})
    numbers->clear();
  for (auto* values : {&report->cost, &report->gradient_norm, &report->step_length})
    values->clear();
  report->num_solves = 0;
}

void append_traces(const contact::ContactSolution& solution, TraceReport* report) {
  if (solution.traces.empty()) return;
  for (std::size_t island = 0; island < solution.traces.size(); ++island) {
    for (const numerics::NewtonIterate& iterate : solution.traces[island].iterates()) {
      report->solve.push_back(report->num_solves);
      report->island.push_back(static_cast<int>(island));
      report->run.push_back(iterate.run);
      report->iteration.push_back(iterate.iteration);
      report->cost.push_back(iterate.cost);
      report->gradient_norm.push_back(iterate.gradient_norm);
      report->step_length.push_back(iterate.step_length);
    }
  }
  ++report->num_solves;
}

}  // namespace stiction::sim
