#include "stiction/plant/model_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/base/number_text.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {
namespace {

enum class Range { kNotNan, kFinite, kModerate, kDistance, kDerived, kNonNegative, kPositive };

/// The largest accepted magnitude. Products of a few such numbers are still finite, and physical
/// values are far smaller.
constexpr double kMax = 1e50;

/// The largest margin of a contact [m]. From 1e7 m on, the forces of such a depth leave too few
/// digits for those of the bodies.
constexpr double kMaxDistance = 1e6;

/// Describes a range that `value` violates.
std::string to_text(Range range, double value) {
  if (range == Range::kDistance) return "finite and at most 1e6 in magnitude";
  if (range != Range::kNotNan && range != Range::kFinite && range != Range::kDerived &&
      std::isfinite(value) && std::abs(value) > kMax)
    return "at most 1e50 in magnitude";
  switch (range) {
    case Range::kNotNan: return "a number";
    case Range::kFinite:
    case Range::kDistance:
    case Range::kModerate: return "finite";
    case Range::kDerived:
    case Range::kNonNegative: return "finite and at least 0";
    case Range::kPositive: return "finite and above 0";
  }
  return "";
}

bool is_in(Range range, double value) {
  switch (range) {
    case Range::kNotNan: return !std::isnan(value);
    case Range::kFinite: return std::isfinite(value);
    case Range::kModerate: return std::abs(value) <= kMax;
    case Range::kDistance: return std::abs(value) <= kMaxDistance;
    // MuJoCo computes these from others, which may be anything below kMax.
    case Range::kDerived: return value >= 0 && std::isfinite(value);
    case Range::kNonNegative: return value >= 0 && value <= kMax;
    case Range::kPositive: return value > 0 && value <= kMax;
  }
  return false;
}

/// Collects the faults of a model's numbers.
class Checker {
 public:
  Checker(const mjModel* model, ErrorList* errors) : m_(model), errors_(*errors) {}

  void check(const std::string& where, const char* what, double value, Range range) {
    if (!is_in(range, value))
      errors_.add(
          ErrorCode::kInvalidValue, where,
          std::string(what) + " is " + base::to_text(value) + ", must be " + to_text(range, value));
  }

  /// Checks an array of `count` elements with `width` numbers each.
  /// @param name returns the name of element i; called for faults only
  template <class Number, class Name>
  void check_array(mjtSize count, int width, const char* what, const Number* values, Range range,
                   Name&& name) {
    for (mjtSize i = 0; i < count * width; ++i)
      if (!is_in(range, values[i]))
        check(name(static_cast<int>(i / width)), what, values[i], range);
  }
  /// Checks an array of elements that have names in MuJoCo.
  void check_all(mjtObj type, mjtSize count, int width, const char* what, const mjtNum* values,
                 Range range) {
    check_array(count, width, what, values, range, [&](int i) { return describe(m_, type, i); });
  }

 private:
  const mjModel* m_;
  ErrorList& errors_;
};

void check_option(const mjOption& o, Checker* c) {
  c->check("option", "timestep", o.timestep, Range::kPositive);
  c->check("option", "density", o.density, Range::kNonNegative);
  c->check("option", "viscosity", o.viscosity, Range::kNonNegative);
  c->check("option", "ccd_tolerance", o.ccd_tolerance, Range::kNonNegative);
  c->check("option", "impratio", o.impratio, Range::kModerate);
  c->check("option", "o_margin", o.o_margin, Range::kDistance);
  for (const mjtNum mu : o.o_friction) c->check("option", "o_friction", mu, Range::kNonNegative);
  for (const mjtNum g : o.gravity) c->check("option", "gravity", g, Range::kModerate);
  for (const mjtNum w : o.wind) c->check("option", "wind", w, Range::kModerate);
  for (const mjtNum b : o.magnetic) c->check("option", "magnetic", b, Range::kModerate);
}

void check_bodies_and_geoms(const mjModel* m, Checker* c) {
  const auto body = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_BODY, m->nbody, width, what, values, range);
  };
  body(1, "mass", m->body_mass, Range::kNonNegative);
  body(3, "inertia", m->body_inertia, Range::kNonNegative);
  body(3, "pos", m->body_pos, Range::kModerate);
  body(4, "quat", m->body_quat, Range::kModerate);
  body(3, "inertial pos", m->body_ipos, Range::kModerate);
  body(4, "inertial quat", m->body_iquat, Range::kModerate);
  body(1, "gravcomp", m->body_gravcomp, Range::kModerate);
  body(1, "margin", m->body_margin, Range::kModerate);
  body(1, "subtreemass", m->body_subtreemass, Range::kDerived);
  body(2, "invweight0", m->body_invweight0, Range::kDerived);

  const auto geom = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_GEOM, m->ngeom, width, what, values, range);
  };
  geom(3, "size", m->geom_size, Range::kNonNegative);
  geom(3, "pos", m->geom_pos, Range::kModerate);
  geom(4, "quat", m->geom_quat, Range::kModerate);
  geom(3, "friction", m->geom_friction, Range::kNonNegative);
  geom(1, "rbound", m->geom_rbound, Range::kNonNegative);
  geom(6, "aabb", m->geom_aabb, Range::kModerate);
  geom(1, "margin", m->geom_margin, Range::kDistance);
  geom(1, "gap", m->geom_gap, Range::kModerate);
  geom(1, "solmix", m->geom_solmix, Range::kModerate);
  geom(mjNREF, "solref", m->geom_solref, Range::kModerate);
  geom(mjNIMP, "solimp", m->geom_solimp, Range::kModerate);
  geom(6, "surfacevel", m->geom_surfacevel, Range::kModerate);
  geom(1, "adhesion", m->geom_adhesion, Range::kModerate);
  geom(mjNFLUID, "fluidcoef", m->geom_fluid, Range::kModerate);
}

