#include "stiction/plant/model_check.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {
namespace {

enum class Range { kFinite, kNonNegative, kPositive };

const char* to_text(Range range) {
  switch (range) {
    case Range::kFinite: return "finite";
    case Range::kNonNegative: return "finite and at least 0";
    case Range::kPositive: return "finite and above 0";
  }
  return "";
}

bool holds(Range range, double value) {
  if (!std::isfinite(value)) return false;
  return range == Range::kFinite || (range == Range::kPositive ? value > 0 : value >= 0);
}

class Checker {
 public:
  Checker(const mjModel* model, ErrorList* errors) : m_(model), errors_(*errors) {}

  void check(const std::string& where, const char* what, double value, Range range) {
    if (holds(range, value)) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    errors_.add(ErrorCode::kInvalidValue, where,
                std::string(what) + " is " + text + ", must be " + to_text(range));
  }

  /// An array of `count` elements of a type, `width` numbers each.
  void check_all(mjtObj type, mjtSize count, int width, const char* what, const mjtNum* values,
                 Range range) {
    for (mjtSize i = 0; i < count; ++i)
      for (int k = 0; k < width; ++k)
        if (!holds(range, values[i * width + k]))
          check(describe(m_, type, static_cast<int>(i)), what, values[i * width + k], range);
  }

 private:
  const mjModel* m_;
  ErrorList& errors_;
};

}  // namespace

void check_model(const mjModel* m) {
  ErrorList errors;
  Checker c(m, &errors);
  c.check("option", "timestep", m->opt.timestep, Range::kPositive);
  for (const mjtNum g : m->opt.gravity) c.check("option", "gravity", g, Range::kFinite);
  for (const mjtNum w : m->opt.wind) c.check("option", "wind", w, Range::kFinite);
  c.check("option", "density", m->opt.density, Range::kNonNegative);
  c.check("option", "viscosity", m->opt.viscosity, Range::kNonNegative);

  c.check_all(mjOBJ_BODY, m->nbody, 1, "mass", m->body_mass, Range::kNonNegative);
  c.check_all(mjOBJ_BODY, m->nbody, 3, "inertia", m->body_inertia, Range::kNonNegative);
  c.check_all(mjOBJ_BODY, m->nbody, 3, "pos", m->body_pos, Range::kFinite);
  c.check_all(mjOBJ_BODY, m->nbody, 4, "quat", m->body_quat, Range::kFinite);
  c.check_all(mjOBJ_BODY, m->nbody, 3, "inertial pos", m->body_ipos, Range::kFinite);

  c.check_all(mjOBJ_GEOM, m->ngeom, 3, "size", m->geom_size, Range::kNonNegative);
  c.check_all(mjOBJ_GEOM, m->ngeom, 3, "pos", m->geom_pos, Range::kFinite);
  c.check_all(mjOBJ_GEOM, m->ngeom, 3, "friction", m->geom_friction, Range::kNonNegative);
  c.check_all(mjOBJ_GEOM, m->ngeom, 1, "margin", m->geom_margin, Range::kFinite);
  c.check_all(mjOBJ_GEOM, m->ngeom, 1, "gap", m->geom_gap, Range::kFinite);

  c.check_all(mjOBJ_JOINT, m->njnt, 1, "stiffness", m->jnt_stiffness, Range::kFinite);
  c.check_all(mjOBJ_JOINT, m->njnt, 2, "range", m->jnt_range, Range::kFinite);
  for (mjtSize i = 0; i < m->nv; ++i) {
    const std::string joint = describe(m, mjOBJ_JOINT, m->dof_jntid[i]);
    c.check(joint, "armature", m->dof_armature[i], Range::kNonNegative);
    c.check(joint, "damping", m->dof_damping[i], Range::kFinite);
    c.check(joint, "frictionloss", m->dof_frictionloss[i], Range::kNonNegative);
  }
  for (mjtSize i = 0; i < m->nq; ++i) c.check("qpos0", "entry", m->qpos0[i], Range::kFinite);
  for (mjtSize i = 0; i < m->nkey * m->nq; ++i)
    c.check("keyframe", "qpos", m->key_qpos[i], Range::kFinite);

  c.check_all(mjOBJ_TENDON, m->ntendon, 1, "stiffness", m->tendon_stiffness, Range::kFinite);
  c.check_all(mjOBJ_TENDON, m->ntendon, 1, "damping", m->tendon_damping, Range::kFinite);
  c.check_all(mjOBJ_TENDON, m->ntendon, 1, "frictionloss", m->tendon_frictionloss,
              Range::kNonNegative);
  c.check_all(mjOBJ_ACTUATOR, m->nactuator, mjNGAIN, "gain", m->actuator_gainprm, Range::kFinite);
  c.check_all(mjOBJ_ACTUATOR, m->nactuator, mjNBIAS, "bias", m->actuator_biasprm, Range::kFinite);
  errors.throw_if_any();
}

StateFault check_state(const mjModel* m, const mjData* d) noexcept {
  StateFault fault;
  const auto is_good = [&](const char* name, const mjtNum* values, mjtSize count, bool is_state) {
    for (mjtSize i = 0; i < count; ++i) {
      if (std::abs(values[i]) <= mjMAXVAL) continue;  // false for NaN
      fault = {name, static_cast<int>(i), values[i], is_state};
      return false;
    }
    return true;
  };
  (void)(is_good("time", &d->time, 1, true) && is_good("qpos", d->qpos, m->nq, true) &&
         is_good("qvel", d->qvel, m->nv, true) && is_good("act", d->act, m->na, true) &&
         is_good("ctrl", d->ctrl, m->nu, false) &&
         is_good("qfrc_applied", d->qfrc_applied, m->nv, false) &&
         is_good("xfrc_applied", d->xfrc_applied, 6 * m->nbody, false) &&
         is_good("mocap_pos", d->mocap_pos, 3 * m->nmocap, false) &&
         is_good("mocap_quat", d->mocap_quat, 4 * m->nmocap, false));
  return fault;
}

}  // namespace stiction::plant
