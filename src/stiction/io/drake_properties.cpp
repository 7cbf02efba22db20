#include "stiction/io/drake_properties.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <tinyxml2.h>

#include "stiction/base/error.hpp"
#include "stiction/plant/materials/material_properties.hpp"

namespace stiction::io {
namespace {

using tinyxml2::XMLElement;

constexpr std::string_view kPrefix = "drake:";
/// Drake's default modulus of a compliant surface [Pa].
constexpr double kDefaultModulus = 1e7;

/// A number of Drake's and the property that it sets; null if Stiction does not support it.
struct Tag {
  const char* name;
  const char* property;
};
/// If several tags set the same property, the last one decides.
constexpr std::array kTags = {Tag{"hydroelastic_modulus", "hydroelastic_modulus"},
                              Tag{"mesh_resolution_hint", "resolution_hint"},
                              Tag{"hunt_crossley_dissipation", "dissipation"},
                              Tag{"relaxation_time", "relaxation_time"},
                              Tag{"point_contact_stiffness", "stiffness"},
                              Tag{"mu_static", "static_friction"},
                              Tag{"mu_dynamic", "friction"},
                              Tag{"hydroelastic_margin", nullptr}};

std::string_view trim(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Reads a number. Returns NaN if the text is not a number.
double parse_number(std::string_view text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? value : std::numeric_limits<double>::quiet_NaN();
}

bool have_same_values(const plant::Material& a, const plant::Material& b) {
  const auto is_same = [](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  };
  for (const plant::MaterialProperty& property : plant::material_properties())
    if (!is_same(property.value(a), property.value(b))) return false;
  return a.rigid == b.rigid && a.pressure_field == b.pressure_field;
}

/// A <collision> of a link.
struct Collision {
  const XMLElement* element;
  std::string link, name;  // names of the link and the collision; may be empty
  int number;              // number of the collision in its link, from 1
  bool has_properties = false;
  plant::Material values{};
};

/// Converts an XML document to ContactProperties, and collects all faults.
class DrakeReader {
 public:
  DrakeReader(std::string origin, bool is_urdf, std::filesystem::path folder)
      : is_urdf_(is_urdf), folder_(std::move(folder)) {
    out_.origin = std::move(origin);
  }

  ContactProperties read(const std::string& text) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text.c_str(), text.size()) != tinyxml2::XML_SUCCESS)
      throw Error(ErrorCode::kSyntax, out_.origin + ":" + std::to_string(document.ErrorLineNum()),
                  std::string("is not well-formed XML: ") + document.ErrorName());
    const XMLElement* root = document.RootElement();
    const std::string_view expected = is_urdf_ ? "robot" : "sdf";
    if (!root)
      throw Error(ErrorCode::kSyntax, out_.origin,
                  "has no root element, must have <" + std::string(expected) + ">");
    if (expected != root->Name())
      throw Error(ErrorCode::kSyntax, where(*root),
                  "the root is <" + std::string(root->Name()) + ">, must be <" +
                      std::string(expected) + ">");
    find_collisions(*root);
    for (Collision& collision : collisions_) read_collision(&collision);
    for (const Collision& collision : collisions_)
      if (collision.has_properties) add_rule(collision);
    faults_.throw_if_any();
    return std::move(out_);
  }

 private:
  std::string where(const XMLElement& element) const {
    return out_.origin + ":" + std::to_string(element.GetLineNum());
  }

  static std::string describe(const Collision& collision) {
    return "collision '" + collision.name + "' of link '" + collision.link + "'";
  }

  /// Finds the collisions of all links, nested in models and worlds; tinyxml2 limits the depth.
  void find_collisions(const XMLElement& parent) {
    for (const auto* child = parent.FirstChildElement(); child;
         child = child->NextSiblingElement()) {
      if (std::string_view(child->Name()) != "link") {
        find_collisions(*child);
        continue;
      }
      const char* link = child->Attribute("name");
      int number = 0;
      for (const auto* element = child->FirstChildElement("collision"); element;
           element = element->NextSiblingElement("collision")) {
        const char* name = element->Attribute("name");
        collisions_.push_back({.element = element,
                               .link = link ? link : "",
                               .name = name ? name : "",
                               .number = ++number});
      }
    }
  }