void check_sites_and_sensors(const mjModel* m, Checker* c) {
  c->check_all(mjOBJ_SITE, m->nsite, 3, "pos", m->site_pos, Range::kModerate);
  c->check_all(mjOBJ_SITE, m->nsite, 4, "quat", m->site_quat, Range::kModerate);
  c->check_all(mjOBJ_SENSOR, m->nsensor, 1, "cutoff", m->sensor_cutoff, Range::kModerate);
}

/// Checks the shapes of height fields and meshes.
void check_assets(const mjModel* m, Checker* c) {
  const auto each = [&](mjtObj type, mjtSize count, const int* first, const int* num, int width,
                        const char* what, const auto* values, Range range) {
    for (int i = 0; i < count; ++i)
      c->check_array(num[i], width, what, values + width * first[i], range,
                     [&](int) { return describe(m, type, i); });
  };
  c->check_all(mjOBJ_HFIELD, m->nhfield, 4, "size", m->hfield_size, Range::kNonNegative);
  for (int i = 0; i < m->nhfield; ++i)
    c->check_array(m->hfield_nrow[i] * m->hfield_ncol[i], 1, "elevation",
                   m->hfield_data + m->hfield_adr[i], Range::kNonNegative,
                   [&](int) { return describe(m, mjOBJ_HFIELD, i); });
  each(mjOBJ_MESH, m->nmesh, m->mesh_vertadr, m->mesh_vertnum, 3, "vertex", m->mesh_vert,
       Range::kDistance);
  each(mjOBJ_MESH, m->nmesh, m->mesh_polyadr, m->mesh_polynum, 3, "polygon normal",
       m->mesh_polynormal, Range::kDistance);
}

void check_joints(const mjModel* m, Checker* c) {
  const auto joint = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_JOINT, m->njnt, width, what, values, range);
  };
  joint(1, "stiffness", m->jnt_stiffness, Range::kModerate);
  joint(mjNPOLY, "stiffness", m->jnt_stiffnesspoly, Range::kModerate);
  joint(1, "springyield", m->jnt_springyield, Range::kModerate);
  joint(2, "range", m->jnt_range, Range::kFinite);
  joint(2, "actuatorfrcrange", m->jnt_actfrcrange, Range::kNotNan);
  joint(3, "pos", m->jnt_pos, Range::kModerate);
  joint(3, "axis", m->jnt_axis, Range::kModerate);
  joint(1, "margin", m->jnt_margin, Range::kModerate);
  joint(mjNREF, "solreflimit", m->jnt_solref, Range::kModerate);
  joint(mjNIMP, "solimplimit", m->jnt_solimp, Range::kModerate);

  const auto dof = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_array(m->nv, width, what, values, range,
                   [&](int i) { return describe(m, mjOBJ_JOINT, m->dof_jntid[i]); });
  };
  dof(1, "armature", m->dof_armature, Range::kNonNegative);
  dof(1, "M0", m->dof_M0, Range::kDerived);
  dof(1, "invweight0", m->dof_invweight0, Range::kDerived);
  dof(1, "damping", m->dof_damping, Range::kModerate);
  dof(mjNPOLY, "damping", m->dof_dampingpoly, Range::kModerate);
  dof(1, "frictionloss", m->dof_frictionloss, Range::kNonNegative);
  dof(mjNREF, "solreffriction", m->dof_solref, Range::kModerate);
  dof(mjNIMP, "solimpfriction", m->dof_solimp, Range::kModerate);

  for (mjtSize i = 0; i < m->nq; ++i) {
    c->check("qpos0", "entry", m->qpos0[i], Range::kModerate);
    c->check("qpos_spring", "entry", m->qpos_spring[i], Range::kModerate);
  }
  for (mjtSize i = 0; i < m->nkey * m->nq; ++i)
    c->check("keyframe", "qpos", m->key_qpos[i], Range::kModerate);
}

