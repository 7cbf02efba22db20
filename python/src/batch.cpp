// The Python class of the simulations of a batch.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "py_batch.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;

PyBatch& batch_of(nb::handle self) { return nb::cast<PyBatch&>(self); }

/// Returns a view of num_sims rows, which keeps the batch alive; None if there is no memory.
template <class T, class... Sizes>
nb::object view(nb::handle self, T* first, Sizes... sizes) {
  if (!first) return nb::none();
  const auto num_sims = static_cast<std::size_t>(batch_of(self).num_sims());
  using View = nb::ndarray<nb::numpy, T, nb::c_contig>;
  return nb::cast(View(first, {num_sims, static_cast<std::size_t>(sizes)...}, self));
}

/// Returns the storage of a field as bytes, None if there is no such field.
/// @param find mjb_output, mjb_expand or mjb_expanded
template <class Byte, class Find>
nb::object view_storage(nb::handle self, Find find, const std::string& name) {
  int size = 0, element = 0;
  Byte* first = nullptr;
  call_mujoco([&] {
    first = static_cast<Byte*>(find(batch_of(self).get(), name.c_str(), &size, &element));
  });
  return view(self, first, size * element);
}

/// Returns reports of all simulations as one, and the places where those of each begin.
template <class Report>
std::pair<nb::object, nb::object> merge(const std::vector<Report>& reports) {
  std::vector<int> offsets;
  Report all = sim::merge(reports, &offsets);
  return {nb::cast(std::move(all)), make_array(std::move(offsets))};
}

/// Returns {kind: (simulation, text)} of the warnings of the last call.
nb::dict list_warnings(PyBatch& self) {
  nb::dict out;
  for (int kind = 0; kind < sim::kNumWarningKinds; ++kind) {
    const sim::BatchWarning& warning = self.batch().warnings()[kind];
    if (warning.sim >= 0)
      out[sim::name(static_cast<sim::WarningKind>(kind))] =
          nb::make_tuple(warning.sim, warning.text.str());
  }
  return out;
}

/// The class with the methods of MuJoCo's own class.
nb::class_<PyBatch> bind_simulations(nb::module_& m) {
  const auto array = [](const char* name) { return nb::arg(name).none().noconvert(); };
  nb::class_<PyBatch> c(m, "BatchSimulations", "The simulations of a batch; see stiction.Batch.");
  c.def(nb::init<std::uintptr_t, int, int, bool, const nb::dict&, const ContactProperties&>(),
        "model"_a, "num_sims"_a, "num_threads"_a, "is_persistent"_a, "options"_a, "properties"_a,
        nb::sig("def __init__(self, model: int, num_sims: int, num_threads: int, is_persistent: "
                "bool, options: dict[str, typing.Any], properties: ContactProperties) -> None"));
  c.def_prop_ro("nsim", &PyBatch::num_sims)
      .def_prop_ro("nthread", [](const PyBatch& self) { return mjb_nthread(self.get()); })
      .def_prop_ro("nstate", [](const PyBatch& self) { return mjb_nstate(self.get()); })
      .def_prop_ro("persistent",
                   [](const PyBatch& self) { return mjb_persistent(self.get()) != 0; })
      .def("error", &PyBatch::error, "sim"_a)
      // Arrays are not converted, because a converted one would be a copy.
      .def("step", &PyBatch::step, array("ids"), "num_steps"_a, "stage"_a)
      .def("forward", &PyBatch::forward, array("ids"), "stage"_a)
      .def("reset", &PyBatch::reset, array("ids"), array("keys"), "stage"_a)
      .def("set_const", &PyBatch::set_const, array("ids"))
      .def("rollout", &PyBatch::rollout, array("ids"), "num_steps"_a, array("control"),
           "control_spec"_a, array("records"),
           nb::sig("def rollout(self, ids: numpy.typing.NDArray[numpy.int32] | None, num_steps: "
                   "int, control: numpy.typing.NDArray[numpy.float64] | None, control_spec: int, "
                   "records: collections.abc.Sequence[tuple[typing.Any, ...]]) -> int"))
      .def("jac", &PyBatch::jac, array("ids"), array("body"), array("point"), array("jacp"),
           array("jacr"))
      .def("ray", &PyBatch::ray, array("ids"), array("origin"), array("direction"), array("groups"),
           "hits_static"_a, array("excluded"), array("distance"), array("geom"), array("normal"))
      .def("set_model_addresses", &PyBatch::set_models, "models"_a)
      .def(
          "get_model_at",
          [](const PyBatch& self, int sim, std::uintptr_t model) {
            call_mujoco([&] { mjb_getModel(self.get(), sim, model_at(model)); });
          },
          "sim"_a, "model"_a)
      .def(
          "get_data_at",
          [](const PyBatch& self, int sim, std::uintptr_t data) {
            call_mujoco([&] { mjb_getData(self.get(), sim, data_at(data)); });
          },
          "sim"_a, "data"_a)
      .def("state_component", &PyBatch::state_component, "component"_a);
  return c;
}

