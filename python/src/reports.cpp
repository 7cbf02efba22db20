// Reports of a step. Arrays are views of the report that owns them.
#include <cstdio>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stiction/sim/step_report.hpp"

namespace stiction::python {
namespace {

using sim::ContactReport;
using sim::StepReport;

/// Returns a read-only view of an array, which keeps `owner` alive.
template <class T, class... Shape>
auto make_view(const std::vector<T>& values, nb::handle owner, Shape... shape) {
  return nb::ndarray<nb::numpy, const T, nb::c_contig>(values.data(),
                                                       {static_cast<std::size_t>(shape)...}, owner);
}

/// Exposes a member array with `width` numbers per contact. A width of 1 gives a flat array.
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

void bind_solver_reports(nb::module_& m) {
  using certificate::Certificate;
  nb::class_<Certificate>(m, "Certificate", "Error bound and checks of a step's solution.")
      .def_ro(
          "error_bound", &Certificate::error_bound,
          "Bound on the solver's error in the velocities, |v - v_exact|_A [sqrt(J)]. Infinite for "
          "models without a bound: 'tamsi', and rigid models with Coulomb friction.")
      .def_ro(
          "velocity_bound", &Certificate::velocity_bound,
          "Bound on the solver's error in the velocity of any contact point [m/s]. Infinite for "
          "models without a bound.")
      .def_ro("relative_residual", &Certificate::relative_residual,
              "Momentum residual relative to the impulses, worst island [-].")
      .def_ro("residual_to_momentum", &Certificate::residual_to_momentum,
              "Momentum residual relative to the larger of the impulses and the momentum, as in "
              "[castro2023] and Drake [-].")
      .def_ro("round_off", &Certificate::round_off,
              "Part of relative_residual that rounding explains; 0 if the tolerance is met [-].")
      .def_ro("impulse_error", &Certificate::impulse_error,
              "Largest difference between the reported impulses and the model's law [N s].")
      .def_ro("min_normal_impulse", &Certificate::min_normal_impulse,
              "Smallest normal impulse; a negative one would be adhesion [N s].")
      .def_ro("max_cone_excess", &Certificate::max_cone_excess,
              "Largest excess of a friction impulse over the model's bound [N s].")
      .def_ro("max_friction_work", &Certificate::max_friction_work,
              "Largest energy that friction adds to a contact [J].")
      .def_ro("coupling_error", &Certificate::coupling_error,
              "'coulomb': largest difference between the normal impulses that bound friction and "
              "those of the step, relative to their mean, worst island [-].")
      .def_ro("complementarity", &Certificate::complementarity,
              "Rigid models: largest |min(w gamma_n, v_n + b)| of all contacts and limits [m/s].")
      .def_ro("complementarity_work", &Certificate::complementarity_work,
              "Rigid models: gamma_n^T (v_n + b), and the work that friction polygons could still "
              "do [J].")
      .def_ro("constraint_error", &Certificate::constraint_error,
              "Rigid models: largest velocity that equalities and contacts without slip should "
              "prevent [m/s, rad/s].")
      .def_ro("energy_gain", &Certificate::energy_gain,
              "Rigid models: energy that contacts and rows add [J]. It is above 0 only by position "
              "corrections, moving surfaces, and dry friction of joints that rebound.")
      .def_ro("num_pushing", &Certificate::num_pushing,
              "Rigid models: number of active contacts and limits, which have an impulse.")
      .def_ro(
          "max_pushing", &Certificate::max_pushing,
          "Rigid models: largest number of active contacts and limits that a solution needs, the "
          "number of dofs minus the rank of the bilateral rows.")
      .def_ro("ok", &Certificate::ok, "True if all checks pass; coupling_error is not a check.")
      .def("__repr__", [](const Certificate& c) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "Certificate(ok=%s, error_bound=%.2e sqrt(J), velocity_bound=%.2e m/s, "
                      "relative_residual=%.1e)",
                      c.ok ? "True" : "False", c.error_bound, c.velocity_bound,
                      c.relative_residual);
        return std::string(text);
      });

