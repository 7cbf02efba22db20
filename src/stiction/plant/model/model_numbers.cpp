#include "stiction/plant/model/model_numbers.hpp"

#include <cmath>
#include <limits>

#include "stiction/math/lanes.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {
namespace {

/// The largest accepted magnitude. Products of a few such numbers are still finite, and physical
/// values are far smaller.
constexpr double kMax = 1e50;

/// The largest number that MuJoCo computes from numbers up to kMax, such as an inertia m r^2.
constexpr double kMaxDerived = 1e200;

/// The largest margin of a contact, and the largest coordinate of a mesh [m]. From 1e7 m on, the
/// forces of such a depth leave too few digits for those of the bodies. The normals of a mesh's
/// polygons have this range too.
constexpr double kMaxDistance = 1e6;

/// The largest |n^2 - 1| of a unit vector with norm n. Numbers with three digits satisfy it.
constexpr double kMaxUnitError = 2e-3;

template <mjtObj kType>
std::string name(const mjModel* m, int i) {
  return describe(m, kType, i);
}

std::string name_dof(const mjModel* m, int i) { return describe(m, mjOBJ_JOINT, m->dof_jntid[i]); }

std::string name_coordinate(const mjModel* m, int i) {
  int joint = 0;
  while (joint + 1 < m->njnt && m->jnt_qposadr[joint + 1] <= i) ++joint;
  return describe(m, mjOBJ_JOINT, joint);
}

std::string name_control(const mjModel*, int i) { return "control " + std::to_string(i); }
std::string name_output(const mjModel*, int i) { return "actuator output " + std::to_string(i); }
std::string name_volume(const mjModel*, int i) { return "bounding volume " + std::to_string(i); }
std::string name_cell(const mjModel*, int i) { return "octree cell " + std::to_string(i); }

/// Names the element whose part of an array begins at first[element] and holds entry i.
std::string name_owner(const mjModel* m, mjtObj type, mjtSize count, const int* first, int i) {
  int owner = 0;
  for (int k = 0; k < count; ++k)
    if (first[k] >= 0 && first[k] <= i) owner = k;
  return describe(m, type, owner);
}

std::string name_path(const mjModel* m, int i) {
  return name_owner(m, mjOBJ_TENDON, m->ntendon, m->tendon_adr, i);
}
std::string name_vertex(const mjModel* m, int i) {
  return name_owner(m, mjOBJ_MESH, m->nmesh, m->mesh_vertadr, i);
}
std::string name_polygon(const mjModel* m, int i) {
  return name_owner(m, mjOBJ_MESH, m->nmesh, m->mesh_polyadr, i);
}
std::string name_elevation(const mjModel* m, int i) {
  return name_owner(m, mjOBJ_HFIELD, m->nhfield, m->hfield_adr, i);
}

/// The kinds of elements: how they are named and counted, and whether there are many.
struct Kind {
  NumberArray::Describe describe;
  mjtSize mjModel::*count;
  bool is_large = false;

