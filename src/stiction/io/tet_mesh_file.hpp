#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::io {

/// The kind of pressure field in the file of a tet mesh.
enum class FieldKind {
  none,
  extent,   // pressure / hydroelastic modulus, from 0 on the boundary to at most 1 [-]
  pressure  // [Pa]
};

/// Returns the name of a kind in files: "none", "extent" or "pressure".
const char* field_kind_name(FieldKind kind);

/// A tet mesh and its field, as in a file.
struct TetMeshFile {
  geometry::TetMesh mesh;  // vertices [m]; indices are in range, shapes are not checked
  FieldKind field_kind = FieldKind::none;
  std::vector<double> field;  // per vertex: >= 0, and 0 on the boundary; empty for `none`
};

/// Reads a VTK legacy file of version 2.0 to 5.1, ASCII or binary. It must hold an unstructured
/// grid of tetrahedra with points as float or double [m]. The field is the POINT_DATA named
/// `pressure` or `extent`, as SCALARS or in a FIELD. All other data are skipped.
///
/// A field must be finite, at least 0, and positive at some vertex. On the boundary it must be at
/// most 1e-12 times its largest value, and is set to exactly 0 there: bodies with a positive
/// pressure on the boundary have no surface of equal pressure when contact begins.
/// @throws Error with the file and the line, or the byte of a binary file, if the file does not
///         exist, is not a VTK legacy file, has cells that are not tetrahedra, or has an index or a
///         value out of range
TetMeshFile read_tet_mesh(const std::filesystem::path& path);

/// Reads a tet mesh from the bytes of a file, see read_tet_mesh.
/// @param origin name of the file in messages
TetMeshFile parse_tet_mesh(std::string_view bytes, const std::string& origin);

/// Returns the text of a VTK 4.2 ASCII file. Reading it gives the same numbers, bit by bit.
/// @param title second line of the file, without line ends
std::string format_tet_mesh(const TetMeshFile& file, const std::string& title);

/// Writes a VTK 4.2 ASCII file.
/// @throws Error if the file cannot be written
void write_tet_mesh(const std::filesystem::path& path, const TetMeshFile& file);

/// Finds the vertices of faces that belong to one tet only. Returns one flag per vertex. The time
/// is linear in the number of tets, except for a sort.
/// @param mesh indices must be in range
std::vector<bool> find_boundary_vertices(const geometry::TetMesh& mesh);

}  // namespace stiction::io
