// The report of a step, and what it says of the solver. contacts.cpp has its contacts and patches.
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "reports.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::python {
namespace {

using sim::ContactReport;
using sim::StepReport;

/// Binds the certificate. Its attributes and their docstrings come from the list of fields.
void bind_certificate(nb::module_& m) {
  using certificate::Certificate;
  nb::class_<Certificate> c(
      m, "Certificate",
      "Errors of a step's solution, computed from the problem and the solution alone.");
  certificate::for_each_field([&](const auto& field) {
    const std::string unit = *field.unit ? " [" + std::string(field.unit) + "]." : ".";
    const std::string text = field.meaning + unit;
    c.def_prop_ro(
        field.name, [field](const Certificate& self) { return field.in(self); }, text.c_str());
  });
  c.def("__repr__", [](const Certificate& self) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "Certificate(ok=%s, error_bound=%.2e sqrt(J), velocity_bound=%.2e m/s, "
                  "relative_residual=%.1e)",
                  self.ok ? "True" : "False", self.error_bound, self.velocity_bound,
                  self.relative_residual);
    return std::string(text);
  });
  def_pickle(c);
}

void bind_timings(nb::module_& m) {
  using sim::StepTimings;
  nb::class_<StepTimings> timings(m, "StepTimings",
                                  "Wall time of the last step and its parts [us].");
  def_pickle(timings);
  def_repr(timings);
  timings.def_ro("total", &StepTimings::total, "The whole step [us].")
      .def_ro("kinematics", &StepTimings::kinematics, "Kinematics, inertia and smooth forces [us].")
      .def_ro("collision", &StepTimings::collision, "Search for contact points [us].")
      .def_ro("surfaces", &StepTimings::surfaces, "Contact surfaces of pressure fields [us].")
      .def_ro("assembly", &StepTimings::assembly, "The contact problem and its islands [us].")
      .def_ro("solve", &StepTimings::solve, "Solution of the contact problem [us].")
      .def_ro("certificate", &StepTimings::certificate, "Computation of the certificate [us].")
      .def_ro("finish", &StepTimings::finish,
              "Acceleration sensors, integration of the positions, and the report [us].");
}

void bind_statistics(nb::module_& m) {
  using sim::StepStatistics;
  nb::class_<StepStatistics> statistics(m, "StepStatistics", "Counts of the last step.");
  def_pickle(statistics);
  def_repr(statistics);
  statistics
      .def_ro("num_contacts", &StepStatistics::num_contacts,
              "Contacts of the problem, including speculative contacts that did not touch.")
      .def_ro("num_islands", &StepStatistics::num_islands,
              "Islands: groups of bodies that no contact or row connects to another group.")
      .def_ro("num_rows", &StepStatistics::num_rows,
              "Scalar rows: joint limits, equalities and dry friction of joints.")
      .def_ro("num_asleep", &StepStatistics::num_asleep,
              "Kinematic trees that sleep after the step. They are no part of the problem.")
      .def_ro("iterations", &StepStatistics::iterations,
              "Iterations of the solver, summed over all islands.")
      .def_ro("max_iterations", &StepStatistics::max_iterations,
              "Iterations of the island that needed most.")
      .def_ro("max_substeps", &StepStatistics::max_substeps,
              "Largest number of sub-steps that the step of an island was divided into; 1 unless "
              "the model is 'tamsi'.")
      .def_ro("num_parts", &StepStatistics::num_parts,
              "Number of parts that the step was divided into; 1 unless the integrator is "
              "'event_driven' or 'rk4'.")
      .def_ro("num_events", &StepStatistics::num_events,
              "Number of parts that ended because two geoms came to touch.")
      .def_ro("num_halvings", &StepStatistics::num_halvings,
              "Number of parts that 'rk4' rejected and repeated with half the length.")
      .def_ro("line_search_evaluations", &StepStatistics::line_search_evaluations,
              "Evaluations of the cost by line searches, summed over all islands.")
      .def_ro("num_lemke", &StepStatistics::num_lemke,
              "Number of LCPs of 'no_slip' or 'viscous' that the solver 'ppm_ratio' could not "
              "solve and Lemke's method solved, summed over all islands.")
      .def_ro("num_contact_space", &StepStatistics::num_contact_space,
              "Number of islands whose solve began in contact space.")
      .def_ro("num_left_contact_space", &StepStatistics::num_left_contact_space,
              "Number of these islands whose solution velocities had to finish.")
      .def_ro("residual", &StepStatistics::residual, "Largest relative residual of an island [-].");
}

