// The trace of a step as read-only arrays, which are views of the report that owns them.
#include "bindings.hpp"
#include "report_arrays.hpp"
#include "report_state.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::python {
void bind_trace(nb::module_& m) {
  using sim::TraceReport;
  nb::class_<TraceReport> c(
      m, "TraceReport",
      "The course of Newton's method in the last step: arrays of shape (n,), with one entry per "
      "iterate.\n\n"
      "They are empty unless the simulator was made with trace=True, and under contact models that "
      "do not use Newton's method. stiction.plot_trace draws them.");
  def_array(c, "solve", &TraceReport::solve, 1,
            "Number of the solve in the step, from 0. A step solves again if its solution reaches "
            "more contacts, and for each part of a divided step.");
  def_array(c, "island", &TraceReport::island, 1, "Number of the island in its solve, from 0.");
  def_array(c, "run", &TraceReport::run, 1,
            "Number of the run of Newton's method on the island, from 0. An island takes several "
            "runs by way of softer problems, in rounds of 'coulomb' and in sub-steps of 'tamsi'.");
  def_array(c, "iteration", &TraceReport::iteration, 1,
            "Number of the iterate in its run, from 0.");
  def_array(c, "cost", &TraceReport::cost, 1,
            "Cost at the iterate minus the cost at the start of the run [J]; NaN under 'tamsi', "
            "which minimizes no cost.");
  def_array(c, "gradient_norm", &TraceReport::gradient_norm, 1,
            "Norm of the gradient of the cost, or of the residual under 'tamsi' [sqrt(J)].");
  def_array(c, "step_length", &TraceReport::step_length, 1,
            "Length of the step from the iterate, 1 for Newton's full step; 0 at the last iterate "
            "of a run [-].");
  c.def("__len__", &TraceReport::size, "Returns the number of iterates.");
  def_pickle(c);
}

}  // namespace stiction::python
