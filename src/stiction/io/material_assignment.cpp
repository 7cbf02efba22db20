#include "stiction/io/material_assignment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <tinyxml2.h>

#include "stiction/base/error.hpp"
#include "stiction/base/name_pattern.hpp"
#include "stiction/geometry/extent.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/io/tet_mesh_file.hpp"
#include "stiction/plant/materials/material_properties.hpp"
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

/// Returns the class in which each class is nested, from the XML that mjSpec writes.
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

/// Returns the ids of the geoms of each default class of an MJCF file. The geoms of a nested class
/// also belong to the outer classes.
/// @throws Error if MuJoCo cannot load the file
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

/// Returns the geom of each collision element of a URDF file. The key is the name of the link and
/// the number of the collision in it, `finger::#2`, because MuJoCo drops duplicate names and moves
/// the geoms of fixed links to the bodies that carry them.
/// @throws Error if MuJoCo cannot load the file
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

constexpr std::string_view kBodyPrefix = "body:", kClassPrefix = "class:", kScope = "::";

/// The ranks of selectors. The selector of the highest rank decides.
enum Rank { kAll, kClassGlob, kClass, kBodyGlob, kBody, kNameGlob, kName, kNumRanks };

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::string name_of(const mjModel* m, mjtObj type, int id) {
  const char* name = mj_id2name(m, type, id);
  return name ? name : "";
}

