// The Python face of stiction_sim. Arrays are views of the report that owns them.
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/io/scene_file.hpp"
#include "stiction/plant/model_check.hpp"
#include "stiction/plant/mujoco_guard.hpp"
#include "stiction/sim/pair_explanation.hpp"
#include "stiction/sim/stepper.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using stiction::Error;
using stiction::ErrorCode;
using stiction::io::ContactProperties;
using stiction::sim::ContactReport;
using stiction::sim::StepOptions;
using stiction::sim::Stepper;
using stiction::sim::StepReport;

namespace {

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

mjModel* model_at(std::uintptr_t address) { return reinterpret_cast<mjModel*>(address); }
mjData* data_at(std::uintptr_t address) { return reinterpret_cast<mjData*>(address); }

/// Steps, and hands out reports. A report that nobody keeps is used again; one that is kept, or of
/// which an array is kept, stays as it is.
class PyStepper {
 public:
  PyStepper(std::uintptr_t model, const StepOptions& options, const ContactProperties& properties)
      : stepper_(model_at(model), options,
                 stiction::io::assign_materials(model_at(model), properties)) {}

  nb::object step(std::uintptr_t data_address, int num_steps) {
    mjData* data = data_at(data_address);
    const mjModel* model = stepper_.model();
    // Models loaded from MJB have no signature; their data is then told by its size.
    if (data->signature != model->signature ||
        (model->signature == 0 && data->nbuffer != find_data_size(model)))
      throw Error(ErrorCode::kWrongShape, "data",
                  "belongs to another model; make it with mujoco.MjData(simulator.model)");
    nb::object report = take_report();
    StepReport* out = nb::cast<StepReport*>(report);
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      stepper_.step(data, num_steps, out);
    }
    // An exception in a callback of the user's, such as mujoco.set_mjcb_control, came to the step
    // as an error of MuJoCo's.
    if (PyErr_Occurred()) throw nb::python_error();
    return report;
  }

  double time_step() const { return stepper_.time_step(); }
  std::vector<std::string> ignored_settings() const { return stepper_.ignored_settings(); }

  nb::dict explain(int geom1, int geom2) const {
    const stiction::sim::PairExplanation pair = stiction::sim::explain_pair(
        stepper_.model(), stepper_.materials(), stepper_.options(), geom1, geom2);
    nb::list geoms, numbers;
    for (const int geom : {pair.geom1, pair.geom2}) {
      const stiction::plant::MaterialSource& source = stepper_.materials().sources[geom];
      nb::dict entry;
      entry["id"] = geom;
      entry["material"] = none_if_empty(source.material);
      entry["selector"] = none_if_empty(source.selector);
      geoms.append(entry);
    }
    for (const stiction::sim::ExplainedNumber& number : pair.numbers) {
      nb::dict entry;
      entry["name"] = number.name;
      entry["value"] = number.value;
      entry["unit"] = number.unit;
      entry["from"] = number.from;
      entry["is_used"] = number.is_used;
      entry["note"] = number.note;
      numbers.append(entry);
    }
    nb::dict out;
    out["geoms"] = geoms;
    out["collides"] = pair.collides;
    out["reason"] = pair.reason;
    out["numbers"] = numbers;
    return out;
  }

 private:
  /// Bytes of the arrays of a model's mjData.
  mjtSize find_data_size(const mjModel* model) {
    if (data_size_ > 0) return data_size_;
    stiction::plant::MuJoCoGuard guard;
    mjData* data = nullptr;
    if (!guard.run([&] { data = mj_makeData(model); }) || !data)
      throw Error(ErrorCode::kMuJoCo, "model", std::string("MuJoCo: ") + guard.error());
    data_size_ = data->nbuffer;
    mj_deleteData(data);
    return data_size_;
  }

  static nb::object none_if_empty(const std::string& text) {
    return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
  }

  nb::object take_report() {
    for (nb::object& report : pool_)
      if (Py_REFCNT(report.ptr()) == 1) return report;
    nb::object report = nb::cast(StepReport{}, nb::rv_policy::move);
    if (pool_.size() < 4) pool_.push_back(report);
    return report;
  }

  Stepper stepper_;
  mjtSize data_size_ = 0;
  std::mutex mutex_;  // the stepper serves one thread at a time; others wait without the GIL
  std::vector<nb::object> pool_;
};

void bind_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      constexpr const char* kCodes[] = {"file_not_found", "syntax",      "invalid_value",
                                        "unknown_name",   "unsupported", "wrong_shape",
                                        "version",        "mujoco",      "step_failed"};
      const nb::object type = nb::module_::import_("stiction.errors").attr("Error");
      // A message may quote a file that is not UTF-8.
      const auto decode = [](const std::string& text) {
        return nb::steal(
            PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
      };
      const nb::object value =
          type(kCodes[static_cast<int>(e.code())], decode(e.where()), decode(e.message()));
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
}

