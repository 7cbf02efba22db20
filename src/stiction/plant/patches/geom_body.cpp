#include "stiction/plant/patches/geom_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/geometry/extent.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/geometry/tet_mesh.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/shapes/primitive_meshes.hpp"

namespace stiction::plant {
namespace {

using geometry::TriangleMesh;
using math::Vec3;

std::string name(const mjModel* m, int geom) { return describe(m, mjOBJ_GEOM, geom); }

/// Returns the vertices of a mesh asset in the geom's frame, where MuJoCo stores them.
std::vector<Vec3> read_vertices(const mjModel* m, int mesh) {
  std::vector<Vec3> out(m->mesh_vertnum[mesh]);
  const float* v = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {v[3 * i], v[3 * i + 1], v[3 * i + 2]};
  return out;
}

/// Returns the surface of a mesh geom. Vertices at the same position are merged, because an OBJ
/// file may list a vertex once per face.
TriangleMesh read_surface(const mjModel* m, int geom) {
  const int mesh = m->geom_dataid[geom];
  TriangleMesh out;
  std::map<std::array<double, 3>, int> index_of;
  std::vector<int> merged;
  for (const Vec3& x : read_vertices(m, mesh)) {
    const auto [at, is_new] =
        index_of.try_emplace({x.x, x.y, x.z}, static_cast<int>(out.vertices.size()));
    if (is_new) out.vertices.push_back(x);
    merged.push_back(at->second);
  }
  const int* face = m->mesh_face + 3 * m->mesh_faceadr[mesh];
  for (int i = 0; i < m->mesh_facenum[mesh]; ++i, face += 3) {
    const int a = merged[face[0]], b = merged[face[1]], c = merged[face[2]];
    if (a != b && b != c && c != a) out.triangles.push_back({a, b, c});
  }
  return out;
}

/// Returns the convex hull of a mesh geom from MuJoCo's graph. The graph holds num_vertices,
/// num_faces, two lists of vertices, the edges, and the faces.
TriangleMesh read_hull(const mjModel* m, int geom) {
  const int mesh = m->geom_dataid[geom];
  if (m->mesh_graphadr[mesh] < 0)
    throw Error(ErrorCode::kUnsupported, "",
                "cannot have a pressure field, because its mesh has no convex hull in this model; "
                "give it a tet mesh with pressure_field, or let the geom collide");
  const int* graph = m->mesh_graph + m->mesh_graphadr[mesh];
  const int num_vertices = graph[0], num_faces = graph[1];
  const int* global_id = graph + 2 + num_vertices;
  const int* face = graph + 2 + 3 * num_vertices + 3 * num_faces;
  const std::vector<Vec3> all = read_vertices(m, mesh);
  TriangleMesh out;
  std::vector<int> local(all.size(), -1);
  for (int i = 0; i < num_vertices; ++i) {
    local[global_id[i]] = i;
    out.vertices.push_back(all[global_id[i]]);
  }
  for (int i = 0; i < num_faces; ++i)
    out.triangles.push_back({local[face[3 * i]], local[face[3 * i + 1]], local[face[3 * i + 2]]});
  return out;
}

/// Returns the tet mesh of a compliant geom.
geometry::MeshedShape make_mesh(const mjModel* m, int geom, double hint) {
  const PrimitiveMesh* primitive = find_primitive_mesh(m->geom_type[geom]);
  return primitive ? primitive->make_mesh(m->geom_size + 3 * geom, hint)
                   : geometry::make_convex_mesh(read_hull(m, geom));
}

/// Returns the surface of a rigid geom.
TriangleMesh make_surface(const mjModel* m, int geom, double hint) {
  const PrimitiveMesh* primitive = find_primitive_mesh(m->geom_type[geom]);
  return primitive ? primitive->make_surface(m->geom_size + 3 * geom, hint) : read_surface(m, geom);
}

/// Returns the largest distance of a primitive's inner points to its boundary [m].
double find_depth(const mjModel* m, int geom) {
  const mjtNum* size = m->geom_size + 3 * geom;
  const PrimitiveMesh* primitive = find_primitive_mesh(m->geom_type[geom]);
  return primitive ? primitive->find_depth(size) : static_cast<double>(size[0]);
}

/// True for geom types that have a mesh. Planes are half spaces.
bool is_meshed(int type) { return type == mjGEOM_MESH || find_primitive_mesh(type); }

double calc_radius(const std::vector<Vec3>& vertices) {
  double radius = 0;
  for (const Vec3& v : vertices) radius = std::max(radius, norm(v));
  return radius;
}

/// Checks that a user's field has the size and the place of its geom. Otherwise a field in other
/// units, or beside the mesh, would go unnoticed.
void check_place(const mjModel* m, int geom, const std::vector<Vec3>& vertices) {
  char text[200] = "";
  const double radius = m->geom_rbound[geom], ratio = calc_radius(vertices) / radius;
  if (!(ratio > 0.1 && ratio < 10))
    std::snprintf(
        text, sizeof text,
        "its pressure_field is %.3g times as large as the geom; both must have the same unit and "
        "the same frame",
        ratio);
  Vec3 low = vertices[0], high = vertices[0];
  for (const Vec3& v : vertices) {
    low = componentwise_min(low, v);
    high = componentwise_max(high, v);
  }
  const mjtNum* middle = m->geom_aabb + 6 * geom;
  const double offset = norm(0.5 * (low + high) - Vec3{middle[0], middle[1], middle[2]});
  if (!*text && m->geom_type[geom] == mjGEOM_MESH && offset > 0.25 * radius)
    std::snprintf(text, sizeof text,
                  "its pressure_field is %.3g m away from its mesh; both must have the same frame "
                  "(refpos and refquat of the mesh do not move the field)",
                  offset);
  if (*text) throw Error(ErrorCode::kInvalidValue, "", text);
}

/// Moves a user's field from the frame of its mesh file to the geom's frame. MuJoCo scales, centers
/// and rotates the meshes that it reads.
geometry::PressureField move_field(const mjModel* m, int geom, geometry::PressureField field) {
  if (m->geom_type[geom] != mjGEOM_MESH) return field;
  const int mesh = m->geom_dataid[geom];
  mjtNum R[9];
  mju_quat2Mat(R, m->mesh_quat + 4 * mesh);
  const math::RigidTransform X{
      {{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}}},
      {m->mesh_pos[3 * mesh], m->mesh_pos[3 * mesh + 1], m->mesh_pos[3 * mesh + 2]}};
  const mjtNum* scale = m->mesh_scale + 3 * mesh;
  for (Vec3& v : field.mesh.vertices)
    v = transpose_times(X.R, Vec3{v.x * scale[0], v.y * scale[1], v.z * scale[2]} - X.p);
  if (scale[0] * scale[1] * scale[2] < 0)  // a mirrored mesh: keep tets right-handed
    for (auto& tet : field.mesh.tets) std::swap(tet[0], tet[1]);
  return field;
}

/// Returns the half space of a plane.
GeomBody make_plane(const mjModel* m, const Material& material, int geom) {
  GeomBody out;
  out.radius = out.depth = contact::kInfinity;
  out.modulus = material.rigid ? contact::kInfinity : find_hydroelastic_modulus(material);
  if (!material.rigid && std::isnan(material.slab_thickness))
    throw Error(ErrorCode::kInvalidValue, name(m, geom),
                "is a compliant plane without a slab_thickness; set it to the depth "
                "[m] at which the pressure equals the modulus");
  out.body = geometry::HalfSpace{out.modulus / (material.rigid ? 1 : material.slab_thickness)};
  return out;
}

/// Returns a body with a user's field, or with a field made from the hydroelastic modulus.
GeomBody make_compliant(const mjModel* m, const MaterialTable& materials, int geom) {
  const Material& material = materials.geoms[geom];
  GeomBody out;
  geometry::PressureField field;
  if (const auto& own = materials.pressure_fields[geom]) {
    field = move_field(m, geom, *own);
  } else {
    field =
        geometry::make_pressure_field(make_mesh(m, geom, find_resolution_hint(m, material, geom)),
                                      find_hydroelastic_modulus(material));
  }
  out.radius = calc_radius(field.mesh.vertices);
  if (materials.pressure_fields[geom]) check_place(m, geom, field.mesh.vertices);
  out.depth = materials.pressure_fields[geom] || m->geom_type[geom] == mjGEOM_MESH
                  ? geometry::calc_boundary_distance(field.mesh).greatest
                  : find_depth(m, geom);
  out.num_elements = static_cast<int>(field.mesh.tets.size());
  geometry::CompliantBody body(std::move(field));
  out.modulus = body.max_pressure();
  out.body = std::move(body);
  return out;
}

/// Explains why a rigid mesh does not enclose a volume; empty if it does. Meshes of robot links are
/// often open.
std::string find_fault(const TriangleMesh& surface) {
  try {
    geometry::check_triangle_mesh(surface, "");
  } catch (const Error& e) {
    const std::string all = e.what();
    return "is rigid, but its mesh does not enclose a volume: " + all.substr(0, all.find('\n'));
  }
  return "";
}

/// Returns a rigid surface, or the reason why the geom has none.
GeomBody make_rigid(const mjModel* m, const Material& material, int geom) {
  GeomBody out;
  TriangleMesh surface = make_surface(m, geom, find_resolution_hint(m, material, geom));
  if (m->geom_type[geom] == mjGEOM_MESH) {
    geometry::orient_shells(&surface);  // turns triangles that face inward
    out.reason = find_fault(surface);
    if (!out.reason.empty()) return out;
  }
  out.radius = calc_radius(surface.vertices);
  out.depth = out.modulus = contact::kInfinity;
  out.num_elements = static_cast<int>(surface.triangles.size());
  out.body = geometry::RigidBody(std::move(surface));
  return out;
}

/// The flags of <option> that decide which geoms collide. Contacts as a whole may be disabled too,
/// but this needs no pairs.
constexpr int kFilterFlags = mjDSBL_FILTERPARENT;

/// Calls f(array, size) for the integers that decide which geoms touch and with what condim.
template <class F>
void for_each_filter(const mjModel* m, F&& f) {
  const auto num_geoms = static_cast<std::size_t>(m->ngeom);
  const auto num_pairs = static_cast<std::size_t>(m->npair);
  f(m->geom_contype, num_geoms);
  f(m->geom_conaffinity, num_geoms);
  f(m->geom_condim, num_geoms);
  f(m->geom_priority, num_geoms);
  f(m->pair_dim, num_pairs);
  f(m->pair_geom1, num_pairs);
  f(m->pair_geom2, num_pairs);
  f(m->pair_signature, num_pairs);
  f(m->exclude_signature, static_cast<std::size_t>(m->nexclude));
}

/// True if the geom's shape is that of geom_size. Planes are half spaces, and meshes are assets.
bool has_sizes(int type) { return type != mjGEOM_PLANE && type != mjGEOM_MESH; }

[[noreturn]] void refuse(const mjModel* m, int geom, const std::string& field,
                         const std::string& before, const std::string& now) {
  throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_GEOM, geom),
              field + " was " + before + " when the simulator was made, and is " + now +
                  ", but the mesh of the pressure-field contact has the old shape; make a new "
                  "Simulator after a change of shapes");
}

}  // namespace

