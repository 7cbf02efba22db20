#include "stiction/io/yaml_document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include <yaml-cpp/eventhandler.h>

#include "stiction/base/error.hpp"
#include "stiction/io/yaml_value.hpp"

namespace stiction::io {

std::string quote(const YAML::Node& node) {
  constexpr std::size_t kMaxQuoted = 40;
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar() || node.Scalar().empty()) return "empty";
  const std::string& text = node.Scalar();
  std::string quoted = "'";  // grown in steps: GCC 12 warns of sums that begin with one letter
  std::size_t end = std::min(text.size(), kMaxQuoted);
  while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // within a character
  quoted += text.substr(0, end);
  quoted += text.size() > kMaxQuoted ? "...'" : "'";
  return quoted;
}

double parse_number(const YAML::Node& node) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!node.IsScalar()) return kNaN;
  std::string_view text = node.Scalar();
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return kNaN;
  double value = kNaN;
  if (text == ".inf" || text == ".Inf" || text == ".INF") {
    value = std::numeric_limits<double>::infinity();
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return kNaN;
  }
  return negative ? -value : value;
}

bool parse_bool(const YAML::Node& node, bool* value) {
  if (!node.IsScalar()) return false;
  const std::string& text = node.Scalar();
  *value = text == "true" || text == "True" || text == "TRUE";
  return *value || text == "false" || text == "False" || text == "FALSE";
}

namespace {

/// Ignores all events of a parser.
class NullHandler : public YAML::EventHandler {
 public:
  using Mark = YAML::Mark;
  using Anchor = YAML::anchor_t;
  using Style = YAML::EmitterStyle::value;
  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, Anchor) override {}
  void OnAlias(const Mark&, Anchor) override {}
  void OnScalar(const Mark&, const std::string&, Anchor, const std::string&) override {}
  void OnSequenceStart(const Mark&, const std::string&, Anchor, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const std::string&, Anchor, Style) override {}
  void OnMapEnd() override {}
};

/// True if a text has a second document. YAML::LoadAll does not end on some malformed texts.
bool has_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NullHandler handler;
  return parser.HandleNextDocument(handler) && parser.HandleNextDocument(handler);
}

/// Copies a document's nodes and counts them, because aliases may double the size on each level.
class Copier {
 public:
  explicit Copier(std::string origin) : origin_(std::move(origin)) {}

  YamlValue copy(const YAML::Node& node, int depth = 0) {
    constexpr int kMaxDepth = 100, kMaxValues = 1'000'000;
    YamlValue value;
    value.line = std::max(node.Mark().line, 0) + 1;  // an empty document has no place
    if (depth > kMaxDepth || ++num_values_ > kMaxValues)
      throw Error(ErrorCode::kSyntax, origin_ + ":" + std::to_string(value.line),
                  "has more than " + std::to_string(kMaxDepth) + " levels or " +
                      std::to_string(kMaxValues) + " values; remove aliases that repeat lists");
    if (node.IsScalar()) {
      // The library gives this tag to a scalar in quotes or of several lines.
      value.kind = node.Tag() == "!" ? YamlValue::Kind::quoted : YamlValue::Kind::plain;
      value.text = node.Scalar();
    } else if (node.IsSequence()) {
      value.kind = YamlValue::Kind::list;
      for (const YAML::Node& item : node) value.items.push_back(copy(item, depth + 1));
    } else if (node.IsMap()) {
      value.kind = YamlValue::Kind::mapping;
      for (const auto& entry : node) {
        value.items.push_back(copy(entry.first, depth + 1));
        value.items.push_back(copy(entry.second, depth + 1));
        // The library places a missing value at what follows it.
        if (entry.second.IsNull()) value.items.back().line = value.items.end()[-2].line;
      }
    }
    return value;
  }

 private:
  std::string origin_;
  int num_values_ = 0;
};

}  // namespace

std::string read_yaml_text(const std::filesystem::path& path, const std::string& what) {
  constexpr std::uintmax_t kMaxSize = 16 << 20;  // [bytes]; a larger file is probably a mesh
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Error(ErrorCode::kFileNotFound, path.string(), "there is no such " + what);
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(ErrorCode::kFileNotFound, path.string(), "is not a file");
  if (std::filesystem::file_size(path, error) > kMaxSize)
    throw Error(ErrorCode::kSyntax, path.string(),
                "is larger than 16 MiB, so it cannot be a " + what + "; choose another file");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::kFileNotFound, path.string(), "cannot be read");
  return text.str();
}

YAML::Node load_yaml(const std::string& text, const std::string& origin, bool has_lines) {
  try {
    if (has_second_document(text))
      throw Error(ErrorCode::kSyntax, origin, "has more than one YAML document; keep one");
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    const bool at_line = has_lines && !e.mark.is_null();
    throw Error(ErrorCode::kSyntax,
                at_line ? origin + ":" + std::to_string(e.mark.line + 1) : origin,
                "is not YAML: " + e.msg);
  }
}

YamlValue read_yaml_value(const std::filesystem::path& path, const std::string& what) {
  return parse_yaml_value(read_yaml_text(path, what), path.string());
}

YamlValue parse_yaml_value(const std::string& text, const std::string& origin) {
  return Copier(origin).copy(load_yaml(text, origin));
}

}  // namespace stiction::io
