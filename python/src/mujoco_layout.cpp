#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include <mujoco/mjxmacro.h>
#include "bindings.hpp"

/// The fields of MuJoCo's structs, and its constants, in the headers that this module was built
/// with. python/stiction/binding/_mujoco_layout.py compares them with the installed MuJoCo.
namespace stiction::python {
namespace {

using namespace std::literals;

/// Returns NumPy's name of the type of a number, or an empty string for other types.
template <class T>
constexpr std::string_view find_dtype() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 8 ? "f8"sv : "f4"sv;
  if constexpr (std::is_integral_v<T>) {
    if (sizeof(T) == 1) return "u1"sv;
    if (sizeof(T) == 4) return std::is_signed_v<T> ? "i4"sv : "u4"sv;
    return std::is_signed_v<T> ? "i8"sv : "u8"sv;
  }
  return ""sv;
}

/// Rows (struct, field, kind, offset [bytes], dtype). The kinds are `value`, a number in the
/// struct; `pointer`, the address of an array; `member`, an array in the struct; and `stride`, the
/// size [bytes] of an element of an array of structs, in place of the offset.
class LayoutRows {
 public:
  void add(const char* owner, const char* field, const char* kind, std::size_t offset,
           std::string_view dtype = "") {
    rows_.append(nb::make_tuple(owner, field, kind, offset, nb::str(dtype.data(), dtype.size())));
  }
  const nb::list& rows() const { return rows_; }

