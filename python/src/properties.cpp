#include <cmath>
#include <string>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/plant/material_properties.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::ContactProperties;

/// The content of a contact properties file as Python's own types, fit for JSON: infinity is
/// ".inf".
nb::dict make_content(const ContactProperties& properties) {
  nb::dict materials, geoms, classes, content;
  for (const io::NamedMaterial& material : properties.materials) {
    nb::dict values;
    for (const plant::MaterialProperty& property : plant::material_properties()) {
      const double value = property.value(material.values);
      if (std::isnan(value)) continue;
      values[property.name.data()] =
          std::isinf(value) ? nb::object(nb::str(".inf")) : nb::object(nb::float_(value));
    }
    if (material.values.rigid) values["rigid"] = true;
    if (const std::string& file = material.values.pressure_field; !file.empty())
      values["pressure_field"] = file;
    materials[material.name.c_str()] = values;
  }
  for (const io::GeomRule& rule : properties.rules) geoms[rule.selector.c_str()] = rule.material;
  for (const auto& [name, ids] : properties.classes) classes[name.c_str()] = nb::cast(ids);
  if (!properties.materials.empty()) content["materials"] = materials;
  if (!properties.rules.empty()) content["geoms"] = geoms;
  if (!properties.classes.empty()) content["classes"] = classes;
  return content;
}

}  // namespace

void bind_properties(nb::module_& m) {
  nb::class_<ContactProperties>(
      m, "ContactProperties",
      "Contact properties of geoms: materials, and which geoms have them. See "
      "stiction.read_contact_properties.")
      .def(nb::init<>(), "None: every geom has the defaults.")
      .def_static(
          "read", [](const std::string& path) { return io::read_contact_properties(path); },
          "path"_a, "Reads a file.")
      .def_static(
          "parse",
          [](const std::string& text, const std::string& origin, bool has_lines,
             const std::string& folder) {
            return io::parse_contact_properties(text, origin, has_lines, folder);
          },
          "text"_a, "origin"_a, "has_lines"_a = true, "folder"_a = "",
          "Reads YAML; `origin` is its name in messages, `folder` what relative paths start from.")
      .def(
          "resolve_classes",
          [](ContactProperties& self, const std::string& scene) {
            io::resolve_classes(scene, &self);
          },
          "scene"_a, "Finds the geoms of `class:` selectors in the scene's MJCF file.")
      .def_ro("origin", &ContactProperties::origin, "The file, or what else it came from.")
      .def_ro("warnings", &ContactProperties::warnings,
              "What was passed over in a file, with file and line.")
      .def_prop_ro("content", &make_content,
                   nb::sig("def content(self) -> dict[str, dict[str, object]]"),
                   "As dict of `materials`, `geoms` and `classes`, fit for JSON.")
      .def("__bool__", [](const ContactProperties& self) { return !self.empty(); })
      .def("__repr__", [](const ContactProperties& self) {
        return "ContactProperties(" + std::to_string(self.materials.size()) + " materials, " +
               std::to_string(self.rules.size()) + " selectors, from '" + self.origin + "')";
      });
}

}  // namespace stiction::python
