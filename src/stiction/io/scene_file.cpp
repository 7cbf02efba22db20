#include "stiction/io/scene_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include <tinyxml2.h>

#include "stiction/base/error.hpp"

namespace stiction::io {
namespace {

/// Attributes that hold names or files, which may be called "nan" or "inf".
constexpr std::array<std::string_view, 53> kTexts = {
    "name",      "class",     "childclass", "prefix",        "model",    "file",     "fileback",
    "filedown",  "filefront", "fileleft",   "fileright",     "fileup",   "meshdir",  "texturedir",
    "assetdir",  "body",      "body1",      "body2",         "joint",    "joint1",   "joint2",
    "geom",      "geom1",     "geom2",      "site",          "site1",    "site2",    "refsite",
    "cranksite", "sidesite",  "slidersite", "jointinparent", "tendon",   "tendon1",  "tendon2",
    "actuator",  "camera",    "flex",       "node",          "mesh",     "hfield",   "material",
    "texture",   "target",    "objname",    "refname",       "subtree1", "subtree2", "plugin",
    "instance",  "key",       "value",      "content_type"};

/// Limits to which MuJoCo clips, so that infinity has no effect; not lengthrange, which scales.
constexpr std::array<std::string_view, 8> kClips = {
    "range",    "ctrlrange", "forcerange", "actrange", "actuatorfrcrange",
    "velrange", "posrange",  "cutoff"};

enum class Kind { kNotANumber, kFinite, kInfinite, kNan };

Kind kind_of(std::string_view token) {
  if (token.starts_with('+')) token.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(token.begin(), token.end(), value);
  if (error == std::errc::invalid_argument || end != token.end()) return Kind::kNotANumber;
  if (error != std::errc()) return Kind::kFinite;  // MuJoCo reports numbers that are too large
  return std::isnan(value) ? Kind::kNan : std::isinf(value) ? Kind::kInfinite : Kind::kFinite;
}

/// Returns the worst kind of all tokens, or kNotANumber if one token is not a number.
Kind worst_kind(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  Kind worst = Kind::kFinite;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpace, begin)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    const Kind kind = kind_of(text.substr(begin, end - begin));
    if (kind == Kind::kNotANumber) return kind;
    worst = std::max(worst, kind);
    begin = end;
  }
  return worst;
}

template <std::size_t n>
bool is_in(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// True for user data, and for inputs that each step checks.
bool is_exempt(std::string_view tag, std::string_view attribute) {
  if (attribute == "user" || attribute == "data" || attribute == "prm") return true;
  return tag == "key" && (attribute == "ctrl" || attribute == "act");
}

/// Checks the numbers of an MJCF attribute. Returns an empty text if they are valid, otherwise the
/// end of a sentence, such as "must be finite". All attributes are checked that consist of numbers
/// only, except names, numbers that no simulation reads (user data), and numbers that each step
/// checks (controls of keyframes). Ranges that only clip may be infinite.
/// @param tag       name of the element
/// @param attribute name of the attribute
/// @param text      value of the attribute, as in the file
std::string_view find_number_fault(std::string_view tag, std::string_view attribute,
                                   std::string_view text) {
  const Kind kind = worst_kind(text);
  if (kind == Kind::kNotANumber || kind == Kind::kFinite) return "";
  if (is_exempt(tag, attribute) || is_in(kTexts, attribute)) return "";
  if (!is_in(kClips, attribute)) return "must be finite";
  return kind == Kind::kNan ? "must not be NaN" : "";
}

namespace fs = std::filesystem;

/// Attributes that multiply to an amount of memory, and the most that MuJoCo can handle.
struct Amount {
  const char* tag;
  std::array<const char*, 2> attributes;
  double max;
  const char* what;
};
/// Returns the limit of user data per element.
constexpr Amount make_user_data(const char* attribute, const char* what) {
  return {.tag = "size", .attributes = {attribute}, .max = 1e5, .what = what};
}
constexpr std::array kAmounts = {
    Amount{.tag = "hfield", .attributes = {"nrow", "ncol"}, .max = 4e7, .what = "elevations"},
    Amount{.tag = "texture", .attributes = {"width", "height"}, .max = 1e8, .what = "pixels"},
    Amount{.tag = "size", .attributes = {"nuserdata"}, .max = 1e8, .what = "numbers"},
    make_user_data("nuser_body", "numbers for each body"),
    make_user_data("nuser_jnt", "numbers for each joint"),
    make_user_data("nuser_geom", "numbers for each geom"),
    make_user_data("nuser_site", "numbers for each site"),
    make_user_data("nuser_tendon", "numbers for each tendon"),
    make_user_data("nuser_actuator", "numbers for each actuator"),
    make_user_data("nuser_sensor", "numbers for each sensor"),
};

/// This many copies take MuJoCo half a minute to compile; the time is quadratic.
constexpr double kMaxCopies = 10000;
/// The largest number of files. Each file is read once, so includes cannot form a loop.
constexpr std::size_t kMaxFiles = 1000;

/// Returns the number in an attribute, or 0 if it has none; MuJoCo reports that.
double number_of(const tinyxml2::XMLElement& element, const char* attribute) {
  double value = 0;
  element.QueryDoubleAttribute(attribute, &value);
  return value;
}

std::string describe(const tinyxml2::XMLElement& element) {
  const char* name = element.Attribute("name");
  return std::string(element.Name()) + (name ? " '" + std::string(name) + "'" : std::string());
}

/// Returns the text after `begin`, up to `end` or, if `end` is 0, its digits; or an empty text.
std::string text_after(const std::string& message, std::string_view begin, char end = 0) {
  std::size_t from = message.find(begin);
  if (from == message.npos) return "";
  from += begin.size();
  std::size_t to = from;
  while (to < message.size() &&
         (end ? message[to] != end : std::isdigit(static_cast<unsigned char>(message[to])) != 0))
    ++to;
  return message.substr(from, to - from);
}

}  // namespace

