#include "stiction/io/yaml_value.hpp"

#include <algorithm>

#include "stiction/base/error.hpp"
#include "stiction/io/yaml_document.hpp"

namespace stiction::io {
namespace {

/// Copies the nodes of a document, and counts them: aliases may refer to what contains them, or
/// double the size on each level.
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

YamlValue read_yaml_value(const std::filesystem::path& path, const std::string& what) {
  return parse_yaml_value(read_yaml_text(path, what), path.string());
}

YamlValue parse_yaml_value(const std::string& text, const std::string& origin) {
  return Copier(origin).copy(load_yaml(text, origin));
}

}  // namespace stiction::io