 private:
  nb::list rows_;
};

#define ADD_VALUE(owner, type, field) \
  rows->add(owner, #field, "value", offsetof(type, field), find_dtype<decltype(type::field)>())
#define ADD_POINTER(owner, type, field) rows->add(owner, #field, "pointer", offsetof(type, field))
#define ADD_MEMBER(owner, type, field) rows->add(owner, #field, "member", offsetof(type, field))

void add_model(LayoutRows* rows) {
#define X(field) ADD_VALUE("model", mjModel, field);
  MJMODEL_SIZES
#undef X
#define X(type, field, num_rows, num_columns) ADD_POINTER("model", mjModel, field);
  MJMODEL_POINTERS
#undef X
  ADD_VALUE("model", mjModel, flg_gravcomp);
  ADD_VALUE("model", mjModel, flg_surfacevel);
  ADD_VALUE("model", mjModel, flg_adhesion);
  ADD_VALUE("model", mjModel, signature);
}

void add_options(LayoutRows* rows) {
#define X(type, field, size) ADD_VALUE("model", mjModel, opt.field);
#define XVEC(type, field, size) ADD_MEMBER("model", mjModel, opt.field);
  MJOPTION_FIELDS
#undef X
#undef XVEC
#define X(field, size) ADD_VALUE("model", mjModel, stat.field);
#define XVEC(field, size) ADD_MEMBER("model", mjModel, stat.field);
  MJSTATISTIC_FIELDS
#undef X
#undef XVEC
}

void add_data(LayoutRows* rows) {
#define X(type, field) ADD_VALUE("data", mjData, field);
  MJDATA_SCALAR
#undef X
#define X(type, field, num_rows, num_columns) ADD_POINTER("data", mjData, field);
  MJDATA_POINTERS
  MJDATA_ARENA_POINTERS_SOLVER
  MJDATA_ARENA_POINTERS_ISLAND
#undef X
  ADD_VALUE("data", mjData, signature);
  ADD_MEMBER("data", mjData, solver_niter);
  ADD_MEMBER("data", mjData, solver_nnz);
  ADD_MEMBER("data", mjData, solver_fwdinv);
  ADD_MEMBER("data", mjData, energy);
}

/// Adds the arrays of structs in mjData.
void add_statistics(LayoutRows* rows) {
#define ADD_STATISTIC(array, type, field) \
  rows->add("data", #array "." #field, "member", offsetof(mjData, array) + offsetof(type, field))
  ADD_STATISTIC(solver, mjSolverStat, improvement);
  ADD_STATISTIC(solver, mjSolverStat, neval);
  ADD_STATISTIC(warning, mjWarningStat, lastinfo);
  ADD_STATISTIC(warning, mjWarningStat, number);
  ADD_STATISTIC(timer, mjTimerStat, duration);
  ADD_STATISTIC(timer, mjTimerStat, number);
#undef ADD_STATISTIC
  rows->add("data", "solver.neval", "stride", sizeof(mjSolverStat));
  rows->add("data", "warning.number", "stride", sizeof(mjWarningStat));
  rows->add("data", "timer.number", "stride", sizeof(mjTimerStat));
}

/// Adds the contacts, whose offsets are relative to the first contact.
void add_contact(LayoutRows* rows) {
  static_assert(offsetof(mjContact, dist) == 0);
  rows->add("data", "contact.dist", "pointer", offsetof(mjData, contact));
  // MuJoCo allocates the contacts before all else.
  rows->add("data", "contact.dist", "pointer", offsetof(mjData, arena));
  rows->add("contact", "dist", "stride", sizeof(mjContact));
  ADD_MEMBER("contact", mjContact, dist);
  ADD_MEMBER("contact", mjContact, pos);
  ADD_MEMBER("contact", mjContact, frame);
  ADD_MEMBER("contact", mjContact, includemargin);
  ADD_MEMBER("contact", mjContact, friction);
  ADD_MEMBER("contact", mjContact, solref);
  ADD_MEMBER("contact", mjContact, solreffriction);
  ADD_MEMBER("contact", mjContact, solimp);
  ADD_MEMBER("contact", mjContact, adhesion);
  ADD_MEMBER("contact", mjContact, surfacevel);
  ADD_MEMBER("contact", mjContact, mu);
  ADD_MEMBER("contact", mjContact, H);
  ADD_MEMBER("contact", mjContact, dim);
  ADD_MEMBER("contact", mjContact, geom1);
  ADD_MEMBER("contact", mjContact, geom2);
  ADD_MEMBER("contact", mjContact, geom);
  ADD_MEMBER("contact", mjContact, flex);
  ADD_MEMBER("contact", mjContact, elem);
  ADD_MEMBER("contact", mjContact, vert);
  ADD_MEMBER("contact", mjContact, exclude);
  ADD_MEMBER("contact", mjContact, efc_address);
}

nb::list list_mujoco_fields() {
  LayoutRows rows;
  add_model(&rows);
  add_options(&rows);
  add_data(&rows);
  add_statistics(&rows);
  add_contact(&rows);
  return rows.rows();
}

// ---- models in files ----------------------------------------------------------------------------

#undef MJ_M
#define MJ_M(n) sizes.n

/// Returns the sizes of a model in MuJoCo's binary format, and (offset [bytes], number) of each of
/// its arrays of int, by their names; an empty dict if the content has another length than such a
/// model. MuJoCo itself follows indices while it loads a model, so nothing may run before a check.
nb::dict find_model_arrays(const nb::bytes& content) {
  mjModel sizes{};
  nb::dict found;
  std::size_t at = 5 * sizeof(int);  // of the header
  const auto fits = [&](std::size_t size) { return content.size() >= at + size; };
#define X(field)                                                       \
  if (!fits(sizeof sizes.field)) return {};                            \
  std::memcpy(&sizes.field, content.c_str() + at, sizeof sizes.field); \
  at += sizeof sizes.field;                                            \
  found[#field] = sizes.field;
  MJMODEL_SIZES
#undef X
  at += sizeof(mjOption) + sizeof(mjVisual) + sizeof(mjStatistic) + sizeof sizes.flg_gravcomp +
        sizeof sizes.flg_surfacevel + sizeof sizes.flg_adhesion;
  const auto add = [&](const char* name, bool is_int, std::size_t size, auto rows, auto columns) {
    const auto limit = static_cast<std::int64_t>(content.size());
    if (rows < 0 || columns < 0 || rows > limit || columns > limit) return false;
    if (columns > 0 && rows > limit / columns) return false;
    const auto number = static_cast<std::size_t>(rows * columns);
    if (!fits(number * size)) return false;
    if (is_int) found[name] = nb::make_tuple(at, number);
    at += number * size;
    return true;
  };
#define X(type, field, num_rows, num_columns)                                             \
  if (!add(#field, std::is_same_v<type, int>, sizeof(type), std::int64_t{sizes.num_rows}, \
           std::int64_t{num_columns}))                                                    \
    return {};
  MJMODEL_POINTERS
#undef X
  return at == content.size() ? found : nb::dict();
}

#undef MJ_M
#define MJ_M(n) n

// ---- constants ----------------------------------------------------------------------------------

/// Adds values by their names: "mjNREF, mjNIMP".
void add_constants(nb::dict* out, const std::string& prefix, std::string_view names,
                   std::initializer_list<double> values) {
  for (const double value : values) {
    const std::size_t end = std::min(names.find(','), names.size());
    const std::string name = prefix + std::string(names.substr(0, end));
    (*out)[name.c_str()] = value;
    names.remove_prefix(std::min(end + 2, names.size()));
  }
}

#define NUMBERS(...) add_constants(out, "", #__VA_ARGS__, {__VA_ARGS__})
#define ENUMERATORS(type, ...) add_constants(out, #type ".", #__VA_ARGS__, {__VA_ARGS__})

void add_model_constants(nb::dict* out) {
  NUMBERS(mjMAXCONPAIR, mjMAXVAL, mjMINAWAKE, mjMINMU, mjMINVAL, mjNBIAS, mjNDYN, mjNEQDATA,
          mjNFLUID, mjNGAIN, mjNGROUP, mjNIMP, mjNISLAND, mjNPOLY, mjNREF, mjNSOLVER);
  ENUMERATORS(mjtBias, mjBIAS_AFFINE, mjBIAS_DCMOTOR, mjBIAS_MUSCLE, mjBIAS_NONE, mjBIAS_SO3,
              mjBIAS_USER);
  ENUMERATORS(mjtConstraint, mjCNSTR_CONTACT_ELLIPTIC, mjCNSTR_CONTACT_FRICTIONLESS,
              mjCNSTR_CONTACT_PYRAMIDAL, mjCNSTR_EQUALITY, mjCNSTR_FRICTION_DOF,
              mjCNSTR_FRICTION_TENDON, mjCNSTR_LIMIT_JOINT, mjCNSTR_LIMIT_TENDON);
  ENUMERATORS(mjtConstraintState, mjCNSTRSTATE_CONE, mjCNSTRSTATE_LINEARNEG, mjCNSTRSTATE_LINEARPOS,
              mjCNSTRSTATE_QUADRATIC, mjCNSTRSTATE_SATISFIED);
  ENUMERATORS(mjtCtrlInput, mjINPUT_FF, mjINPUT_NONE, mjINPUT_POS, mjINPUT_PRESSURE, mjINPUT_VEL,
              mjINPUT_VOLTAGE);
  ENUMERATORS(mjtDisableBit, mjDSBL_ACTUATION, mjDSBL_AUTORESET, mjDSBL_CLAMPCTRL,
              mjDSBL_CONSTRAINT, mjDSBL_CONTACT, mjDSBL_DAMPER, mjDSBL_EQUALITY, mjDSBL_EULERDAMP,
              mjDSBL_FILTERPARENT, mjDSBL_FRICTIONLOSS, mjDSBL_GRAVITY, mjDSBL_ISLAND, mjDSBL_LIMIT,
              mjDSBL_MIDPHASE, mjDSBL_MULTICCD, mjDSBL_NATIVECCD, mjDSBL_REFSAFE, mjDSBL_SENSOR,
              mjDSBL_SPRING, mjDSBL_WARMSTART, mjNDISABLE);
  ENUMERATORS(mjtDyn, mjDYN_DCMOTOR, mjDYN_FILTER, mjDYN_FILTEREXACT, mjDYN_INTEGRATOR,
              mjDYN_MUSCLE, mjDYN_NONE, mjDYN_PID, mjDYN_USER);
  ENUMERATORS(mjtEnableBit, mjENBL_DIAGEXACT, mjENBL_ENERGY, mjENBL_FWDINV, mjENBL_INVDISCRETE,
              mjENBL_IPC, mjENBL_OVERRIDE, mjENBL_SLEEP, mjENBL_SPECULATIVE, mjNENABLE);
  ENUMERATORS(mjtEq, mjEQ_CONNECT, mjEQ_DISTANCE, mjEQ_FLEX, mjEQ_FLEXSTRAIN, mjEQ_FLEXVERT,
              mjEQ_JOINT, mjEQ_TENDON, mjEQ_WELD);
  ENUMERATORS(mjtGain, mjGAIN_AFFINE, mjGAIN_DCMOTOR, mjGAIN_FIXED, mjGAIN_MUSCLE, mjGAIN_PID,
              mjGAIN_SO3, mjGAIN_USER);
  ENUMERATORS(mjtGeom, mjGEOM_ARROW, mjGEOM_ARROW1, mjGEOM_ARROW2, mjGEOM_BOX, mjGEOM_CAPSULE,
              mjGEOM_CYLINDER, mjGEOM_ELLIPSOID, mjGEOM_FLEX, mjGEOM_HFIELD, mjGEOM_LABEL,
              mjGEOM_LINE, mjGEOM_LINEBOX, mjGEOM_MESH, mjGEOM_NONE, mjGEOM_PLANE, mjGEOM_SDF,
              mjGEOM_SKIN, mjGEOM_SPHERE, mjGEOM_TRIANGLE, mjNGEOMTYPES);
  ENUMERATORS(mjtIntegrator, mjINT_DISCRETE, mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST,
              mjINT_RK4);
  ENUMERATORS(mjtJoint, mjJNT_BALL, mjJNT_FREE, mjJNT_HINGE, mjJNT_SLIDE);
  ENUMERATORS(mjtLogLevel, mjLOG_DEBUG, mjLOG_ERROR, mjLOG_INFO, mjLOG_WARNING);
}

void add_other_constants(nb::dict* out) {
  ENUMERATORS(mjtObj, mjNOBJECT, mjOBJ_ACTUATOR, mjOBJ_BODY, mjOBJ_CAMERA, mjOBJ_DEFAULT, mjOBJ_DOF,
              mjOBJ_EQUALITY, mjOBJ_EXCLUDE, mjOBJ_FLEX, mjOBJ_FRAME, mjOBJ_GEOM, mjOBJ_HFIELD,
              mjOBJ_JOINT, mjOBJ_KEY, mjOBJ_LIGHT, mjOBJ_MATERIAL, mjOBJ_MESH, mjOBJ_MODEL,
              mjOBJ_NUMERIC, mjOBJ_PAIR, mjOBJ_PLUGIN, mjOBJ_SENSOR, mjOBJ_SITE, mjOBJ_SKIN,
              mjOBJ_TENDON, mjOBJ_TEXT, mjOBJ_TEXTURE, mjOBJ_TUPLE, mjOBJ_UNKNOWN, mjOBJ_XBODY);
  ENUMERATORS(mjtPluginCapabilityBit, mjPLUGIN_ACTUATOR, mjPLUGIN_PASSIVE, mjPLUGIN_SDF,
              mjPLUGIN_SENSOR);
  ENUMERATORS(mjtStage, mjSTAGE_ACC, mjSTAGE_NONE, mjSTAGE_POS, mjSTAGE_VEL);
  ENUMERATORS(mjtSensor, mjSENS_TACTILE);
  ENUMERATORS(mjtSleepPolicy, mjSLEEP_ALLOWED, mjSLEEP_AUTO, mjSLEEP_AUTO_ALLOWED,
              mjSLEEP_AUTO_NEVER, mjSLEEP_INIT, mjSLEEP_NEVER);
  ENUMERATORS(mjtSleepState, mjS_ASLEEP, mjS_AWAKE, mjS_STATIC);
  ENUMERATORS(mjtState, mjNSTATE, mjSTATE_ACT, mjSTATE_CTRL, mjSTATE_EQ_ACTIVE, mjSTATE_FULLPHYSICS,
              mjSTATE_HISTORY, mjSTATE_INTEGRATION, mjSTATE_MOCAP_POS, mjSTATE_MOCAP_QUAT,
              mjSTATE_PHYSICS, mjSTATE_PLASTIC, mjSTATE_PLUGIN, mjSTATE_QFRC_APPLIED, mjSTATE_QPOS,
              mjSTATE_QVEL, mjSTATE_TIME, mjSTATE_USER, mjSTATE_USERDATA, mjSTATE_WARMSTART,
              mjSTATE_XFRC_APPLIED);
  ENUMERATORS(mjtTrn, mjTRN_BODY, mjTRN_JOINT, mjTRN_JOINTINPARENT, mjTRN_SITE, mjTRN_SLIDERCRANK,
              mjTRN_SO3, mjTRN_TENDON, mjTRN_UNDEFINED);
  ENUMERATORS(mjtWarning, mjNWARNING, mjWARN_BADCTRL, mjWARN_BADQACC, mjWARN_BADQPOS,
              mjWARN_BADQVEL, mjWARN_CNSTRFULL, mjWARN_CONTACTFULL, mjWARN_INERTIA);
  ENUMERATORS(mjtWrap, mjWRAP_CYLINDER, mjWRAP_JOINT, mjWRAP_PULLEY, mjWRAP_SITE, mjWRAP_SPHERE);
}

/// Lists the constants that Stiction uses, and all others of their enumerations, by the names that
/// the package `mujoco` gives them.
nb::dict list_mujoco_constants() {
  nb::dict out;
  add_model_constants(&out);
  add_other_constants(&out);
  return out;
}

}  // namespace

void bind_mujoco_layout(nb::module_& m) {
  m.def("list_mujoco_fields", list_mujoco_fields,
        nb::sig("def list_mujoco_fields() -> list[tuple[str, str, str, int, str]]"),
        "The fields of MuJoCo's structs in the headers of this build: struct, field, kind, offset "
        "and dtype.");
  m.def(
      "find_model_arrays", find_model_arrays, nb::arg("content"),
      nb::sig("def find_model_arrays(content: bytes) -> dict[str, typing.Any]"),
      "The sizes of a model in MuJoCo's binary format, and offset and number of the entries of its "
      "arrays of int, by their names; empty if the content is no such model.");
  m.attr("MUJOCO_VERSION") = mjVERSION_HEADER;
  m.def("list_mujoco_constants", list_mujoco_constants,
        nb::sig("def list_mujoco_constants() -> dict[str, float]"),
        "The constants of MuJoCo that Stiction uses, in the headers of this build.");
}

}  // namespace stiction::python