void bind_reports(nb::module_& m) {
  using stiction::contact::Certificate;
  nb::class_<Certificate>(m, "Certificate", "What is proved of a step's solution.")
      .def_ro("error_bound", &Certificate::error_bound,
              "Bound on the solver's error of the velocities, |v - v_exact|_A [sqrt(J)].")
      .def_ro("velocity_bound", &Certificate::velocity_bound,
              "Bound on the solver's error of any contact point's velocity [m/s].")
      .def_ro("relative_residual", &Certificate::relative_residual,
              "Imbalance of momentum relative to momentum and impulses, worst island [-].")
      .def_ro("round_off", &Certificate::round_off,
              "Part of relative_residual put down to rounding; 0 where the tolerance is met [-].")
      .def_ro("impulse_error", &Certificate::impulse_error,
              "Largest difference between reported impulses and the model's law [N s].")
      .def_ro("min_normal_impulse", &Certificate::min_normal_impulse,
              "Smallest normal impulse; negative would be adhesion [N s].")
      .def_ro("max_cone_excess", &Certificate::max_cone_excess,
              "Largest friction impulse beyond the model's bound [N s].")
      .def_ro("max_friction_work", &Certificate::max_friction_work,
              "Largest energy that friction puts into a contact [J].")
      .def_ro("ok", &Certificate::ok, "True if all of the above hold.")
      .def("__repr__", [](const Certificate& c) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "Certificate(ok=%s, error_bound=%.2e sqrt(J), velocity_bound=%.2e m/s, "
                      "relative_residual=%.1e)",
                      c.ok ? "True" : "False", c.error_bound, c.velocity_bound,
                      c.relative_residual);
        return std::string(text);
      });

  using stiction::sim::StepTimings;
  nb::class_<StepTimings>(m, "StepTimings", "Wall time of the parts of the last step [us].")
      .def_ro("total", &StepTimings::total)
      .def_ro("kinematics", &StepTimings::kinematics, "Kinematics, inertia and smooth forces.")
      .def_ro("collision", &StepTimings::collision)
      .def_ro("assembly", &StepTimings::assembly, "The contact problem and its islands.")
      .def_ro("solve", &StepTimings::solve)
      .def_ro("certificate", &StepTimings::certificate)
      .def_ro("finish", &StepTimings::finish, "Acceleration sensors, advance and report.");

  using stiction::sim::StepStatistics;
  nb::class_<StepStatistics>(m, "StepStatistics", "Counts of the last step.")
      .def_ro("num_contacts", &StepStatistics::num_contacts)
      .def_ro("num_islands", &StepStatistics::num_islands)
      .def_ro("num_rows", &StepStatistics::num_rows, "Limits, equalities, dry friction.")
      .def_ro("iterations", &StepStatistics::iterations, "Newton iterations over all islands.")
      .def_ro("max_iterations", &StepStatistics::max_iterations, "Of one island.")
      .def_ro("line_search_evaluations", &StepStatistics::line_search_evaluations)
      .def_ro("residual", &StepStatistics::residual, "Worst relative residual of an island [-].");

  using stiction::contact::IslandStatistics;
  nb::class_<IslandStatistics>(m, "IslandStatistics", "How one island was solved.")
      .def_ro("num_dofs", &IslandStatistics::num_dofs)
      .def_ro("num_contacts", &IslandStatistics::num_contacts)
      .def_ro("num_rows", &IslandStatistics::num_rows)
      .def_ro("iterations", &IslandStatistics::iterations)
      .def_ro("line_search_evaluations", &IslandStatistics::line_search_evaluations)
      .def_ro("residual", &IslandStatistics::residual, "[sqrt(J)]")
      .def_ro("scale", &IslandStatistics::scale, "[sqrt(J)]");

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
  contacts.def("__len__", &ContactReport::size);

  nb::class_<StepReport>(
      m, "StepReport",
      "All that is known of a step. Of several steps in one call it describes the "
      "last, with the worst certificate of all.")
      .def_ro("status_bits", &StepReport::status)
      .def_prop_ro(
          "status", [](const StepReport& r) { return stiction::sim::describe_status(r.status); },
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
      .def_ro("islands", &StepReport::islands)
      .def_ro("num_warnings", &StepReport::num_warnings, "MuJoCo's warnings in the call.")
      .def_ro("warning", &StepReport::warning, "The last of them.")
      .def("__repr__", [](const StepReport& r) {
        return "StepReport(status='" + stiction::sim::describe_status(r.status) +
               "', time=" + std::to_string(r.time) +
               ", contacts=" + std::to_string(r.contacts.size()) +
               ", iterations=" + std::to_string(r.statistics.iterations) + ")";
      });
}

/// The content of a contact properties file as Python's own types, fit for JSON: infinity is
/// ".inf".
nb::dict make_content(const ContactProperties& properties) {
  nb::dict materials, geoms, classes, content;
  for (const stiction::io::NamedMaterial& material : properties.materials) {
    nb::dict values;
    const auto add = [&](const char* key, double value) {
      if (std::isnan(value)) return;
      values[key] = std::isinf(value) ? nb::object(nb::str(".inf")) : nb::object(nb::float_(value));
    };
    add("stiffness", material.values.stiffness);
    add("dissipation", material.values.dissipation);
    add("relaxation_time", material.values.relaxation_time);
    add("friction", material.values.friction);
    materials[material.name.c_str()] = values;
  }
  for (const stiction::io::GeomRule& rule : properties.rules)
    geoms[rule.selector.c_str()] = rule.material;
  for (const auto& [name, ids] : properties.classes) classes[name.c_str()] = nb::cast(ids);
  if (!properties.materials.empty()) content["materials"] = materials;
  if (!properties.rules.empty()) content["geoms"] = geoms;
  if (!properties.classes.empty()) content["classes"] = classes;
  return content;
}

