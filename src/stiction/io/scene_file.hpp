#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stiction::io {

/// The text of an MJCF file and all that it includes, read as MuJoCo reads it, to find what MuJoCo
/// would not survive, or not say the place of.
class SceneFile {
 public:
  /// Reads what can be read; what is malformed is left to MuJoCo's own message.
  explicit SceneFile(std::filesystem::path path);
  ~SceneFile();
  SceneFile(const SceneFile&) = delete;
  SceneFile& operator=(const SceneFile&) = delete;

  /// Checks numbers that MuJoCo takes, or crashes on: masses, sizes and the like that are not
  /// finite, a time step that is not positive, grids and replicas beyond all memory.
  /// @throws Error listing every fault with file, line, element, attribute and value
  void check() const;

  /// The place that a message of MuJoCo's is about: "scene.xml:12"; the file alone if it does not
  /// say. Lines of included files, which MuJoCo does not know, are found by element and name.
  std::string locate(const std::string& message) const;

 private:
  struct Document;
  struct Element;
  void read(const std::filesystem::path& file, double num_copies);
  std::string find_element(const std::string& tag, const std::string& attribute,
                           const std::string& value) const;
  std::string find_file(const std::filesystem::path& name) const;

  std::filesystem::path path_;
  std::vector<std::unique_ptr<Document>> documents_;
  std::vector<Element> elements_;  // in document order, includes in place
};

}  // namespace stiction::io
