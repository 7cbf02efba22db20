#include "stiction/plant/shapes/primitive_meshes.hpp"

#include <algorithm>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {
namespace {

using geometry::Vec3;

double find_first(const mjtNum* size) { return size[0]; }
double find_smallest(const mjtNum* size) { return std::min({size[0], size[1], size[2]}); }
double find_largest(const mjtNum* size) { return std::max({size[0], size[1], size[2]}); }

constexpr PrimitiveMesh kPrimitives[] = {
    {.type = mjGEOM_SPHERE,
     .plural = "spheres",
     .make_mesh = [](const mjtNum* s,
                     double hint) { return geometry::make_sphere_mesh(s[0], hint); },
     .make_surface = [](const mjtNum* s,
                        double hint) { return geometry::make_sphere_surface(s[0], hint); },
     .find_depth = find_first,
     .find_radius = find_first},
    {.type = mjGEOM_ELLIPSOID,
     .plural = "ellipsoids",
     .make_mesh = [](const mjtNum* s,
                     double hint) { return geometry::make_ellipsoid_mesh(to_vector(s), hint); },
     .make_surface =
         [](const mjtNum* s, double hint) {
           return geometry::make_ellipsoid_surface(to_vector(s), hint);
         },
     .find_depth = find_smallest,
     .find_radius = find_largest},
    {.type = mjGEOM_BOX,
     .plural = "boxes",
     .make_mesh = [](const mjtNum* s, double) { return geometry::make_box_mesh(to_vector(s)); },
     .make_surface = [](const mjtNum* s,
                        double) { return geometry::make_box_surface(to_vector(s)); },
     .find_depth = find_smallest,
     .find_radius = find_first},
    {.type = mjGEOM_CYLINDER,
     .plural = "cylinders",
     .make_mesh = [](const mjtNum* s,
                     double hint) { return geometry::make_cylinder_mesh(s[0], 2 * s[1], hint); },
     .make_surface =
         [](const mjtNum* s, double hint) {
           return geometry::make_cylinder_surface(s[0], 2 * s[1], hint);
         },
     .find_depth = [](const mjtNum* s) -> double { return std::min(s[0], s[1]); },
     .find_radius = find_first},
    {.type = mjGEOM_CAPSULE,
     .plural = "capsules",
     .make_mesh = [](const mjtNum* s,
                     double hint) { return geometry::make_capsule_mesh(s[0], 2 * s[1], hint); },
     .make_surface =
         [](const mjtNum* s, double hint) {
           return geometry::make_capsule_surface(s[0], 2 * s[1], hint);
         },
     .find_depth = find_first,
     .find_radius = find_first},
};

}  // namespace

const PrimitiveMesh* find_primitive_mesh(int geom_type) {
  for (const PrimitiveMesh& row : kPrimitives)
    if (row.type == geom_type) return &row;
  return nullptr;
}

std::string list_primitives() {
  std::string out;
  for (const PrimitiveMesh& row : kPrimitives)
    out.append(out.empty() ? "" : ", ").append(row.plural);
  return out;
}

}  // namespace stiction::plant
