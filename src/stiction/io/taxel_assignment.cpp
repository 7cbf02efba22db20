#include "stiction/io/taxel_assignment.hpp"

#include <charconv>
#include <string>

#include "stiction/base/error.hpp"

namespace stiction::io {
namespace {

/// Returns the id of a geom by its name, or by `#` and its id; -1 if there is none.
int find_geom(const mjModel* m, const std::string& name) {
  if (const int geom = mj_name2id(m, mjOBJ_GEOM, name.c_str()); geom >= 0) return geom;
  if (!name.starts_with('#')) return -1;
  int geom = -1;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 1, last, geom);
  return error == std::errc() && end == last && geom >= 0 && geom < m->ngeom ? geom : -1;
}

std::vector<std::string> list_geoms(const mjModel* m) {
  std::vector<std::string> names;
  for (int i = 0; i < m->ngeom; ++i)
    if (const char* name = mj_id2name(m, mjOBJ_GEOM, i); name && *name) names.emplace_back(name);
  return names;
}

/// Returns the id of the tactile sensor of MJCF with a name; -1 if there is none.
int find_tactile_sensor(const mjModel* m, const std::string& name) {
  for (int i = 0; i < m->nsensor; ++i)
    if (m->sensor_type[i] == mjSENS_TACTILE && plant::name_tactile_sensor(m, i) == name) return i;
  return -1;
}

}  // namespace

std::vector<plant::TaxelGrid> assign_taxels(const mjModel* m, const ContactProperties& properties) {
  std::vector<plant::TaxelGrid> grids;
  ErrorList faults;
  for (const TaxelDeclaration& declared : properties.taxels) {
    grids.push_back(declared.grid);
    grids.back().geom = find_geom(m, declared.geom);
    if (grids.back().geom < 0)
      faults.add(ErrorCode::kUnknownName, declared.source,
                 "taxels '" + declared.grid.name + "': no geom has the name '" + declared.geom +
                     "'" + suggest_name(declared.geom, list_geoms(m)));
    if (const int sensor = find_tactile_sensor(m, declared.grid.name); sensor >= 0)
      faults.add(ErrorCode::kInvalidValue, declared.source,
                 "taxels '" + declared.grid.name + "': tactile sensor " + std::to_string(sensor) +
                     " of MJCF has the same name; choose another for the grid");
  }
  faults.throw_if_any();
  return grids;
}

}  // namespace stiction::io
