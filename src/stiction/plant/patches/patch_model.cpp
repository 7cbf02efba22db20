#include "stiction/plant/patches/patch_model.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {
namespace {

/// The flags of <option> that decide which geoms collide. Contacts as a whole may be disabled too,
/// but this needs no pairs.
constexpr int kFilterFlags = mjDSBL_FILTERPARENT;

/// Calls f(array, size) for the integers that decide which geoms touch and with what condim.
template <class F>
void for_each_filter(const mjModel* m, F&& f) {
  const auto num_geoms = static_cast<std::size_t>(m->ngeom);
  const auto num_pairs = static_cast<std::size_t>(m->npair);
  f(m->geom_contype, num_geoms);
  f(m->geom_conaffinity, num_geoms);
  f(m->geom_condim, num_geoms);
  f(m->geom_priority, num_geoms);
  f(m->pair_dim, num_pairs);
  f(m->pair_geom1, num_pairs);
  f(m->pair_geom2, num_pairs);
  f(m->pair_signature, num_pairs);
  f(m->exclude_signature, static_cast<std::size_t>(m->nexclude));
}

/// True if the geom's shape is that of geom_size. Planes are half spaces, and meshes are assets.
bool has_sizes(int type) { return type != mjGEOM_PLANE && type != mjGEOM_MESH; }

[[noreturn]] void refuse(const mjModel* m, int geom, const std::string& field,
                         const std::string& before, const std::string& now) {
  throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_GEOM, geom),
              field + " was " + before + " when the simulator was made, and is " + now +
                  ", but the mesh of the pressure-field contact has the old shape; make a new "
                  "Simulator after a change of shapes");
}

}  // namespace

PatchModel::PatchModel(const mjModel* m, const std::vector<bool>& has_mesh) {
  for (int geom = 0; geom < m->ngeom; ++geom) {
    if (!has_mesh[geom]) continue;
    meshed_.push_back(geom);
    type_.push_back(m->geom_type[geom]);
    data_.push_back(m->geom_dataid[geom]);
    size_.insert(size_.end(), m->geom_size + 3 * geom, m->geom_size + 3 * geom + 3);
  }
  copy_filters(m);
}

void PatchModel::check_shapes(const mjModel* m) const {
  using base::to_text;
  for (std::size_t i = 0; i < meshed_.size(); ++i) {
    const int geom = meshed_[i];
    if (m->geom_type[geom] != type_[i])
      refuse(m, geom, "geom_type", std::to_string(type_[i]), std::to_string(m->geom_type[geom]));
    if (m->geom_dataid[geom] != data_[i])
      refuse(m, geom, "geom_dataid", std::to_string(data_[i]),
             std::to_string(m->geom_dataid[geom]));
    if (!has_sizes(type_[i])) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const mjtNum before = size_[3 * i + k], now = m->geom_size[3 * geom + k];
      if (now != before)
        refuse(m, geom, "geom_size[" + std::to_string(k) + "]", to_text(before), to_text(now));
    }
  }
}

bool PatchModel::has_changed_filters(const mjModel* m) const {
  if (meshed_.empty()) return false;
  bool has_changed = (m->opt.disableflags & kFilterFlags) != flags_;
  auto copy = filters_.begin();
  for_each_filter(m, [&](const int* array, std::size_t size) {
    has_changed = has_changed || !std::equal(array, array + size, copy->begin(), copy->end());
    ++copy;
  });
  return has_changed;
}

void PatchModel::copy_filters(const mjModel* m) {
  flags_ = m->opt.disableflags & kFilterFlags;
  filters_.clear();
  for_each_filter(
      m, [&](const int* array, std::size_t size) { filters_.emplace_back(array, array + size); });
}

}  // namespace stiction::plant
