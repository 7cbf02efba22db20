#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/io/tet_mesh_file.hpp"
#include "stiction/io/vtk_text.hpp"

namespace stiction::io {
namespace {

constexpr std::int64_t kTetrahedron = 10;  // VTK's number of this cell type
/// Accepted rounding error of a field on the boundary, relative to its largest value.
constexpr double kBoundaryTolerance = 1e-12;

/// Returns the name and number of a cell type, for messages.
std::string describe_cell_type(std::int64_t type) {
  constexpr std::array<std::pair<int, const char*>, 10> kNames = {
      {{1, "a vertex"},
       {3, "a line"},
       {5, "a triangle"},
       {8, "a pixel"},
       {9, "a quad"},
       {11, "a voxel"},
       {12, "a hexahedron"},
       {13, "a wedge"},
       {14, "a pyramid"},
       {24, "a quadratic tetrahedron"}}};
  for (const auto& [number, name] : kNames)
    if (number == type) return std::string(name) + " (VTK type " + std::to_string(type) + ")";
  return "of VTK type " + std::to_string(type);
}

/// Reads a VTK file section by section and makes a tet mesh of it.
class MeshReader {
 public:
  MeshReader(std::string_view bytes, const std::string& origin)
      : text_(bytes, origin), origin_(origin) {}

  TetMeshFile read() {
    read_header();
    while (!text_.peek_word().empty()) read_section(text_.read_word("a section"));
    make_tets();
    check_field();
    return std::move(out_);
  }

 private:
  void read_header() {
    if (!text_.read_line().starts_with("# vtk DataFile Version"))
      text_.fail(ErrorCode::kSyntax,
                 "does not begin with '# vtk DataFile Version', so it is not a VTK legacy file; "
                 "save files of VTK's XML formats (.vtu) as legacy files");
    text_.read_line();  // skip the title
    const std::string_view encoding = text_.read_word("ASCII or BINARY");
    if (encoding != "ASCII" && encoding != "BINARY")
      text_.fail(ErrorCode::kSyntax, "expected ASCII or BINARY, found " + VtkText::quote(encoding));
    text_.set_binary(encoding == "BINARY");
  }

  void read_section(std::string_view name) {
    if (name == "DATASET") {
      const std::string_view kind = text_.read_word("the kind of the dataset");
      if (kind != "UNSTRUCTURED_GRID")
        text_.fail(ErrorCode::kUnsupported, "the dataset is " + VtkText::quote(kind) +
                                                ", must be an UNSTRUCTURED_GRID of tetrahedra");
    } else if (name == "POINTS") {
      read_points();
    } else if (name == "CELLS") {
      read_cells();
    } else if (name == "CELL_TYPES") {
      read_cell_types();
    } else if (name == "POINT_DATA" || name == "CELL_DATA") {
      is_point_data_ = name == "POINT_DATA";
      if (out_.mesh.vertices.empty() || (!is_point_data_ && num_cells_ == 0))
        text_.fail(ErrorCode::kSyntax, std::string(name) + " comes before " +
                                           (is_point_data_ ? "POINTS" : "POINTS and CELLS") +
                                           "; put the mesh before its data");
      num_tuples_ = text_.read_count("the number of values");
      const std::size_t expected = is_point_data_ ? out_.mesh.vertices.size() : num_cells_;
      if (num_tuples_ != expected)
        text_.fail(ErrorCode::kSyntax, std::string(name) + " has " + std::to_string(num_tuples_) +
                                           " values, must have " + std::to_string(expected));
      is_in_data_ = true;
    } else if (name == "METADATA") {
      text_.read_line();
      while (!text_.read_line().empty()) continue;  // metadata end with an empty line
    } else {
      read_attribute(name);
    }
  }

  // ---- the mesh --------------------------------------------------------------------------------

  void read_points() {
    if (!out_.mesh.vertices.empty()) text_.fail(ErrorCode::kSyntax, "duplicate POINTS section");
    const std::size_t count = text_.read_count("the number of points");
    const std::string type = read_real_type("points");
    text_.expect_numbers(count, 3, type);
    out_.mesh.vertices.resize(count);
    for (math::Vec3& x : out_.mesh.vertices) {
      x.x = text_.read_real(type, "a coordinate");
      x.y = text_.read_real(type, "a coordinate");
      x.z = text_.read_real(type, "a coordinate");
    }
  }

