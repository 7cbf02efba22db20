#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stiction::io {

/// The text of an MJCF file and of all files that it includes. It finds values with which MuJoCo
/// would crash, and the place of an error for which MuJoCo does not give one.
class SceneFile {
 public:
  /// Reads the files. A malformed file is skipped, because MuJoCo reports it.
  explicit SceneFile(std::filesystem::path path);
  ~SceneFile();
  SceneFile(const SceneFile&) = delete;
  SceneFile& operator=(const SceneFile&) = delete;

  /// Checks for numbers that MuJoCo accepts, or with which it crashes: masses, sizes and others
  /// that are not finite, a time step that is not positive, and grids or replicas that exceed the
  /// memory.
  /// @throws Error listing every fault with its file, line, element, attribute and value
  void check() const;

  /// Returns the place that a message of MuJoCo refers to, "scene.xml:12", or only the file. Lines
  /// of included files are found by element and name.
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
