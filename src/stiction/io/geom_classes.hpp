#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stiction::io {

/// Returns the ids of the geoms of each default class of an MJCF file. The geoms of a nested class
/// also belong to the outer classes.
/// @throws Error if MuJoCo cannot load the file
std::map<std::string, std::vector<int>> read_geom_classes(const std::filesystem::path& scene);

/// Returns the geom of each collision element of a URDF file. The key is the name of the link and
/// the number of the collision in it, `finger::#2`, because MuJoCo drops duplicate names and moves
/// the geoms of fixed links to the bodies that carry them.
/// @throws Error if MuJoCo cannot load the file
std::map<std::string, std::vector<int>> read_collision_geoms(const std::filesystem::path& scene);

}  // namespace stiction::io