  // ---- values ----------------------------------------------------------------------------------

  void read_collision(Collision* collision) {
    const auto* properties = collision->element->FirstChildElement("drake:proximity_properties");
    if (!properties) return;
    collision->has_properties = true;
    const bool is_rigid = properties->FirstChildElement("drake:rigid_hydroelastic");
    const bool is_compliant = properties->FirstChildElement("drake:compliant_hydroelastic");
    if (is_rigid && is_compliant)
      faults_.add(ErrorCode::kInvalidValue, where(*properties),
                  describe(*collision) +
                      " is both rigid_hydroelastic and compliant_hydroelastic; remove one");
    for (const auto* element = properties->FirstChildElement(); element;
         element = element->NextSiblingElement())
      read_element(*element, *collision);
    for (const Tag& tag : kTags) {
      const auto* element =
          properties->FirstChildElement((std::string(kPrefix) + tag.name).c_str());
      if (element) read_number(tag, *element, collision);
    }

    plant::Material& values = collision->values;
    read_static_friction(*properties, *collision, &values);
    values.rigid = is_rigid;
    if (is_compliant) {
      if (std::isnan(values.hydroelastic_modulus)) values.hydroelastic_modulus = kDefaultModulus;
      values.pressure_field = find_tet_mesh(*collision);
    } else if (!std::isnan(values.hydroelastic_modulus)) {
      values.hydroelastic_modulus = std::numeric_limits<double>::quiet_NaN();
      warn(*properties, *collision,
           std::string("hydroelastic_modulus has no effect, as in Drake: the surface is ") +
               (is_rigid ? "rigid" : "not compliant_hydroelastic"));
    }
  }

  /// Drops a static friction that says nothing: one alone, or one equal to the dynamic friction.
  void read_static_friction(const XMLElement& properties, const Collision& collision,
                            plant::Material* values) {
    if (std::isnan(values->friction)) values->friction = values->static_friction;
    if (values->static_friction == values->friction)
      values->static_friction = std::numeric_limits<double>::quiet_NaN();
    const std::string fault = plant::find_static_friction_fault(*values);
    if (!fault.empty())
      faults_.add(ErrorCode::kInvalidValue, where(properties),
                  describe(collision) + ": " + fault + " (drake:mu_static, drake:mu_dynamic)");
  }

  /// Reports an element that Drake does not have either.
  void read_element(const XMLElement& element, const Collision& collision) {
    const std::string_view name = element.Name();
    std::vector<std::string> names = {"drake:rigid_hydroelastic", "drake:compliant_hydroelastic"};
    for (const Tag& tag : kTags) names.push_back(std::string(kPrefix) + tag.name);
    if (std::find(names.begin(), names.end(), name) == names.end())
      faults_.add(ErrorCode::kUnknownName, where(element),
                  describe(collision) + ": there is no property '" + std::string(name) + "'" +
                      suggest_name(std::string(name), names));
  }

  void read_number(const Tag& tag, const XMLElement& element, Collision* collision) {
    const char* text = is_urdf_ ? element.Attribute("value") : element.GetText();
    const std::string_view number = trim(text ? text : "");
    const double value = parse_number(number);
    const plant::MaterialProperty* property =
        tag.property ? plant::find_material_property(tag.property) : nullptr;
    if (!property) {
      if (value != 0)
        warn(element, *collision, std::string(tag.name) + " is not supported and has no effect");
    } else if (plant::is_in_range(*property, value)) {
      property->value(collision->values) = value;
    } else {
      const std::string form = is_urdf_ ? "; a URDF gives it as value=\"...\""
                                        : "; an SDF gives it as text between the tags";
      faults_.add(ErrorCode::kInvalidValue, where(element),
                  describe(*collision) + ": " + tag.name + " is '" + std::string(number) +
                      "', must be " + plant::describe_range(*property) +
                      (number.empty() ? form : ""));
    }
  }

