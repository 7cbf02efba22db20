// Arrays are views of the report that owns them.
#include <cstdio>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stiction/certificate/certificate_fields.hpp"
#include "stiction/sim/step_report.hpp"

namespace stiction::python {
namespace {

using sim::ContactReport;
using sim::StepReport;

/// A read-only view of an array that lives as long as `owner`.
template <class T, class... Shape>
auto make_view(const std::vector<T>& values, nb::handle owner, Shape... shape) {
  return nb::ndarray<nb::numpy, const T, nb::c_contig>(values.data(),
                                                       {static_cast<std::size_t>(shape)...}, owner);
}

/// Exposes a member array with `width` numbers per contact; 1: a flat array.
template <class T>
void def_array(nb::class_<ContactReport>& c, const char* name,
               std::vector<T> ContactReport::*member, int width, const char* doc) {
  c.def_prop_ro(
      name,
      [member, width](nb::handle self) {
        const auto& report = nb::cast<const ContactReport&>(self);
        return width == 1 ? make_view(report.*member, self, report.size())
                          : make_view(report.*member, self, report.size(), width);
      },
      doc);
}

/// The attributes and their texts follow from the list of fields. Those of rigid models stand
/// beside the others.
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
}

void bind_solver_reports(nb::module_& m) {
  using sim::StepTimings;
  nb::class_<StepTimings>(m, "StepTimings", "Wall time of the parts of the last step [us].")
      .def_ro("total", &StepTimings::total)
      .def_ro("kinematics", &StepTimings::kinematics, "Kinematics, inertia and smooth forces.")
      .def_ro("collision", &StepTimings::collision)
      .def_ro("surfaces", &StepTimings::surfaces, "Contact surfaces of pressure fields.")
      .def_ro("assembly", &StepTimings::assembly, "The contact problem and its islands.")
      .def_ro("solve", &StepTimings::solve)
      .def_ro("certificate", &StepTimings::certificate)
      .def_ro("finish", &StepTimings::finish, "Acceleration sensors, advance and report.");

  using sim::StepStatistics;
  nb::class_<StepStatistics>(m, "StepStatistics", "Counts of the last step.")
      .def_ro("num_contacts", &StepStatistics::num_contacts,
              "Of the problem, with those that were foreseen and did not touch.")
      .def_ro("num_islands", &StepStatistics::num_islands)
      .def_ro("num_rows", &StepStatistics::num_rows, "Limits, equalities, dry friction.")
      .def_ro("iterations", &StepStatistics::iterations, "Newton iterations over all islands.")
      .def_ro("max_iterations", &StepStatistics::max_iterations, "Of one island.")
      .def_ro("max_substeps", &StepStatistics::max_substeps,
              "That the step of one island was divided into; 1 but for 'tamsi'.")
      .def_ro("num_parts", &StepStatistics::num_parts,
              "That the step was divided into; 1 but for the integrators 'event_driven' and 'rk4'.")
      .def_ro("num_events", &StepStatistics::num_events, "Touches that ended a part.")
      .def_ro("num_halvings", &StepStatistics::num_halvings, "Of parts that 'rk4' took back.")
      .def_ro("line_search_evaluations", &StepStatistics::line_search_evaluations)
      .def_ro("residual", &StepStatistics::residual, "Worst relative residual of an island [-].");

  using contact::IslandStatistics;
  nb::class_<IslandStatistics>(m, "IslandStatistics", "How one island was solved.")
      .def_ro("num_dofs", &IslandStatistics::num_dofs)
      .def_ro("num_contacts", &IslandStatistics::num_contacts)
      .def_ro("num_rows", &IslandStatistics::num_rows)
      .def_ro("iterations", &IslandStatistics::iterations)
      .def_ro("num_substeps", &IslandStatistics::num_substeps)
      .def_ro("line_search_evaluations", &IslandStatistics::line_search_evaluations)
      .def_ro("residual", &IslandStatistics::residual, "[sqrt(J)]")
      .def_ro("scale", &IslandStatistics::scale, "[sqrt(J)]")
      .def_ro("rounds", &IslandStatistics::rounds,
              "Convex problems solved by 'coulomb', LCPs by rigid models.")
      .def_ro("coupling_error", &IslandStatistics::coupling_error, "[-]")
      .def_ro("has_conflict", &IslandStatistics::has_conflict,
              "Rigid models: what cannot be corrected all at once was not, or not all the way.");
}

void bind_contact_report(nb::module_& m) {
  nb::class_<ContactReport> contacts(m, "ContactReport",
                                     "Contacts of a step: read-only arrays, one entry per contact. "
                                     "Forces are impulses of the step "
                                     "on the second body; divide by the time step for forces.");
  def_array(contacts, "bodies", &ContactReport::bodies, 2, "Body ids, int32 (n, 2).");
  def_array(contacts, "geoms", &ContactReport::geoms, 2, "Geom ids, int32 (n, 2).");
  def_array(contacts, "point", &ContactReport::point, 3, "World [m], (n, 3).");
  def_array(contacts, "normal", &ContactReport::normal, 3,
            "Unit normal from the first into the second body, world, (n, 3).");
  def_array(contacts, "distance", &ContactReport::distance, 1,
            "Signed distance at the start of the step, negative in overlap [m], (n,).");
  def_array(contacts, "impulse", &ContactReport::impulse, 3,
            "Impulse on the second body, world [N s], (n, 3).");
  def_array(contacts, "torque_impulse", &ContactReport::torque_impulse, 3,
            "Torque impulse of torsional and rolling friction, world [N m s], (n, 3).");
  def_array(contacts, "normal_impulse", &ContactReport::normal_impulse, 1,
            "Normal part of the impulse, at least 0 [N s], (n,).");
  def_array(contacts, "normal_velocity", &ContactReport::normal_velocity, 1,
            "Normal velocity after the step, positive separates [m/s], (n,).");
  def_array(contacts, "slip_velocity", &ContactReport::slip_velocity, 3,
            "Tangential velocity of the second body against the first after the step, world [m/s], "
            "(n, 3).");
  def_array(contacts, "slipping", &ContactReport::slipping, 1,
            "1 where the contact slips, 0 in stiction, uint8 (n,).");
  def_array(contacts, "friction", &ContactReport::friction, 1,
            "Sliding friction coefficient used, 0 where there is none [-], (n,).");
  def_array(contacts, "delassus", &ContactReport::delassus, 1,
            "Mobility w of the contact point, by which models regularize friction [1/kg]; NaN for "
            "'mujoco', (n,).");
  def_array(contacts, "is_fallback", &ContactReport::is_fallback, 1,
            "1 for a point contact of a geom that takes part in pressure-field contact; "
            "Simulator.explain says why, uint8 (n,).");
  def_array(contacts, "patch", &ContactReport::patch, 1,
            "Index of the patch that it is a point of, -1 for a point contact, int32 (n,).");
  contacts.def("__len__", &ContactReport::size);
}

}  // namespace

