#include "stiction/sim/report/patch_writer.hpp"

#include <algorithm>

namespace stiction::sim {
namespace {

using math::Vec3;

void append(const Vec3& v, std::vector<double>* to) {
  for (const double x : {v.x, v.y, v.z}) to->push_back(x);
}
void add(const Vec3& v, double* to) {
  to[0] += v.x;
  to[1] += v.y;
  to[2] += v.z;
}

void clear(PatchReport* out) {
  for (auto* ids : {&out->bodies, &out->geoms}) ids->clear();
  for (auto* starts : {&out->face_start, &out->vertex_start}) starts->assign(1, 0);
  for (auto* flags : {&out->is_deep, &out->is_thin, &out->slipping}) flags->clear();
  for (auto* values : {&out->area, &out->center, &out->force, &out->torque, &out->face_center,
                       &out->face_normal, &out->face_area, &out->pressure, &out->normal_traction,
                       &out->traction, &out->slip_velocity, &out->vertices, &out->vertex_pressure})
    values->clear();
}

/// Appends the geometry and pressure of a surface.
/// @return its center of area
Vec3 append_surface(const geometry::ContactSurface& surface, PatchReport* out) {
  double area = 0;
  Vec3 moment;
  const int first_vertex = out->num_vertices();
  for (const geometry::SurfaceFace& face : surface.faces) {
    area += face.area;
    moment += face.area * face.centroid;
    append(face.centroid, &out->face_center);
    append(face.normal, &out->face_normal);
    out->face_area.push_back(face.area);
    out->pressure.push_back(face.pressure);
    out->vertex_start.push_back(first_vertex + face.first_vertex + face.num_vertices);
  }
  for (const Vec3& vertex : surface.vertices) append(vertex, &out->vertices);
  out->vertex_pressure.insert(out->vertex_pressure.end(), surface.vertex_pressure.begin(),
                              surface.vertex_pressure.end());
  out->face_start.push_back(out->num_faces());
  out->area.push_back(area);
  const Vec3 center = moment * (1 / area);
  append(center, &out->center);
  return center;
}

/// Appends the impulses of a step, summed over the points of each face and of the patch.
void append_forces(const plant::PatchPair& pair, const Vec3& center,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out) {
  const auto first_face = out->normal_traction.size();
  const std::size_t num_faces = out->num_faces();
  out->normal_traction.resize(num_faces, 0.0);
  out->traction.resize(3 * num_faces, 0.0);
  out->slip_velocity.resize(3 * num_faces, 0.0);
  out->slipping.resize(num_faces, 0);
  Vec3 force, torque;
  for (std::size_t i = 0; i < pair.points.size(); ++i) {
    const geometry::QuadraturePoint& point = pair.points[i];
    const int index = pair.first_contact + static_cast<int>(i);
    const auto& R = problem.contacts[index].R_WC;
    const Vec3 t1{R[0], R[1], R[2]}, t2{R[3], R[4], R[5]}, n{R[6], R[7], R[8]};
    const auto& gamma = solution.impulses[index];
    const auto& v = solution.contact_velocities[index];
    const Vec3 f = (gamma[0] * t1 + gamma[1] * t2 + gamma[2] * n) * (1 / problem.time_step);
    force += f;
    torque += cross(point.position - center, f);

    const std::size_t face = first_face + point.face;
    const double area = out->face_area[face];
    out->normal_traction[face] += gamma[2] / (problem.time_step * area);
    add(f * (1 / area), &out->traction[3 * face]);
    add((v[0] * t1 + v[1] * t2) * (point.area / area), &out->slip_velocity[3 * face]);
    out->slipping[face] |= solution.slipping[index];
  }
  append(force, &out->force);
  append(torque, &out->torque);
}

/// Appends the forces of the fields' pressure alone.
void append_pressure_forces(const geometry::ContactSurface& surface, const Vec3& center,
                            PatchReport* out) {
  Vec3 force, torque;
  for (const geometry::SurfaceFace& face : surface.faces) {
    const Vec3 traction = face.pressure * face.normal;
    force += face.area * traction;
    torque += cross(face.centroid - center, face.area * traction);
    out->normal_traction.push_back(face.pressure);
    append(traction, &out->traction);
    append(Vec3{}, &out->slip_velocity);
    out->slipping.push_back(0);
  }
  append(force, &out->force);
  append(torque, &out->torque);
}

/// Appends all entries of a patch except its forces.
/// @return the center of area
Vec3 append_patch(const mjModel* m, const plant::PatchPair& pair, PatchReport* out) {
  for (const int geom : pair.geoms) {
    out->geoms.push_back(geom);
    out->bodies.push_back(m->geom_bodyid[geom]);
  }
  out->is_deep.push_back(pair.is_deep);
  out->is_thin.push_back(pair.is_thin);
  return append_surface(pair.surface, out);
}

}  // namespace

void write_patches(const mjModel* m, const plant::ContactPatches& patches,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out) {
  clear(out);
  for (const plant::PatchPair& pair : patches.pairs()) {
    if (pair.first_contact < 0) continue;
    const Vec3 center = append_patch(m, pair, out);
    append_forces(pair, center, problem, solution, out);
  }
}

void write_surfaces(const mjModel* m, const plant::ContactPatches& patches, PatchReport* out) {
  clear(out);
  for (const plant::PatchPair& pair : patches.pairs()) {
    if (pair.surface.faces.empty()) continue;
    const Vec3 center = append_patch(m, pair, out);
    append_pressure_forces(pair.surface, center, out);
  }
}

}  // namespace stiction::sim
