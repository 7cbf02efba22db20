#include "stiction/io/tet_mesh_file.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "stiction/base/error.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::io {
namespace {

/// Appends the shortest text that reads as the same number.
void append(double value, std::string* out) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out->append(text.data(), result.ptr);
}

}  // namespace

const char* field_kind_name(FieldKind kind) {
  return kind == FieldKind::extent ? "extent" : kind == FieldKind::pressure ? "pressure" : "none";
}

std::vector<bool> find_boundary_vertices(const geometry::TetMesh& mesh) {
  std::vector<bool> is_boundary(mesh.vertices.size(), false);
  for (const auto& triangle : geometry::find_boundary(mesh))
    for (const int vertex : triangle) is_boundary[static_cast<std::size_t>(vertex)] = true;
  return is_boundary;
}

TetMeshFile read_tet_mesh(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMaxSize = std::uintmax_t{1} << 30;  // [bytes]: 10 million tets
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Error(ErrorCode::kFileNotFound, path.string(), "there is no such tet mesh file");
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(ErrorCode::kFileNotFound, path.string(), "is not a file");
  if (std::filesystem::file_size(path, error) > kMaxSize)
    throw Error(ErrorCode::kUnsupported, path.string(), "is larger than 1 GiB; use a coarser mesh");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) throw Error(ErrorCode::kFileNotFound, path.string(), "cannot be read");
  return parse_tet_mesh(bytes.view(), path.string());
}

std::string format_tet_mesh(const TetMeshFile& file, const std::string& title) {
  const auto& [vertices, tets] = file.mesh;
  std::string out = "# vtk DataFile Version 4.2\n" + title;
  out += "\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS " + std::to_string(vertices.size());
  out += " double\n";
  for (const math::Vec3& x : vertices)
    for (int i = 0; i < 3; ++i) {
      append(x[i], &out);
      out += i < 2 ? ' ' : '\n';
    }
  out += "CELLS " + std::to_string(tets.size()) + " " + std::to_string(5 * tets.size()) + "\n";
  for (const auto& tet : tets) {
    out += "4";
    for (const int vertex : tet) {
      out += ' ';
      out += std::to_string(vertex);
    }
    out += "\n";
  }
  out += "CELL_TYPES " + std::to_string(tets.size()) + "\n";
  for (std::size_t i = 0; i < tets.size(); ++i) out += "10\n";
  if (file.field_kind == FieldKind::none) return out;
  out += "POINT_DATA " + std::to_string(vertices.size()) + "\nSCALARS ";
  out += field_kind_name(file.field_kind);
  out += " double 1\nLOOKUP_TABLE default\n";
  for (const double value : file.field) {
    append(value, &out);
    out += '\n';
  }
  return out;
}

void write_tet_mesh(const std::filesystem::path& path, const TetMeshFile& file) {
  std::ofstream out(path, std::ios::binary);
  out << format_tet_mesh(file, path.stem().string());
  out.close();
  if (!out) throw Error(ErrorCode::kInvalidValue, path.string(), "cannot be written");
}

}  // namespace stiction::io