void bind_island_statistics(nb::module_& m) {
  using contact::IslandStatistics;
  nb::class_<IslandStatistics> island(m, "IslandStatistics",
                                      "Statistics of the solve of one island.");
  def_pickle(island);
  def_repr(island);
  island.def_ro("num_dofs", &IslandStatistics::num_dofs, "Degrees of freedom of the island.")
      .def_ro("num_contacts", &IslandStatistics::num_contacts, "Contacts of the island.")
      .def_ro("num_rows", &IslandStatistics::num_rows, "Scalar rows of the island.")
      .def_ro("iterations", &IslandStatistics::iterations,
              "Newton iterations; pivots for rigid models.")
      .def_ro("num_substeps", &IslandStatistics::num_substeps,
              "Number of sub-steps that the step was divided into; 1 unless the model is 'tamsi'.")
      .def_ro("line_search_evaluations", &IslandStatistics::line_search_evaluations,
              "Evaluations of the cost by line searches.")
      .def_ro("residual", &IslandStatistics::residual,
              "Residual of the momentum balance, scaled by the inertia [sqrt(J)].")
      .def_ro("scale", &IslandStatistics::scale,
              "The scale to which the residual is compared [sqrt(J)].")
      .def_ro(
          "rounds", &IslandStatistics::rounds,
          "Number of convex problems that 'coulomb' solved, or of LCPs that a rigid model solved.")
      .def_ro("num_lemke", &IslandStatistics::num_lemke,
              "How many of these LCPs the solver 'ppm_ratio' could not solve and Lemke's method "
              "solved.")
      .def_ro("uses_contact_space", &IslandStatistics::uses_contact_space,
              "True if Newton's method of a convex model began in contact space.")
      .def_ro("leaves_contact_space", &IslandStatistics::leaves_contact_space,
              "True if it had to go on with velocities.")
      .def_ro("coupling_error", &IslandStatistics::coupling_error,
              "Error of the coupling between friction and normal impulses in the last round of "
              "'coulomb' [-].")
      .def_ro("has_conflict", &IslandStatistics::has_conflict,
              "True if a rigid model reduced or skipped position corrections because penetrations, "
              "violated limits and violated equalities cannot all be corrected at once.");
}

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
      .def_ro(
          "num_not_extrapolated", &AdvanceReport::num_not_extrapolated,
          "Number of steps in which an island was not extrapolated, because its contacts changed.")
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
      .def_ro("sum_of_errors", &AdvanceReport::sum_of_errors,
              "Sum of the local errors of all steps [m]: how far a point would be from its place "
              "if every error were carried along unchanged. It is no bound of the global error.")
      .def_ro("largest_error", &AdvanceReport::largest_error, "Largest local error of a step [m].")
      .def("__repr__", [](const AdvanceReport& r) {
        return "AdvanceReport(num_steps=" + std::to_string(r.num_steps) +
               ", num_rejected=" + std::to_string(r.num_rejected) +
               ", accuracy_reached=" + (r.accuracy_reached() ? "True" : "False") + ")";
      });
}

