// Contents of files: contact properties, scenes and YAML.
#include <cmath>
#include <string>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "options.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/io/scene_file.hpp"
#include "stiction/io/yaml_value.hpp"
#include "stiction/plant/materials/material_properties.hpp"
#include "stiction/plant/model/model_check.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::ContactProperties;
using io::YamlValue;

nb::list make_list(const math::Vec3& v) {
  nb::list list;
  for (const double x : {v.x, v.y, v.z}) list.append(x);
  return list;
}

/// Returns the declaration of a grid of taxels as it stands in a file.
nb::dict describe_grid(const io::TaxelDeclaration& declared) {
  const plant::TaxelGrid& grid = declared.grid;
  nb::dict values;
  values["geom"] = declared.geom;
  values["pos"] = make_list(grid.pos);
  values["normal"] = make_list(grid.normal);
  values["first_axis"] = make_list(grid.first_axis);
  values["size"] = nb::cast(std::vector<double>(grid.size.begin(), grid.size.end()));
  values["shape"] = nb::cast(std::vector<int>(grid.shape.begin(), grid.shape.end()));
  return values;
}

/// Returns the content of a contact properties file in Python's own types, so that it can be
/// written as JSON. Infinity is ".inf".
nb::dict make_content(const ContactProperties& properties) {
  nb::dict materials, geoms, classes, taxels, content;
  for (const io::NamedMaterial& material : properties.materials) {
    nb::dict values;
    for (const plant::MaterialProperty& property : plant::material_properties()) {
      const double value = property.value(material.values);
      if (std::isnan(value)) continue;
      values[property.name.data()] =
          std::isinf(value) ? nb::object(nb::str(".inf")) : nb::object(nb::float_(value));
    }
    if (material.values.rigid) values["rigid"] = true;
    if (material.values.compliant) values["compliant"] = true;
    if (const std::string& file = material.values.pressure_field; !file.empty())
      values["pressure_field"] = file;
    materials[material.name.c_str()] = values;
  }
  for (const io::GeomRule& rule : properties.rules) geoms[rule.selector.c_str()] = rule.material;
  for (const auto& [name, ids] : properties.classes) classes[name.c_str()] = nb::cast(ids);
  for (const io::TaxelDeclaration& declared : properties.taxels)
    taxels[declared.grid.name.c_str()] = describe_grid(declared);
  if (!properties.materials.empty()) content["materials"] = materials;
  if (!properties.rules.empty()) content["geoms"] = geoms;
  if (!properties.classes.empty()) content["classes"] = classes;
  if (!properties.taxels.empty()) content["taxels"] = taxels;
  if (properties.normal_law) content["normal_law"] = make_dict(*properties.normal_law);
  if (properties.friction_law) content["friction_law"] = make_dict(*properties.friction_law);
  return content;
}

