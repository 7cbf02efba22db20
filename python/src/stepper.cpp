#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "options.hpp"
#include "step_turn.hpp"
#include "stiction/base/error.hpp"
#include "stiction/formulations/convex/dense_hessian.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/options/pair_explanation.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::ContactProperties;
using sim::Stepper;
using sim::StepReport;

// The numbers of a member of AnchorReport.
std::array<double, 1> list_numbers(double x) { return {x}; }
std::array<std::uint8_t, 1> list_numbers(bool x) { return {x}; }
std::array<double, 3> list_numbers(const math::Vec3& x) { return {x.x, x.y, x.z}; }
std::array<int, 2> list_numbers(const std::array<int, 2>& x) { return x; }

/// Returns a NumPy array for each member of the anchors, by its name.
nb::dict make_arrays(const std::vector<sim::AnchorReport>& anchors) {
  nb::dict out;
  const auto add = [&](const char* name, auto member) {
    const auto none = list_numbers(sim::AnchorReport().*member);
    std::vector<typename decltype(none)::value_type> values;
    for (const sim::AnchorReport& anchor : anchors)
      for (const auto x : list_numbers(anchor.*member)) values.push_back(x);
    out[name] = make_array(std::move(values), none.size());
  };
  using sim::AnchorReport;
  add("geoms", &AnchorReport::geoms);
  add("elements", &AnchorReport::elements);
  add("position", &AnchorReport::position);
  add("normal", &AnchorReport::normal);
  add("stretch", &AnchorReport::stretch);
  add("twist", &AnchorReport::twist);
  add("force", &AnchorReport::force);
  add("stiffness", &AnchorReport::stiffness);
  add("slipping", &AnchorReport::slips);
  return out;
}

