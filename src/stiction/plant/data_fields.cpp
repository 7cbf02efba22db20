#include "stiction/plant/data_fields.hpp"

#include <mujoco/mjxmacro.h>

namespace stiction::plant {

std::optional<DataField> find_data_field(const mjModel* m, std::string_view name) {
// MuJoCo's list of arrays: type, name, rows in mjModel, columns.
#define X(type, field, rows, columns)                                                      \
  if (name == #field)                                                                      \
    return DataField{.offset = offsetof(mjData, field),                                    \
                     .size = sizeof(type) * static_cast<std::size_t>(m->rows) * (columns), \
                     .is_array = true};
  MJDATA_POINTERS
#undef X
#define X(field)      \
  if (name == #field) \
    return DataField{.offset = offsetof(mjData, field), .size = sizeof(mjData::field)};
  X(time)
  X(ncon)
  X(ne) X(nf) X(nl) X(nefc) X(nJ) X(nA) X(nisland) X(nidof) X(energy) X(solver_niter) X(solver_nnz)
      X(solver_fwdinv)
#undef X
          return std::nullopt;
}

}  // namespace stiction::plant