struct SceneFile::Document {
  fs::path file;
  tinyxml2::XMLDocument xml;
};

struct SceneFile::Element {
  const Document* document;
  const tinyxml2::XMLElement* xml;
  double num_copies;  // number of copies by the replicate elements around it

  std::string where() const {
    return document->file.string() + ":" + std::to_string(xml->GetLineNum());
  }
};

SceneFile::SceneFile(fs::path path) : path_(std::move(path)) { read(path_, 1); }
SceneFile::~SceneFile() = default;

void SceneFile::read(const fs::path& file, double num_copies) {
  std::error_code error;
  for (const auto& document : documents_)
    if (fs::equivalent(document->file, file, error)) return;
  if (documents_.size() >= kMaxFiles || !fs::is_regular_file(file, error)) return;
  documents_.push_back(std::make_unique<Document>());
  Document& document = *documents_.back();
  document.file = file;
  if (document.xml.LoadFile(file.c_str()) != tinyxml2::XML_SUCCESS) return;
  const tinyxml2::XMLElement* root = document.xml.RootElement();
  if (!root || std::string_view(root->Name()) == "robot") return;  // URDF has other rules

  // tinyxml2 limits the depth of a document, so this recursion is safe.
  const auto visit = [&](const auto& self, const tinyxml2::XMLElement& parent,
                         double copies) -> void {
    for (const auto* child = parent.FirstChildElement(); child;
         child = child->NextSiblingElement()) {
      const std::string_view tag = child->Name();
      const double count = tag == "replicate" ? std::max(number_of(*child, "count"), 1.0) : 1.0;
      elements_.push_back({.document = &document, .xml = child, .num_copies = copies * count});
      const char* included = tag == "include" ? child->Attribute("file") : nullptr;
      if (included) {
        // As in MuJoCo, a path is relative to the main file's folder, otherwise to this file's.
        const fs::path main = path_.parent_path() / included;
        read(fs::exists(main, error) ? main : file.parent_path() / included, copies);
      }
      self(self, *child, copies * count);
    }
  };
  visit(visit, *root, num_copies);
}

