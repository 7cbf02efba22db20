// Tet meshes in VTK files: a parsed mesh keeps what its comments promise, and comes back unchanged
// from its text.
#include <string_view>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/geometry/extent.hpp"
#include "stiction/io/tet_mesh_file.hpp"

namespace stiction::fuzz {
namespace {

void require_valid(const io::TetMeshFile& file) {
  const auto num_vertices = static_cast<int>(file.mesh.vertices.size());
  require(!file.mesh.tets.empty());
  for (const math::Vec3& x : file.mesh.vertices) require(is_finite(x));
  for (const auto& tet : file.mesh.tets)
    for (const int vertex : tet) require(0 <= vertex && vertex < num_vertices);
  for (const double value : file.field) require(std::isfinite(value) && value >= 0);
}

void require_same(const io::TetMeshFile& a, const io::TetMeshFile& b) {
  require(a.mesh.tets == b.mesh.tets && a.field == b.field && a.field_kind == b.field_kind);
  require(a.mesh.vertices.size() == b.mesh.vertices.size());
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  io::TetMeshFile file;
  try {
    file = io::parse_tet_mesh({reinterpret_cast<const char*>(data), size}, "part.vtk");
  } catch (const Error& e) {
    fuzz::require(e.where().starts_with("part.vtk"));
    return 0;
  }
  fuzz::require_valid(file);
  fuzz::require_same(file, io::parse_tet_mesh(io::format_tet_mesh(file, "title"), "again.vtk"));
  try {
    (void)geometry::make_meshed_shape(file.mesh, "part.vtk");
  } catch (const Error&) {
  }
  return 0;
}
