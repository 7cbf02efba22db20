#include "stiction/plant/model/model_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include <mujoco/mjxmacro.h>

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

/// Names of arrays: "light_*" are all that begin with "light_", and "*_user" all that end so.
struct Names {
  std::span<const std::string_view> patterns;

  bool has(std::string_view name) const {
    return std::ranges::any_of(patterns, [&](std::string_view pattern) {
      if (pattern.front() == '*') return name.ends_with(pattern.substr(1));
      return pattern.back() == '*' ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                   : name == pattern;
    });
  }
};

/// The arrays that a step does not read, line by line: they are only for drawing; they are numbers
/// of the user; models with flexes are refused; a reset copies keyframes to the state, which each
/// step checks; the compiler of MuJoCo has applied the poses of meshes; MuJoCo adds no noise.
constexpr std::string_view kUnread[] = {
    "*_rgba",      "cam_ipd",       "light_*",    "mat_*",        "skin_*",       "tendon_width",
    "mesh_normal", "mesh_texcoord", "*_user",     "numeric_data", "tuple_objprm", "flex*",
    "efm0_L",      "key_*",         "mesh_scale", "mesh_pos",     "mesh_quat",    "sensor_noise"};

constexpr std::string_view kNotNan[] = {
    "jnt_range",         "jnt_actfrcrange",     "tendon_range",      "tendon_actfrcrange",
    "actuator_actrange", "actuator_forcerange", "actuator_ctrlrange"};
constexpr std::string_view kDistance[] = {"geom_margin", "pair_margin", "mesh_vert",
                                          "mesh_polynormal", "opt.o_margin"};
constexpr std::string_view kDerived[] = {"body_subtreemass", "*_invweight0",  "dof_M0",
                                         "dof_length",       "actuator_acc0", "stat.meaninertia"};
constexpr std::string_view kNonNegative[] = {
    "body_mass",   "body_inertia", "*_size",         "geom_rbound",
    "*_friction",  "*_armature",   "*_frictionloss", "*_delay",
    "hfield_data", "opt.density",  "opt.viscosity",  "opt.ccd_tolerance"};
constexpr std::string_view kPositive[] = {"opt.timestep"};
constexpr std::string_view kNonZeroRow[] = {"body_quat"};
constexpr std::string_view kUnitRow[] = {"*_quat", "body_iquat", "jnt_axis"};

/// The ranges of the arrays that are not kModerate; the first range that has the name decides.
struct RangeRow {
  Range range;
  Names names;
};
constexpr RangeRow kRanges[] = {
    {Range::kNotNan, {kNotNan}},     {Range::kDistance, {kDistance}},
    {Range::kDerived, {kDerived}},   {Range::kNonNegative, {kNonNegative}},
    {Range::kPositive, {kPositive}}, {Range::kNonZeroRow, {kNonZeroRow}},
    {Range::kUnitRow, {kUnitRow}}};

Range find_range(std::string_view field) {
  for (const RangeRow& row : kRanges)
    if (row.names.has(field)) return row.range;
  return Range::kModerate;
}

/// The elements of arrays: the name of their number, and how an element is named.
struct Elements {
  std::string_view count_name;
  mjtObj type;                 // of an element with a name, or of the owner of a part of an array
  const char* kind = nullptr;  // of an element without a name
  mjtSize mjModel::*num_owners = nullptr;
  int* mjModel::*first = nullptr;  // the first element of each owner
  bool is_large = false;
};
constexpr Elements kElements[] = {
    {"nbody", mjOBJ_BODY},
    {"njnt", mjOBJ_JOINT},
    {"nv", mjOBJ_JOINT, nullptr, &mjModel::njnt, &mjModel::jnt_dofadr},
    {"nq", mjOBJ_JOINT, nullptr, &mjModel::njnt, &mjModel::jnt_qposadr},
    {"ngeom", mjOBJ_GEOM},
    {"nsite", mjOBJ_SITE},
    {"ncam", mjOBJ_CAMERA},
    {"npair", mjOBJ_PAIR},
    {"neq", mjOBJ_EQUALITY},
    {"ntendon", mjOBJ_TENDON},
    {"nwrap", mjOBJ_TENDON, nullptr, &mjModel::ntendon, &mjModel::tendon_adr},
    {"nactuator", mjOBJ_ACTUATOR},
    {"nu", mjOBJ_UNKNOWN, "control"},
    {"nout", mjOBJ_UNKNOWN, "actuator output"},
    {"nsensor", mjOBJ_SENSOR},
    {"nhfield", mjOBJ_HFIELD},
    {"nhfielddata", mjOBJ_HFIELD, nullptr, &mjModel::nhfield, &mjModel::hfield_adr, true},
    {"nmeshvert", mjOBJ_MESH, nullptr, &mjModel::nmesh, &mjModel::mesh_vertadr, true},
    {"nmeshpoly", mjOBJ_MESH, nullptr, &mjModel::nmesh, &mjModel::mesh_polyadr, true},
    {"nbvhstatic", mjOBJ_UNKNOWN, "bounding volume", nullptr, nullptr, true},
    {"noct", mjOBJ_UNKNOWN, "octree cell", nullptr, nullptr, true},
};