void SceneFile::check() const {
  ErrorList faults;
  double num_copies = 0;
  for (const Element& element : elements_) {
    const tinyxml2::XMLElement& xml = *element.xml;
    const std::string_view tag = xml.Name();
    for (const auto* a = xml.FirstAttribute(); a; a = a->Next()) {
      const std::string_view fault = find_number_fault(tag, a->Name(), a->Value());
      if (!fault.empty())
        faults.add(
            ErrorCode::kInvalidValue, element.where(),
            describe(xml) + ": " + a->Name() + " is '" + a->Value() + "', " + std::string(fault));
    }
    if (tag == "option" && xml.Attribute("timestep") && number_of(xml, "timestep") <= 0 &&
        find_number_fault(tag, "timestep", xml.Attribute("timestep")).empty())
      faults.add(ErrorCode::kInvalidValue, element.where(),
                 std::string("option: timestep is '") + xml.Attribute("timestep") +
                     "', must be a time above 0 s");
    if (tag == "replicate" && number_of(xml, "count") < 0)
      faults.add(
          ErrorCode::kInvalidValue, element.where(),
          std::string("replicate: count is '") + xml.Attribute("count") + "', must be at least 0");
    for (const Amount& amount : kAmounts) {
      if (tag != amount.tag) continue;
      double product = 1;
      for (const char* attribute : amount.attributes)
        if (attribute) product *= number_of(xml, attribute);
      if (product > amount.max)
        faults.add(ErrorCode::kInvalidValue, element.where(),
                   describe(xml) + ": " + base::to_text(product) + " " + amount.what +
                       " exceed the limit of " + base::to_text(amount.max));
    }
    if (tag == "replicate" && (num_copies += element.num_copies) > kMaxCopies &&
        num_copies - element.num_copies <= kMaxCopies)
      faults.add(ErrorCode::kInvalidValue, element.where(),
                 "replicate: " + base::to_text(num_copies) +
                     " copies in total exceed the limit of " + base::to_text(kMaxCopies) +
                     "; lower the counts, or build the scene with mujoco.MjSpec");
  }
  faults.throw_if_any();
}

std::string SceneFile::find_element(const std::string& tag, const std::string& attribute,
                                    const std::string& value) const {
  for (const Element& element : elements_) {
    if (!tag.empty() && tag != element.xml->Name()) continue;
    const char* found = element.xml->Attribute(attribute.c_str());
    if (found && (value.empty() || value == found)) return element.where();
  }
  return "";
}

std::string SceneFile::locate(const std::string& message) const {
  // The line of the element comes last in a message; 0 means unknown.
  const std::size_t last = message.rfind("line ");
  std::string line = last == message.npos ? "" : text_after(message.substr(last), "line ");
  if (line == "0") line.clear();

  // Malformed XML: the line belongs to this file, or to an included one.
  if (const std::string malformed = text_after(message, "Line number="); !malformed.empty()) {
    for (const Element& element : elements_) {
      const bool is_include = !line.empty() && element.document->file == path_ &&
                              std::to_string(element.xml->GetLineNum()) == line &&
                              std::string_view(element.xml->Name()) == "include";
      const char* file = is_include ? element.xml->Attribute("file") : nullptr;
      if (file) return (path_.parent_path() / file).string() + ":" + malformed;
    }
    return malformed == "0" ? path_.string() : path_.string() + ":" + malformed;
  }
  if (!line.empty()) return path_.string() + ":" + line;

  // Elements of included files have line 0, so search for the names in the message.
  const std::string tag = text_after(message, "Element '", '\'');
  const std::string name = text_after(message, "Element name '", '\'');
  std::string attribute = text_after(message, "attribute: '", '\'');
  if (attribute.empty()) attribute = text_after(message, "attribute '", '\'');
  std::string found;
  if (!tag.empty() && !attribute.empty())
    found = find_element(tag, attribute, "");
  else if (!name.empty())
    found = find_element("", "name", name);
  else if (const std::string file = text_after(message, "opening file '", '\''); !file.empty())
    found = find_file(fs::path(file).filename());
  return found.empty() ? path_.string() : found;
}

std::string SceneFile::find_file(const fs::path& name) const {
  for (const Element& element : elements_) {
    const char* file = element.xml->Attribute("file");
    if (file && fs::path(file).filename() == name) return element.where();
  }
  return "";
}

}  // namespace stiction::io
