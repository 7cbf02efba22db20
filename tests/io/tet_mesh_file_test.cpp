#include "stiction/io/tet_mesh_file.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "support/vtk_files.hpp"

namespace stiction::io::tet_mesh_file_test {
namespace {

using support::kFan42;
using support::kFan51;
using support::make_binary_fan;

/// Returns a text with the first `from` replaced by `to`.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Error fault_of(const std::string& bytes) {
  try {
    parse_tet_mesh(bytes, "part.vtk");
  } catch (const Error& e) {
    return e;
  }
  return {ErrorCode::kSyntax, "", "no fault"};
}

void expect_fan(const TetMeshFile& file) {
  ASSERT_EQ(file.mesh.vertices.size(), 5u);
  EXPECT_EQ(file.mesh.vertices[1], (math::Vec3{1, 0, 0}));
  EXPECT_EQ(file.mesh.vertices[4], (math::Vec3{0.25, 0.25, 0.25}));
  const std::vector<std::array<int, 4>> tets = {
      {4, 1, 2, 3}, {0, 4, 2, 3}, {0, 1, 4, 3}, {0, 1, 2, 4}};
  EXPECT_EQ(file.mesh.tets, tets);
}

TEST(TetMeshFile, ReadsEveryVersionAndEncoding) {
  for (const std::string& bytes :
       {kFan42, make_binary_fan<double>(false), make_binary_fan<double>(true),
        make_binary_fan<float>(false), make_binary_fan<float>(true)}) {
    const TetMeshFile file = parse_tet_mesh(bytes, "fan.vtk");
    expect_fan(file);
    EXPECT_EQ(file.field_kind, FieldKind::extent);
    EXPECT_EQ(file.field, (std::vector<double>{0, 0, 0, 0, 1}));
  }
}

TEST(TetMeshFile, SkipsOtherData) {
  const TetMeshFile file = parse_tet_mesh(kFan51, "fan.vtk");
  expect_fan(file);
  EXPECT_EQ(file.field_kind, FieldKind::pressure);
  EXPECT_EQ(file.field, (std::vector<double>{0, 0, 0, 0, 2e5}));
}

// A file whose sections are in another order is the same mesh, or has an error.
TEST(TetMeshFile, TheOrderOfSectionsDoesNotCorruptAMesh) {
  std::vector<std::string> sections;
  std::string text = kFan42;
  for (const char* name : {"POINT_DATA", "CELL_TYPES", "CELLS", "POINTS"}) {
    const std::size_t at = text.find(std::string("\n") + name) + 1;
    sections.push_back(text.substr(at));
    text.resize(at);
  }
  sections.push_back("POINT_DATA 0\nSCALARS pressure double 1\nLOOKUP_TABLE default\n");
  sections.push_back("CELL_DATA 0\nSCALARS id int 1\nLOOKUP_TABLE default\n");
  std::sort(sections.begin(), sections.end());
  int num_read = 0;
  do {
    std::string bytes = text;
    for (const std::string& section : sections) {
      bytes += section;
      try {
        const TetMeshFile file = parse_tet_mesh(bytes, "part.vtk");
        expect_fan(file);
        ASSERT_TRUE(file.field.empty() || file.field.size() == 5) << bytes;
        ++num_read;
      } catch (const Error& e) {
        ASSERT_TRUE(e.where().starts_with("part.vtk")) << e.what();
      }
    }
  } while (std::next_permutation(sections.begin(), sections.end()));
  EXPECT_GT(num_read, 0);
}

TEST(TetMeshFile, AcceptsWindowsLineEndsCommentsAndNoField) {
  std::string windows;
  for (const char c : kFan42) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_fan(parse_tet_mesh(windows, "fan.vtk"));
  expect_fan(parse_tet_mesh(with(kFan42, "CELLS", "# all of it\nCELLS # tets\n"), "fan.vtk"));
  const TetMeshFile bare = parse_tet_mesh(kFan42.substr(0, kFan42.find("POINT_DATA")), "fan.vtk");
  expect_fan(bare);
  EXPECT_EQ(bare.field_kind, FieldKind::none);
  EXPECT_TRUE(bare.field.empty());
}

TEST(TetMeshFile, WritingAndReadingKeepsTheNumbers) {
  TetMeshFile file = parse_tet_mesh(kFan51, "fan.vtk");
  file.mesh.vertices[4] = {1.0 / 3, 2e-301, 0.1 + 0.2};
  file.field[4] = std::numeric_limits<double>::max();
  const TetMeshFile again = parse_tet_mesh(format_tet_mesh(file, "fan"), "fan.vtk");
  EXPECT_EQ(again.mesh.vertices, file.mesh.vertices);
  EXPECT_EQ(again.mesh.tets, file.mesh.tets);
  EXPECT_EQ(again.field_kind, file.field_kind);
  EXPECT_EQ(again.field, file.field);
}

TEST(TetMeshFile, BoundaryVerticesBelongToFacesOfOneTet) {
  const TetMeshFile fan = parse_tet_mesh(kFan42, "fan.vtk");
  EXPECT_EQ(find_boundary_vertices(fan.mesh), (std::vector<bool>{true, true, true, true, false}));
  EXPECT_EQ(find_boundary_vertices({fan.mesh.vertices, {{0, 1, 2, 4}}}),
            (std::vector<bool>{true, true, true, false, true}));
}

TEST(TetMeshFile, RoundOffOfAFieldOnTheBoundaryBecomesZero) {
  EXPECT_EQ(parse_tet_mesh(with(kFan42, "0 0 0 0 1\n", "1e-13 0 0 0 1\n"), "").field[0], 0);
  const Error e = fault_of(with(kFan42, "0 0 0 0 1\n", "0 1e-11 0 0 1\n"));
  EXPECT_EQ(e.code(), ErrorCode::kInvalidValue);
  EXPECT_NE(e.message().find("extent of point 1 is 1e-11, must be 0 because it is on the boundary"),
            std::string::npos)
      << e.what();
}

TEST(TetMeshFile, ErrorsNameTheFaultAndItsPlace) {
  const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"# vtk", "# stl", "part.vtk:1: does not begin with '# vtk DataFile Version'"},
      {"ASCII", "ascii", "part.vtk:3: expected ASCII or BINARY, found 'ascii'"},
      {"UNSTRUCTURED_GRID", "POLYDATA", "part.vtk:4: the dataset is 'POLYDATA'"},
      {"5 double", "5 int", "the type of points is 'int', must be float or double"},
      {"5 double", "-5 double", "the number of points is '-5', must be a whole number"},
      {"5 double", "5e3 double", "the number of points is '5e3'"},
      {"5 double", "99999999999999999999 double", "must be a whole number"},
      {"5 double", "6000000000000000000 double", "more than the rest of the file can hold"},
      {"5 double", "6 double", "part.vtk:11: a coordinate is 'CELLS', must be a finite number"},
      {"0 1 0\n", "0 nan 0\n", "part.vtk:8: a coordinate is 'nan', must be a finite number"},
      {"0 1 0\n", "0 1e999 0\n", "a coordinate is '1e999', must be a finite number"},
      {"0 1 0\n", "0 1,5 0\n", "a coordinate is '1,5', must be a finite number"},
      {"CELLS 4 20", "CELLS 4 19", "cell 3 has 4 vertices, but 4 numbers of the list"},
      {"CELLS 4 20", "CELLS 4 21", "unused numbers at the end of the list of cells: 1"},
      {"CELLS 4 20", "CELLS 4 3", "CELLS has 4 cells but a list of only 3 numbers"},
      {"4 20\n4 4 1 2 3", "4 19\n3 4 1 2", "cell 0 has 3 vertices, must have 4"},
      {"4 4 1 2 3", "-4 4 1 2 3", "cell 0 has -4 vertices"},
      {"4 4 1 2 3", "4 5 1 2 3",
       "part.vtk:12: point 5 of a cell is out of range; there are 5 points"},
      {"4 4 1 2 3", "4 4 1 2 -3", "point -3 of a cell is out of range"},
      {"4 4 1 2 3", "4 4 1 2 3.5", "a vertex of a cell is '3.5', must be a whole number"},
      {"CELL_TYPES 4", "CELL_TYPES 5", "CELL_TYPES has 5 cells, but CELLS has 4"},
      {"10\n10\nPOINT", "10\n12\nPOINT", "part.vtk:20: cell 3 is a hexahedron (VTK type 12)"},
      {"10\n10\nPOINT", "10\n77\nPOINT", "cell 3 is of VTK type 77, must be a tetrahedron"},
      {"POINT_DATA 5", "POINT_DATA 4", "POINT_DATA has 4 values, must have 5"},
      {"POINT_DATA 5", "CELL_DATA 4", "extent is in CELL_DATA, must be in POINT_DATA"},
      {"SCALARS extent double 1", "SCALARS extent double 3", "extent has 5 x 3 numbers"},
      {"SCALARS extent double 1", "SCALARS extent int 1", "the type of extent is int"},
      {"SCALARS extent double 1", "SCALARS extent real 1", "'real' is not a VTK number type"},
      {"SCALARS extent double 1", "COLOURS extent 1", "'COLOURS' is not a supported attribute"},
      {"1\nLOOKUP_TABLE default", "one", "the number of components, or LOOKUP_TABLE is 'one'"},
      {"LOOKUP_TABLE default", "TABLE default", "expected LOOKUP_TABLE, found 'TABLE'"},
      {"0 0 0 0 1\n", "0 0 0 0 -1\n", "extent of point 4 is -1, must be at least 0"},
      {"0 0 0 0 1\n", "0 0 0 0 1.5\n", "extent of point 4 is 1.5, must be at most 1"},
      {"0 0 0 0 1\n", "0 0 0 0 inf\n", "extent is 'inf', must be a finite number"},
      {"0 0 0 0 1\n", "0 0 0 0 0\n", "extent is 0 at every point"},
      {"0 0 0 0 1\n", "0 0 0 0\n", "the file ends before extent"},
      {"0 0 0 0 1\n", "0 0 0 0 1\nSCALARS pressure double\nLOOKUP_TABLE default\n0 0 0 0 1\n",
       "the file has a second field, pressure"},
      {"CELL_TYPES", "POINTS 1 double\n0 0 0\nCELL_TYPES", "duplicate POINTS section"},
      {"CELL_TYPES", "CELLS 1 1\n0\nCELL_TYPES", "duplicate CELLS section"},
  };
  for (const auto& c : cases) {
    const std::string message = fault_of(with(kFan42, c.from, c.to)).what();
    EXPECT_NE(message.find(c.message), std::string::npos) << c.to << " gave " << message;
  }
}

