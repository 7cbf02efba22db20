#include "stiction/plant/mujoco/element_names.hpp"

namespace stiction::plant {
namespace {

std::vector<std::string> find_names(const mjModel* m, mjtObj type, int count) {
  std::vector<std::string> names(count);
  for (int i = 0; i < count; ++i)
    if (const char* name = mj_id2name(m, type, i)) names[i] = name;
  return names;
}

}  // namespace

std::string describe(mjtObj type, int id, const char* name) {
  const char* const own = mju_type2Str(type);
  const std::string kind = own ? own : "element";
  return name && *name ? kind + " '" + name + "'" : kind + " " + std::to_string(id);
}

ElementNames::ElementNames(const mjModel* m)
    : kinds_{{{mjOBJ_BODY, find_names(m, mjOBJ_BODY, m->nbody)},
              {mjOBJ_JOINT, find_names(m, mjOBJ_JOINT, m->njnt)},
              {mjOBJ_GEOM, find_names(m, mjOBJ_GEOM, m->ngeom)}}} {}

std::string ElementNames::describe(mjtObj type, int id) const {
  const char* name = nullptr;
  for (const Kind& kind : kinds_)
    if (kind.type == type && id >= 0 && id < static_cast<int>(kind.names.size()))
      name = kind.names[id].c_str();
  return plant::describe(type, id, name);
}

}  // namespace stiction::plant
