#include "stiction/plant/element_names.hpp"

namespace stiction::plant {

std::string describe(mjtObj type, int id, const char* name) {
  std::string kind;
  switch (type) {
    case mjOBJ_BODY: kind = "body"; break;
    case mjOBJ_JOINT: kind = "joint"; break;
    case mjOBJ_GEOM: kind = "geom"; break;
    case mjOBJ_TENDON: kind = "tendon"; break;
    case mjOBJ_ACTUATOR: kind = "actuator"; break;
    case mjOBJ_EQUALITY: kind = "equality"; break;
    case mjOBJ_FLEX: kind = "flex"; break;
    case mjOBJ_SITE: kind = "site"; break;
    case mjOBJ_PAIR: kind = "pair"; break;
    case mjOBJ_CAMERA: kind = "camera"; break;
    case mjOBJ_SENSOR: kind = "sensor"; break;
    case mjOBJ_HFIELD: kind = "hfield"; break;
    case mjOBJ_MESH: kind = "mesh"; break;
    default: kind = "element"; break;
  }
  return name && *name ? kind + " '" + name + "'" : kind + " " + std::to_string(id);
}

ElementNames::ElementNames(const mjModel* m)
    : names_(m->names, m->names + m->nnames),
      kinds_{{{mjOBJ_BODY, {m->name_bodyadr, m->name_bodyadr + m->nbody}},
              {mjOBJ_JOINT, {m->name_jntadr, m->name_jntadr + m->njnt}},
              {mjOBJ_GEOM, {m->name_geomadr, m->name_geomadr + m->ngeom}}}} {}

std::string ElementNames::describe(mjtObj type, int id) const {
  const char* name = nullptr;
  for (const Kind& kind : kinds_)
    if (kind.type == type && id >= 0 && id < static_cast<int>(kind.first.size()))
      name = &names_[kind.first[id]];
  return plant::describe(type, id, name);
}

}  // namespace stiction::plant