void bind_properties(nb::module_& m) {
  nb::class_<ContactProperties>(
      m, "ContactProperties",
      "Contact properties of geoms: materials, and which geoms have them. See "
      "stiction.read_contact_properties.")
      .def(nb::init<>(), "None: every geom has the defaults.")
      .def_static(
          "read",
          [](const std::string& path) { return stiction::io::read_contact_properties(path); },
          "path"_a, "Reads a file.")
      .def_static("parse", &stiction::io::parse_contact_properties, "text"_a, "origin"_a,
                  "has_lines"_a = true, "Reads YAML; `origin` is its name in messages.")
      .def(
          "resolve_classes",
          [](ContactProperties& self, const std::string& scene) {
            stiction::io::resolve_classes(scene, &self);
          },
          "scene"_a, "Finds the geoms of `class:` selectors in the scene's MJCF file.")
      .def_ro("origin", &ContactProperties::origin, "The file, or what else it came from.")
      .def_prop_ro("content", &make_content,
                   nb::sig("def content(self) -> dict[str, dict[str, object]]"),
                   "As dict of `materials`, `geoms` and `classes`, fit for JSON.")
      .def("__bool__", [](const ContactProperties& self) { return !self.empty(); })
      .def("__repr__", [](const ContactProperties& self) {
        return "ContactProperties(" + std::to_string(self.materials.size()) + " materials, " +
               std::to_string(self.rules.size()) + " selectors, from '" + self.origin + "')";
      });
}

void bind_scenes(nb::module_& m) {
  using stiction::io::SceneFile;
  nb::class_<SceneFile>(m, "SceneFile", "An MJCF file's text; see stiction.load_scene.")
      .def(
          "__init__", [](SceneFile* self, const std::string& path) { new (self) SceneFile(path); },
          "path"_a)
      .def("check", &SceneFile::check, "Raises an Error for numbers that MuJoCo does not survive.")
      .def("locate", &SceneFile::locate, "message"_a,
           "File and line that a message of MuJoCo's is about.");
  m.def(
      "check_model", [](std::uintptr_t model) { stiction::plant::check_model(model_at(model)); },
      "model"_a, "Raises an Error for numbers of a model that cannot be simulated.");
}

void bind_stepper(nb::module_& m) {
  nb::class_<PyStepper>(m, "Stepper", "Steps a model; see stiction.Simulator.")
      .def(
          "__init__",
          [](PyStepper* self, std::uintptr_t model, const std::string& contact_model,
             double time_step, double tolerance, int max_iterations, int num_threads,
             bool keep_best, double stiction_tolerance, double friction_regularization,
             double near_rigid_factor, const ContactProperties& properties) {
            StepOptions options;
            options.contact_model = stiction::contact::parse_contact_model(contact_model);
            options.time_step = time_step;
            options.tolerance = tolerance;
            options.max_iterations = max_iterations;
            options.num_threads = num_threads;
            options.on_failure =
                keep_best ? stiction::sim::OnFailure::keep_best : stiction::sim::OnFailure::stop;
            options.parameters = {stiction_tolerance, friction_regularization, near_rigid_factor};
            new (self) PyStepper(model, options, properties);
          },
          "model"_a, "contact_model"_a, "time_step"_a, "tolerance"_a, "max_iterations"_a,
          "num_threads"_a, "keep_best"_a, "stiction_tolerance"_a, "friction_regularization"_a,
          "near_rigid_factor"_a, "properties"_a)
      .def("step", &PyStepper::step, "data"_a, "num_steps"_a,
           nb::sig("def step(self, data: int, num_steps: int) -> StepReport"))
      .def("explain", &PyStepper::explain, "geom1"_a, "geom2"_a,
           nb::sig("def explain(self, geom1: int, geom2: int) -> dict[str, typing.Any]"))
      .def_prop_ro("ignored_settings", &PyStepper::ignored_settings)
      .def_prop_ro("time_step", &PyStepper::time_step);
}

}  // namespace

NB_MODULE(_core, m) {
  bind_errors();
  bind_reports(m);
  bind_properties(m);
  bind_scenes(m);
  bind_stepper(m);
  m.attr("MUJOCO_VERSION") = mjVERSION_HEADER;
  m.def(
      "contact_models",
      [] {
        nb::list names;
        for (const auto& traits : stiction::contact::contact_models())
          names.append(nb::str(traits.name.data(), traits.name.size()));
        return names;
      },
      nb::sig("def contact_models() -> list[str]"), "Names of the contact models.");
}
