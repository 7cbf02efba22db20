#include "stiction/io/contact_properties.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <yaml-cpp/yaml.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/law_tables.hpp"
#include "stiction/io/drake_properties.hpp"
#include "stiction/io/taxel_section.hpp"
#include "stiction/io/yaml_document.hpp"
#include "stiction/plant/materials/material_properties.hpp"

namespace stiction::io {
namespace {

/// Converts YAML to ContactProperties, and collects all faults.
class Reader {
 public:
  Reader(const std::string& origin, bool has_lines, std::filesystem::path folder)
      : has_lines_(has_lines), folder_(std::move(folder)) {
    out_.origin = origin;
  }

  ContactProperties read(const YAML::Node& root) {
    if (!root.IsNull()) read_root(root);
    check_material_names();
    faults_.throw_if_any();
    return std::move(out_);
  }

 private:
  std::string where(const YAML::Node& node) const {
    return has_lines_ ? out_.origin + ":" + std::to_string(node.Mark().line + 1) : out_.origin;
  }

  void add_fault(ErrorCode code, const std::string& where, const std::string& message) {
    constexpr int kMaxFaults = 50;  // a longer list would hide the first fault
    if (++num_faults_ <= kMaxFaults) faults_.add(code, where, message);
  }
  void add_fault(ErrorCode code, const YAML::Node& node, const std::string& message) {
    add_fault(code, where(node), message);
  }

  /// Calls f(key, value) for a mapping's entries. Reports keys that are no names, or repeated.
  template <class F>
  void for_each_entry(const YAML::Node& node, const std::string& what, F&& f) {
    if (!node.IsMap())
      return add_fault(ErrorCode::kSyntax, node,
                       what + " is " + quote(node) + ", must be a mapping");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      if (!key.IsScalar()) {
        add_fault(ErrorCode::kSyntax, key, what + " has " + quote(key) + " as a key; use a name");
        continue;
      }
      if (!seen.insert(key.Scalar()).second)
        add_fault(ErrorCode::kInvalidValue, key, what + " has '" + key.Scalar() + "' twice");
      f(key, entry.second);
    }
  }

  void read_root(const YAML::Node& root) {
    for_each_entry(root, "the file", [&](const YAML::Node& key, const YAML::Node& value) {
      const std::string& name = key.Scalar();
      // A section whose entries are all commented out counts as missing.
      if (value.IsNull() && (name == "materials" || name == "geoms" || name == "taxels")) return;
      if (name == "materials")
        for_each_entry(value, "materials",
                       [&](const auto& k, const auto& v) { read_material(k, v); });
      else if (name == "geoms")
        for_each_entry(value, "geoms", [&](const auto& k, const auto& v) { read_rule(k, v); });
      else if (name == "classes")
        for_each_entry(value, "classes", [&](const auto& k, const auto& v) { read_class(k, v); });
      else if (name == "taxels")
        for_each_entry(value, "taxels", [&](const auto& k, const auto& v) { read_taxels(k, v); });
      else if (name == "normal_law")
        read_normal_law(key, value);
      else if (name == "friction_law")
        read_friction_law(key, value);
      else
        add_fault(ErrorCode::kUnknownName, key,
                  "there is no section '" + name + "'" +
                      suggest_name(name, {"materials", "geoms", "classes", "taxels", "normal_law",
                                          "friction_law"}));
    });
  }

  void read_material(const YAML::Node& name, const YAML::Node& node) {
    NamedMaterial& added = out_.materials.emplace_back();
    added.name = name.Scalar();
    added.source = where(name);
    if (node.IsNull()) return;  // a material with the default properties
    const std::string material = "material '" + name.Scalar() + "'";
    for_each_entry(node, material, [&](const YAML::Node& key, const YAML::Node& value) {
      read_property(material, key, value, &out_.materials.back().values);
    });
    check_pressure_field(material, name, node, out_.materials.back().values);
    check_elasticity(material, name, node, out_.materials.back().values);
    check_static_friction(material, node, out_.materials.back().values);
  }