  using sim::StepTimings;
  nb::class_<StepTimings>(m, "StepTimings", "Wall time of the last step and its parts [us].")
      .def_ro("total", &StepTimings::total, "The whole step.")
      .def_ro("kinematics", &StepTimings::kinematics, "Kinematics, inertia and smooth forces.")
      .def_ro("collision", &StepTimings::collision, "MuJoCo's collision detection.")
      .def_ro("surfaces", &StepTimings::surfaces, "Contact surfaces of pressure fields.")
      .def_ro("assembly", &StepTimings::assembly, "The contact problem and its islands.")
      .def_ro("solve", &StepTimings::solve, "The contact solver.")
      .def_ro("certificate", &StepTimings::certificate, "The certificate.")
      .def_ro("finish", &StepTimings::finish, "Acceleration sensors, time integration and report.");

  using sim::StepStatistics;
  nb::class_<StepStatistics>(m, "StepStatistics", "Counts of the last step.")
      .def_ro("num_contacts", &StepStatistics::num_contacts,
              "Number of contacts, including speculative contacts that stayed open.")
      .def_ro("num_islands", &StepStatistics::num_islands, "Number of islands.")
      .def_ro("num_rows", &StepStatistics::num_rows,
              "Number of rows: limits, equalities, dry friction.")
      .def_ro("iterations", &StepStatistics::iterations, "Newton iterations of all islands.")
      .def_ro("max_iterations", &StepStatistics::max_iterations,
              "Largest number of Newton iterations of one island.")
      .def_ro("max_substeps", &StepStatistics::max_substeps,
              "Largest number of sub-steps of one island; 1 for all models except 'tamsi'.")
      .def_ro("num_parts", &StepStatistics::num_parts,
              "Number of parts of the step; 1 for all integrators except 'event_driven' and 'rk4'.")
      .def_ro("num_events", &StepStatistics::num_events,
              "Number of parts that ended because geoms touched.")
      .def_ro("num_halvings", &StepStatistics::num_halvings,
              "Number of parts that 'rk4' repeated with half the length.")
      .def_ro("line_search_evaluations", &StepStatistics::line_search_evaluations,
              "Evaluations by the line searches of all islands.")
      .def_ro("residual", &StepStatistics::residual, "Largest relative residual of an island [-].");

  using contact::IslandStatistics;
  nb::class_<IslandStatistics>(m, "IslandStatistics", "Statistics of the solve of one island.")
      .def_ro("num_dofs", &IslandStatistics::num_dofs, "Number of dofs.")
      .def_ro("num_contacts", &IslandStatistics::num_contacts, "Number of contacts.")
      .def_ro("num_rows", &IslandStatistics::num_rows, "Number of rows.")
      .def_ro("iterations", &IslandStatistics::iterations,
              "Newton iterations; for rigid models, pivots of the LCP solver.")
      .def_ro("num_substeps", &IslandStatistics::num_substeps,
              "Number of sub-steps; 1 for all models except 'tamsi'.")
      .def_ro("line_search_evaluations", &IslandStatistics::line_search_evaluations,
              "Evaluations by the line search.")
      .def_ro("residual", &IslandStatistics::residual, "Momentum residual [sqrt(J)].")
      .def_ro("scale", &IslandStatistics::scale,
              "Scale to which the residual is compared [sqrt(J)].")
      .def_ro("rounds", &IslandStatistics::rounds,
              "Number of convex problems of 'coulomb', or of LCPs of a rigid model.")
      .def_ro("coupling_error", &IslandStatistics::coupling_error,
              "'coulomb': see Certificate.coupling_error [-].")
      .def_ro("has_conflict", &IslandStatistics::has_conflict,
              "Rigid models: True if conflicting position corrections were reduced or skipped.");
}

