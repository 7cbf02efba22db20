#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stiction::io {

/// Ids of the geoms of each default class of an MJCF file, those of nested classes included.
/// @throws Error if MuJoCo cannot load the file
std::map<std::string, std::vector<int>> read_geom_classes(const std::filesystem::path& scene);

/// The geom of each collision of a URDF file, by the link's name and the collision's number in it:
/// `finger::#2`. MuJoCo drops names that are there twice, and moves the geoms of links that cannot
/// move to the bodies that they are fixed to.
/// @throws Error if MuJoCo cannot load the file
std::map<std::string, std::vector<int>> read_collision_geoms(const std::filesystem::path& scene);

}  // namespace stiction::io
