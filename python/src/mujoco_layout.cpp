#include <cstddef>
#include <string_view>
#include <type_traits>

#include <mujoco/mjxmacro.h>
#include "bindings.hpp"

/// The fields of MuJoCo's structs in the headers that this module was built with.
/// python/stiction/binding/_mujoco_layout.py compares them with the installed MuJoCo.
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

}  // namespace

void bind_mujoco_layout(nb::module_& m) {
  m.def("list_mujoco_fields", list_mujoco_fields,
        nb::sig("def list_mujoco_fields() -> list[tuple[str, str, str, int, str]]"),
        "The fields of MuJoCo's structs in the headers of this build: struct, field, kind, offset "
        "and dtype.");
}

}  // namespace stiction::python