void bind_contact_report(nb::module_& m) {
  nb::class_<ContactReport> contacts(m, "ContactReport",
                                     "Contacts of a step, as read-only arrays with one entry per "
                                     "contact. Impulses act on the second body. Divide them by the "
                                     "time step to get mean forces.");
  def_array(contacts, "bodies", &ContactReport::bodies, 2, "Body ids, int32 (n, 2).");
  def_array(contacts, "geoms", &ContactReport::geoms, 2, "Geom ids, int32 (n, 2).");
  def_array(contacts, "point", &ContactReport::point, 3, "Contact point, world [m], (n, 3).");
  def_array(contacts, "normal", &ContactReport::normal, 3,
            "Unit normal, from the first into the second body, world, (n, 3).");
  def_array(contacts, "distance", &ContactReport::distance, 1,
            "Signed distance at the start of the step; negative is penetration [m], (n,).");
  def_array(contacts, "impulse", &ContactReport::impulse, 3,
            "Impulse on the second body, world [N s], (n, 3).");
  def_array(contacts, "torque_impulse", &ContactReport::torque_impulse, 3,
            "Torque impulse of torsional and rolling friction, world [N m s], (n, 3).");
  def_array(contacts, "normal_impulse", &ContactReport::normal_impulse, 1,
            "Normal part of the impulse, at least 0 [N s], (n,).");
  def_array(contacts, "normal_velocity", &ContactReport::normal_velocity, 1,
            "Normal velocity after the step; positive is separation [m/s], (n,).");
  def_array(contacts, "slip_velocity", &ContactReport::slip_velocity, 3,
            "Tangential velocity of the second body relative to the first after the step, world "
            "[m/s], (n, 3).");
  def_array(contacts, "slipping", &ContactReport::slipping, 1,
            "1 if the contact slips, 0 if it sticks or has no force, uint8 (n,).");
  def_array(contacts, "friction", &ContactReport::friction, 1,
            "Coefficient of sliding friction; 0 if the contact has no friction [-], (n,).");
  def_array(contacts, "delassus", &ContactReport::delassus, 1,
            "Mobility w of the contact point, with which models regularize friction [1/kg]; NaN "
            "for 'mujoco', (n,).");
  def_array(contacts, "is_fallback", &ContactReport::is_fallback, 1,
            "1 for a point contact of a geom that takes part in pressure-field contact, for a "
            "reason that Simulator.explain gives, uint8 (n,).");
  def_array(contacts, "patch", &ContactReport::patch, 1,
            "Index of the contact's patch; -1 for a point contact, int32 (n,).");
  contacts.def("__len__", &ContactReport::size, "Number of contacts.");
}

}  // namespace

void bind_reports(nb::module_& m) {
  bind_solver_reports(m);
  bind_contact_report(m);
  nb::class_<StepReport>(
      m, "StepReport",
      "Report of a step. After a call with several steps it describes the last one, with the worst "
      "certificate and all warnings of the call.")
      .def_ro("status_bits", &StepReport::status, "Bits of the status; 0 is 'ok'.")
      .def_prop_ro(
          "status", [](const StepReport& r) { return sim::describe_status(r.status); },
          "'ok', or the names of the faults, such as 'non_finite_state, not_converged'.")
      .def_prop_ro("ok", &StepReport::ok, "True if the status is 'ok'.")
      .def_ro("message", &StepReport::message, "Explanation of the status; empty if it is 'ok'.")
      .def_ro("time", &StepReport::time, "Time at the end of the step [s].")
      .def_ro("num_steps", &StepReport::num_steps, "Number of steps completed by the call.")
      .def_ro("certificate", &StepReport::certificate, "Error bound and checks of the solution.")
      .def_prop_ro(
          "error_bound", [](const StepReport& r) { return r.certificate.error_bound; },
          "Same as certificate.error_bound [sqrt(J)].")
      .def_ro("momentum_error", &StepReport::momentum_error,
              "Momentum residual computed with MuJoCo's own matrices [sqrt(J)].")
      .def_ro("statistics", &StepReport::statistics, "Counts of the step.")
      .def_ro("timings", &StepReport::timings, "Wall times of the step.")
      .def_ro("contacts", &StepReport::contacts, "Contacts of the step.")
      .def_ro("patches", &StepReport::patches, "Patches of pressure-field contact.")
      .def_ro("islands", &StepReport::islands, "Statistics of each island.")
      .def_ro("num_warnings", &StepReport::num_warnings,
              "Number of warnings in the call, by MuJoCo and about patches beyond their limits.")
      .def_ro("warning", &StepReport::warning, "The last warning; empty if there is none.")
      .def("__repr__", [](const StepReport& r) {
        return "StepReport(status='" + sim::describe_status(r.status) +
               "', time=" + std::to_string(r.time) +
               ", contacts=" + std::to_string(r.contacts.size()) +
               ", iterations=" + std::to_string(r.statistics.iterations) + ")";
      });
}

}  // namespace stiction::python