void bind_properties(nb::module_& m) {
  nb::class_<ContactProperties>(
      m, "ContactProperties",
      "Contact properties of geoms: materials, and the geoms that have them.\n\n"
      "A Simulator also accepts the name of a file, or its content as a dict.")
      .def(nb::init<>(), "Makes empty properties: every geom has the defaults.")
      .def_static(
          "read", [](const std::string& path) { return io::read_contact_properties(path); },
          "path"_a,
          "Reads a contact properties file in YAML, or Drake's proximity properties of a URDF or "
          "SDF file.\n\n"
          "Raises:\n"
          "    Error: the file cannot be read, or its content is wrong. The message has the file "
          "and line of every fault.")
      .def_static(
          "parse",
          [](const std::string& text, const std::string& origin, bool has_lines,
             const std::string& folder) {
            return io::parse_contact_properties(text, origin, has_lines, folder);
          },
          "text"_a, "origin"_a, "has_lines"_a = true, "folder"_a = "",
          "Reads the text of a contact properties file in YAML.\n\n"
          "Args:\n"
          "    text: the content.\n"
          "    origin: name of the text in messages.\n"
          "    has_lines: False leaves line numbers out of messages.\n"
          "    folder: the folder that relative paths start from; empty: the working directory.\n\n"
          "Raises:\n"
          "    Error: the content is wrong. The message has all faults.")
      .def(
          "resolve_classes",
          [](ContactProperties& self, const std::string& scene) {
            io::resolve_classes(scene, &self);
          },
          "scene"_a,
          "Finds the geoms that `class:` selectors name, in the MJCF or URDF file of the scene.\n\n"
          "Raises:\n    Error: MuJoCo cannot load the file.")
      .def_ro("origin", &ContactProperties::origin,
              "Source of the properties: a file, or the name of an argument.")
      .def_ro("warnings", &ContactProperties::warnings,
              "Entries of the file that were ignored, each with file and line.")
      .def_prop_ro("content", &make_content,
                   nb::sig("def content(self) -> dict[str, dict[str, object]]"),
                   "The content as a dict with `materials`, `geoms`, `classes`, `taxels` and the "
                   "tables of laws, which can be written as JSON; infinity is '.inf'.")
      .def("__bool__", [](const ContactProperties& self) { return !self.empty(); })
      .def("__repr__", [](const ContactProperties& self) {
        return "ContactProperties(" + std::to_string(self.materials.size()) + " materials, " +
               std::to_string(self.rules.size()) + " selectors, from '" + self.origin + "')";
      });
}

void bind_scenes(nb::module_& m) {
  using io::SceneFile;
  nb::class_<SceneFile>(m, "SceneFile", "Text of an MJCF file; see stiction.load_scene.")
      .def(
          "__init__", [](SceneFile* self, const std::string& path) { new (self) SceneFile(path); },
          "path"_a)
      .def("check", &SceneFile::check,
           "Raises stiction.Error with all numbers that MuJoCo accepts by mistake, or with which "
           "it crashes.")
      .def("locate", &SceneFile::locate, "message"_a,
           "Returns the file and line to which a message of MuJoCo refers.");
  m.def(
      "check_model", [](std::uintptr_t model) { plant::check_model(model_at(model)); }, "model"_a,
      "Raises stiction.Error with all numbers of a model that cannot be simulated.");
}

const char* find_kind_name(YamlValue::Kind kind) {
  switch (kind) {
    case YamlValue::Kind::plain: return "plain";
    case YamlValue::Kind::quoted: return "quoted";
    case YamlValue::Kind::list: return "list";
    case YamlValue::Kind::mapping: return "mapping";
    default: return "null";
  }
}

nb::tuple make_tuple(const YamlValue& value) {
  nb::list items;
  for (const YamlValue& item : value.items) items.append(make_tuple(item));
  const bool has_items =
      value.kind == YamlValue::Kind::list || value.kind == YamlValue::Kind::mapping;
  const nb::object content = has_items ? nb::object(items) : nb::cast(value.text);
  return nb::make_tuple(find_kind_name(value.kind), value.line, content);
}

void bind_yaml(nb::module_& m) {
  m.def(
      "read_yaml",
      [](const std::string& path, const std::string& what) {
        return make_tuple(io::read_yaml_value(path, what));
      },
      "path"_a, "what"_a, nb::sig("def read_yaml(path: str, what: str) -> tuple[str, int, object]"),
      "Reads a YAML file with one document.\n\n"
      "Args:\n"
      "    path: path of the file.\n"
      "    what: what the file should be, for messages.\n\n"
      "Returns:\n"
      "    A tuple (kind, line, content). The kinds are 'null', 'plain' and 'quoted', whose "
      "content is a text, 'list', whose content is a list of such tuples, and 'mapping', whose "
      "content is a list of keys and values in turn.\n\n"
      "Raises:\n"
      "    Error: the file cannot be read or is not YAML; the message has file and line.");
}

}  // namespace

void bind_inputs(nb::module_& m) {
  bind_properties(m);
  bind_scenes(m);
  bind_yaml(m);
}

}  // namespace stiction::python
