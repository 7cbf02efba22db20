#include "stiction/plant/data_fields.hpp"

#include <utility>

#include <mujoco/mjxmacro.h>

namespace stiction::plant {
namespace {

std::span<const std::byte> bytes_of(const void* first, std::size_t size) {
  // An empty array may have no address, but it is a field all the same.
  static constexpr std::byte kEmpty[1] = {};
  return {size == 0 ? kEmpty : static_cast<const std::byte*>(first), size};
}

}  // namespace

std::span<const std::byte> find_data_field(const mjModel* m, const mjData* d,
                                           std::string_view name) {
// MuJoCo's lists of the fields: type, name, rows in mjModel, columns.
#define X(type, field, rows, columns) \
  if (name == #field)                 \
    return bytes_of(d->field, sizeof(type) * static_cast<std::size_t>(m->rows) * (columns));
  MJDATA_POINTERS
#undef X
  for (const auto& [field, count] : {std::pair<const char*, const int*>{"ncon", &d->ncon},
                                    {"ne", &d->ne},
                                    {"nf", &d->nf},
                                    {"nl", &d->nl},
                                    {"nefc", &d->nefc},
                                    {"nJ", &d->nJ},
                                    {"nA", &d->nA},
                                    {"nisland", &d->nisland},
                                    {"nidof", &d->nidof}})
    if (name == field) return bytes_of(count, sizeof(int));
  if (name == "time") return bytes_of(&d->time, sizeof d->time);
  if (name == "energy") return bytes_of(d->energy, sizeof d->energy);
  if (name == "solver_niter") return bytes_of(d->solver_niter, sizeof d->solver_niter);
  if (name == "solver_nnz") return bytes_of(d->solver_nnz, sizeof d->solver_nnz);
  if (name == "solver_fwdinv") return bytes_of(d->solver_fwdinv, sizeof d->solver_fwdinv);
  return {};
}

bool is_data_field(std::string_view name) {
  static constexpr mjModel kNoModel{};
  static constexpr mjData kNoData{};
  return find_data_field(&kNoModel, &kNoData, name).data() != nullptr;
}

}  // namespace stiction::plant
