#include <string>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/io/scene_file.hpp"
#include "stiction/plant/model/model_check.hpp"

namespace stiction::python {

using namespace nb::literals;

void bind_scenes(nb::module_& m) {
  using io::SceneFile;
  nb::class_<SceneFile>(m, "SceneFile", "Text of an MJCF file; see stiction.load_scene.")
      .def(
          "__init__", [](SceneFile* self, const std::string& path) { new (self) SceneFile(path); },
          "path"_a)
      .def(
          "check", &SceneFile::check,
          "Raises stiction.Error with all numbers that MuJoCo accepts by mistake, or with which it "
          "crashes.")
      .def("locate", &SceneFile::locate, "message"_a,
           "Returns the file and line to which a message of MuJoCo refers.");
  m.def(
      "check_model", [](std::uintptr_t model) { plant::check_model(model_at(model)); }, "model"_a,
      "Raises stiction.Error with all numbers of a model that cannot be simulated.");
}

}  // namespace stiction::python
