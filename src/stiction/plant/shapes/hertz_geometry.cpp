#include "stiction/plant/shapes/hertz_geometry.hpp"

#include <algorithm>
#include <array>

#include "stiction/contact/hertz_ellipse.hpp"
#include "stiction/contact/law_data.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::plant {
namespace {

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
