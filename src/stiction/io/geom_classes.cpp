#include "stiction/io/geom_classes.hpp"

#include <memory>

#include <mujoco/mujoco.h>
#include <tinyxml2.h>

#include "stiction/base/error.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"

namespace stiction::io {
namespace {

using Parents = std::map<std::string, std::string>;

struct SpecDeleter {
  void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
};
using SpecPtr = std::unique_ptr<mjSpec, SpecDeleter>;

[[noreturn]] void refuse(const std::filesystem::path& scene, const char* reason) {
  throw Error(ErrorCode::kMuJoCo, scene.string(), std::string("MuJoCo cannot load it: ") + reason);
}

/// Parses and compiles a scene. Its geoms then have ids.
/// @param on_parsed called with the spec between parsing and compiling
template <class F>
SpecPtr load_spec(const std::filesystem::path& scene, const F& on_parsed) {
  char error[1000] = "";
  plant::MuJoCoGuard guard;
  mjSpec* parsed = nullptr;
  const std::string path = scene.string();
  if (!guard.run([&] { parsed = mj_parseXML(path.c_str(), nullptr, error, sizeof error); }))
    refuse(scene, guard.error());
  SpecPtr spec(parsed);
  if (!spec) refuse(scene, error);
  on_parsed(parsed);
  mjModel* compiled = nullptr;
  if (!guard.run([&] { compiled = mj_compile(parsed, nullptr); })) refuse(scene, guard.error());
  const plant::ModelPtr model(compiled);
  if (!model) refuse(scene, mjs_getError(parsed));
  return spec;
}

/// Adds the outer class of each class nested in an XML element.
void add_parents(const tinyxml2::XMLElement& parent, const std::string& parent_name, Parents* out) {
  for (const auto* child = parent.FirstChildElement("default"); child;
       child = child->NextSiblingElement("default")) {
    const char* name = child->Attribute("class");
    const std::string child_name = name ? name : "main";
    if (child_name != parent_name) (*out)[child_name] = parent_name;
    add_parents(*child, child_name, out);
  }
}

/// Returns the class in which each class is nested. mjSpec does not have this information, but the
/// XML that it writes does, with all includes resolved.
Parents find_parents(mjSpec* spec) {
  std::string xml(1 << 16, '\0');
  char error[1000] = "";
  // A positive result is the required size.
  int size = mj_saveXMLString(spec, xml.data(), static_cast<int>(xml.size()), error, sizeof error);
  if (size > 0) {
    xml.resize(static_cast<std::size_t>(size) + 1);
    size = mj_saveXMLString(spec, xml.data(), static_cast<int>(xml.size()), error, sizeof error);
  }
  Parents parents;
  tinyxml2::XMLDocument document;
  if (size != 0 || document.Parse(xml.c_str()) != tinyxml2::XML_SUCCESS) return parents;
  if (const auto* root = document.FirstChildElement("mujoco")) add_parents(*root, "", &parents);
  return parents;
}

}  // namespace

std::map<std::string, std::vector<int>> read_geom_classes(const std::filesystem::path& scene) {
  const SpecPtr spec = load_spec(scene, [](mjSpec*) {});
  const Parents parents = find_parents(spec.get());
  std::map<std::string, std::vector<int>> classes;
  for (mjsElement* geom = mjs_firstElement(spec.get(), mjOBJ_GEOM); geom;
       geom = mjs_nextElement(spec.get(), geom)) {
    const mjsDefault* of_geom = mjs_getDefault(geom);
    if (!of_geom) continue;
    std::string name = mjs_getString(mjs_getName(of_geom->element));
    while (!name.empty()) {
      classes[name].push_back(mjs_getId(geom));
      const auto parent = parents.find(name);
      name = parent == parents.end() ? "" : parent->second;
    }
  }
  return classes;
}

std::map<std::string, std::vector<int>> read_collision_geoms(const std::filesystem::path& scene) {
  std::map<const mjsElement*, std::string> names;
  std::map<std::string, int> num_collisions;  // number per link so far
  const SpecPtr spec = load_spec(scene, [&](mjSpec* parsed) {
    for (mjsElement* geom = mjs_firstElement(parsed, mjOBJ_GEOM); geom;
         geom = mjs_nextElement(parsed, geom)) {
      if (mjs_asGeom(geom)->contype == 0) continue;  // a visual geom
      const std::string link = mjs_getString(mjs_getName(mjs_getParent(geom)->element));
      names[geom] = link + "::#" + std::to_string(++num_collisions[link]);
    }
  });
  std::map<std::string, std::vector<int>> geoms;
  for (mjsElement* geom = mjs_firstElement(spec.get(), mjOBJ_GEOM); geom;
       geom = mjs_nextElement(spec.get(), geom))
    if (const auto name = names.find(geom); name != names.end())
      geoms[name->second].push_back(mjs_getId(geom));
  return geoms;
}

}  // namespace stiction::io
