#include "stiction/plant/patches/taxel_sensors.hpp"

#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::plant {
namespace {

using math::Vec3;

Vec3 normalize(const Vec3& v) { return v * (1 / norm(v)); }

Vec3 read_vertex(const float* x) { return {x[0], x[1], x[2]}; }

/// Returns v rotated by a quaternion.
Vec3 rotate(const Vec3& v, const mjtNum* quat) {
  const mjtNum from[3] = {v.x, v.y, v.z};
  mjtNum to[3];
  mju_rotVecQuat(to, from, quat);
  return {to[0], to[1], to[2]};
}

/// Makes the frame of a taxel whose first shear is along `direction`, as far as the normal allows.
TaxelFrame make_frame(const Vec3& normal, const Vec3& direction) {
  constexpr double kParallel = 1e-6;
  Vec3 shear1 = direction - dot(direction, normal) * normal;
  shear1 = norm(shear1) > kParallel ? normalize(shear1) : math::make_tangent(normal);
  return {shear1, cross(normal, shear1), normal};
}

/// Adds a third of each triangle's vector area to its vertices.
std::vector<Vec3> sum_vector_areas(const mjModel* m, int mesh) {
  std::vector<Vec3> areas(m->mesh_vertnum[mesh]);
  const float* vertices = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  const int* faces = m->mesh_face + 3 * m->mesh_faceadr[mesh];
  for (int f = 0; f < m->mesh_facenum[mesh]; ++f) {
    Vec3 corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = read_vertex(vertices + 3 * faces[3 * f + k]);
    const Vec3 third = cross(corner[1] - corner[0], corner[2] - corner[0]) * (1.0 / 6);
    for (int k = 0; k < 3; ++k) areas[faces[3 * f + k]] += third;
  }
  return areas;
}

/// Returns the direction of the first shear at a vertex. Meshes for sensors have three normals for
/// each vertex: the normal and two tangents, which MuJoCo's sensor rotates by the pose of the mesh.
Vec3 find_shear_direction(const mjModel* m, int mesh, int vertex) {
  if (m->mesh_normalnum[mesh] != 3 * m->mesh_vertnum[mesh]) return {};
  const float* normals = m->mesh_normal + 3 * m->mesh_normaladr[mesh];
  return rotate(read_vertex(normals + 9 * vertex + 3), m->mesh_quat + 4 * mesh);
}

/// Returns the geoms that no joint moves relative to a geom.
std::vector<int> find_fixed_geoms(const mjModel* m, int geom) {
  const int weld = m->body_weldid[m->geom_bodyid[geom]];
  std::vector<int> geoms;
  for (int i = 0; i < m->ngeom; ++i)
    if (m->body_weldid[m->geom_bodyid[i]] == weld) geoms.push_back(i);
  return geoms;
}

TaxelSensor read_sensor(const mjModel* m, int sensor) {
  const int mesh = m->sensor_objid[sensor], geom = m->sensor_refid[sensor];
  const int size = m->mesh_vertnum[mesh];
  const float* vertices = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  std::vector<Vec3> positions;
  std::vector<TaxelFrame> frames;
  std::vector<double> areas;
  const std::vector<Vec3> vector_areas = sum_vector_areas(m, mesh);
  for (int i = 0; i < size; ++i) {
    positions.push_back(read_vertex(vertices + 3 * i));
    areas.push_back(norm(vector_areas[i]));
    const Vec3 normal = areas[i] > 0 ? normalize(vector_areas[i]) : Vec3{0, 0, 1};
    frames.push_back(make_frame(normal, find_shear_direction(m, mesh, i)));
  }
  geometry::NearestCells cells(positions);
  return {.name = name_tactile_sensor(m, sensor),
          .geom = geom,
          .sensor = sensor,
          .geoms = find_fixed_geoms(m, geom),
          .shape = {size, 1},
          .X_GS = {},
          .cells = std::move(cells),
          .positions = std::move(positions),
          .frames = std::move(frames),
          .areas = std::move(areas)};
}

}  // namespace

TaxelSensor make_taxel_sensor(const TaxelGrid& grid) {
  const TaxelFrame axes = make_frame(normalize(grid.normal), grid.first_axis);
  const auto &x = axes.shear1, &y = axes.shear2, &z = axes.normal;
  const geometry::GridCells cells(grid.size, grid.shape);
  std::vector<Vec3> positions;
  for (int i = 0; i < cells.size(); ++i) positions.push_back(cells.center(i));
  const double area = grid.size[0] * grid.size[1] / cells.size();
  const std::vector<TaxelFrame> frames(cells.size(), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  return {.name = grid.name,
          .geom = grid.geom,
          .sensor = -1,
          .geoms = {grid.geom},
          .shape = grid.shape,
          .X_GS = {{{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}}, grid.pos},
          .cells = cells,
          .positions = std::move(positions),
          .frames = frames,
          .areas = std::vector<double>(cells.size(), area)};
}

std::string name_tactile_sensor(const mjModel* m, int sensor) {
  if (const char* name = mj_id2name(m, mjOBJ_SENSOR, sensor); name && *name) return name;
  const std::string id = std::to_string(sensor);
  std::string marks = "#";
  while (mj_name2id(m, mjOBJ_SENSOR, (marks + id).c_str()) >= 0) marks += '#';
  return marks + id;
}

std::vector<TaxelSensor> read_tactile_sensors(const mjModel* m) {
  std::vector<TaxelSensor> sensors;
  for (int i = 0; i < m->nsensor; ++i)
    if (m->sensor_type[i] == mjSENS_TACTILE) sensors.push_back(read_sensor(m, i));
  return sensors;
}

}  // namespace stiction::plant
