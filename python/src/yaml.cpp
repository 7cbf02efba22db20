#include <string>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/io/yaml_value.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::YamlValue;

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

}  // namespace

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
      "content "
      "is a text, 'list', whose content is a list of such tuples, and 'mapping', whose content is "
      "a "
      "list of keys and values in turn.\n\n"
      "Raises:\n"
      "    Error: the file cannot be read or is not YAML; the message has file and line.");
}

}  // namespace stiction::python
