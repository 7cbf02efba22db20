#include "stiction/plant/shapes/local_shape.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::plant {
namespace {

/// Makes the surface flat in two orthogonal directions.
void make_flat(const double n[3], LocalShape* shape) {
  const double least[3] = {std::abs(n[0]) < 0.5 ? 1.0 : 0.0, std::abs(n[0]) < 0.5 ? 0.0 : 1.0, 0};
  shape->num_flat = 2;
  mju_cross(shape->flat[0], n, least);
  mju_normalize3(shape->flat[0]);
  mju_cross(shape->flat[1], n, shape->flat[0]);
}

/// Adds a direction along which the surface is flat, unless it depends on the present ones.
void add_flat(const double direction[3], const double n[3], LocalShape* shape) {
  double d[3];
  mju_addScl3(d, direction, n, -mju_dot3(direction, n));
  if (shape->num_flat == 2 || mju_normalize3(d) < mjMINVAL) return;
  double across[3];
  mju_cross(across, shape->flat[0], d);
  if (shape->num_flat == 1 && mju_norm3(across) < 1e-3) return;
  std::copy_n(d, 3, shape->flat[shape->num_flat++]);
}

/// Adds radius (1 - n n^T - e e^T) to R, where e is the flat direction, if there is one.
void add_radius(double radius, const double n[3], LocalShape* shape) {
  const double* e = shape->flat[0];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      shape->R[3 * i + j] +=
          radius * ((i == j) - n[i] * n[j] - (shape->num_flat > 0 ? e[i] * e[j] : 0));
}

/// Adds the shape of a capsule: a ball at its ends, or the straight side between them.
void add_capsule(const mjModel* m, const mjData* d, int geom, const double point[3],
                 const double n[3], double tolerance, LocalShape* shape) {
  const mjtNum* R = d->geom_xmat + 9 * geom;
  const double axis[3] = {R[2], R[5], R[8]};
  double r[3];
  mju_sub3(r, point, d->geom_xpos + 3 * geom);
  const double radius = m->geom_size[3 * geom], half = m->geom_size[3 * geom + 1];
  if (std::abs(mju_dot3(r, axis)) < half - tolerance * radius) add_flat(axis, n, shape);
  add_radius(radius, n, shape);
}

/// Adds the shape of a cylinder: a flat end, the straight side, or the rim. On the side and the rim
/// R is the Hessian of r |n_perp|.
void add_cylinder(const mjModel* m, const mjData* d, int geom, const double n[3], double tolerance,
                  LocalShape* shape) {
  const mjtNum* R = d->geom_xmat + 9 * geom;
  const double axis[3] = {R[2], R[5], R[8]};
  double around[3];
  mju_cross(around, axis, n);
  const double sine = mju_normalize3(around);
  if (sine < tolerance) return make_flat(n, shape);
  if (std::abs(mju_dot3(axis, n)) < tolerance) add_flat(axis, n, shape);
  const double radius = m->geom_size[3 * geom] / sine;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) shape->R[3 * i + j] += radius * around[i] * around[j];
}

/// Adds the Hessian of the support function h(n) = |D n| with D = diag(size):
/// (D^2 - D^2 n (D^2 n)^T / h^2) / h.
void add_ellipsoid(const mjModel* m, const mjData* d, int geom, const double n[3],
                   LocalShape* shape) {
  const mjtNum* size = m->geom_size + 3 * geom;
  const mjtNum* rotation = d->geom_xmat + 9 * geom;
  double local[3], D2n[3], h2 = 0;
  mju_mulMatTVec3(local, rotation, n);
  for (int i = 0; i < 3; ++i) {
    D2n[i] = size[i] * size[i] * local[i];
    h2 += D2n[i] * local[i];
  }
  const double h = std::sqrt(h2);
  double hessian[9];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      hessian[3 * i + j] = ((i == j) * size[i] * size[i] - D2n[i] * D2n[j] / h2) / h;
  double left[9];
  mju_mulMatMat(left, rotation, hessian, 3, 3, 3);
  mju_mulMatMatT(shape->R, left, rotation, 3, 3, 3);
}

/// Adds the flat directions of a box: two on a face, one on an edge, none at a corner.
void add_box(const mjData* d, int geom, const double n[3], double tolerance, LocalShape* shape) {
  const mjtNum* R = d->geom_xmat + 9 * geom;
  for (int axis = 0; axis < 3; ++axis) {
    const double a[3] = {R[axis], R[3 + axis], R[6 + axis]};
    if (std::abs(mju_dot3(a, n)) < tolerance) add_flat(a, n, shape);
  }
}

/// Adds the flat directions of a mesh. They connect the vertices that are farthest along the
/// normal: the corners of a face, the ends of an edge, or one corner.
void add_mesh(const mjModel* m, const mjData* d, int geom, const double n[3], double tolerance,
              LocalShape* shape) {
  const int mesh = m->geom_dataid[geom];
  const float* vertices = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  const int count = m->mesh_vertnum[mesh];
  const mjtNum* R = d->geom_xmat + 9 * geom;
  double local[3];
  mju_mulMatTVec3(local, R, n);
  const auto height = [&](int i) {
    return vertices[3 * i] * local[0] + vertices[3 * i + 1] * local[1] +
           vertices[3 * i + 2] * local[2];
  };
  int top = 0;
  for (int i = 1; i < count; ++i)
    if (height(i) > height(top)) top = i;
  const double least = height(top) - tolerance * m->geom_rbound[geom];
  for (int i = 0; i < count && shape->num_flat < 2; ++i) {
    if (i == top || height(i) < least) continue;
    double edge[3], direction[3];
    for (int k = 0; k < 3; ++k) edge[k] = vertices[3 * i + k] - vertices[3 * top + k];
    mju_mulMatVec3(direction, R, edge);
    if (mju_norm3(direction) > 1e-3 * m->geom_rbound[geom]) add_flat(direction, n, shape);
  }
}

}  // namespace

LocalShape find_local_shape(const mjModel* m, const mjData* d, int geom, const double point[3],
                            const double n[3], double tolerance) {
  LocalShape shape;
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: add_radius(m->geom_size[3 * geom], n, &shape); break;
    case mjGEOM_CAPSULE: add_capsule(m, d, geom, point, n, tolerance, &shape); break;
    case mjGEOM_ELLIPSOID: add_ellipsoid(m, d, geom, n, &shape); break;
    case mjGEOM_CYLINDER: add_cylinder(m, d, geom, n, tolerance, &shape); break;
    case mjGEOM_BOX: add_box(d, geom, n, tolerance, &shape); break;
    case mjGEOM_MESH: add_mesh(m, d, geom, n, tolerance, &shape); break;
    default: make_flat(n, &shape); break;
  }
  return shape;
}

}  // namespace stiction::plant
