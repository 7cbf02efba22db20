#include "stiction/plant/repairs/convex_pair.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {
namespace {

/// The vertices of a mesh and a direction in its frame.
struct Climb {
  const float* vertices;
  const double* direction;
  double height(int vertex) const {
    const float* x = vertices + 3 * vertex;
    return x[0] * direction[0] + x[1] * direction[1] + x[2] * direction[2];
  }
};

int find_highest_vertex(const Climb& climb, int num_vertices) {
  int highest = 0;
  for (int i = 1; i < num_vertices; ++i)
    if (climb.height(i) > climb.height(highest)) highest = i;
  return highest;
}

/// Climbs along the edges of the convex hull. A linear function has no local maximum there that is
/// not the global one.
/// @param graph the hull, see mjModel::mesh_graph
int climb_hull(const Climb& climb, const int* graph) {
  const int num_vertices = graph[0];
  const int* first_edge = graph + 2;
  const int* ids = first_edge + num_vertices;
  const int* neighbors = ids + num_vertices;  // lists that end with -1
  int vertex = 0;
  double highest = climb.height(ids[0]);
  for (bool climbs = true; climbs;) {
    climbs = false;
    for (const int* k = neighbors + first_edge[vertex]; *k >= 0; ++k) {
      const double height = climb.height(ids[*k]);
      if (!(height > highest)) continue;
      highest = height;
      vertex = *k;
      climbs = true;
      break;
    }
  }
  return ids[vertex];
}

/// Returns the vertex of a mesh that is farthest along a direction, both in the mesh's frame.
const float* find_support_vertex(const mjModel* m, int mesh, const double direction[3]) {
  constexpr int kFewVertices = 20;  // all of them are tested as fast as a climb takes
  const Climb climb{m->mesh_vert + 3 * m->mesh_vertadr[mesh], direction};
  const int count = m->mesh_vertnum[mesh], graph = m->mesh_graphadr[mesh];
  return climb.vertices + 3 * (graph < 0 || count <= kFewVertices
                                   ? find_highest_vertex(climb, count)
                                   : climb_hull(climb, m->mesh_graph + graph));
}

double calc_mesh_support(const mjModel* m, int mesh, const double direction[3]) {
  return Climb{find_support_vertex(m, mesh, direction), direction}.height(0);
}

/// Finds the point that is farthest along a direction, both in the geom's frame.
void find_local_point(const mjModel* m, int geom, const double u[3], double point[3]) {
  const mjtNum* size = m->geom_size + 3 * geom;
  const auto sign = [](double x) { return x < 0 ? -1.0 : 1.0; };
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE:
    case mjGEOM_CAPSULE:
      for (int i = 0; i < 3; ++i) point[i] = size[0] * u[i];
      if (m->geom_type[geom] == mjGEOM_CAPSULE) point[2] += size[1] * sign(u[2]);
      return;
    case mjGEOM_BOX:
      for (int i = 0; i < 3; ++i) point[i] = size[i] * sign(u[i]);
      return;
    case mjGEOM_CYLINDER: {
      const double length = std::sqrt(u[0] * u[0] + u[1] * u[1]);
      point[0] = length > 0 ? size[0] * u[0] / length : size[0];
      point[1] = length > 0 ? size[0] * u[1] / length : 0;
      point[2] = size[1] * sign(u[2]);
      return;
    }
    case mjGEOM_MESH: {
      const float* vertex = find_support_vertex(m, m->geom_dataid[geom], u);
      std::copy_n(vertex, 3, point);
      return;
    }
    default: break;
  }
  double length = 0;  // an ellipsoid
  for (int i = 0; i < 3; ++i) length += size[i] * size[i] * u[i] * u[i];
  for (int i = 0; i < 3; ++i) point[i] = size[i] * size[i] * u[i] / std::sqrt(length);
}

}  // namespace

bool has_support_function(const mjModel* m, int geom) {
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE:
    case mjGEOM_CAPSULE:
    case mjGEOM_ELLIPSOID:
    case mjGEOM_CYLINDER:
    case mjGEOM_BOX:
    case mjGEOM_MESH: return true;
    default: return false;
  }
}