void check_pairs_and_equalities(const mjModel* m, Checker* c) {
  const auto pair = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_PAIR, m->npair, width, what, values, range);
  };
  pair(5, "friction", m->pair_friction, Range::kNonNegative);
  pair(1, "adhesion", m->pair_adhesion, Range::kModerate);
  pair(1, "margin", m->pair_margin, Range::kDistance);
  pair(1, "gap", m->pair_gap, Range::kModerate);
  pair(mjNREF, "solref", m->pair_solref, Range::kModerate);
  pair(mjNREF, "solreffriction", m->pair_solreffriction, Range::kModerate);
  pair(mjNIMP, "solimp", m->pair_solimp, Range::kModerate);

  const auto equality = [&](int width, const char* what, const mjtNum* values) {
    c->check_all(mjOBJ_EQUALITY, m->neq, width, what, values, Range::kModerate);
  };
  equality(mjNREF, "solref", m->eq_solref);
  equality(mjNIMP, "solimp", m->eq_solimp);
  equality(mjNEQDATA, "data (anchor, relpose, polycoef)", m->eq_data);
}

void check_tendons(const mjModel* m, Checker* c) {
  const auto tendon = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_TENDON, m->ntendon, width, what, values, range);
  };
  tendon(1, "stiffness", m->tendon_stiffness, Range::kModerate);
  tendon(mjNPOLY, "stiffness", m->tendon_stiffnesspoly, Range::kModerate);
  tendon(1, "damping", m->tendon_damping, Range::kModerate);
  tendon(mjNPOLY, "damping", m->tendon_dampingpoly, Range::kModerate);
  tendon(1, "armature", m->tendon_armature, Range::kNonNegative);
  tendon(1, "frictionloss", m->tendon_frictionloss, Range::kNonNegative);
  tendon(1, "springyield", m->tendon_springyield, Range::kModerate);
  tendon(1, "invweight0", m->tendon_invweight0, Range::kDerived);
  tendon(1, "length0", m->tendon_length0, Range::kModerate);
  tendon(2, "springlength", m->tendon_lengthspring, Range::kModerate);
  tendon(2, "range", m->tendon_range, Range::kNotNan);
  tendon(2, "actuatorfrcrange", m->tendon_actfrcrange, Range::kNotNan);
  tendon(1, "margin", m->tendon_margin, Range::kModerate);
  tendon(mjNREF, "solreflimit", m->tendon_solref_lim, Range::kModerate);
  tendon(mjNIMP, "solimplimit", m->tendon_solimp_lim, Range::kModerate);
  tendon(mjNREF, "solreffriction", m->tendon_solref_fri, Range::kModerate);
  tendon(mjNIMP, "solimpfriction", m->tendon_solimp_fri, Range::kModerate);
  for (int i = 0; i < m->ntendon; ++i)
    c->check_array(m->tendon_num[i], 1, "coef or divisor", m->wrap_prm + m->tendon_adr[i],
                   Range::kModerate, [&](int) { return describe(m, mjOBJ_TENDON, i); });
}

void check_actuators(const mjModel* m, Checker* c) {
  const auto actuator = [&](int width, const char* what, const mjtNum* values, Range range) {
    c->check_all(mjOBJ_ACTUATOR, m->nactuator, width, what, values, range);
  };
  actuator(mjNGAIN, "gain", m->actuator_gainprm, Range::kModerate);
  actuator(mjNBIAS, "bias", m->actuator_biasprm, Range::kModerate);
  actuator(mjNDYN, "dynprm", m->actuator_dynprm, Range::kModerate);
  actuator(1, "cranklength", m->actuator_cranklength, Range::kModerate);
  actuator(1, "acc0", m->actuator_acc0, Range::kDerived);
  actuator(1, "damping", m->actuator_damping, Range::kModerate);
  actuator(mjNPOLY, "damping", m->actuator_dampingpoly, Range::kModerate);
  actuator(1, "armature", m->actuator_armature, Range::kNonNegative);
  actuator(2, "actrange", m->actuator_actrange, Range::kNotNan);
  actuator(2, "forcerange", m->actuator_forcerange, Range::kNotNan);
  const auto each = [&](const char* where, mjtSize count, int width, const char* what,
                        const mjtNum* values, Range range) {
    c->check_array(count, width, what, values, range,
                   [&](int i) { return std::string(where) + " " + std::to_string(i); });
  };
  each("control", m->nu, 2, "ctrlrange", m->actuator_ctrlrange, Range::kNotNan);
  each("actuator output", m->nout, 6, "gear", m->actuator_gear, Range::kModerate);
  each("actuator output", m->nout, 2, "lengthrange", m->actuator_lengthrange, Range::kModerate);
}

