#include <string>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/io/scene_file.hpp"
#include "stiction/plant/model_check.hpp"

namespace stiction::python {

using namespace nb::literals;

void bind_scenes(nb::module_& m) {
  using io::SceneFile;
  nb::class_<SceneFile>(m, "SceneFile", "An MJCF file's text; see stiction.load_scene.")
      .def(
          "__init__", [](SceneFile* self, const std::string& path) { new (self) SceneFile(path); },
          "path"_a)
      .def("check", &SceneFile::check, "Raises an Error for numbers that MuJoCo does not survive.")
      .def("locate", &SceneFile::locate, "message"_a,
           "File and line that a message of MuJoCo's is about.");
  m.def(
      "check_model", [](std::uintptr_t model) { plant::check_model(model_at(model)); }, "model"_a,
      "Raises an Error for numbers of a model that cannot be simulated.");
}

}  // namespace stiction::python