double calc_support(const mjModel* m, const mjData* d, int geom, const double n[3]) {
  const mjtNum* size = m->geom_size + 3 * geom;
  double u[3];  // n in the geom's frame
  mju_mulMatTVec3(u, d->geom_xmat + 9 * geom, n);
  const double center = mju_dot3(d->geom_xpos + 3 * geom, n);
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return center + size[0];
    case mjGEOM_CAPSULE: return center + size[0] + size[1] * std::abs(u[2]);
    case mjGEOM_CYLINDER:
      return center + size[0] * std::sqrt(u[0] * u[0] + u[1] * u[1]) + size[1] * std::abs(u[2]);
    case mjGEOM_BOX:
      return center + size[0] * std::abs(u[0]) + size[1] * std::abs(u[1]) +
             size[2] * std::abs(u[2]);
    case mjGEOM_MESH: return center + calc_mesh_support(m, m->geom_dataid[geom], u);
    default: break;
  }
  for (int i = 0; i < 3; ++i) u[i] *= size[i];
  return center + mju_norm3(u);  // an ellipsoid
}

void find_support_point(const mjModel* m, const mjData* d, int geom, const double n[3],
                        double point[3]) {
  double u[3], local[3];
  mju_mulMatTVec3(u, d->geom_xmat + 9 * geom, n);
  find_local_point(m, geom, u, local);
  mju_mulMatVec3(point, d->geom_xmat + 9 * geom, local);
  mju_addTo3(point, d->geom_xpos + 3 * geom);
}

double calc_separation(const mjModel* m, const mjData* d, int geom_A, int geom_B,
                       const double n[3]) {
  const double opposite[3] = {-n[0], -n[1], -n[2]};
  return -calc_support(m, d, geom_B, opposite) - calc_support(m, d, geom_A, n);
}

PairContacts find_contacts_at(const mjModel* m, const mjData* d, int begin) {
  const int size = find_end_of_pair(d, begin) - begin;
  return make_pair_contacts(m, {d->contact + begin, static_cast<std::size_t>(size)});
}

PairContacts make_pair_contacts(const mjModel* m, std::span<mjContact> contacts) {
  PairContacts pair{.contacts = contacts.data(),
                    .size = static_cast<int>(contacts.size()),
                    .radius = 0,
                    .tolerance = 0,
                    .cutoff = 0};
  const int a = pair.contacts->geom[0], b = pair.contacts->geom[1];
  if (a < 0 || b < 0) return pair;
  // A plane is unbounded, and its radius is 0.
  const bool has_plane = m->geom_type[a] == mjGEOM_PLANE;
  pair.radius = has_plane ? m->geom_rbound[b] : std::min(m->geom_rbound[a], m->geom_rbound[b]);
  pair.tolerance = std::min(m->opt.ccd_tolerance, kLargestErrorOfSmallGeoms * pair.radius);
  pair.cutoff = pair.contacts->includemargin + find_gap(m, a, b);
  return pair;
}

void set_distance(double distance, mjContact* con) {
  con->dist = distance;
  mark_by_distance(con);
}

void set_normal(const double n[3], mjContact* con) {
  mjtNum* t = con->frame + 3;
  std::copy_n(n, 3, con->frame);
  mju_zero3(t);
  t[std::abs(n[1]) < 0.5 ? 1 : 2] = 1;
  mju_addToScl3(t, con->frame, -mju_dot3(t, con->frame));
  mju_normalize3(t);
  mju_cross(con->frame + 6, con->frame, t);
}

void erase(mjData* d, mjContact* begin, mjContact* end) {
  std::move(end, d->contact + d->ncon, begin);
  d->ncon -= static_cast<int>(end - begin);
}

void insert(const mjModel* m, mjData* d, mjContact* at, const mjContact& con) {
  const auto index = at - d->contact;
  if (mj_addContact(m, d, &con) != 0) return;
  mjContact* const list = d->contact;
  std::rotate(list + index, list + d->ncon - 1, list + d->ncon);
}

void replace(const mjModel* m, mjData* d, const PairContacts& pair,
             std::span<const mjContact> contacts) {
  const int size = static_cast<int>(contacts.size()), common = std::min(size, pair.size);
  std::copy_n(contacts.begin(), common, pair.contacts);
  erase(d, pair.contacts + common, pair.end());
  for (int i = common; i < size; ++i) insert(m, d, pair.contacts + i, contacts[i]);
}

}  // namespace stiction::plant