const Elements* find_elements(std::string_view count_name) {
  const auto* at = std::ranges::find(kElements, count_name, &Elements::count_name);
  return at == std::end(kElements) ? nullptr : at;
}

/// The names of numbers whose field has another name than their attribute in MJCF.
struct FieldName {
  std::string_view field, name;
};
constexpr FieldName kNames[] = {
    {"body_ipos", "inertial pos"},
    {"body_iquat", "inertial quat"},
    {"geom_fluid", "fluidcoef"},
    {"cam_intrinsic", "focal or principal"},
    {"jnt_stiffnesspoly", "stiffness"},
    {"jnt_actfrcrange", "actuatorfrcrange"},
    {"jnt_solref", "solreflimit"},
    {"jnt_solimp", "solimplimit"},
    {"dof_dampingpoly", "damping"},
    {"dof_solref", "solreffriction"},
    {"dof_solimp", "solimpfriction"},
    {"qpos0", "reference position"},
    {"qpos_spring", "springref"},
    {"eq_data", "data (anchor, relpose, polycoef)"},
    {"tendon_stiffnesspoly", "stiffness"},
    {"tendon_dampingpoly", "damping"},
    {"tendon_lengthspring", "springlength"},
    {"tendon_actfrcrange", "actuatorfrcrange"},
    {"tendon_solref_lim", "solreflimit"},
    {"tendon_solimp_lim", "solimplimit"},
    {"tendon_solref_fri", "solreffriction"},
    {"tendon_solimp_fri", "solimpfriction"},
    {"wrap_prm", "coef or divisor"},
    {"actuator_gainprm", "gain"},
    {"actuator_biasprm", "bias"},
    {"actuator_dampingpoly", "damping"},
    {"hfield_data", "elevation"},
    {"mesh_vert", "vertex"},
    {"mesh_polynormal", "polygon normal"},
    {"oct_coeff", "coefficient"},
};

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

bool is_unread(std::string_view field) { return Names{kUnread}.has(field); }

std::vector<NumberArray> list_numbers(const mjModel* m) {
  std::vector<NumberArray> out;
  const auto add = [&]<class T>(std::string_view field, const T* values,
                                std::string_view count_name, mjtSize count, mjtSize width) {
    if constexpr (std::is_floating_point_v<T>) {
      if (is_unread(field)) return;
      const Elements* elements = find_elements(count_name);
      NumberArray array{.field = field,
                        .count_name = count_name,
                        .count = count,
                        .width = static_cast<int>(width),
                        .range = find_range(field),
                        .is_large = elements && elements->is_large};
      if constexpr (std::is_same_v<T, float>)
        array.floats = values;
      else
        array.numbers = values;
      out.push_back(array);
    }
  };
#define X(type, name, n) add("opt." #name, &m->opt.name, "", n, 1);
#define XVEC(type, name, n) add("opt." #name, m->opt.name, "", n, 1);
  MJOPTION_FIELDS
#undef XVEC
#undef X
  add("stat.meaninertia", &m->stat.meaninertia, "", 1, 1);
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns) add(#name, m->name, #rows, m->rows, columns);
  MJMODEL_POINTERS
#undef X
  return out;
}

std::string name_element(const mjModel* m, const NumberArray& array, int element) {
  const Elements* elements = find_elements(array.count_name);
  if (!elements) return array.field.starts_with("stat.") ? "statistic" : "option";
  if (elements->kind)
    return std::string(elements->kind).append(" ").append(std::to_string(element));
  if (!elements->first) return describe(m, elements->type, element);
  int owner = 0;
  const int* first = m->*elements->first;
  for (int k = 0; k < m->*elements->num_owners; ++k)
    if (first[k] >= 0 && first[k] <= element) owner = k;
  return describe(m, elements->type, owner);
}

std::string_view name_numbers(const NumberArray& array) {
  const auto* at = std::ranges::find(kNames, array.field, &FieldName::field);
  if (at != std::end(kNames)) return at->name;
  return array.field.substr(array.field.find_first_of("._") + 1);
}

}  // namespace stiction::plant