  /// Returns the path of the collision's geometry if it is a tet mesh, otherwise an empty text.
  std::string find_tet_mesh(const Collision& collision) {
    const auto* geometry = collision.element->FirstChildElement("geometry");
    const auto* mesh = geometry ? geometry->FirstChildElement("mesh") : nullptr;
    if (!mesh) return "";
    const auto* uri = is_urdf_ ? nullptr : mesh->FirstChildElement("uri");
    const char* text = is_urdf_ ? mesh->Attribute("filename") : uri ? uri->GetText() : nullptr;
    const std::string file(trim(text ? text : ""));
    if (!file.ends_with(".vtk")) return "";
    const bool is_scaled = is_urdf_ ? mesh->Attribute("scale") != nullptr
                                    : mesh->FirstChildElement("scale") != nullptr;
    if (is_scaled || file.find("://") != std::string::npos) {
      faults_.add(ErrorCode::kUnsupported, where(*mesh),
                  describe(collision) + ": the mesh '" + file +
                      "' must have a path relative to this file, and no scale");
      return "";
    }
    return std::filesystem::absolute(folder_ / file).lexically_normal().string();
  }

  void warn(const XMLElement& element, const Collision& collision, const std::string& message) {
    out_.warnings.push_back(where(element) + ": " + describe(collision) + ": " + message);
  }

  // ---- names -----------------------------------------------------------------------------------

  void add_rule(const Collision& collision) {
    const auto has_its_name = [&](const Collision& other) { return other.name == collision.name; };
    const auto is_of_its_link = [&](const Collision& other) {
      return other.link == collision.link;
    };
    const auto agrees = [&](const Collision& other) {
      return !is_of_its_link(other) ||
             (other.has_properties && have_same_values(other.values, collision.values));
    };
    const auto count = [&](const auto& test) {
      return std::count_if(collisions_.begin(), collisions_.end(), test);
    };
    const bool is_named = !collision.name.empty() && count(has_its_name) == 1;
    std::string material = collision.link + "::" + collision.name, selector = material;
    if (is_urdf_ && !is_named) {
      material = collision.link + "::#" + std::to_string(collision.number);
      selector = "class:" + material;
    } else if (!is_named && count(is_of_its_link) > 1 &&
               std::all_of(collisions_.begin(), collisions_.end(), agrees)) {
      selector = "body:" + collision.link;
    }
    const auto is_taken = [&](const NamedMaterial& other) { return other.name == material; };
    if (std::any_of(out_.materials.begin(), out_.materials.end(), is_taken))
      return faults_.add(ErrorCode::kInvalidValue, where(*collision.element),
                         describe(collision) + " exists twice; give each collision its own name");
    NamedMaterial& added = out_.materials.emplace_back();
    added.name = material;
    added.values = collision.values;
    added.source = where(*collision.element);
    const auto has_selector = [&](const GeomRule& rule) { return rule.selector == selector; };
    if (std::none_of(out_.rules.begin(), out_.rules.end(), has_selector))
      out_.rules.push_back({selector, material, added.source});
  }

  bool is_urdf_;
  std::filesystem::path folder_;
  std::vector<Collision> collisions_;
  ContactProperties out_;
  ErrorList faults_;
};

}  // namespace

ContactProperties parse_drake_properties(const std::string& text, const std::string& origin,
                                         bool is_urdf, const std::filesystem::path& folder) {
  return DrakeReader(origin, is_urdf, folder).read(text);
}

ContactProperties read_drake_properties(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(ErrorCode::kFileNotFound, path.string(), "there is no such file");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::kFileNotFound, path.string(), "cannot be read");
  return parse_drake_properties(text.str(), path.string(), path.extension() == ".urdf",
                                path.parent_path());
}

}  // namespace stiction::io
