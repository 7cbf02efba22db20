#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/geometry/meshes.hpp"

namespace stiction::io {

/// What a tet mesh's file says of its pressure field.
enum class FieldKind {
  none,
  extent,   // share of the hydroelastic modulus, from 0 on the boundary to at most 1 [-]
  pressure  // [Pa]
};

/// Its name in files: "none", "extent" or "pressure".
const char* field_kind_name(FieldKind kind);

/// A tet mesh, and the field that its file has.
struct TetMeshFile {
  geometry::TetMesh mesh;  // as in the file: vertices [m], in range; shapes are not checked
  FieldKind field_kind = FieldKind::none;
  std::vector<double> field;  // of each vertex: >= 0, and 0 on the boundary; empty if none
};

/// Reads a VTK legacy file, 2.0 to 5.1, ASCII or binary: an unstructured grid of tetrahedra with
/// points as float or double, in m. POINT_DATA named `pressure` or `extent`, as SCALARS or in a
/// FIELD, is the field; what else there is is passed over.
///
/// A field must be finite and at least 0, somewhere above it, and on the boundary 0 within 1e-12 of
/// its largest value, where it becomes exactly 0: a pressure that does not vanish there has no
/// surface of equal pressure when contact begins.
/// @throws Error with file and line, or byte of a binary file: no such file, not such a file,
///         another cell than a tetrahedron, an index out of range, a value out of range
TetMeshFile read_tet_mesh(const std::filesystem::path& path);

/// The same from a file's bytes.
/// @param origin its name in messages
TetMeshFile parse_tet_mesh(std::string_view bytes, const std::string& origin);

/// The text of a VTK 4.2 ASCII file that is read as the same numbers, bit by bit.
/// @param title its second line, without line ends
std::string format_tet_mesh(const TetMeshFile& file, const std::string& title);

/// @throws Error if the file cannot be written
void write_tet_mesh(const std::filesystem::path& path, const TetMeshFile& file);

/// The vertices of faces that one tet has alone, size num_vertices. Linear in tets but for a sort.
/// @param mesh whose indices are in range
std::vector<bool> find_boundary_vertices(const geometry::TetMesh& mesh);

}  // namespace stiction::io
