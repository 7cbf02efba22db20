#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stiction::io {

/// Ids of the geoms of each default class of an MJCF file, those of nested classes included.
/// @throws Error if MuJoCo cannot load the file
std::map<std::string, std::vector<int>> read_geom_classes(const std::filesystem::path& scene);

}  // namespace stiction::io