  constexpr NumberArray operator()(const char* field, NumberArray::Values values, const char* what,
                                   int width, Range range) const {
    return {field, what, values, describe, count, width, range, is_large};
  }
};

constexpr Kind kBody{name<mjOBJ_BODY>, &mjModel::nbody};
constexpr Kind kJoint{name<mjOBJ_JOINT>, &mjModel::njnt};
constexpr Kind kDof{name_dof, &mjModel::nv};
constexpr Kind kCoordinate{name_coordinate, &mjModel::nq};
constexpr Kind kGeom{name<mjOBJ_GEOM>, &mjModel::ngeom};
constexpr Kind kSite{name<mjOBJ_SITE>, &mjModel::nsite};
constexpr Kind kCamera{name<mjOBJ_CAMERA>, &mjModel::ncam};
constexpr Kind kPair{name<mjOBJ_PAIR>, &mjModel::npair};
constexpr Kind kEquality{name<mjOBJ_EQUALITY>, &mjModel::neq};
constexpr Kind kTendon{name<mjOBJ_TENDON>, &mjModel::ntendon};
constexpr Kind kPath{name_path, &mjModel::nwrap};
constexpr Kind kActuator{name<mjOBJ_ACTUATOR>, &mjModel::nactuator};
constexpr Kind kControl{name_control, &mjModel::nu};
constexpr Kind kOutput{name_output, &mjModel::nout};
constexpr Kind kSensor{name<mjOBJ_SENSOR>, &mjModel::nsensor};
constexpr Kind kHfield{name<mjOBJ_HFIELD>, &mjModel::nhfield};
constexpr Kind kElevation{name_elevation, &mjModel::nhfielddata, true};
constexpr Kind kVertex{name_vertex, &mjModel::nmeshvert, true};
constexpr Kind kPolygon{name_polygon, &mjModel::nmeshpoly, true};
constexpr Kind kVolume{name_volume, &mjModel::nbvhstatic, true};
constexpr Kind kCell{name_cell, &mjModel::noct, true};

#define FIELD(name) #name, &mjModel::name

constexpr NumberArray kArrays[] = {
    kBody(FIELD(body_mass), "mass", 1, Range::kNonNegative),
    kBody(FIELD(body_inertia), "inertia", 3, Range::kNonNegative),
    kBody(FIELD(body_pos), "pos", 3, Range::kModerate),
    kBody(FIELD(body_quat), "quat", 4, Range::kNonZeroRow),
    kBody(FIELD(body_ipos), "inertial pos", 3, Range::kModerate),
    kBody(FIELD(body_iquat), "inertial quat", 4, Range::kUnitRow),
    kBody(FIELD(body_gravcomp), "gravcomp", 1, Range::kModerate),
    kBody(FIELD(body_margin), "margin", 1, Range::kModerate),
    kBody(FIELD(body_subtreemass), "subtreemass", 1, Range::kDerived),
    kBody(FIELD(body_invweight0), "invweight0", 2, Range::kDerived),

    kGeom(FIELD(geom_size), "size", 3, Range::kNonNegative),
    kGeom(FIELD(geom_pos), "pos", 3, Range::kModerate),
    kGeom(FIELD(geom_quat), "quat", 4, Range::kUnitRow),
    kGeom(FIELD(geom_friction), "friction", 3, Range::kNonNegative),
    kGeom(FIELD(geom_rbound), "rbound", 1, Range::kNonNegative),
    kGeom(FIELD(geom_aabb), "aabb", 6, Range::kModerate),
    kGeom(FIELD(geom_margin), "margin", 1, Range::kDistance),
    kGeom(FIELD(geom_gap), "gap", 1, Range::kModerate),
    kGeom(FIELD(geom_solmix), "solmix", 1, Range::kModerate),
    kGeom(FIELD(geom_solref), "solref", mjNREF, Range::kModerate),
    kGeom(FIELD(geom_solimp), "solimp", mjNIMP, Range::kModerate),
    kGeom(FIELD(geom_surfacevel), "surfacevel", 6, Range::kModerate),
    kGeom(FIELD(geom_adhesion), "adhesion", 1, Range::kModerate),
    kGeom(FIELD(geom_fluid), "fluidcoef", mjNFLUID, Range::kModerate),

    kSite(FIELD(site_size), "size", 3, Range::kNonNegative),
    kSite(FIELD(site_pos), "pos", 3, Range::kModerate),
    kSite(FIELD(site_quat), "quat", 4, Range::kUnitRow),

    kCamera(FIELD(cam_pos), "pos", 3, Range::kModerate),
    kCamera(FIELD(cam_quat), "quat", 4, Range::kUnitRow),
    kCamera(FIELD(cam_poscom0), "poscom0", 3, Range::kModerate),
    kCamera(FIELD(cam_pos0), "pos0", 3, Range::kModerate),
    kCamera(FIELD(cam_mat0), "mat0", 9, Range::kModerate),
    kCamera(FIELD(cam_fovy), "fovy", 1, Range::kModerate),
    kCamera(FIELD(cam_sensorsize), "sensorsize", 2, Range::kModerate),
    kCamera(FIELD(cam_intrinsic), "focal or principal", 4, Range::kModerate),

    kSensor(FIELD(sensor_cutoff), "cutoff", 1, Range::kModerate),
    kSensor(FIELD(sensor_delay), "delay", 1, Range::kNonNegative),
    kSensor(FIELD(sensor_interval), "interval", 2, Range::kModerate),

    kJoint(FIELD(jnt_stiffness), "stiffness", 1, Range::kModerate),
    kJoint(FIELD(jnt_stiffnesspoly), "stiffness", mjNPOLY, Range::kModerate),
    kJoint(FIELD(jnt_springyield), "springyield", 1, Range::kModerate),
    kJoint(FIELD(jnt_range), "range", 2, Range::kModerate),
    kJoint(FIELD(jnt_actfrcrange), "actuatorfrcrange", 2, Range::kNotNan),
    kJoint(FIELD(jnt_pos), "pos", 3, Range::kModerate),
    kJoint(FIELD(jnt_axis), "axis", 3, Range::kUnitRow),
    kJoint(FIELD(jnt_margin), "margin", 1, Range::kModerate),
    kJoint(FIELD(jnt_solref), "solreflimit", mjNREF, Range::kModerate),
    kJoint(FIELD(jnt_solimp), "solimplimit", mjNIMP, Range::kModerate),

    kDof(FIELD(dof_armature), "armature", 1, Range::kNonNegative),
    kDof(FIELD(dof_M0), "M0", 1, Range::kDerived),
    kDof(FIELD(dof_invweight0), "invweight0", 1, Range::kDerived),
    kDof(FIELD(dof_length), "length", 1, Range::kDerived),
    kDof(FIELD(dof_damping), "damping", 1, Range::kModerate),
    kDof(FIELD(dof_dampingpoly), "damping", mjNPOLY, Range::kModerate),
    kDof(FIELD(dof_frictionloss), "frictionloss", 1, Range::kNonNegative),
    kDof(FIELD(dof_solref), "solreffriction", mjNREF, Range::kModerate),
    kDof(FIELD(dof_solimp), "solimpfriction", mjNIMP, Range::kModerate),

    kCoordinate(FIELD(qpos0), "reference position", 1, Range::kModerate),
    kCoordinate(FIELD(qpos_spring), "springref", 1, Range::kModerate),

    kPair(FIELD(pair_friction), "friction", 5, Range::kNonNegative),
    kPair(FIELD(pair_adhesion), "adhesion", 1, Range::kModerate),
    kPair(FIELD(pair_margin), "margin", 1, Range::kDistance),
    kPair(FIELD(pair_gap), "gap", 1, Range::kModerate),
    kPair(FIELD(pair_solref), "solref", mjNREF, Range::kModerate),
    kPair(FIELD(pair_solreffriction), "solreffriction", mjNREF, Range::kModerate),
    kPair(FIELD(pair_solimp), "solimp", mjNIMP, Range::kModerate),

    kEquality(FIELD(eq_solref), "solref", mjNREF, Range::kModerate),
    kEquality(FIELD(eq_solimp), "solimp", mjNIMP, Range::kModerate),
    kEquality(FIELD(eq_data), "data (anchor, relpose, polycoef)", mjNEQDATA, Range::kModerate),

    kTendon(FIELD(tendon_stiffness), "stiffness", 1, Range::kModerate),
    kTendon(FIELD(tendon_stiffnesspoly), "stiffness", mjNPOLY, Range::kModerate),
    kTendon(FIELD(tendon_damping), "damping", 1, Range::kModerate),
    kTendon(FIELD(tendon_dampingpoly), "damping", mjNPOLY, Range::kModerate),
    kTendon(FIELD(tendon_armature), "armature", 1, Range::kNonNegative),
    kTendon(FIELD(tendon_frictionloss), "frictionloss", 1, Range::kNonNegative),
    kTendon(FIELD(tendon_springyield), "springyield", 1, Range::kModerate),
    kTendon(FIELD(tendon_invweight0), "invweight0", 1, Range::kDerived),
    kTendon(FIELD(tendon_length0), "length0", 1, Range::kModerate),
    kTendon(FIELD(tendon_lengthspring), "springlength", 2, Range::kModerate),
    kTendon(FIELD(tendon_range), "range", 2, Range::kNotNan),
    kTendon(FIELD(tendon_actfrcrange), "actuatorfrcrange", 2, Range::kNotNan),
    kTendon(FIELD(tendon_margin), "margin", 1, Range::kModerate),
    kTendon(FIELD(tendon_solref_lim), "solreflimit", mjNREF, Range::kModerate),
    kTendon(FIELD(tendon_solimp_lim), "solimplimit", mjNIMP, Range::kModerate),
    kTendon(FIELD(tendon_solref_fri), "solreffriction", mjNREF, Range::kModerate),
    kTendon(FIELD(tendon_solimp_fri), "solimpfriction", mjNIMP, Range::kModerate),
    kPath(FIELD(wrap_prm), "coef or divisor", 1, Range::kModerate),

    kActuator(FIELD(actuator_gainprm), "gain", mjNGAIN, Range::kModerate),
    kActuator(FIELD(actuator_biasprm), "bias", mjNBIAS, Range::kModerate),
    kActuator(FIELD(actuator_dynprm), "dynprm", mjNDYN, Range::kModerate),
    kActuator(FIELD(actuator_cranklength), "cranklength", 1, Range::kModerate),
    kActuator(FIELD(actuator_damping), "damping", 1, Range::kModerate),
    kActuator(FIELD(actuator_dampingpoly), "damping", mjNPOLY, Range::kModerate),
    kActuator(FIELD(actuator_armature), "armature", 1, Range::kNonNegative),
    kActuator(FIELD(actuator_delay), "delay", 1, Range::kNonNegative),
    kActuator(FIELD(actuator_actrange), "actrange", 2, Range::kNotNan),
    kActuator(FIELD(actuator_forcerange), "forcerange", 2, Range::kNotNan),
    kControl(FIELD(actuator_ctrlrange), "ctrlrange", 2, Range::kNotNan),
    kOutput(FIELD(actuator_gear), "gear", 6, Range::kModerate),
    kOutput(FIELD(actuator_acc0), "acc0", 1, Range::kDerived),
    kOutput(FIELD(actuator_length0), "length0", 1, Range::kModerate),
    kOutput(FIELD(actuator_lengthrange), "lengthrange", 2, Range::kModerate),

    kHfield(FIELD(hfield_size), "size", 4, Range::kNonNegative),
    kElevation(FIELD(hfield_data), "elevation", 1, Range::kNonNegative),
    kVertex(FIELD(mesh_vert), "vertex", 3, Range::kDistance),
    kPolygon(FIELD(mesh_polynormal), "polygon normal", 3, Range::kDistance),
    kVolume(FIELD(bvh_aabb), "aabb", 6, Range::kModerate),
    kCell(FIELD(oct_aabb), "aabb", 6, Range::kModerate),
    kCell(FIELD(oct_coeff), "coefficient", 8, Range::kModerate),
};

#undef FIELD

#define OPTION(name) "opt." #name, "option", #name, offsetof(mjModel, opt.name)

constexpr NumberMember kMembers[] = {
    {OPTION(timestep), 1, Range::kPositive},
    {OPTION(density), 1, Range::kNonNegative},
    {OPTION(viscosity), 1, Range::kNonNegative},
    {OPTION(tolerance), 1, Range::kModerate},
    {OPTION(ls_tolerance), 1, Range::kModerate},
    {OPTION(noslip_tolerance), 1, Range::kModerate},
    {OPTION(ccd_tolerance), 1, Range::kNonNegative},
    {OPTION(sleep_tolerance), 1, Range::kModerate},
    {OPTION(impratio), 1, Range::kModerate},
    {OPTION(gravity), 3, Range::kModerate},
    {OPTION(wind), 3, Range::kModerate},
    {OPTION(magnetic), 3, Range::kModerate},
    {OPTION(o_margin), 1, Range::kDistance},
    {OPTION(o_solref), mjNREF, Range::kModerate},
    {OPTION(o_solimp), mjNIMP, Range::kModerate},
    {OPTION(o_friction), 5, Range::kNonNegative},
    {"stat.meaninertia", "statistic", "meaninertia", offsetof(mjModel, stat.meaninertia), 1,
     Range::kDerived},
};

#undef OPTION

/// The interval of the squared norm of a row.
struct NormRange {
  explicit NormRange(Range range)
      : least(range == Range::kUnitRow ? 1 - kMaxUnitError : mjMINVAL * mjMINVAL),
        most(range == Range::kUnitRow ? 1 + kMaxUnitError : kMaxDerived) {}