TEST(TetMeshFile, ErrorsNameTheMissingSection) {
  EXPECT_NE(std::string(fault_of("").what()).find("not a VTK legacy file"), std::string::npos);
  const std::string head = kFan42.substr(0, kFan42.find("POINTS"));
  EXPECT_NE(std::string(fault_of(head).what()).find("has no POINTS"), std::string::npos);
  const std::string points = kFan42.substr(0, kFan42.find("CELLS"));
  EXPECT_NE(std::string(fault_of(points).what()).find("has no CELLS"), std::string::npos);
  const std::string cells = kFan42.substr(0, kFan42.find("CELL_TYPES"));
  EXPECT_NE(std::string(fault_of(cells).what()).find("has no CELL_TYPES"), std::string::npos);
}

TEST(TetMeshFile, ChecksOffsets) {
  for (const auto& [to, message] : {std::pair{"0 4 3 12 16", "offset 2 is 3, must increase from 0"},
                                    {"1 4 8 12 16", "offset 0 is 1, must increase from 0"},
                                    {"0 4 8 17 16", "offset 3 is 17, must increase from 0"},
                                    {"0 4 8 12 12", "the last offset is 12, must be the size"},
                                    {"0 4 8 13 16", "cell 2 has 5 vertices, must have 4"},
                                    {"0 -4 8 12 16", "offset 1 is -4, must increase from 0"}}) {
    const std::string found = fault_of(with(kFan51, "0 4 8 12 16", to)).what();
    EXPECT_NE(found.find(message), std::string::npos) << found;
  }
}

