#pragma once

#include <string>

#include <yaml-cpp/yaml.h>

/// Reading and quoting of single YAML nodes.
namespace stiction::io {

/// Quotes a YAML node for a message.
std::string quote(const YAML::Node& node);

/// Reads a number in the notation of YAML or C. Returns NaN if the node is not a number or is NaN.
double parse_number(const YAML::Node& node);

/// Reads a boolean.
/// @return false if the node is neither true nor false
bool parse_bool(const YAML::Node& node, bool* value);

}  // namespace stiction::io