  double least, most;
};

template <int kWidth>
bool have_norms(const NormRange& range, mjtSize count, const mjtNum* values) {
  bool is_good = true;
  for (mjtSize i = 0; i < count; ++i) {
    double squares = 0;
    for (int k = 0; k < kWidth; ++k) squares += values[kWidth * i + k] * values[kWidth * i + k];
    is_good &= squares >= range.least && squares <= range.most;
  }
  return is_good;
}

/// Checks rows of four numbers, four rows at a time. The sums have the same bits as those of single
/// rows.
bool have_norms_of_four(const NormRange& range, mjtSize count, const mjtNum* values) {
  using math::Lanes;
  const Lanes least = math::broadcast(range.least), most = math::broadcast(range.most);
  math::LaneMask are_good = least == least;
  mjtSize i = 0;
  for (; i + 4 <= count; i += 4) {
    const auto row = [&](int k) { return math::load<Lanes>(values + 4 * (i + k)); };
    const auto [x, y, z, w] = math::transpose(row(0), row(1), row(2), row(3));
    const Lanes squares = x * x + y * y + z * z + w * w;
    are_good &= (squares >= least) & (squares <= most);
  }
  return math::true_lanes(are_good) == 15 && have_norms<4>(range, count - i, values + 4 * i);
}

}  // namespace

Interval interval_of(Range range) {
  switch (range) {
    case Range::kNotNan: return {std::numeric_limits<double>::infinity(), true};
    case Range::kDistance: return {kMaxDistance, true};
    case Range::kDerived: return {kMaxDerived, false};
    case Range::kNonNegative:
    case Range::kPositive: return {kMax, false};
    case Range::kModerate:
    case Range::kNonZeroRow:
    case Range::kUnitRow: break;
  }
  return {kMax, true};
}

bool is_in(Range range, double value) {
  const Interval interval = interval_of(range);
  return std::abs(value) <= interval.max && (value >= 0 || interval.has_negative) &&
         (value != 0 || range != Range::kPositive);
}

bool is_row(Range range) { return range == Range::kNonZeroRow || range == Range::kUnitRow; }

bool have_norms(Range range, mjtSize count, int width, const mjtNum* values) {
  const NormRange norms(range);
  return width == 4 ? have_norms_of_four(norms, count, values)
                    : have_norms<3>(norms, count, values);
}

std::span<const NumberArray> number_arrays() { return kArrays; }
std::span<const NumberMember> number_members() { return kMembers; }

}  // namespace stiction::plant