std::vector<std::string> list_names(const mjModel* m, mjtObj type, mjtSize count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    if (std::string name = name_of(m, type, i); !name.empty()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> list_classes(const ContactProperties& properties) {
  std::vector<std::string> names;
  for (const auto& [name, geoms] : properties.classes) names.push_back(name);
  return names;
}

/// The geoms that a selector selects.
struct Selection {
  Rank rank = kName;
  std::vector<int> geoms;
};

/// Evaluates selectors for a model.
class Selector {
 public:
  Selector(const mjModel* model, const ContactProperties& properties)
      : m_(model), properties_(properties) {}

  /// Finds the geoms of a rule's selector.
  /// @throws Error if it selects no geom
  Selection select(const GeomRule& rule) const {
    const std::string& text = rule.selector;
    // Try names first, because a name may look like any other selector.
    if (const int geom = mj_name2id(m_, mjOBJ_GEOM, text.c_str()); geom >= 0 && !text.empty())
      return {kName, {geom}};
    if (text.starts_with(kBodyPrefix)) return select_bodies(rule, text.substr(kBodyPrefix.size()));
    if (text.starts_with(kClassPrefix))
      return select_classes(rule, text.substr(kClassPrefix.size()));
    if (const std::size_t at = text.rfind(kScope); at != text.npos)
      if (const int geom = find_collision(text.substr(0, at), text.substr(at)); geom >= 0)
        return {kName, {geom}};
    return select_names(rule);
  }

 private:
  /// Returns the geom of a link's collision, which may have another name in this model; -1 if there
  /// is no such geom. See GeomRule for the order of the attempts.
  /// @param scoped "::" and the collision's name
  int find_collision(const std::string& link, const std::string& scoped) const {
    const std::string name = scoped.substr(kScope.size());
    const int body = mj_name2id(m_, mjOBJ_BODY, link.c_str());
    const int geom = mj_name2id(m_, mjOBJ_GEOM, name.c_str());
    if (geom >= 0 && m_->geom_bodyid[geom] == body) return geom;
    const auto ends_alike = [&](const GeomRule& rule) { return rule.selector.ends_with(scoped); };
    const auto num_alike =
        std::count_if(properties_.rules.begin(), properties_.rules.end(), ends_alike);
    if (geom >= 0 && num_alike == 1) return geom;
    int only = -1;
    for (int i = 0; body >= 0 && i < m_->ngeom; ++i) {
      if (m_->geom_bodyid[i] != body || (!m_->geom_contype[i] && !m_->geom_conaffinity[i]))
        continue;
      if (only >= 0) return -1;
      only = i;
    }
    return only;
  }

  Selection select_names(const GeomRule& rule) const {
    Selection out{rule.selector == "*" ? kAll : kNameGlob, {}};
    for (int i = 0; i < m_->ngeom; ++i)
      if (base::matches_pattern(rule.selector, name_of(m_, mjOBJ_GEOM, i))) out.geoms.push_back(i);
    // An empty name selects nothing, although geoms without a name would match it.
    if (out.geoms.empty() || rule.selector.empty())
      refuse(rule, "no geom has this name", rule.selector, list_names(m_, mjOBJ_GEOM, m_->ngeom));
    return out;
  }

  Selection select_bodies(const GeomRule& rule, const std::string& pattern) const {
    Selection out{is_glob(pattern) ? kBodyGlob : kBody, {}};
    for (int i = 0; i < m_->ngeom; ++i)
      if (base::matches_pattern(pattern, name_of(m_, mjOBJ_BODY, m_->geom_bodyid[i])))
        out.geoms.push_back(i);
    if (out.geoms.empty())
      refuse(rule, "no body with geoms has this name", pattern,
             list_names(m_, mjOBJ_BODY, m_->nbody));
    return out;
  }

  Selection select_classes(const GeomRule& rule, const std::string& pattern) const {
    if (properties_.classes.empty())
      throw Error(ErrorCode::kUnsupported, rule.source,
                  "geoms '" + rule.selector +
                      "': a compiled model has neither its default classes nor the numbers of "
                      "collisions; load the scene from its file (stiction.load_scene, "
                      "io::resolve_classes)");
    std::set<int> geoms;
    for (const auto& [name, ids] : properties_.classes)
      if (base::matches_pattern(pattern, name)) geoms.insert(ids.begin(), ids.end());
    if (geoms.empty()) refuse(rule, "no geom has this class", pattern, list_classes(properties_));
    if (*geoms.rbegin() >= m_->ngeom)
      throw Error(ErrorCode::kWrongShape, rule.source,
                  "classes: there is no geom " + std::to_string(*geoms.rbegin()) +
                      ", the model has " + std::to_string(m_->ngeom) +
                      "; the classes are of another model");
    return {is_glob(pattern) ? kClassGlob : kClass, {geoms.begin(), geoms.end()}};
  }

  [[noreturn]] void refuse(const GeomRule& rule, const char* reason, const std::string& name,
                           const std::vector<std::string>& names) const {
    throw Error(ErrorCode::kUnknownName, rule.source,
                "geoms '" + rule.selector + "': " + reason +
                    (is_glob(name) ? "" : suggest_name(name, names)));
  }

  const mjModel* m_;
  const ContactProperties& properties_;
};

/// Sets the values of a geom that a material gives. Other values do not change.
void apply(const NamedMaterial& material, const GeomRule& rule, plant::Material* values,
           plant::MaterialSource* source) {
  const std::string from = material.source + ", material '" + material.name + "'";
  for (const plant::MaterialProperty& property : plant::material_properties()) {
    const double value = property.value(material.values);
    if (std::isnan(value)) continue;
    property.value(*values) = value;
    property.source(*source) = from;
  }
  if (material.values.rigid) {
    values->rigid = true;
    source->rigid = from;
  }
  if (material.values.compliant) {
    values->compliant = true;
    source->compliant = from;
  }
  if (!material.values.pressure_field.empty()) {
    values->pressure_field = material.values.pressure_field;
    source->pressure_field = from;
  }
  source->material = material.name;
  source->selector = "'" + rule.selector + "' (" + rule.source + ")";
}

/// A material's pressure field.
struct LoadedField {
  std::shared_ptr<const geometry::PressureField> field;
  double modulus;  // [Pa]
  std::string origin;
};

LoadedField load_field(const NamedMaterial& material) {
  const std::string& path = material.values.pressure_field;
  const double modulus = plant::find_hydroelastic_modulus(material.values);
  TetMeshFile file = read_tet_mesh(path);
  if (file.field_kind != FieldKind::pressure && std::isnan(modulus))
    throw Error(
        ErrorCode::kInvalidValue, path,
        "has no pressure; give the material a hydroelastic_modulus, or a youngs_modulus and "
        "'compliant: true'");
  if (file.field_kind == FieldKind::pressure && !std::isnan(modulus))
    throw Error(
        ErrorCode::kInvalidValue, path,
        "has a pressure, and the material a hydroelastic_modulus or 'compliant: true'; remove "
        "one of the two");
  if (file.field_kind == FieldKind::none) {
    geometry::MeshedShape shape = geometry::make_meshed_shape(std::move(file.mesh), path);
    file.mesh = std::move(shape.mesh);
    file.field = std::move(shape.extent);
  } else {
    geometry::check_tet_mesh(file.mesh, path);
  }
  if (file.field_kind != FieldKind::pressure)
    for (double& value : file.field) value *= modulus;
  const double largest = *std::max_element(file.field.begin(), file.field.end());
  return {std::make_shared<const geometry::PressureField>(
              geometry::PressureField{std::move(file.mesh), std::move(file.field)}),
          std::isnan(modulus) ? largest : modulus, path};
}

/// Loads the pressure fields of the materials that geoms have. The keys are names of materials.
/// @param decider index of the rule of each geom; -1: no rule
std::map<std::string, LoadedField> load_fields(const ContactProperties& properties,
                                               const std::vector<int>& decider) {
  std::map<std::string, LoadedField> fields;
  ErrorList faults;
  for (const NamedMaterial& material : properties.materials) {
    const bool is_used = std::any_of(decider.begin(), decider.end(), [&](int rule) {
      return rule >= 0 && properties.rules[rule].material == material.name;
    });
    if (!is_used || material.values.pressure_field.empty()) continue;
    try {
      fields.emplace(material.name, load_field(material));
    } catch (const Error& e) {
      faults.add(e.code(), material.source, "material '" + material.name + "': " + e.what());
    }
  }
  faults.throw_if_any();
  return fields;
}

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

void resolve_classes(const std::filesystem::path& scene, ContactProperties* properties) {
  const bool needs_classes =
      std::any_of(properties->rules.begin(), properties->rules.end(),
                  [](const GeomRule& rule) { return rule.selector.starts_with(kClassPrefix); });
  if (!needs_classes) return;
  properties->classes =
      scene.extension() == ".urdf" ? read_collision_geoms(scene) : read_geom_classes(scene);
}

plant::MaterialTable assign_materials(const mjModel* m, const ContactProperties& properties) {
  // The rule of the highest rank decides for a geom, of equal ones the last.
  std::vector<int> rank(m->ngeom, -1), decider(m->ngeom, -1);
  const Selector selector(m, properties);
  ErrorList faults;
  for (std::size_t r = 0; r < properties.rules.size(); ++r) {
    try {
      const Selection selection = selector.select(properties.rules[r]);
      for (const int geom : selection.geoms) {
        if (selection.rank < rank[geom]) continue;
        rank[geom] = selection.rank;
        decider[geom] = static_cast<int>(r);
      }
    } catch (const Error& e) {
      faults.add(e.code(), e.where(), e.message());
    }
  }
  faults.throw_if_any();

  const std::map<std::string, LoadedField> fields = load_fields(properties, decider);
  plant::MaterialTable table = plant::make_default_materials(m);
  for (int geom = 0; geom < m->ngeom; ++geom) {
    if (decider[geom] < 0) continue;
    const GeomRule& rule = properties.rules[decider[geom]];
    const auto material = std::find_if(
        properties.materials.begin(), properties.materials.end(),
        [&](const NamedMaterial& candidate) { return candidate.name == rule.material; });
    apply(*material, rule, &table.geoms[geom], &table.sources[geom]);
    if (const auto field = fields.find(rule.material); field != fields.end()) {
      table.pressure_fields[geom] = field->second.field;
      if (!std::isnan(plant::find_hydroelastic_modulus(table.geoms[geom]))) continue;
      table.geoms[geom].hydroelastic_modulus = field->second.modulus;
      table.sources[geom].hydroelastic_modulus = "largest pressure of " + field->second.origin;
    }
  }
  return table;
}

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
