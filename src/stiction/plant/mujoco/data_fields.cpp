#include "stiction/plant/mujoco/data_fields.hpp"

#include <mujoco/mjxmacro.h>

namespace stiction::plant {
namespace {

/// A field whose values are in mjData itself.
struct Member {
  std::string_view name;
  std::size_t offset, size;  // [bytes]
};

#define MEMBER(field) \
  Member { #field, offsetof(mjData, field), sizeof(mjData::field) }
constexpr Member kMembers[] = {
    MEMBER(time),  MEMBER(energy),       MEMBER(ncon),       MEMBER(ne),           MEMBER(nf),
    MEMBER(nl),    MEMBER(nefc),         MEMBER(nJ),         MEMBER(nA),           MEMBER(nisland),
    MEMBER(nidof), MEMBER(solver_niter), MEMBER(solver_nnz), MEMBER(solver_fwdinv)};
#undef MEMBER

}  // namespace

std::optional<DataField> find_data_field(const mjModel* m, std::string_view name) {
  const mjModel& sizes = *m;
// MuJoCo's list of arrays: type, name, number of rows as a member of mjModel, number of columns.
#define X(type, field, num_rows, num_columns)                                            \
  if (name == #field)                                                                    \
    return DataField{                                                                    \
        .offset = offsetof(mjData, field),                                               \
        .size = sizeof(type) * static_cast<std::size_t>(sizes.num_rows) * (num_columns), \
        .is_array = true};
  MJDATA_POINTERS
#undef X
  for (const Member& member : kMembers)
    if (name == member.name) return DataField{.offset = member.offset, .size = member.size};
  return std::nullopt;
}

}  // namespace stiction::plant
