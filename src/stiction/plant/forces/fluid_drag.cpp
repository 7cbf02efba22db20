#include "stiction/plant/forces/fluid_drag.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::plant {
namespace {

constexpr double kPi = std::numbers::pi;

/// A frame in which drag is computed: that of a body's inertia, or of a geom.
struct Frame {
  int body = 0;
  const mjtNum *position = nullptr, *rotation = nullptr;  // world
  mjtNum velocity[6] = {};                                // angular and linear, through the fluid
};

/// Returns the frame of a body's inertia or of a geom, and its velocity through the fluid.
Frame make_frame(const mjModel* m, const mjData* d, mjtObj type, int id) {
  Frame frame;
  const bool is_geom = type == mjOBJ_GEOM;
  frame.body = is_geom ? m->geom_bodyid[id] : id;
  frame.position = is_geom ? d->geom_xpos + 3 * id : d->xipos + 3 * id;
  frame.rotation = is_geom ? d->geom_xmat + 9 * id : d->ximat + 9 * id;
  mj_objectVelocity(m, d, type, id, frame.velocity, 1);
  mjtNum wind[3];
  mju_mulMatTVec3(wind, frame.rotation, m->opt.wind);
  mju_subFrom3(frame.velocity + 3, wind);
  return frame;
}

/// Adds a damper along or about a direction of the frame.
void add_drag(const mjModel* m, const mjData* d, const Frame& frame, const mjtNum* direction,
              bool is_linear, double damping, std::vector<FluidDrag>* drags) {
  if (!(damping > 0)) return;
  FluidDrag drag{.body = frame.body, .damping = damping, .axis = {}};
  mjtNum axis[3];
  mju_mulMatVec3(axis, frame.rotation, direction);
  std::copy_n(axis, 3, drag.axis.begin() + (is_linear ? 3 : 0));
  if (is_linear) {
    // The velocity in cvel is that of the point at the center of mass of the tree.
    mjtNum arm[3], moment[3];
    mju_sub3(arm, frame.position, d->subtree_com + 3 * m->body_rootid[frame.body]);
    mju_cross(moment, arm, axis);
    std::copy_n(moment, 3, drag.axis.begin());
  }
  drags->push_back(drag);
}

/// Adds a damper along or about each axis of the frame.
void add_drags(const mjModel* m, const mjData* d, const Frame& frame, bool is_linear,
               const double damping[3], std::vector<FluidDrag>* drags) {
  for (int i = 0; i < 3; ++i) {
    const mjtNum direction[3] = {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    add_drag(m, d, frame, direction, is_linear, damping[i], drags);
  }
}

/// Adds the dampers of the force -(linear + c |v|) v, or of such a torque.
/// @param quadratic c |v|
void add_quadratic(const mjModel* m, const mjData* d, const Frame& frame, bool is_linear,
                   double linear, double quadratic, std::vector<FluidDrag>* drags) {
  const mjtNum* v = frame.velocity + (is_linear ? 3 : 0);
  const double all = linear + quadratic, damping[3] = {all, all, all}, speed = mju_norm3(v);
  add_drags(m, d, frame, is_linear, damping, drags);
  if (!(speed > 0)) return;
  const mjtNum direction[3] = {v[0] / speed, v[1] / speed, v[2] / speed};
  add_drag(m, d, frame, direction, is_linear, quadratic, drags);
}

/// Adds the drag of a body by the model of inertia boxes: torques
/// -pi D^3 mu w_i - rho/64 b_i (b_j^4 + b_k^4) |w_i| w_i and forces
/// -3 pi D mu v_i - rho/2 b_j b_k |v_i| v_i on a box with sides b and mean side D.
void add_inertia_box(const mjModel* m, const mjData* d, int body, std::vector<FluidDrag>* drags) {
  const Frame frame = make_frame(m, d, mjOBJ_BODY, body);
  const double mu = m->opt.viscosity, rho = m->opt.density;
  const mjtNum* I = m->body_inertia + 3 * body;
  double box[3];
  for (int i = 0; i < 3; ++i)
    box[i] = std::sqrt(std::max(mjMINVAL, I[(i + 1) % 3] + I[(i + 2) % 3] - I[i]) /
                       m->body_mass[body] * 6);
  const double mean = (box[0] + box[1] + box[2]) / 3;
  double angular[3], linear[3];
  for (int i = 0; i < 3; ++i) {
    const double b = box[(i + 1) % 3], c = box[(i + 2) % 3];
    angular[i] = kPi * mean * mean * mean * mu +
                 rho / 32 * box[i] * (b * b * b * b + c * c * c * c) * std::abs(frame.velocity[i]);
    linear[i] = 3 * kPi * mean * mu + rho * b * c * std::abs(frame.velocity[3 + i]);
  }
  add_drags(m, d, frame, false, angular, drags);
  add_drags(m, d, frame, true, linear, drags);
}

/// Computes the semi-axes of the ellipsoid that stands for a geom.
void calc_semi_axes(const mjModel* m, int geom, double axes[3]) {
  const mjtNum* size = m->geom_size + 3 * geom;
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: axes[0] = axes[1] = axes[2] = size[0]; break;
    case mjGEOM_CAPSULE:
      axes[0] = axes[1] = size[0];
      axes[2] = size[1] + size[0];
      break;
    case mjGEOM_CYLINDER:
      axes[0] = axes[1] = size[0];
      axes[2] = size[1];
      break;
    default: std::copy_n(size, 3, axes); break;
  }
}

/// Adds the drag of a geom by the model of ellipsoids: the force -(3 pi D mu + rho c_v |v|) v and
/// the torque -(pi D^3 mu + rho |c_w w|) w, with the diameter D of an equivalent sphere, and c_v
/// and c_w from the projected area and the moments of area. Along v and about w the quadratic parts
/// have twice the slope.
void add_ellipsoid(const mjModel* m, const mjData* d, int geom, std::vector<FluidDrag>* drags) {
  const mjtNum* fluid = m->geom_fluid + static_cast<std::size_t>(mjNFLUID) * geom;
  if (fluid[0] == 0) return;
  const double blunt = fluid[1], slender = fluid[2], angular = fluid[3];
  const double mu = m->opt.viscosity, rho = m->opt.density;
  const Frame frame = make_frame(m, d, mjOBJ_GEOM, geom);
  const mjtNum *w = frame.velocity, *v = frame.velocity + 3;
  double s[3];
  calc_semi_axes(m, geom, s);
  const double largest = std::max({s[0], s[1], s[2]}), least = std::min({s[0], s[1], s[2]});
  const double middle = s[0] + s[1] + s[2] - largest - least;
  const double diameter = 2.0 / 3 * (s[0] + s[1] + s[2]);

  // Torque.
  const double sphere = 8.0 / 15 * kPi;
  const double largest_moment = sphere * middle * largest * largest * largest * largest;
  double moment2 = 0;
  for (int i = 0; i < 3; ++i) {
    const double wide = std::max(s[(i + 1) % 3], s[(i + 2) % 3]);
    const double moment = sphere * s[i] * wide * wide * wide * wide;
    const double part = w[i] * (angular * moment + slender * (largest_moment - moment));
    moment2 += part * part;
  }
  const double linear_torque = kPi * diameter * diameter * diameter * mu;
  add_quadratic(m, d, frame, false, linear_torque, rho * std::sqrt(moment2), drags);

  // Force.
  double numerator = 0, denominator = 0;
  for (int i = 0; i < 3; ++i) {
    const double side = s[(i + 1) % 3] * s[(i + 2) % 3], area2 = side * side;
    numerator += area2 * v[i] * v[i];
    denominator += area2 * area2 * v[i] * v[i];
  }
  const double projected = kPi * std::sqrt(denominator / std::max(mjMINVAL, numerator));
  const double area = blunt * projected + slender * (kPi * largest * middle - projected);
  const double quadratic = rho * std::max(0.0, area) * mju_norm3(v);
  add_quadratic(m, d, frame, true, 3 * kPi * diameter * mu, quadratic, drags);
}

bool has_ellipsoids(const mjModel* m, int body) {
  const int first = m->body_geomadr[body];
  for (int geom = first; geom < first + m->body_geomnum[body]; ++geom)
    if (m->geom_fluid[static_cast<std::size_t>(mjNFLUID) * geom] > 0) return true;
  return false;
}

}  // namespace

void calc_fluid_drags(const mjModel* m, const mjData* d, std::vector<FluidDrag>* drags) {
  drags->clear();
  const int flags = m->opt.disableflags;
  const bool is_disabled = (flags & mjDSBL_SPRING) && (flags & mjDSBL_DAMPER);
  if (is_disabled || (m->opt.viscosity <= 0 && m->opt.density <= 0)) return;
  for (int body = 1; body < m->nbody; ++body) {
    if (m->body_mass[body] < mjMINVAL) continue;
    if (!has_ellipsoids(m, body)) {
      add_inertia_box(m, d, body, drags);
      continue;
    }
    const int first = m->body_geomadr[body];
    for (int geom = first; geom < first + m->body_geomnum[body]; ++geom)
      add_ellipsoid(m, d, geom, drags);
  }
}

}  // namespace stiction::plant