  /// Reads cells in the form of version 4.2 and before, where each cell is its number of vertices
  /// and the vertices, or in that of version 5.1, with OFFSETS and CONNECTIVITY.
  void read_cells() {
    if (!cells_.empty()) text_.fail(ErrorCode::kSyntax, "duplicate CELLS section");
    const std::size_t count = text_.read_count("the number of cells");
    const std::size_t size = text_.read_count("the size of the list of cells");
    text_.end_announcement();
    if (text_.peek_word() == "OFFSETS")
      read_offsets_and_connectivity(count, size);
    else
      read_counted_cells(count, size);
  }

  void read_counted_cells(std::size_t count, std::size_t size) {
    text_.expect_numbers(size, 1, "int");
    if (count > size)
      text_.fail(ErrorCode::kSyntax, "CELLS has " + std::to_string(count) +
                                         " cells but a list of only " + std::to_string(size) +
                                         " numbers");
    cells_.reserve(size - count);
    offsets_.assign(1, 0);
    for (std::size_t i = 0, left = size; i < count; ++i) {
      const std::int64_t n = left > 0 ? text_.read_integer("int", "a number of vertices") : -1;
      if (n < 0 || static_cast<std::size_t>(n) >= left)
        text_.fail(ErrorCode::kSyntax, "cell " + std::to_string(i) + " has " + std::to_string(n) +
                                           " vertices, but " + std::to_string(left) +
                                           " numbers of the list of cells are left");
      for (std::int64_t k = 0; k < n; ++k) cells_.push_back(read_vertex("int"));
      offsets_.push_back(static_cast<std::int64_t>(cells_.size()));
      left -= static_cast<std::size_t>(n) + 1;
      if (i + 1 == count && left > 0)
        text_.fail(ErrorCode::kSyntax,
                   "unused numbers at the end of the list of cells: " + std::to_string(left));
    }
    num_cells_ = count;
  }

  void read_offsets_and_connectivity(std::size_t num_offsets, std::size_t size) {
    if (num_offsets == 0) text_.fail(ErrorCode::kSyntax, "CELLS must have at least one offset");
    const std::string offset_type = read_list_type("OFFSETS", num_offsets);
    offsets_.resize(num_offsets);
    for (std::int64_t& offset : offsets_) offset = text_.read_integer(offset_type, "an offset");
    const std::string type = read_list_type("CONNECTIVITY", size);
    cells_.resize(size);
    for (std::int64_t& vertex : cells_) vertex = read_vertex(type);
    num_cells_ = num_offsets - 1;
    for (std::size_t i = 0; i <= num_cells_; ++i)
      if (offsets_[i] != (i == 0 ? 0 : std::max(offsets_[i], offsets_[i - 1])) ||
          offsets_[i] > static_cast<std::int64_t>(size))
        text_.fail(ErrorCode::kSyntax, "offset " + std::to_string(i) + " is " +
                                           std::to_string(offsets_[i]) +
                                           ", must increase from 0 to the size of CONNECTIVITY, " +
                                           std::to_string(size));
    if (offsets_.back() != static_cast<std::int64_t>(size))
      text_.fail(ErrorCode::kSyntax, "the last offset is " + std::to_string(offsets_.back()) +
                                         ", must be the size of CONNECTIVITY, " +
                                         std::to_string(size));
  }

  /// Reads the name of a list and its number type.
  std::string read_list_type(const char* name, std::size_t count) {
    if (const std::string_view word = text_.read_word(name); word != name)
      text_.fail(ErrorCode::kSyntax,
                 std::string("expected ") + name + ", found " + VtkText::quote(word));
    std::string type(read_type(name));
    text_.expect_numbers(count, 1, type);
    return type;
  }

  std::int64_t read_vertex(std::string_view type) {
    const std::int64_t vertex = text_.read_integer(type, "a vertex of a cell");
    const std::size_t num_vertices = out_.mesh.vertices.size();
    if (vertex < 0 || static_cast<std::size_t>(vertex) >= num_vertices)
      text_.fail(ErrorCode::kInvalidValue, "point " + std::to_string(vertex) +
                                               " of a cell is out of range; there are " +
                                               std::to_string(num_vertices) + " points");
    return vertex;
  }