double find_resolution_hint(const mjModel* m, const Material& material, int geom) {
  if (!std::isnan(material.resolution_hint)) return material.resolution_hint;
  const mjtNum* size = m->geom_size + 3 * geom;
  const PrimitiveMesh* primitive = find_primitive_mesh(m->geom_type[geom]);
  const double radius = primitive ? primitive->find_radius(size) : static_cast<double>(size[0]);
  return 0.25 * radius;
}

GeomBody make_geom_body(const mjModel* m, const MaterialTable& materials, int geom) {
  const Material& material = materials.geoms[geom];
  GeomBody out;
  const int type = m->geom_type[geom];
  const bool has_own = materials.pressure_fields[geom] != nullptr;
  const bool has_field = has_own || !std::isnan(find_hydroelastic_modulus(material));
  if (!has_field && !material.rigid)
    out.reason = "has neither a hydroelastic_modulus nor 'rigid: true'";
  else if (type == mjGEOM_PLANE && !has_own)
    return make_plane(m, material, geom);
  else if (!has_own && !is_meshed(type))
    out.reason = "is of a type without a mesh; use " + list_primitives() + ", meshes or planes";
  else
    try {
      return has_field ? make_compliant(m, materials, geom) : make_rigid(m, material, geom);
    } catch (const Error& e) {
      throw Error(e.code(), name(m, geom), e.what());
    }
  return out;
}