  void read_property(const std::string& material, const YAML::Node& name, const YAML::Node& node,
                     plant::Material* values) {
    const auto refuse = [&](const std::string& range) {
      add_fault(ErrorCode::kInvalidValue, node.IsNull() ? name : node,
                material + ": " + name.Scalar() + " is " + quote(node) + ", must be " + range);
    };
    if (const auto* property = plant::find_material_property(name.Scalar())) {
      const double value = parse_number(node);
      if (plant::is_in_range(*property, value))
        property->value(*values) = value;
      else
        refuse(plant::describe_range(*property));
    } else if (name.Scalar() == "rigid") {
      if (!parse_bool(node, &values->rigid)) refuse("true or false");
    } else if (name.Scalar() == "compliant") {
      if (!parse_bool(node, &values->compliant)) refuse("true or false");
    } else if (name.Scalar() == "pressure_field") {
      // A file system would end the name at a null character.
      if (node.IsScalar() && !node.Scalar().empty() &&
          node.Scalar().find('\0') == std::string::npos)
        values->pressure_field = resolve_path(node.Scalar());
      else
        refuse("the name of a tet mesh in a VTK file, without null characters");
    } else {
      std::vector<std::string> names = {"rigid", "compliant", "pressure_field"};
      for (const plant::MaterialProperty& property : plant::material_properties())
        names.emplace_back(property.name);
      add_fault(ErrorCode::kUnknownName, name,
                material + ": there is no property '" + name.Scalar() + "'" +
                    suggest_name(name.Scalar(), names));
    }
  }

  /// Makes a path absolute, so that it stays valid when the content is read in another folder.
  std::string resolve_path(const std::string& path) const {
    return std::filesystem::absolute(folder_ / path).lexically_normal().string();
  }

  /// Checks that a material is not both rigid and compliant in pressure-field contact.
  void check_pressure_field(const std::string& material, const YAML::Node& name,
                            const YAML::Node& node, const plant::Material& values) {
    // A value that was already rejected counts as given, so that it is not reported twice.
    const auto has = [&](const char* key) { return node.IsMap() && node[key]; };
    if (values.rigid) {
      for (const char* key :
           {"hydroelastic_modulus", "slab_thickness", "pressure_field", "compliant"})
        if (has(key) && (std::string_view(key) != "compliant" || values.compliant))
          add_fault(ErrorCode::kInvalidValue, name,
                    material + ": " + key +
                        " makes a surface compliant, but this one has 'rigid: true'; remove one of "
                        "the two");
    } else if (has("slab_thickness") && !has("hydroelastic_modulus") && !values.compliant) {
      add_fault(ErrorCode::kInvalidValue, name,
                material +
                    ": slab_thickness needs a hydroelastic_modulus, which is the pressure at that "
                    "depth below a plane; give both");
    }
  }

  /// Checks that a material has the Young's modulus that its other values need.
  void check_elasticity(const std::string& material, const YAML::Node& name, const YAML::Node& node,
                        const plant::Material& values) {
    const auto has = [&](const char* key) { return node.IsMap() && node[key]; };
    if (has("youngs_modulus")) return;
    if (has("poissons_ratio"))
      add_fault(ErrorCode::kInvalidValue, name,
                material + ": poissons_ratio has no meaning without a youngs_modulus; give both");
    if (values.compliant && !has("hydroelastic_modulus"))
      add_fault(ErrorCode::kInvalidValue, name,
                material +
                    ": 'compliant: true' needs a youngs_modulus, or a hydroelastic_modulus, which "
                    "is the pressure at the deepest point; give one of the two");
  }

  /// Checks that a material's static friction is that of what has a friction below it.
  void check_static_friction(const std::string& material, const YAML::Node& node,
                             const plant::Material& values) {
    const bool is_rejected = node.IsMap() && node["friction"] && std::isnan(values.friction);
    const std::string fault = is_rejected ? "" : plant::find_static_friction_fault(values);
    if (!fault.empty())
      add_fault(ErrorCode::kInvalidValue, node["static_friction"], material + ": " + fault);
  }

  void read_rule(const YAML::Node& selector, const YAML::Node& node) {
    if (node.IsScalar() && !node.Scalar().empty()) {
      out_.rules.push_back({selector.Scalar(), node.Scalar(), where(selector)});
      return;
    }
    add_fault(ErrorCode::kSyntax, node.IsNull() ? selector : node,
              "geoms '" + selector.Scalar() + "': is " + quote(node) +
                  ", must be the name of a material");
  }

  void read_class(const YAML::Node& name, const YAML::Node& node) {
    std::vector<int>& geoms = out_.classes[name.Scalar()];
    if (!node.IsSequence())
      return add_fault(
          ErrorCode::kSyntax, name,
          "class '" + name.Scalar() + "': is " + quote(node) + ", must be a list of geom ids");
    for (const YAML::Node& item : node) {
      const double id = parse_number(item);
      if (id >= 0 && id < std::numeric_limits<int>::max() && id == std::floor(id))
        geoms.push_back(static_cast<int>(id));
      else
        add_fault(ErrorCode::kInvalidValue, item,
                  "class '" + name.Scalar() + "': " + quote(item) + " is not a geom id");
    }
  }

  void read_taxels(const YAML::Node& name, const YAML::Node& node) {
    TaxelSection section(name,
                         [this](ErrorCode code, const YAML::Node& at, const std::string& message) {
                           add_fault(code, at, message);
                         });
    out_.taxels.push_back(section.read(node));
    out_.taxels.back().source = where(name);
  }