/// Returns the first fault of a message, and the number of the others.
std::string first_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return text;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return text.substr(0, end) + " (and " + std::to_string(more) + " more)";
}

/// Describes the first negative value of dofs, joints or tendons; empty if all are at least 0.
std::string find_negative(const mjModel* m, mjtObj type, mjtSize count, const char* what,
                          const mjtNum* values) {
  for (mjtSize i = 0; i < count; ++i)
    if (values[i] < 0) {
      const bool is_dof = type == mjOBJ_DOF;
      return describe(m, is_dof ? mjOBJ_JOINT : type,
                      is_dof ? m->dof_jntid[i] : static_cast<int>(i)) +
             ": " + what + " is " + base::to_text(values[i]) +
             ", which may make the step's matrix indefinite";
    }
  return "";
}

}  // namespace

void check_model(const mjModel* m) {
  ErrorList errors;
  Checker c(m, &errors);
  check_option(m->opt, &c);
  check_bodies_and_geoms(m, &c);
  check_sites_and_sensors(m, &c);
  check_assets(m, &c);
  check_joints(m, &c);
  check_pairs_and_equalities(m, &c);
  check_tendons(m, &c);
  check_actuators(m, &c);
  errors.throw_if_any();
}

std::string explain_failure(const mjModel* m) {
  try {
    check_model(m);
  } catch (const Error& e) {
    return first_line(e.what());
  }
  std::string found = find_negative(m, mjOBJ_DOF, m->nv, "damping", m->dof_damping);
  if (found.empty()) found = find_negative(m, mjOBJ_JOINT, m->njnt, "stiffness", m->jnt_stiffness);
  if (found.empty())
    found = find_negative(m, mjOBJ_TENDON, m->ntendon, "damping", m->tendon_damping);
  if (found.empty())
    found = find_negative(m, mjOBJ_TENDON, m->ntendon, "stiffness", m->tendon_stiffness);
  return found;
}

bool has_sound_bodies(const mjModel* m) noexcept {
  // The bits of doubles from +0 to kMax, read as integers, have the order of the doubles. The bits
  // of every invalid value are larger. So are those of -0; the caller then checks number by number.
  constexpr auto kLimit = std::bit_cast<std::uint64_t>(kMax);
  std::uint64_t bad = 0;
  const auto scan = [&](const mjtNum* values, mjtSize count) {
    for (mjtSize i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(values[i]);
      bad |= bits | (kLimit - bits);
    }
  };
  scan(m->body_mass, m->nbody);
  scan(m->body_inertia, 3 * m->nbody);
  scan(m->geom_size, 3 * m->ngeom);
  scan(m->geom_rbound, m->ngeom);
  scan(m->geom_friction, 3 * m->ngeom);
  scan(m->dof_armature, m->nv);
  scan(m->dof_frictionloss, m->nv);
  const auto is_finite = [](const mjtNum* values, mjtSize count) {
    return math::all_finite(static_cast<int>(count), values);
  };
  // MuJoCo leaves contacts out, without a word, if one of these is not a number.
  return bad >> 63 == 0 && is_finite(m->geom_pos, 3 * m->ngeom) &&
         is_finite(m->geom_quat, 4 * m->ngeom) && is_finite(m->geom_margin, m->ngeom) &&
         is_finite(m->geom_gap, m->ngeom) && is_finite(m->pair_margin, m->npair) &&
         is_finite(m->pair_gap, m->npair);
}

StateFault check_state(const mjModel* m, const mjData* d) noexcept {
  StateFault fault;
  const auto is_good = [&](const char* name, const mjtNum* values, mjtSize count, bool is_state) {
    for (mjtSize i = 0; i < count; ++i) {
      if (std::abs(values[i]) <= mjMAXVAL) continue;  // false for NaN
      fault = {
          .array = name, .index = static_cast<int>(i), .value = values[i], .is_state = is_state};
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
