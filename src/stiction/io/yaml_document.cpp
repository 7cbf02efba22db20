#include "stiction/io/yaml_document.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <system_error>

#include <yaml-cpp/eventhandler.h>

#include "stiction/base/error.hpp"

namespace stiction::io {
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

/// True if a text has more than one document. YAML::LoadAll does not end on some malformed texts,
/// so this reads two documents at most.
bool has_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NullHandler handler;
  return parser.HandleNextDocument(handler) && parser.HandleNextDocument(handler);
}

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

}  // namespace stiction::io