void bind_trace(nb::module_& m) {
  using sim::TraceReport;
  nb::class_<TraceReport> c(
      m, "TraceReport",
      "The course of Newton's method in the last step: arrays of shape (n,), with one entry per "
      "iterate.\n\n"
      "They are empty unless the simulator was made with trace=True, and under contact models that "
      "do not use Newton's method. stiction.plot_trace draws them.");
  def_repr(c);
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

/// Returns the contacts of a report as one table, see stiction.tables.contact_table.
nb::object make_table(nb::handle report, nb::handle format) {
  return nb::module_::import_("stiction.tables.contact_table").attr("make_table")(report, format);
}

using StepReportClass = nb::class_<StepReport>;

/// How the step ended.
void def_outcome(StepReportClass& c) {
  c.def_ro("status_bits", &StepReport::status,
           "Bits of the status, 0 for 'ok'; see StepStatus in C++.")
      .def_prop_ro(
          "status", [](const StepReport& r) { return sim::describe_status(r.status); },
          "'ok', or the names of all faults, separated by commas: 'non_finite_state', "
          "'non_finite_input', 'non_finite_solution', 'not_converged', 'not_positive_definite', "
          "'buffer_full', 'mujoco_error', 'certificate_failed', 'out_of_time', "
          "'out_of_iterations', 'interrupted', 'too_large', 'model_changed', 'inaccurate'.")
      .def_prop_ro("ok", &StepReport::ok, "True if the status is 'ok'.")
      .def_ro("message", &StepReport::message,
              "Explanation of the faults, with causes and remedies; empty if the status is 'ok'.")
      .def_ro("time", &StepReport::time, "Simulated time at the end of the step [s].")
      .def_prop_ro(
          "time_step", [](const StepReport& r) { return r.contacts.time_step; },
          "Length of the step [s].")
      .def_ro("num_steps", &StepReport::num_steps, "Number of steps that the call completed.");
}

/// Results of the step, and its cost.
void def_parts(StepReportClass& c) {
  c.def_ro("certificate", &StepReport::certificate,
           "Error bound and checks of the solution; the worst values of all steps of the call.")
      .def_prop_ro(
          "error_bound", [](const StepReport& r) { return r.certificate.error_bound; },
          "The same as certificate.error_bound [sqrt(J)].")
      .def_ro("momentum_error", &StepReport::momentum_error,
              "Residual of the momentum balance, computed with MuJoCo's own matrices [sqrt(J)].")
      .def_ro("statistics", &StepReport::statistics, "Counts of contacts, rows and iterations.")
      .def_ro("timings", &StepReport::timings, "Wall time of the parts of the step.")
      .def_prop_ro(
          "advance",
          [](const StepReport& r) -> const sim::AdvanceReport* {
            return r.advance.accuracy > 0 ? &r.advance : nullptr;
          },
          nb::rv_policy::reference_internal, nb::sig("def advance(self) -> AdvanceReport | None"),
          "The steps of a call of Simulator.advance; None after other calls.")
      .def_ro("contacts", &StepReport::contacts, "The contacts, as arrays.")
      .def_ro("patches", &StepReport::patches, "The patches of pressure-field contact.")
      .def_prop_ro("taxels", &StepReport::read_taxels,
                   "The readings of taxels, which are computed at the first access; empty if the "
                   "scene has none, 0 if the call failed.")
      .def_ro("trace", &StepReport::trace,
              "The course of Newton's method; empty unless the simulator was made with trace=True.")
      .def_ro("islands", &StepReport::islands, "Statistics of the solve of each island.");
}

/// The simulator's memory from step to step.
void def_memory(StepReportClass& c) {
  c.def_prop_ro(
      "missing_memory",
      [](const StepReport& r) { return nb::tuple(nb::cast(sim::list_memory(r.missing_memory))); },
      nb::sig("def missing_memory(self) -> tuple[str, ...]"),
      "Names of what the first step of the call would have taken from the step before, but did not "
      "have, because its data and time are not those in which the simulator's last step ended: "
      "'active_set', 'patch_history', 'mocap_motion', 'contact_forces', 'anchors', 'warnings', "
      "'step_length'. A checkpoint with Simulator.get_state has them. Empty at time 0, where there "
      "is no step before.");
  const auto def_anchors = [&](const char* name, auto member, const std::string& meaning) {
    c.def_prop_ro(
        name, [member](const StepReport& r) { return r.anchors.*member; },
        ("Under the friction law 'elastic': the " + meaning).c_str());
  };
  def_anchors("anchor_stretch", &sim::AnchorSummary::largest_stretch,
              "largest stretch of a contact's spring at the end of the step [m].");
  def_anchors(
      "elastic_energy", &sim::AnchorSummary::energy,
      "energy of the springs along the surfaces, and of those of joints and tendons, at the end "
      "of the step [J].");
  def_anchors("anchor_energy_gain", &sim::AnchorSummary::energy_gain,
              "energy that the springs of contacts gained when contacts were found again and "
              "shared, beyond "
              "the work of the bodies' motion [J]. It is 0 or round-off.");
  def_anchors("num_anchors_lost", &sim::AnchorSummary::num_lost,
              "number of stretched springs whose contacts were not found again, although their "
              "geoms still touch. Their force is shared among the other contacts of the geoms.");
  def_anchors("anchors_forgotten", &sim::AnchorSummary::num_forgotten,
              "number of springs that were forgotten, because the step did not begin with the time "
              "and positions in which the simulator's last step ended.");
}

/// Returns {kind: make(warnings)} of the kinds that have warnings.
template <class F>
auto list_warnings(const StepReport& report, F&& make) {
  std::map<std::string, decltype(make(report.warnings[0]))> out;
  for (int k = 0; k < sim::kNumWarningKinds; ++k)
    if (report.warnings[k].count > 0)
      out.emplace(sim::name(static_cast<sim::WarningKind>(k)), make(report.warnings[k]));
  return out;
}

void def_warnings(StepReportClass& c) {
  c.def_ro("num_warnings", &StepReport::num_warnings,
           "The number of warnings of the call, of all kinds.")
      .def_prop_ro(
          "warning", [](const StepReport& r) { return r.warning.str(); },
          "The last warning; empty if there was none.")
      .def_prop_ro(
          "warning_counts",
          [](const StepReport& r) {
            return list_warnings(r, [](const sim::WarningReport& w) { return w.count; });
          },
          "The number of warnings of the call by kind. Unlike `warnings`, it writes no texts, so "
          "that it takes little time in every step.")
      .def_prop_ro(
          "warnings",
          [](const StepReport& r) {
            return list_warnings(
                r, [](const sim::WarningReport& w) { return std::pair(w.count, w.text.str()); });
          },
          "The warnings of the call by kind: their number, and the last text. StepWarning lists "
          "the "
          "kinds.");
}

}  // namespace

