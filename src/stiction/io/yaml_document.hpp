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

}  // namespace stiction::io