/// Returns words of 64 bits as bytes, and bytes as words.
/// @throws Error with the message if the bytes are no whole words
nb::bytes to_bytes(const std::vector<std::uint64_t>& words) {
  return nb::bytes(words.data(), sizeof(std::uint64_t) * words.size());
}
std::vector<std::uint64_t> to_words(const nb::bytes& bytes, const char* where,
                                    const char* message) {
  if (bytes.size() % sizeof(std::uint64_t) != 0)
    throw Error(ErrorCode::kWrongShape, where, message);
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

nb::object none_if_empty(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
}

nb::dict describe(const sim::PairExplanation& pair, const plant::MaterialTable& materials) {
  nb::list geoms, numbers;
  for (const int geom : {pair.geom1, pair.geom2}) {
    const plant::MaterialSource& source = materials.sources[geom];
    nb::dict entry;
    entry["id"] = geom;
    entry["material"] = none_if_empty(source.material);
    entry["selector"] = none_if_empty(source.selector);
    geoms.append(entry);
  }
  for (const sim::ExplainedNumber& number : pair.numbers) {
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
  out["touches_in"] =
      !pair.collides ? nb::none() : nb::object(nb::str(pair.is_patch ? "patches" : "points"));
  out["why_points"] = none_if_empty(pair.why_points);
  out["numbers"] = numbers;
  return out;
}

/// Finds the mjData of a Python argument. The last one is remembered as long as its object lives,
/// because asking the object for its address takes as long as the rest of a call.
class DataArgument {
 public:
  /// @throws Error if the argument is not a mujoco.MjData
  mjData* find(nb::handle data) {
    if (is_last(data)) return data_;
    if (!data.type().is(type_))
      nb::module_::import_("stiction.inputs.arguments").attr("check_data_type")(data);
    data_ = data_at(nb::cast<std::uintptr_t>(data.attr("_address")));
    last_ = nb::weakref(data);
    return data_;
  }

 private:
  bool is_last(nb::handle data) const {
    if (!last_.is_valid()) return false;
#if PY_VERSION_HEX < 0x030D0000 || defined(Py_LIMITED_API)  // the stable ABI is that of 3.12
    return PyWeakref_GetObject(last_.ptr()) == data.ptr() && !data.is_none();  // None: it died
#else
    PyObject* last = nullptr;
    PyWeakref_GetRef(last_.ptr(), &last);
    return nb::steal(last).is(data);
#endif
  }

  nb::object type_ = nb::module_::import_("mujoco").attr("MjData");
  nb::object last_;  // a weak reference
  mjData* data_ = nullptr;
};

/// Returns a number of steps.
/// @throws Error if it is not an integer from 1 on
int to_num_steps(nb::handle value) {
  if (PyLong_CheckExact(value.ptr())) {
    const long long number = PyLong_AsLongLong(value.ptr());
    if (number >= 1 && number <= std::numeric_limits<int>::max()) return static_cast<int>(number);
    PyErr_Clear();  // of a number with too many digits
  }
  return nb::cast<int>(
      nb::module_::import_("stiction.inputs.arguments").attr("check_integer")("nstep", value, 1));
}

/// Steps a model and returns reports. A report is reused when nothing in Python refers to it or to
/// one of its arrays; otherwise it does not change.
class PyStepper {
 public:
  PyStepper(std::uintptr_t model, const nb::dict& options, const ContactProperties& properties)
      : stepper_(model_at(model), make_step_options(options, properties),
                 io::assign_materials(model_at(model), properties)) {
    stepper_.set_taxels(io::assign_taxels(model_at(model), properties));
    stepper_.set_interrupt(&has_signal);
  }

  void set_model_is_constant(bool is_constant) { stepper_.set_model_is_constant(is_constant); }

  /// Takes `num_steps` steps without the GIL and returns their report.
  /// @param owner the Simulator, see call
  /// @throws Error if an argument is wrong, or the stepper cannot be used now, see StepTurn
  nb::object step(nb::handle owner, nb::handle data, nb::handle num_steps) {
    mjData* d = data_.find(data);
    const int count = to_num_steps(num_steps);
    return call("step", owner, d, [&](StepReport* out) { stepper_.step(d, count, out); });
  }

  /// Advances data under error control without the GIL and returns the report.
  nb::object advance(nb::handle owner, nb::handle data, double until, double accuracy,
                     std::optional<double> max_time_step, std::optional<double> first_step,
                     std::optional<double> last_error, bool extrapolate) {
    const sim::AdvanceOptions options = {.until = until,
                                         .accuracy = accuracy,
                                         .max_time_step = max_time_step,
                                         .first_step = first_step,
                                         .last_error = last_error,
                                         .extrapolate = extrapolate};
    mjData* d = data_.find(data);
    return call("advance", owner, d, [&](StepReport* out) { stepper_.advance(d, options, out); });
  }

  /// Computes forces and accelerations at the present state without the GIL and returns the report.
  nb::object forward(nb::handle owner, nb::handle data) {
    mjData* d = data_.find(data);
    return call("forward", owner, d, [&](StepReport* out) { stepper_.forward(d, out); });
  }

  /// Calls f(report) without the GIL and returns the report. If it has a warning or a failure, the
  /// method _look_at of the owner gets it before.
  /// @param function the method of Simulator, for messages
  template <class F>
  nb::object call(const char* function, nb::handle owner, const mjData* data, F&& f) {
    check_model_of(data);
    gate_.check_fork();
    nb::object report = take_report();
    StepReport* out = nb::inst_ptr<StepReport>(report);
    {
      nb::gil_scoped_release release;
      const StepTurn turn(&gate_, function);
      f(out);
    }
    // The step sees an exception in a user's callback, such as mujoco.set_mjcb_control, as a MuJoCo
    // error, and one in a handler of signals as an interruption. Raise the original exception.
    if (PyErr_Occurred()) throw nb::python_error();
    if (out->num_warnings > 0 || !out->ok()) owner.attr("_look_at")(report);
    return report;
  }

  /// @throws Error if the argument is not a mujoco.MjData of the stepper's model
  void check_data(nb::handle data) { check_model_of(data_.find(data)); }
  void check_model_of(const mjData* data) {
    const mjModel* model = stepper_.model();
    // Models loaded from MJB have no signature; compare the size of the data instead.
    if (data->signature != model->signature ||
        (model->signature == 0 && data->nbuffer != find_data_size(model)))
      throw Error(ErrorCode::kWrongShape, "data",
                  "belongs to another model; make it with mujoco.MjData(simulator.model)");
  }

  /// Returns the condition number of the Hessian of the last step [-].
  double calc_condition_number() {
    return use("calc_condition_number",
               [this] { return formulations::calc_condition_number(stepper_.calc_hessian()); });
  }

  /// Returns the Hessian of the last step as a new NumPy array, (nv, nv).
  auto calc_hessian() {
    auto* H = new std::vector<double>;
    const nb::capsule owner(H,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    *H = use("calc_hessian", [this] { return stepper_.calc_hessian(); });
    const auto n = static_cast<std::size_t>(stepper_.model()->nv);
    return nb::ndarray<nb::numpy, double, nb::f_contig>(H->data(), {n, n}, owner);
  }

  nb::bytes get_state() {
    return to_bytes(use("get_state", [this] { return stepper_.get_state(); }));
  }
  void set_state(const nb::bytes& bytes) {
    const auto state = to_words(bytes, "state", "is no result of Simulator.get_state()");
    use("set_state", [&] { stepper_.set_state(state); });
  }

  nb::bytes save_anchors() {
    return to_bytes(use("save_anchors", [this] { return stepper_.save_anchors(); }));
  }
  nb::dict list_anchors() {
    return make_arrays(use("list_anchors", [this] { return stepper_.list_anchors(); }));
  }
  void load_anchors(nb::handle data, const nb::bytes& bytes) {
    const auto anchors = to_words(bytes, "anchors", "are no result of Simulator.save_anchors()");
    check_data(data);
    const mjData* d = data_.find(data);
    use("load_anchors", [&] { stepper_.load_anchors(d, anchors); });
  }
  void turn_to(nb::handle data) {
    check_data(data);
    const mjData* d = data_.find(data);
    use("get_state", [&] { stepper_.turn_to(d); });
  }
  void forget_anchors() {
    use("forget_anchors", [this] { stepper_.forget_anchors(); });
  }

  /// Keeps the stepper for this thread over several calls, until `end_turn`; other threads wait.
  /// @throws Error if the stepper cannot be used now, see StepTurn
  void keep_turn(const char* function) {
    gate_.check_fork();
    const nb::gil_scoped_release release;
    gate_.keep(function);
  }
  void end_turn() { gate_.end(); }

  double time_step() const { return stepper_.time_step(); }
  nb::dict options() const { return make_dict(stepper_.options()); }
  std::vector<std::string> ignored_settings() const { return stepper_.ignored_settings(); }

  /// Returns how two geoms touch and where their contact properties come from, see
  /// sim::explain_pair.
  nb::dict explain(int geom1, int geom2) const {
    const plant::MaterialTable& materials = stepper_.materials();
    return describe(
        sim::explain_pair(stepper_.model(), materials, stepper_.options(), geom1, geom2),
        materials);
  }

 private:
  /// Calls f without the GIL, while no other thread uses the stepper.
  /// @throws Error if the stepper cannot be used now, see StepTurn
  template <class F>
  std::invoke_result_t<F> use(const char* function, F&& f) {
    gate_.check_fork();
    const nb::gil_scoped_release release;
    const StepTurn turn(&gate_, function);
    return f();
  }

  /// Returns the size of the arrays in a model's mjData [bytes].
  mjtSize find_data_size(const mjModel* model) {
    if (data_size_ > 0) return data_size_;
    plant::MuJoCoGuard guard;
    mjData* data = nullptr;
    mjModel small = *model;  // shares all arrays; the arena may have gigabytes and is not compared
    small.narena = std::min<mjtSize>(small.narena, mjtSize{1} << 20);
    if (!guard.run([&] { data = mj_makeData(&small); }) || !data)
      throw Error(ErrorCode::kMuJoCo, "model", std::string("MuJoCo: ") + guard.error());
    data_size_ = data->nbuffer;
    mj_deleteData(data);
    return data_size_;
  }

  /// Returns a report that nothing else refers to, from the pool if possible.
  nb::object take_report() {
    for (nb::object& report : pool_)
      if (Py_REFCNT(report.ptr()) == 1) return report;
    nb::object report = nb::cast(StepReport{}, nb::rv_policy::move);
    if (pool_.size() < 4) pool_.push_back(report);
    return report;
  }

  Stepper stepper_;
  DataArgument data_;
  mjtSize data_size_ = 0;
  StepGate gate_;
  std::vector<nb::object> pool_;
};

}  // namespace

void bind_stepper(nb::module_& m) {
  nb::class_<PyStepper>(m, "Stepper", "Steps a model; see stiction.Simulator.")
      .def(
          "__init__",
          [](PyStepper* self, std::uintptr_t model, const nb::dict& options,
             const ContactProperties& properties,
             nb::handle /*owner*/) { new (self) PyStepper(model, options, properties); },
          "model"_a, "options"_a, "properties"_a, "owner"_a, nb::keep_alive<1, 5>(),
          nb::sig("def __init__(self, model: int, options: dict[str, typing.Any], properties: "
                  "ContactProperties, owner: object) -> None"),
          "Makes a stepper. `owner` is the MjModel at the address `model`; it lives as long as the "
          "stepper.")
      .def("set_model_is_constant", &PyStepper::set_model_is_constant, "is_constant"_a,
           "True leaves out the check of the model's numbers at each call.")
      .def("step", &PyStepper::step, "owner"_a.none(), "data"_a.none(), "num_steps"_a.none(),
           nb::sig("def step(self, owner: object, data: object, num_steps: object) -> StepReport"),
           "Takes steps. A report with a warning or a failure goes to the owner's _look_at.")
      .def("advance", &PyStepper::advance, "owner"_a.none(), "data"_a.none(), "until"_a,
           "accuracy"_a, "max_time_step"_a.none(), "first_step"_a.none(), "last_error"_a.none(),
           "extrapolate"_a,
           nb::sig("def advance(self, owner: object, data: object, until: float, accuracy: float, "
                   "max_time_step: float | None, first_step: float | None, last_error: float | "
                   "None, extrapolate: bool) -> StepReport"))
      .def("forward", &PyStepper::forward, "owner"_a.none(), "data"_a.none(),
           nb::sig("def forward(self, owner: object, data: object) -> StepReport"))
      .def("keep_turn", &PyStepper::keep_turn, "function"_a,
           "Makes other threads wait until end_turn, over several calls of this thread.")
      .def("end_turn", &PyStepper::end_turn)
      .def("check_data", &PyStepper::check_data, "data"_a.none(),
           "Raises stiction.Error if the argument is not an MjData of the model.")
      .def("calc_hessian", &PyStepper::calc_hessian)
      .def("calc_condition_number", &PyStepper::calc_condition_number)
      .def("get_state", &PyStepper::get_state)
      .def("turn_to", &PyStepper::turn_to, "data"_a.none())
      .def("set_state", &PyStepper::set_state, "state"_a)
      .def("save_anchors", &PyStepper::save_anchors)
      .def("list_anchors", &PyStepper::list_anchors,
           nb::sig("def list_anchors(self) -> dict[str, typing.Any]"))
      .def("load_anchors", &PyStepper::load_anchors, "data"_a.none(), "anchors"_a)
      .def("forget_anchors", &PyStepper::forget_anchors)
      .def("explain", &PyStepper::explain, "geom1"_a, "geom2"_a,
           nb::sig("def explain(self, geom1: int, geom2: int) -> dict[str, typing.Any]"))
      .def_prop_ro("ignored_settings", &PyStepper::ignored_settings)
      .def_prop_ro("options", &PyStepper::options,
                   nb::sig("def options(self) -> dict[str, typing.Any]"),
                   "The values of all options by name.")
      .def_prop_ro("time_step", &PyStepper::time_step);
}

}  // namespace stiction::python
