#include "stiction/plant/patches/patch_forces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/plant/rows/contact_rows.hpp"

namespace stiction::plant {
namespace {

using contact::Contact;
using math::Vec3;

/// Returns atan(x) / x for x >= 0.
double atan_ratio(double x) {
  if (x > 1e-4) return math::atan(x) / x;
  return 1 - x * x / 3;  // exact to 1e-17
}

/// Computes the force of one point on B, world frame [N].
/// @param v velocity of B relative to A, without the velocity of moving surfaces [m/s]
Vec3 calc_force(const Contact& c, const Vec3& v, double stiction_tolerance) {
  const auto& R = c.R_WC;
  const Vec3 t1{R[0], R[1], R[2]}, t2{R[3], R[4], R[5]}, n{R[6], R[7], R[8]};
  const double v_n = dot(n, v) + c.bias[2];
  const Vec3 v_t = (dot(t1, v) + c.bias[0]) * t1 + (dot(t2, v) + c.bias[1]) * t2;
  const double f_n = std::max(0.0, c.fn0 * (1 - c.law.dissipation * v_n));
  const double per_slip = 2 / std::numbers::pi * c.sliding_friction() * f_n / stiction_tolerance *
                          atan_ratio(norm(v_t) / stiction_tolerance);
  return f_n * n - per_slip * v_t;
}

/// Runs calls to MuJoCo.
/// @throws Error if MuJoCo raises an error
template <class F>
void call_mujoco(F&& f) {
  MuJoCoGuard guard;
  if (!guard.run(f)) throw Error(ErrorCode::kMuJoCo, "", std::string("MuJoCo: ") + guard.error());
}

/// Returns options of forces that depend on the present state alone.
contact::SurfaceOptions without_memory(contact::SurfaceOptions options) {
  options.deep_patches = contact::DeepPatches::field;
  return options;
}

}  // namespace

PatchForces::PatchForces(const mjModel* model, const MaterialTable& materials,
                         const contact::SurfaceOptions& options, double stiction_tolerance)
    : model_(model),
      without_contact_(model),
      materials_(materials),
      plant_(model),
      patches_(model, materials, without_memory(options)),
      stiction_tolerance_(stiction_tolerance),
      qfrc_(model->nv) {
  if (!(stiction_tolerance > 0) || !std::isfinite(stiction_tolerance))
    throw Error(ErrorCode::kInvalidValue, "stiction_tolerance",
                "is " + std::to_string(stiction_tolerance) + ", must be finite and above 0");
  if (patches_.empty())
    throw Error(ErrorCode::kInvalidValue, "properties",
                "no two geoms can touch in a patch; give one a hydroelastic_modulus, and the other "
                "a hydroelastic_modulus or `rigid`");
}

/// Computes the contact points of all patches, and the velocities of the bodies.
void PatchForces::calc_points(mjData* d) {
  const mjModel* m = model_;
  call_mujoco([&] {
    mj_fwdKinematics(m, d);
    mj_collision(m, d);
  });
  patches_.follow_model(m);
  patches_.calc_surfaces(m, d);
  call_mujoco([&] { patches_.add_to_data(m, d); });
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_patch(con) || con.dist >= 0) continue;
    throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_GEOM, con.geom[0]),
                "touches " + describe(m, mjOBJ_GEOM, con.geom[1]) +
                    " in points, which have no continuous form; give one a hydroelastic_modulus, "
                    "and the other a hydroelastic_modulus or `rigid`");
  }
  problem_ = plant_.pattern();
  patches_.add_contacts(m, d, plant_, materials_, {}, &problem_);
  call_mujoco([&] { mj_fwdVelocity(without_contact_.get(), d); });
}

/// Adds the generalized forces of a patch.
void PatchForces::add_patch(const PatchPair& pair, const mjData* d, double* qfrc) const {
  if (pair.first_contact < 0) return;
  const auto at = std::find_if(
      problem_.pairs.begin(), problem_.pairs.end(),
      [&](const contact::BodyPair& p) { return p.first_contact == pair.first_contact; });
  // Compute the velocity of B relative to A, and the wrench on B, both at the pair's origin.
  Vec3 V[2], v[2];
  for (int side = 0; side < 2; ++side) {
    const int body = model_->geom_bodyid[pair.geoms[side]];
    mjtNum V_O[6];  // [w; v] at the origin of the inertial frame, world axes
    mj_objectVelocity(model_, d, mjOBJ_BODY, body, V_O, 0);
    const mjtNum* p = d->xipos + 3 * body;
    V[side] = {V_O[0], V_O[1], V_O[2]};
    v[side] =
        Vec3{V_O[3], V_O[4], V_O[5]} +
        cross(V[side], Vec3{at->origin[0] - p[0], at->origin[1] - p[1], at->origin[2] - p[2]});
  }
  const Vec3 w_AB = V[1] - V[0], v_AB = v[1] - v[0];
  Vec3 force, torque;
  for (int i = 0; i < at->num_contacts; ++i) {
    const Contact& c = problem_.contacts[pair.first_contact + i];
    const Vec3 x{c.offset[0], c.offset[1], c.offset[2]};
    const Vec3 f = calc_force(c, v_AB + cross(w_AB, x), stiction_tolerance_);
    force += f;
    torque += cross(x, f);
  }
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1 : 1;
    const mjtNum f[3] = {sign * force.x, sign * force.y, sign * force.z};
    const mjtNum tau[3] = {sign * torque.x, sign * torque.y, sign * torque.z};
    const int body = model_->geom_bodyid[pair.geoms[side]];
    if (body > 0) mj_applyFT(model_, const_cast<mjData*>(d), f, tau, at->origin.data(), body, qfrc);
  }
}

void PatchForces::calc(mjData* d, double* qfrc) {
  calc_points(d);
  std::fill_n(qfrc, model_->nv, 0.0);
  call_mujoco([&] {
    for (const PatchPair& pair : patches_.pairs()) add_patch(pair, d, qfrc);
  });
}

void PatchForces::calc_acceleration(mjData* d) {
  mjModel* const m = without_contact_.follow(model_);
  m->opt.disableflags |= mjDSBL_CONTACT;
  calc(d, qfrc_.data());
  const int nv = model_->nv;
  call_mujoco([&] {
    mj_forward(m, d);
    // Applied forces enter only the acceleration stage, so repeat only this stage.
    for (int i = 0; i < nv; ++i) d->qfrc_applied[i] += qfrc_[i];
    mj_forwardSkip(m, d, mjSTAGE_VEL, 1);
    for (int i = 0; i < nv; ++i) d->qfrc_applied[i] -= qfrc_[i];
  });
}

}  // namespace stiction::plant
