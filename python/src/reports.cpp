// Reports of a step. Arrays are views of the report that owns them.
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "report_arrays.hpp"
#include "report_state.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::python {
namespace {

using sim::ContactReport;
using sim::StepReport;

/// Binds the certificate. Its attributes and their docstrings come from the list of fields.
void bind_certificate(nb::module_& m) {
  using certificate::Certificate;
  nb::class_<Certificate> c(m, "Certificate",
                            "Errors of a step's solution, computed from the problem and the "
                            "solution alone.");
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

void bind_solver_reports(nb::module_& m) {
  using sim::StepTimings;
  nb::class_<StepTimings> timings(m, "StepTimings",
                                  "Wall time of the last step and its parts [us].");
  def_pickle(timings);
  timings.def_ro("total", &StepTimings::total, "The whole step [us].")
      .def_ro("kinematics", &StepTimings::kinematics, "Kinematics, inertia and smooth forces [us].")
      .def_ro("collision", &StepTimings::collision, "Search for contact points [us].")
      .def_ro("surfaces", &StepTimings::surfaces, "Contact surfaces of pressure fields [us].")
      .def_ro("assembly", &StepTimings::assembly, "The contact problem and its islands [us].")
      .def_ro("solve", &StepTimings::solve, "Solution of the contact problem [us].")
      .def_ro("certificate", &StepTimings::certificate, "Computation of the certificate [us].")
      .def_ro("finish", &StepTimings::finish,
              "Acceleration sensors, integration of the positions, and the report [us].");

  using sim::StepStatistics;
  nb::class_<StepStatistics> statistics(m, "StepStatistics", "Counts of the last step.");
  def_pickle(statistics);
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
      .def_ro(
          "num_lemke", &StepStatistics::num_lemke,
          "Number of LCPs of 'no_slip' or 'viscous' that the solver 'ppm_ratio' could not solve "
          "and Lemke's method solved, summed over all islands.")
      .def_ro("residual", &StepStatistics::residual, "Largest relative residual of an island [-].");

  using contact::IslandStatistics;
  nb::class_<IslandStatistics> island(m, "IslandStatistics",
                                      "Statistics of the solve of one island.");
  def_pickle(island);
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
      .def_ro("rounds", &IslandStatistics::rounds,
              "Number of convex problems that 'coulomb' solved, or of LCPs that a rigid model "
              "solved.")
      .def_ro("num_lemke", &IslandStatistics::num_lemke,
              "How many of these LCPs the solver 'ppm_ratio' could not solve and Lemke's method "
              "solved.")
      .def_ro("coupling_error", &IslandStatistics::coupling_error,
              "Error of the coupling between friction and normal impulses in the last round of "
              "'coulomb' [-].")
      .def_ro("has_conflict", &IslandStatistics::has_conflict,
              "True if a rigid model reduced or skipped position corrections because penetrations, "
              "violated limits and violated equalities cannot all be corrected at once.");
}

/// Calls a function of stiction.tables.report_views.
template <class... Arguments>
nb::object call_view(const char* function, Arguments&&... arguments) {
  return nb::module_::import_("stiction.tables.report_views").attr(function)(arguments...);
}

/// Returns the contacts of a report as one table, see stiction.tables.contact_table.
nb::object make_table(nb::handle report, nb::handle format) {
  return nb::module_::import_("stiction.tables.contact_table").attr("make_table")(report, format);
}

/// Lets Python convert a report to plain values.
template <class Report>
void def_to_dict(nb::class_<Report>& c) {
  c.def(
      "to_dict", [](nb::handle self) { return call_view("to_dict", self); },
      nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
      "Returns the attributes as dicts, lists, numbers and strings, for a log or JSON.");
}

/// Returns the mean forces of all contacts as a new NumPy array, (n, 3).
auto calc_forces(const ContactReport& contacts) {
  auto* force = new std::vector<double>(contacts.impulse);
  const nb::capsule owner(force,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  for (double& x : *force) x /= contacts.time_step;
  return nb::ndarray<nb::numpy, double, nb::c_contig>(force->data(), {force->size() / 3, 3}, owner);
}

void bind_contact_report(nb::module_& m) {
  nb::class_<ContactReport> contacts(
      m, "ContactReport",
      "Contacts of a step: read-only arrays with one entry for each of n contacts.\n\n"
      "Impulses act on the second body during the step; `force` is their mean over the step. A "
      "speculative contact that stayed open has a distance above 0 and an impulse of 0.");
  def_array(contacts, "bodies", &ContactReport::bodies, 2,
            "Ids of the first and the second body, int32 (n, 2).");
  def_array(contacts, "geoms", &ContactReport::geoms, 2,
            "Ids of the first and the second geom, int32 (n, 2).");
  def_array(contacts, "point", &ContactReport::point, 3, "Contact point in the world [m], (n, 3).");
  def_array(contacts, "normal", &ContactReport::normal, 3,
            "Unit normal from the first into the second body, in the world, (n, 3).");
  def_array(contacts, "distance", &ContactReport::distance, 1,
            "Signed distance at the start of the step; negative is penetration [m], (n,).");
  def_array(contacts, "impulse", &ContactReport::impulse, 3,
            "Impulse on the second body, in the world [N s], (n, 3).");
  def_array(contacts, "torque_impulse", &ContactReport::torque_impulse, 3,
            "Torque impulse of torsional and rolling friction on the second body, in the world "
            "[N m s], (n, 3).");
  def_array(contacts, "normal_impulse", &ContactReport::normal_impulse, 1,
            "Normal part of the impulse, at least 0 [N s], (n,).");
  def_array(contacts, "normal_velocity", &ContactReport::normal_velocity, 1,
            "Normal velocity after the step; positive is separation [m/s], (n,).");
  def_array(contacts, "slip_velocity", &ContactReport::slip_velocity, 3,
            "Tangential velocity of the second body relative to the first after the step, in the "
            "world [m/s], (n, 3).");
  def_flags(contacts, "slipping", &ContactReport::slipping,
            "True if the contact slips, False if it sticks or has no force, bool (n,).");
  def_array(contacts, "friction", &ContactReport::friction, 1,
            "Coefficient of sliding friction; 0 for a frictionless contact [-], (n,).");
  def_array(contacts, "delassus", &ContactReport::delassus, 1,
            "Mobility w of the contact point, with which models regularize friction [1/kg]; NaN "
            "for 'mujoco', (n,).");
  def_flags(contacts, "is_fallback", &ContactReport::is_fallback,
            "True for a point contact of a geom that takes part in pressure-field contact, for a "
            "reason that Simulator.explain gives, bool (n,).");
  def_array(contacts, "patch", &ContactReport::patch, 1,
            "Index in StepReport.patches of the contact's patch; -1 for a point contact, int32 "
            "(n,).");
  contacts.def_prop_ro("force", &calc_forces, nb::rv_policy::move,
                       "Mean force on the second body over the step, in the world [N], (n, 3): "
                       "impulse / time_step, as a new array.");
  contacts.def_ro("time_step", &ContactReport::time_step, "Length of the step [s].");
  contacts.def("__len__", &ContactReport::size, "Number of contacts.");
  // Slices work too. The type names integers alone, because Sphinx reads no overloads.
  contacts.def(
      "__getitem__",
      [](nb::handle self, nb::handle index) { return call_view("find_contacts", self, index); },
      nb::sig("def __getitem__(self, index: int) -> Contact"), nb::arg("index").none(),
      "Returns one contact, with the names of the arrays as attributes, or the contacts of a "
      "slice.");
  contacts.def("_repr_html_", [](nb::handle self) { return call_view("to_table", self); });
  def_to_dict(contacts);
  def_pickle(contacts);
}

}  // namespace

void bind_reports(nb::module_& m) {
  bind_certificate(m);
  bind_solver_reports(m);
  bind_contact_report(m);
  nb::class_<StepReport> report(
      m, "StepReport",
      "The result of a step: how it ended, its certificate, its contacts and what it cost.\n\n"
      "After several steps in one call it describes the last step, with the worst certificate and "
      "all warnings of the call. The report stays valid for as long as it, or one of its arrays, "
      "is kept.");
  def_pickle(report);
  def_to_dict(report);
  report.def("_repr_html_", [](nb::handle self) { return call_view("to_html", self); });
  report.def(
      "table", &make_table, nb::arg("format").none() = "numpy",
      nb::sig("def table(self, format: str = 'numpy') -> typing.Any"),
      "Returns all contacts as one table, with a row for each contact point and for each face "
      "of a patch.\n\n"
      "Args:\n"
      "    format: 'numpy' for a structured array, whose fields are `kind` ('point' or "
      "'face'), `bodies`, `geoms`, `patch`, `position`, `normal`, `distance`, `area`, "
      "`impulse`, `force`, `torque`, `slip_velocity` and `stick`; 'arrow' for a pyarrow.Table with "
      "a "
      "column for each component.\n\n"
      "Raises:\n    Error: there is no such format, or pyarrow is missing.");
  report
      .def_ro("status_bits", &StepReport::status,
              "Bits of the status, 0 for 'ok'; see StepStatus in C++.")
      .def_prop_ro(
          "status", [](const StepReport& r) { return sim::describe_status(r.status); },
          "'ok', or the names of all faults, separated by commas: 'non_finite_state', "
          "'non_finite_input', 'non_finite_solution', 'not_converged', 'not_positive_definite', "
          "'buffer_full', 'mujoco_error', 'certificate_failed', 'out_of_time', "
          "'out_of_iterations', "
          "'interrupted', 'too_large', 'model_changed', 'inaccurate'.")
      .def_prop_ro("ok", &StepReport::ok, "True if the status is 'ok'.")
      .def_ro("message", &StepReport::message,
              "Explanation of the faults, with causes and remedies; empty if the status is 'ok'.")
      .def_ro("time", &StepReport::time, "Simulated time at the end of the step [s].")
      .def_prop_ro(
          "time_step", [](const StepReport& r) { return r.contacts.time_step; },
          "Length of the step [s].")
      .def_ro("num_steps", &StepReport::num_steps, "Number of steps that the call completed.")
      .def_ro("certificate", &StepReport::certificate,
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
      .def_ro("taxels", &StepReport::taxels, "The readings of taxels; empty if the scene has none.")
      .def_ro("trace", &StepReport::trace,
              "The course of Newton's method; empty unless the simulator was made with trace=True.")
      .def_ro("islands", &StepReport::islands, "Statistics of the solve of each island.")
      .def_prop_ro(
          "missing_memory",
          [](const StepReport& r) {
            return nb::tuple(nb::cast(sim::list_memory(r.missing_memory)));
          },
          nb::sig("def missing_memory(self) -> tuple[str, ...]"),
          "Names of what the first step of the call would have taken from the step before, but did "
          "not have, because its data and time are not those in which the simulator's last step "
          "ended: 'active_set', 'patch_history', 'mocap_motion', 'contact_forces', 'anchors', "
          "'warnings', 'step_length'. A checkpoint with Simulator.get_state has them. Empty at "
          "time "
          "0, where there is no step "
          "before.")
      .def_prop_ro(
          "anchor_stretch", [](const StepReport& r) { return r.anchors.largest_stretch; },
          "Under the friction law 'elastic': the largest stretch of a contact's spring at the end "
          "of "
          "the step [m].")
      .def_prop_ro(
          "elastic_energy", [](const StepReport& r) { return r.anchors.energy; },
          "Under the friction law 'elastic': the energy of the springs along the surfaces at the "
          "end of the step [J].")
      .def_prop_ro(
          "anchor_energy_gain", [](const StepReport& r) { return r.anchors.energy_gain; },
          "Under the friction law 'elastic': the energy that the springs gained when contacts were "
          "found again and shared, beyond the work of the bodies' motion [J]. It is 0 or "
          "round-off.")
      .def_prop_ro(
          "num_anchors_lost", [](const StepReport& r) { return r.anchors.num_lost; },
          "Under the friction law 'elastic': the number of stretched springs whose contacts were "
          "not "
          "found again, although their geoms still touch. Their force is shared among the other "
          "contacts of the geoms.")
      .def_prop_ro(
          "anchors_forgotten", [](const StepReport& r) { return r.anchors.num_forgotten; },
          "Under the friction law 'elastic': the number of springs that were forgotten, because "
          "the "
          "step did not begin with the time and positions in which the simulator's last step "
          "ended.")
      .def_ro("num_warnings", &StepReport::num_warnings,
              "Number of warnings in the call: of MuJoCo, of patches that are deep or thin (see "
              "ContactPatch), of conflicts (see IslandStatistics.has_conflict), of contact "
              "forces above 1e4 weights that nothing explains, of geoms that sink into each "
              "other by more than a tenth of the thickness of one, and of limits that a rigid "
              "model lets go, and of contacts beyond the table of a normal law.")
      .def_prop_ro(
          "warning", [](const StepReport& r) { return r.warning.str(); },
          "The last warning; empty if there was none.")
      .def_prop_ro(
          "warning_counts",
          [](const StepReport& r) {
            std::map<std::string, int> out;
            for (int k = 0; k < sim::kNumWarningKinds; ++k)
              if (r.warnings[k].count > 0)
                out[sim::name(static_cast<sim::WarningKind>(k))] = r.warnings[k].count;
            return out;
          },
          "The number of warnings of the call by kind. Unlike `warnings`, it writes no texts, so "
          "that it takes little time in every step.")
      .def_prop_ro(
          "warnings",
          [](const StepReport& r) {
            std::map<std::string, std::pair<int, std::string>> out;
            for (int k = 0; k < sim::kNumWarningKinds; ++k)
              if (r.warnings[k].count > 0)
                out[sim::name(static_cast<sim::WarningKind>(k))] = {r.warnings[k].count,
                                                                    r.warnings[k].text.str()};
            return out;
          },
          "The warnings of the call by kind: their number, and the last text. The kinds are "
          "'mujoco', 'patch_limit', 'conflict', 'large_force', 'penetration', 'limit', "
          "'law_range', 'coupling', 'rotation', 'plugin_state' and 'anchors'.")
      .def("__repr__", [](const StepReport& r) {
        return "StepReport(status='" + sim::describe_status(r.status) +
               "', time=" + std::to_string(r.time) +
               ", contacts=" + std::to_string(r.contacts.size()) +
               ", iterations=" + std::to_string(r.statistics.iterations) + ")";
      });
}

}  // namespace stiction::python
