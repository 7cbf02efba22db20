#include "stiction/plant/shapes/local_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/contact/hertz_ellipse.hpp"
#include "stiction/contact/law_data.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vec3.hpp"

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

/// Collision by MuJoCo's iterative method has normals of this accuracy at flat sides [rad].
constexpr double kAligned = 0.01;

/// Adds value u u^T for the unit vector u = (x, y).
void add_square(double value, double x, double y, math::Symmetric2* matrix) {
  matrix->xx += value * x * x;
  matrix->xy += value * x * y;
  matrix->yy += value * y * y;
}

/// Returns the smallest half size of a geom [m]; infinite for planes and height fields.
double find_half_size(const mjModel* m, int geom) {
  const mjtNum* size = m->geom_size + 3 * geom;
  switch (m->geom_type[geom]) {
    case mjGEOM_PLANE:
    case mjGEOM_HFIELD: return contact::kInfinity;
    case mjGEOM_SPHERE:
    case mjGEOM_CAPSULE: return size[0];
    case mjGEOM_CYLINDER: return std::min(size[0], size[1]);
    default: {
      const mjtNum* half = m->geom_aabb + 6 * geom + 3;
      return std::min({half[0], half[1], half[2]});
    }
  }
}

/// Returns half the length of a geom's straight side, or half the width of its faces [m].
double find_flat_half_length(const mjModel* m, int geom, int num_flat) {
  const int type = m->geom_type[geom];
  if (num_flat == 1 && (type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER))
    return m->geom_size[3 * geom + 1];
  if (type == mjGEOM_CYLINDER) return m->geom_size[3 * geom];  // its flat end
  return find_half_size(m, geom);
}

/// The curvature of one surface.
struct SurfaceCurvature {
  math::Symmetric2 matrix;  // in the tangent plane [1/m]
  double crown = 0;         // [1/m]
  bool is_rounded = false;
};

/// Inverts the radii of curvature of a shape. The tangent plane has the basis t1, t2.
SurfaceCurvature invert(const mjModel* m, int geom, const LocalShape& shape, const double* t1,
                        const double* t2) {
  SurfaceCurvature out;
  if (shape.num_flat > 0) {
    const double half = find_flat_half_length(m, geom, shape.num_flat);
    out.crown = 2 * kCrown / (half * half);
  }
  if (shape.num_flat == 2) return out;
  const double rounding = find_half_size(m, geom);
  const auto add = [&](double radius, double x, double y) {
    const bool is_sharp = !(radius > 1e-9 * rounding);
    out.is_rounded |= is_sharp;
    add_square(1 / (is_sharp ? rounding : radius), x, y, &out.matrix);
  };
  const auto product = [&](const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) sum += a[i] * shape.R[3 * i + j] * b[j];
    return sum;
  };
  if (shape.num_flat == 1) {  // radius across the flat direction
    const double x = mju_dot3(shape.flat[0], t1), y = mju_dot3(shape.flat[0], t2);
    const double length = math::hypot(x, y);
    const double c = -y / length, s = x / length;
    double across[3];
    for (int i = 0; i < 3; ++i) across[i] = c * t1[i] + s * t2[i];
    add(product(across, across), c, s);
    return out;
  }
  const auto at = math::calc_principal_axes({product(t1, t1), product(t1, t2), product(t2, t2)});
  add(at.most, at.x, at.y);
  add(at.least, -at.y, at.x);
  return out;
}

HertzCurvature combine(const SurfaceCurvature& a, const SurfaceCurvature& b) {
  const auto [least, most, x, y] = math::calc_principal_axes(
      {a.matrix.xx + b.matrix.xx, a.matrix.xy + b.matrix.xy, a.matrix.yy + b.matrix.yy});
  const double crown = std::max(a.crown, b.crown);
  HertzCurvature out;
  out.is_rounded = a.is_rounded || b.is_rounded;
  out.is_crowned = least < crown;
  out.least = std::max(least, crown);
  out.most = std::max(most, crown);
  return out;
}

/// Returns the shape of a geom at its typical place, with the normal z. The straight sides are
/// along x, or along y.
LocalShape find_typical_shape(const mjModel* m, int geom, bool is_along_x) {
  LocalShape shape;
  const mjtNum* size = m->geom_size + 3 * geom;
  const int axis = is_along_x ? 0 : 1, across = 1 - axis;
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: shape.R[0] = shape.R[4] = size[0]; break;
    case mjGEOM_ELLIPSOID: {
      std::array<double, 3> s = {size[0], size[1], size[2]};
      std::sort(s.begin(), s.end());
      shape.R[4 * across] = s[1] * s[1] / s[0];
      shape.R[4 * axis] = s[2] * s[2] / s[0];
      break;
    }
    case mjGEOM_CAPSULE:
    case mjGEOM_CYLINDER:
      shape.num_flat = 1;
      shape.flat[0][axis] = 1;
      shape.R[4 * across] = size[0];
      break;
    default:
      shape.num_flat = 2;
      shape.flat[0][0] = shape.flat[1][1] = 1;
      break;
  }
  return shape;
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

HertzCurvature calc_hertz_curvature(const mjModel* m, const mjData* d, const mjContact& con) {
  const double* n = con.frame;
  const double back[3] = {-n[0], -n[1], -n[2]};
  const auto calc = [&](int side) {
    const LocalShape shape =
        find_local_shape(m, d, con.geom[side], con.pos, side == 0 ? n : back, kAligned);
    return invert(m, con.geom[side], shape, con.frame + 3, con.frame + 6);
  };
  return combine(calc(0), calc(1));
}

HertzCurvature find_typical_hertz_curvature(const mjModel* m, int geom1, int geom2) {
  constexpr double kX[3] = {1, 0, 0}, kY[3] = {0, 1, 0};
  return combine(invert(m, geom1, find_typical_shape(m, geom1, true), kX, kY),
                 invert(m, geom2, find_typical_shape(m, geom2, false), kX, kY));
}

bool has_constant_curvature(const mjModel* m, int geom) {
  return m->geom_type[geom] == mjGEOM_SPHERE || m->geom_type[geom] == mjGEOM_PLANE;
}

double find_edge_radius(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  const bool has_edges = type == mjGEOM_BOX || type == mjGEOM_CYLINDER || type == mjGEOM_MESH;
  return has_edges ? find_half_size(m, geom) : 0;
}

double calc_hertz_factor(const HertzCurvature& curvature) {
  return contact::calc_hertz_ellipse(curvature.least, curvature.most).factor;
}

}  // namespace stiction::plant
