#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

/// One mesh in the formats that VTK writes: a tet divided into four about the interior vertex 4.
namespace stiction::support {

inline const std::string kFan42 = R"(# vtk DataFile Version 4.2
fan
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
0 0 0
1 0 0
0 1 0
0 0 1
0.25 0.25 0.25
CELLS 4 20
4 4 1 2 3
4 0 4 2 3
4 0 1 4 3
4 0 1 2 4
CELL_TYPES 4
10
10
10
10
POINT_DATA 5
SCALARS extent double 1
LOOKUP_TABLE default
0 0 0 0 1
)";

/// The same mesh in version 5.1, with the additional sections that its writers add.
inline const std::string kFan51 = R"(# vtk DataFile Version 5.1
vtk output
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 1
TIME 1 1 double
0.5
POINTS 5 float
0 0 0 1 0 0 0 1 0
0 0 1 0.25 0.25 0.25
METADATA
INFORMATION 1
NAME L2_NORM_RANGE LOCATION vtkDataArray
DATA 2 0 1

CELLS 5 16
OFFSETS vtktypeint64
0 4 8 12 16
CONNECTIVITY vtktypeint64
4 1 2 3 0 4 2 3 0
1 4 3 0 1 2 4
CELL_TYPES 4
10 10 10 10

CELL_DATA 4
SCALARS region int
LOOKUP_TABLE default
1 1 2 2
POINT_DATA 5
VECTORS velocity double
0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
FIELD FieldData 2
id 1 5 int
0 1 2 3 4
pressure 1 5 float
0 0 0 0 2e5
)";

/// Returns the bytes of a number in a binary file.
template <class T>
std::string to_big_endian(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const auto bits = std::bit_cast<Bits>(value);
  std::string bytes;
  for (int i = sizeof(T) - 1; i >= 0; --i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
  return bytes;
}

/// Returns the mesh as a binary file of version 4.2 or 5.1, with real numbers of type Real.
template <class Real>
std::string make_binary_fan(bool is_51) {
  const std::string real = sizeof(Real) == 8 ? "double" : "float";
  std::string out = "# vtk DataFile Version ";
  out += is_51 ? "5.1" : "4.2";
  out += "\nfan\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 " + real + "\n";
  for (const double x :
       {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.25, 0.25, 0.25})
    out += to_big_endian(static_cast<Real>(x));
  const std::int32_t tets[4][4] = {{4, 1, 2, 3}, {0, 4, 2, 3}, {0, 1, 4, 3}, {0, 1, 2, 4}};
  out += is_51 ? "\nCELLS 5 16\nOFFSETS vtktypeint64\n" : "\nCELLS 4 20\n";
  if (is_51) {
    for (std::int64_t i = 0; i < 5; ++i) out += to_big_endian(4 * i);
    out += "\nCONNECTIVITY vtktypeint64\n";
  }
  for (const auto& tet : tets) {
    if (!is_51) out += to_big_endian(std::int32_t{4});
    for (const std::int32_t v : tet)
      out += is_51 ? to_big_endian(static_cast<std::int64_t>(v)) : to_big_endian(v);
  }
  out += "\nCELL_TYPES 4\n";
  for (int i = 0; i < 4; ++i) out += to_big_endian(std::int32_t{10});
  out += "\nPOINT_DATA 5\nSCALARS extent " + real + "\nLOOKUP_TABLE default\n";
  for (const double e : {0.0, 0.0, 0.0, 0.0, 1.0}) out += to_big_endian(static_cast<Real>(e));
  return out + "\n";
}

}  // namespace stiction::support