void bind_reports(nb::module_& m) {
  bind_certificate(m);
  bind_timings(m);
  bind_statistics(m);
  bind_island_statistics(m);
  bind_advance_report(m);
  bind_trace(m);
  StepReportClass c(
      m, "StepReport",
      "The result of a step: how it ended, its certificate, its contacts and what it cost.\n\n"
      "After several steps in one call it describes the last step, with the worst certificate and "
      "all warnings of the call. The report stays valid for as long as it, or one of its arrays, "
      "is kept.");
  def_pickle(c);
  def_to_dict(c);
  c.def("_repr_html_", [](nb::handle self) { return call_view("to_html", self); });
  c.def("table", &make_table, nb::arg("format").none() = "numpy",
        nb::sig("def table(self, format: str = 'numpy') -> typing.Any"),
        "Returns all contacts as one table, with a row for each contact point and for each face of "
        "a patch.\n\n"
        "Args:\n"
        "    format: 'numpy' for a structured array, with fields such as `kind` ('point' or "
        "'face'), `position`, `force` and `stick`; 'arrow' for a pyarrow.Table with a column for "
        "each component.\n\n"
        "Raises:\n    Error: there is no such format, or pyarrow is missing.");
  def_outcome(c);
  def_parts(c);
  def_memory(c);
  def_warnings(c);
  c.def("__repr__", [](const StepReport& r) {
    return "StepReport(status='" + sim::describe_status(r.status) +
           "', time=" + std::to_string(r.time) + ", contacts=" + std::to_string(r.contacts.size()) +
           ", iterations=" + std::to_string(r.statistics.iterations) + ")";
  });
}

}  // namespace stiction::python
