// The steps of a call of Simulator.advance.
#include <string>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "report_state.hpp"
#include "stiction/sim/report/advance_report.hpp"

namespace stiction::python {

void bind_advance_report(nb::module_& m) {
  using sim::AdvanceReport;
  nb::class_<AdvanceReport> report(m, "AdvanceReport",
                                   "The steps that a call of Simulator.advance took.");
  def_pickle(report);
  report.def_ro("until", &AdvanceReport::until, "The argument [s].")
      .def_ro("accuracy", &AdvanceReport::accuracy, "The argument [m].")
      .def_ro("num_steps", &AdvanceReport::num_steps, "Number of steps that were accepted.")
      .def_ro("num_rejected", &AdvanceReport::num_rejected,
              "Number of steps that were taken again with a smaller length.")
      .def_ro("num_failed", &AdvanceReport::num_failed,
              "Number of rejected steps whose solver or certificate failed.")
      .def_ro("num_not_extrapolated", &AdvanceReport::num_not_extrapolated,
              "Number of steps in which an island was not extrapolated, because its contacts "
              "changed.")
      .def_ro("num_inaccurate", &AdvanceReport::num_inaccurate,
              "Number of steps of the least length, 1e-7 s, that missed the accuracy.")
      .def_prop_ro("accuracy_reached", &AdvanceReport::accuracy_reached,
                   "True if every step met the accuracy.")
      .def_ro("first_step", &AdvanceReport::first_step,
              "Length that was planned when the call began [s]; see the argument first_step.")
      .def_ro("first_error", &AdvanceReport::first_error,
              "Error of the step before the call, relative to the accuracy [-]; see the argument "
              "last_error.")
      .def_ro("smallest_step", &AdvanceReport::smallest_step, "Length of the shortest step [s].")
      .def_ro("largest_step", &AdvanceReport::largest_step, "Length of the longest step [s].")
      .def_ro("next_step", &AdvanceReport::next_step, "Length with which the next call begins [s].")
      .def_ro("last_error", &AdvanceReport::last_error,
              "Error of the last step, relative to the accuracy [-].")
      .def_ro(
          "sum_of_errors", &AdvanceReport::sum_of_errors,
          "Sum of the local errors of all steps [m]: how far a point would be from its place if "
          "every error were carried along unchanged. It is no bound of the global error.")
      .def_ro("largest_error", &AdvanceReport::largest_error, "Largest local error of a step [m].")
      .def("__repr__", [](const AdvanceReport& r) {
        return "AdvanceReport(num_steps=" + std::to_string(r.num_steps) +
               ", num_rejected=" + std::to_string(r.num_rejected) +
               ", accuracy_reached=" + (r.accuracy_reached() ? "True" : "False") + ")";
      });
}

}  // namespace stiction::python
