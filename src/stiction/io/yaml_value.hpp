#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stiction::io {

/// A value of a YAML file with its line, without types of the YAML library.
struct YamlValue {
  enum class Kind { null, plain, quoted, list, mapping };

  Kind kind = Kind::null;
  int line = 0;                  // from 1
  std::string text;              // of a scalar; a plain one may be a number, a flag or a text
  std::vector<YamlValue> items;  // of a list; of a mapping keys and values in turn
};

/// Reads a YAML file with one document. An empty file has the value null.
/// @param what  what the file should be, for messages, such as "sweep configuration"
/// @throws Error with file and line if the file cannot be read, is not YAML, or has more than
///         100 levels or a million values, which few aliases can make
YamlValue read_yaml_value(const std::filesystem::path& path, const std::string& what);

/// Reads a YAML text.
/// @param origin  name of the text in messages
/// @throws Error as read_yaml_value
YamlValue parse_yaml_value(const std::string& text, const std::string& origin);

}  // namespace stiction::io
