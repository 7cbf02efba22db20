#pragma once

/// Meshes of all shapes. meshed_shape.hpp states their common conventions.
#include "stiction/geometry/box_mesh.hpp"
#include "stiction/geometry/capsule_mesh.hpp"
#include "stiction/geometry/convex_mesh.hpp"
#include "stiction/geometry/cylinder_mesh.hpp"
#include "stiction/geometry/ellipsoid_mesh.hpp"
#include "stiction/geometry/meshed_shape.hpp"