void bind_reports(nb::module_& m) {
  bind_certificate(m);
  bind_solver_reports(m);
  bind_contact_report(m);
  nb::class_<StepReport>(
      m, "StepReport",
      "All that is known of a step. Of several steps in one call it describes the "
      "last, with the worst certificate of all.")
      .def_ro("status_bits", &StepReport::status)
      .def_prop_ro(
          "status", [](const StepReport& r) { return sim::describe_status(r.status); },
          "'ok', or the names of what went wrong.")
      .def_prop_ro("ok", &StepReport::ok)
      .def_ro("message", &StepReport::message)
      .def_ro("time", &StepReport::time, "At the end of the step [s].")
      .def_ro("num_steps", &StepReport::num_steps, "Steps completed by the call.")
      .def_ro("certificate", &StepReport::certificate)
      .def_prop_ro(
          "error_bound", [](const StepReport& r) { return r.certificate.error_bound; },
          "certificate.error_bound [sqrt(J)].")
      .def_ro("momentum_error", &StepReport::momentum_error,
              "Imbalance of momentum by MuJoCo's own matrices [sqrt(J)].")
      .def_ro("statistics", &StepReport::statistics)
      .def_ro("timings", &StepReport::timings)
      .def_ro("contacts", &StepReport::contacts)
      .def_ro("patches", &StepReport::patches)
      .def_ro("islands", &StepReport::islands)
      .def_ro("num_warnings", &StepReport::num_warnings,
              "In the call: MuJoCo's, and of patches beyond their limits.")
      .def_ro("warning", &StepReport::warning, "The last of them.")
      .def("__repr__", [](const StepReport& r) {
        return "StepReport(status='" + sim::describe_status(r.status) +
               "', time=" + std::to_string(r.time) +
               ", contacts=" + std::to_string(r.contacts.size()) +
               ", iterations=" + std::to_string(r.statistics.iterations) + ")";
      });
}

}  // namespace stiction::python