PatchModel::PatchModel(const mjModel* m, const std::vector<bool>& has_mesh) {
  for (int geom = 0; geom < m->ngeom; ++geom) {
    if (!has_mesh[geom]) continue;
    meshed_.push_back(geom);
    type_.push_back(m->geom_type[geom]);
    data_.push_back(m->geom_dataid[geom]);
    size_.insert(size_.end(), m->geom_size + 3 * geom, m->geom_size + 3 * geom + 3);
  }
  copy_filters(m);
}

void PatchModel::check_shapes(const mjModel* m) const {
  using base::to_text;
  for (std::size_t i = 0; i < meshed_.size(); ++i) {
    const int geom = meshed_[i];
    if (m->geom_type[geom] != type_[i])
      refuse(m, geom, "geom_type", std::to_string(type_[i]), std::to_string(m->geom_type[geom]));
    if (m->geom_dataid[geom] != data_[i])
      refuse(m, geom, "geom_dataid", std::to_string(data_[i]),
             std::to_string(m->geom_dataid[geom]));
    if (!has_sizes(type_[i])) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const mjtNum before = size_[3 * i + k], now = m->geom_size[3 * geom + k];
      if (now != before)
        refuse(m, geom, "geom_size[" + std::to_string(k) + "]", to_text(before), to_text(now));
    }
  }
}

bool PatchModel::has_changed_filters(const mjModel* m) const {
  if (meshed_.empty()) return false;
  bool has_changed = (m->opt.disableflags & kFilterFlags) != flags_;
  auto copy = filters_.begin();
  for_each_filter(m, [&](const int* array, std::size_t size) {
    has_changed = has_changed || !std::equal(array, array + size, copy->begin(), copy->end());
    ++copy;
  });
  return has_changed;
}

void PatchModel::copy_filters(const mjModel* m) {
  flags_ = m->opt.disableflags & kFilterFlags;
  filters_.clear();
  for_each_filter(
      m, [&](const int* array, std::size_t size) { filters_.emplace_back(array, array + size); });
}

}  // namespace stiction::plant