  void read_cell_types() {
    const std::size_t count = text_.read_count("the number of cell types");
    text_.end_announcement();
    if (count != num_cells_)
      text_.fail(ErrorCode::kSyntax, "CELL_TYPES has " + std::to_string(count) +
                                         " cells, but CELLS has " + std::to_string(num_cells_));
    text_.expect_numbers(count, 1, "int");
    for (std::size_t i = 0; i < count; ++i)
      if (const std::int64_t type = text_.read_integer("int", "a cell type"); type != kTetrahedron)
        text_.fail(ErrorCode::kUnsupported,
                   "cell " + std::to_string(i) + " is " + describe_cell_type(type) +
                       ", must be a tetrahedron (10); remove other cells, or mesh the surface "
                       "again (stiction mesh)");
    has_cell_types_ = true;
  }

  /// Makes tets of the cells at the end of the file, when the cell types are known.
  void make_tets() {
    const char* missing = out_.mesh.vertices.empty() ? "POINTS"
                          : num_cells_ == 0          ? "CELLS"
                          : !has_cell_types_         ? "CELL_TYPES"
                                                     : nullptr;
    if (missing)
      throw Error(ErrorCode::kSyntax, origin_, std::string("the file has no ") + missing);
    out_.mesh.tets.reserve(num_cells_);
    for (std::size_t i = 0; i < num_cells_; ++i) {
      const std::int64_t size = offsets_[i + 1] - offsets_[i];
      if (size != 4)
        throw Error(ErrorCode::kInvalidValue, origin_,
                    "cell " + std::to_string(i) + " has " + std::to_string(size) +
                        " vertices, must have 4");
      std::array<int, 4> tet{};
      for (std::size_t k = 0; k < 4; ++k)
        tet[k] = static_cast<int>(cells_[static_cast<std::size_t>(offsets_[i]) + k]);
      out_.mesh.tets.push_back(tet);
    }
  }

  // ---- the field -------------------------------------------------------------------------------

  /// Reads a number type.
  std::string_view read_type(const char* what) {
    const std::string_view type = text_.read_word(what);
    if (VtkText::size_of(type) == 0)
      text_.fail(ErrorCode::kUnsupported, std::string("the type of ") + what + " is " +
                                              VtkText::quote(type) +
                                              ", must be a VTK number type (e.g. double)");
    text_.end_announcement();
    return type;
  }

  /// Reads a number type that must be float or double.
  std::string read_real_type(const char* what) {
    const std::string_view type = text_.read_word(what);
    if (type != "float" && type != "double")
      text_.fail(ErrorCode::kUnsupported, std::string("the type of ") + what + " is " +
                                              VtkText::quote(type) + ", must be float or double");
    text_.end_announcement();
    return std::string(type);
  }

  /// Reads an array of POINT_DATA or CELL_DATA, or a FIELD of the whole dataset.
  void read_attribute(std::string_view kind) {
    if (kind == "FIELD") {
      text_.read_word("the name of the field");
      const std::size_t num_arrays = text_.read_count("the number of arrays");
      for (std::size_t i = 0; i < num_arrays; ++i) {
        if (text_.peek_word() == "METADATA") read_section(text_.read_word("METADATA"));
        const std::string_view name = text_.read_word("the name of an array");
        const std::size_t num_components = text_.read_count("the number of components");
        const std::size_t num_tuples = text_.read_count("the number of values");
        read_array(name, num_components, num_tuples);
      }
      return;
    }
    if (!is_in_data_)
      text_.fail(ErrorCode::kSyntax,
                 VtkText::quote(kind) + " is not a section of an unstructured grid");
    const std::string_view name = text_.read_word("the name of an array");
    if (kind == "SCALARS") {
      read_scalars(name);
    } else if (kind == "VECTORS" || kind == "NORMALS") {
      read_array(name, 3, num_tuples_);
    } else if (kind == "TENSORS") {
      read_array(name, 9, num_tuples_);
    } else if (kind == "GLOBAL_IDS" || kind == "PEDIGREE_IDS") {
      read_array(name, 1, num_tuples_);
    } else if (kind == "TEXTURE_COORDINATES") {
      const std::size_t num_components = text_.read_count("the number of components");
      read_array(name, num_components, num_tuples_);
    } else if (kind == "LOOKUP_TABLE") {
      const std::size_t size = text_.read_count("the size of the table");
      text_.end_announcement();
      text_.skip_numbers(size, 4, "unsigned_char");
    } else {
      text_.fail(ErrorCode::kUnsupported, VtkText::quote(kind) +
                                              " is not a supported attribute; "
                                              "save the mesh without it");
    }
  }