/// MuJoCo's arrays over all simulations.
void def_arrays(nb::class_<PyBatch>& c) {
  c.def(
       "state",
       [](nb::handle self) {
         return view(self, mjb_state(batch_of(self).get()), mjb_nstate(batch_of(self).get()));
       },
       nb::sig("def state(self) -> numpy.typing.NDArray[numpy.float64]"))
      .def(
          "warning",
          [](nb::handle self) {
            static_assert(sizeof(mjWarningStat) == 2 * sizeof(int));
            int* first = &mjb_warning(batch_of(self).get())->lastinfo;
            return view(self, first, mjNWARNING, 2);
          },
          nb::sig("def warning(self) -> numpy.typing.NDArray[numpy.int32]"))
      .def(
          "status",
          [](nb::handle self) {
            return view(self, const_cast<int*>(mjb_status(batch_of(self).get())));
          },
          nb::sig("def status(self) -> numpy.typing.NDArray[numpy.int32]"))
      .def(
          "output",
          [](nb::handle self, const std::string& name) -> nb::object {
            PyBatch& batch = batch_of(self);
            const std::span<std::byte> values = batch.batch().bind(name);
            if (values.empty()) return nb::none();
            const auto field = plant::find_data_field(mjb_model(batch.get()), name);
            return view(self, reinterpret_cast<std::uint8_t*>(values.data()), field->size);
          },
          "name"_a,
          nb::sig("def output(self, name: str) -> numpy.typing.NDArray[numpy.uint8] | None"))
      .def(
          "expand",
          [](nb::handle self, const std::string& name) {
            nb::object storage = view_storage<std::uint8_t>(self, mjb_expand, name);
            batch_of(self).batch().forget_models();
            return storage;
          },
          "name"_a,
          nb::sig("def expand(self, name: str) -> numpy.typing.NDArray[numpy.uint8] | None"))
      .def(
          "expanded",
          [](nb::handle self, const std::string& name) {
            return view_storage<const std::uint8_t>(self, mjb_expanded, name);
          },
          "name"_a,
          nb::sig("def expanded(self, name: str) -> numpy.typing.NDArray[numpy.uint8] | None"));
}

/// The reports of the steps.
void def_reports(nb::class_<PyBatch>& c) {
  using sim::BatchReports;
  const auto reports = [](nb::handle self) -> const BatchReports& {
    return batch_of(self).batch().reports();
  };
  c.def_prop_ro(
       "error_bound", [=](nb::handle self) { return view(self, reports(self).error_bound.data()); },
       nb::sig("def error_bound(self) -> numpy.typing.NDArray[numpy.float64]"))
      .def_prop_ro(
          "iterations",
          [=](nb::handle self) { return view(self, reports(self).iterations.data()); },
          nb::sig("def iterations(self) -> numpy.typing.NDArray[numpy.int32]"))
      .def_prop_ro(
          "step_status", [=](nb::handle self) { return view(self, reports(self).status.data()); },
          nb::sig("def step_status(self) -> numpy.typing.NDArray[numpy.uint32]"))
      .def_prop_ro(
          "step_warnings",
          [=](nb::handle self) {
            return view(self, reports(self).num_warnings.data(), sim::kNumWarningKinds);
          },
          nb::sig("def step_warnings(self) -> numpy.typing.NDArray[numpy.int32]"))
      .def("keep_contacts", [](PyBatch& self) { self.batch().keep_contacts(true); })
      .def("keep_patches", [](PyBatch& self) { self.batch().keep_patches(true); })
      .def(
          "merge_contacts", [=](nb::handle self) { return merge(reports(self).contacts); },
          nb::sig("def merge_contacts(self) -> tuple[ContactReport, "
                  "numpy.typing.NDArray[numpy.int32]]"))
      .def(
          "merge_patches", [=](nb::handle self) { return merge(reports(self).patches); },
          nb::sig(
              "def merge_patches(self) -> tuple[PatchReport, numpy.typing.NDArray[numpy.int32]]"))
      .def("list_warnings", &list_warnings,
           nb::sig("def list_warnings(self) -> dict[str, tuple[int, str]]"))
      .def_prop_ro("ignored_settings",
                   [](PyBatch& self) { return self.batch().ignored_settings(); })
      .def_prop_ro(
          "options", [](PyBatch& self) { return make_dict(self.batch().options()); },
          nb::sig("def options(self) -> dict[str, typing.Any]"));
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<PyBatch> c = bind_simulations(m);
  def_arrays(c);
  def_reports(c);
}

}  // namespace stiction::python
