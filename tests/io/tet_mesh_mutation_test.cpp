#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/io/tet_mesh_file.hpp"
#include "support/vtk_files.hpp"

namespace stiction::io::tet_mesh_mutation_test {
namespace {

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
}  // namespace stiction::io::tet_mesh_mutation_test