  /// Reads SCALARS, with an optional number of components, and a color table on the next line.
  void read_scalars(std::string_view name) {
    const std::string type(text_.read_word("a number type"));
    if (VtkText::size_of(type) == 0)
      text_.fail(ErrorCode::kUnsupported, VtkText::quote(name) + ": " + VtkText::quote(type) +
                                              " is not a VTK number type (e.g. double)");
    std::size_t num_components = 1;
    if (text_.peek_word() != "LOOKUP_TABLE")
      num_components = text_.read_count("the number of components, or LOOKUP_TABLE");
    if (const std::string_view word = text_.read_word("LOOKUP_TABLE"); word != "LOOKUP_TABLE")
      text_.fail(ErrorCode::kSyntax, "expected LOOKUP_TABLE, found " + VtkText::quote(word));
    text_.read_word("the name of the table");
    text_.end_announcement();
    read_numbers(name, num_components, num_tuples_, type);
  }

  void read_array(std::string_view name, std::size_t num_components, std::size_t num_tuples) {
    const std::string type(read_type("an array"));
    read_numbers(name, num_components, num_tuples, type);
  }

  /// Reads an array if it is the field, and skips it otherwise.
  void read_numbers(std::string_view name, std::size_t num_components, std::size_t num_tuples,
                    const std::string& type) {
    const FieldKind kind = !is_in_data_         ? FieldKind::none
                           : name == "pressure" ? FieldKind::pressure
                           : name == "extent"   ? FieldKind::extent
                                                : FieldKind::none;
    if (kind == FieldKind::none) return text_.skip_numbers(num_tuples, num_components, type);
    const std::string field(name);
    if (!is_point_data_)
      text_.fail(ErrorCode::kInvalidValue, field + " is in CELL_DATA, must be in POINT_DATA");
    if (out_.field_kind != FieldKind::none)
      text_.fail(ErrorCode::kInvalidValue,
                 "the file has a second field, " + field + "; keep one of pressure and extent");
    if (num_components != 1 || num_tuples != num_tuples_)
      text_.fail(ErrorCode::kInvalidValue, field + " has " + std::to_string(num_tuples) + " x " +
                                               std::to_string(num_components) +
                                               " numbers, must have one number for each of the " +
                                               std::to_string(num_tuples_) + " points");
    if (type != "float" && type != "double")
      text_.fail(ErrorCode::kUnsupported,
                 "the type of " + field + " is " + type + ", must be float or double");
    text_.expect_numbers(num_tuples, 1, type);
    out_.field_kind = kind;
    out_.field.resize(num_tuples);
    for (std::size_t i = 0; i < num_tuples; ++i) {
      double& value = out_.field[i];
      value = text_.read_real(type, field.c_str());
      const bool is_too_large = kind == FieldKind::extent && value > 1 + kBoundaryTolerance;
      if (value < 0 || is_too_large)
        text_.fail(ErrorCode::kInvalidValue,
                   field + " of point " + std::to_string(i) + " is " + base::to_text(value) +
                       (is_too_large ? ", must be at most 1 (it is relative to the modulus)"
                                     : ", must be at least 0"));
    }
  }

  /// Checks the field on the boundary, and sets it to exactly 0 there.
  void check_field() {
    if (out_.field_kind == FieldKind::none) return;
    const char* name = field_kind_name(out_.field_kind);
    const double largest = *std::max_element(out_.field.begin(), out_.field.end());
    if (largest == 0)
      throw Error(ErrorCode::kInvalidValue, origin_,
                  std::string(name) + " is 0 at every point, must be positive inside");
    const std::vector<bool> is_boundary = find_boundary_vertices(out_.mesh);
    for (std::size_t i = 0; i < out_.field.size(); ++i) {
      if (!is_boundary[i]) continue;
      if (out_.field[i] > kBoundaryTolerance * largest)
        throw Error(ErrorCode::kInvalidValue, origin_,
                    std::string(name) + " of point " + std::to_string(i) + " is " +
                        base::to_text(out_.field[i]) + ", must be 0 because it is on the boundary");
      out_.field[i] = 0;
    }
  }

  VtkText text_;
  std::string origin_;
  TetMeshFile out_;
  std::vector<std::int64_t> offsets_, cells_;  // vertices of cell i: from cells_[offsets_[i]]
  std::size_t num_cells_ = 0, num_tuples_ = 0;
  bool has_cell_types_ = false, is_in_data_ = false, is_point_data_ = false;
};

}  // namespace

TetMeshFile parse_tet_mesh(std::string_view bytes, const std::string& origin) {
  return MeshReader(bytes, origin).read();
}

}  // namespace stiction::io
