#pragma once

#include <filesystem>
#include <string>

#include <yaml-cpp/yaml.h>

namespace stiction::io {

/// Returns the text of a YAML file.
/// @param what  what the file should be, for messages, such as "contact properties file"
/// @throws Error if there is no such file, it cannot be read, or it is larger than 16 MiB
std::string read_yaml_text(const std::filesystem::path& path, const std::string& what);

/// Parses a text that has one YAML document, or none.
/// @param origin    name of the text in messages
/// @param has_lines false if messages must not have line numbers
/// @throws Error with the line if the text is not YAML or has a second document
YAML::Node load_yaml(const std::string& text, const std::string& origin, bool has_lines = true);

// Reading and quoting of single YAML nodes.

/// Quotes a YAML node for a message.
std::string quote(const YAML::Node& node);

/// Reads a number in the notation of YAML or C. Returns NaN if the node is not a number or is NaN.
double parse_number(const YAML::Node& node);

/// Reads a boolean.
/// @return false if the node is neither true nor false
bool parse_bool(const YAML::Node& node, bool* value);

}  // namespace stiction::io