  // ---- laws -------------------------------------------------------------------------------------

  using Numbers = std::vector<double>;

  void read_normal_law(const YAML::Node& section, const YAML::Node& node) {
    contact::NormalLawTable table;
    const std::map<std::string, Numbers*> lists = {{"penetration", &table.penetration},
                                                   {"force", &table.force},
                                                   {"rate", &table.rate},
                                                   {"factor", &table.factor}};
    for_each_entry(node, "normal_law", [&](const YAML::Node& key, const YAML::Node& value) {
      if (key.Scalar() == "dissipation")
        table.dissipation = read_number("normal_law: dissipation", value);
      else
        read_list("normal_law", lists, key, value);
    });
    add_law(section, "normal_law", [&] {
      const contact::TabulatedLaw law(table);
      out_.normal_law = table;
    });
  }

  void read_friction_law(const YAML::Node& section, const YAML::Node& node) {
    contact::FrictionLawTable table;
    const std::map<std::string, Numbers*> lists = {{"slip", &table.slip},
                                                   {"friction", &table.friction}};
    for_each_entry(node, "friction_law", [&](const YAML::Node& key, const YAML::Node& value) {
      read_list("friction_law", lists, key, value);
    });
    add_law(section, "friction_law", [&] {
      const contact::TabulatedFriction law(table);
      out_.friction_law = table;
    });
  }

  void read_list(const std::string& law, const std::map<std::string, Numbers*>& lists,
                 const YAML::Node& key, const YAML::Node& value) {
    const auto list = lists.find(key.Scalar());
    if (list == lists.end()) {
      std::vector<std::string> names;
      for (const auto& [name, _] : lists) names.push_back(name);
      if (law == "normal_law") names.emplace_back("dissipation");
      return add_fault(
          ErrorCode::kUnknownName, key,
          law + ": there is no list '" + key.Scalar() + "'" + suggest_name(key.Scalar(), names));
    }
    if (!value.IsSequence())
      return add_fault(
          ErrorCode::kWrongShape, value.IsNull() ? key : value,
          law + ": " + key.Scalar() + " is " + quote(value) + ", must be a list of numbers");
    for (const YAML::Node& item : value)
      list->second->push_back(read_number(law + ": " + key.Scalar(), item));
  }

  double read_number(const std::string& what, const YAML::Node& node) {
    const double value = parse_number(node);
    if (std::isnan(value))
      add_fault(ErrorCode::kInvalidValue, node,
                what + " has " + quote(node) + ", must be a number");
    return value;
  }

  /// Calls add(), which checks a table and keeps it, if nothing was wrong in the section before.
  template <class F>
  void add_law(const YAML::Node& section, const std::string& law, F&& add) {
    if (num_faults_ > 0) return;
    try {
      add();
    } catch (const Error& e) {
      add_fault(e.code(), section, law + ": " + e.what());
    }
  }

  void check_material_names() {
    std::vector<std::string> names;
    for (const NamedMaterial& material : out_.materials) names.push_back(material.name);
    const std::set<std::string> known(names.begin(), names.end());
    for (const GeomRule& rule : out_.rules)
      if (!known.contains(rule.material))
        add_fault(ErrorCode::kUnknownName, rule.source,
                  "geoms '" + rule.selector + "': there is no material '" + rule.material + "'" +
                      suggest_name(rule.material, names));
  }

  bool has_lines_;
  std::filesystem::path folder_;  // start of relative paths
  ContactProperties out_;
  ErrorList faults_;
  int num_faults_ = 0;
};

}  // namespace

ContactProperties parse_contact_properties(const std::string& text, const std::string& origin,
                                           bool has_lines, const std::filesystem::path& folder) {
  Reader reader(origin, has_lines, folder);
  return reader.read(load_yaml(text, origin, has_lines));
}

ContactProperties read_contact_properties(const std::filesystem::path& path) {
  if (path.extension() == ".urdf" || path.extension() == ".sdf") return read_drake_properties(path);
  return parse_contact_properties(read_yaml_text(path, "contact properties file"), path.string(),
                                  true, path.parent_path());
}

void apply_laws(const ContactProperties& properties, sim::StepOptions* options) {
  contact::ModelParameters& chosen = options->parameters;
  const contact::ModelParameters standard = sim::StepOptions().parameters;
  if (properties.normal_law && chosen.normal_law == standard.normal_law)
    contact::set_law(*properties.normal_law, &chosen);
  if (properties.friction_law && chosen.friction_law == standard.friction_law)
    contact::set_law(*properties.friction_law, &chosen);
}

}  // namespace stiction::io