TEST(TetMeshFile, ErrorsInBinaryFilesNameTheByte) {
  const std::string fan = make_binary_fan<double>(false);
  const std::size_t begin = fan.find("double\n") + 7;
  std::string bytes = fan;
  bytes.replace(begin + 8, 8, support::to_big_endian(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(std::string(fault_of(bytes).what()), "part.vtk: byte " + std::to_string(begin + 8) +
                                                     ": a coordinate is NaN, must be a finite "
                                                     "number");
  EXPECT_NE(std::string(fault_of(fan.substr(0, begin + 100)).what()).find("is it truncated?"),
            std::string::npos);
}

TEST(TetMeshFile, ReadsTheReferenceMeshes) {
  const std::filesystem::path folder =
      std::filesystem::path(STICTION_SOURCE_DIR) / "../shared/reference/surfaces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const TetMeshFile torus = read_tet_mesh(folder / "torus.vtk");
  EXPECT_EQ(torus.mesh.vertices.size(), 216u);
  EXPECT_EQ(torus.mesh.tets.size(), 576u);
  // The torus has 24 rings of 8 vertices on the surface and one inside.
  const std::vector<bool> is_boundary = find_boundary_vertices(torus.mesh);
  EXPECT_EQ(std::count(is_boundary.begin(), is_boundary.end(), false), 24);
  for (const char* name : {"torus_coarse.vtk", "torus_fine.vtk", "one_tet.vtk", "flat_tet.vtk"})
    EXPECT_FALSE(read_tet_mesh(folder / name).mesh.tets.empty());
}

TEST(TetMeshFile, MissingFilesAndFoldersAreErrors) {
  const std::filesystem::path folder = testing::TempDir();
  EXPECT_THROW(read_tet_mesh(folder / "none.vtk"), Error);
  EXPECT_THROW(read_tet_mesh(folder), Error);
  EXPECT_THROW(write_tet_mesh(folder / "none" / "a.vtk", {}), Error);
  const std::filesystem::path path = folder / "fan.vtk";
  write_tet_mesh(path, parse_tet_mesh(kFan42, "fan"));
  expect_fan(read_tet_mesh(path));
  std::filesystem::remove(path);
}

/// Corrupts a file as a typing error, a bad disk or an attacker would.
std::string mutate(std::string bytes, std::mt19937& random) {
  static const char* const kWords[] = {"-1",         "nan",
                                       "4294967296", "18446744073709551615",
                                       "POINTS",     "CELLS 9999999 9999999",
                                       "BINARY",     "OFFSETS vtktypeint64",
                                       "METADATA",   "FIELD f 3",
                                       "1e308",      "\r",
                                       "#",          "SCALARS"};
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t i = 0, n = 1 + pick(2); i < n && !bytes.empty(); ++i) {
    const std::size_t at = pick(bytes.size());
    const std::size_t length = std::min(pick(12) + 1, bytes.size() - at);
    switch (pick(6)) {
      case 0: bytes[at] = static_cast<char>(pick(256)); break;
      case 1: bytes.erase(at, length); break;
      case 2: bytes.insert(at, bytes.substr(pick(bytes.size()), length)); break;
      case 3: bytes.resize(at); break;
      case 4: bytes.replace(at, length, kWords[pick(std::size(kWords))]); break;
      default: bytes.insert(at, std::string(" ") + kWords[pick(std::size(kWords))] + "\n");
    }
  }
  return bytes;
}

/// Checks the properties on which every caller relies.
void expect_valid(const TetMeshFile& file) {
  const auto num_vertices = static_cast<int>(file.mesh.vertices.size());
  for (const math::Vec3& x : file.mesh.vertices) ASSERT_TRUE(is_finite(x));
  for (const auto& tet : file.mesh.tets)
    for (const int vertex : tet) ASSERT_TRUE(vertex >= 0 && vertex < num_vertices);
  ASSERT_FALSE(file.mesh.tets.empty());
  ASSERT_EQ(file.field.size(), file.field_kind == FieldKind::none ? 0 : file.mesh.vertices.size());
  for (const double value : file.field) ASSERT_TRUE(std::isfinite(value) && value >= 0);
}

TEST(TetMeshMutations, GiveErrorsWithAPlaceOrValidMeshes) {
  const std::string files[] = {support::kFan42, support::kFan51,
                               support::make_binary_fan<double>(false),
                               support::make_binary_fan<float>(true)};
  std::mt19937 random(5);
  int num_read = 0, num_rejected = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = mutate(files[i % 4], random);
    try {
      expect_valid(parse_tet_mesh(bytes, "part.vtk"));
      ++num_read;
    } catch (const Error& e) {
      ASSERT_TRUE(e.where().starts_with("part.vtk")) << e.what();
      ++num_rejected;
    }
  }
  // Both outcomes occur often enough to be tested.
  EXPECT_GT(num_read, 500);
  EXPECT_GT(num_rejected, 5000);
}

TEST(TetMeshMutations, NoNumberTakesMoreMemoryThanTheFileCanFill) {
  // A list of so many numbers would take terabytes; std::bad_alloc is no Error.
  constexpr const char* kHuge = "164294967296";
  for (const std::string& file : {std::string(support::kFan42), std::string(support::kFan51)}) {
    for (std::size_t at = 0; (at = file.find_first_of("0123456789", at)) != std::string::npos;) {
      const std::size_t end = file.find_first_not_of("0123456789", at);
      std::string bytes = file;
      bytes.replace(at, end - at, kHuge);
      try {
        expect_valid(parse_tet_mesh(bytes, "part.vtk"));
      } catch (const Error& e) {
        EXPECT_TRUE(e.where().starts_with("part.vtk")) << e.what();
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what() << " in\n" << bytes;
      }
      at = end;
    }
  }
}

}  // namespace

}  // namespace stiction::io::tet_mesh_file_test
