#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/base/error.hpp"
#include "stiction/geometry/extent.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/tet_mesh.hpp"
#include "stiction/io/tet_mesh_file.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;

using Vertices = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Tets = nb::ndarray<const int, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Triangles = nb::ndarray<const int, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<math::Vec3> copy_vertices(const Vertices& vertices) {
  std::vector<math::Vec3> out(vertices.shape(0));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {vertices(i, 0), vertices(i, 1), vertices(i, 2)};
  return out;
}

template <std::size_t n, class Array>
std::vector<std::array<int, n>> copy_elements(const Array& elements) {
  std::vector<std::array<int, n>> out(elements.shape(0));
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < n; ++k) out[i][k] = elements(i, k);
  return out;
}

geometry::TetMesh make_tet_mesh(const Vertices& vertices, const Tets& tets) {
  return {copy_vertices(vertices), copy_elements<4>(tets)};
}

nb::tuple read_tet_mesh(const std::string& path) {
  const io::TetMeshFile file = io::read_tet_mesh(path);
  std::vector<double> vertices;
  for (const math::Vec3& x : file.mesh.vertices) vertices.insert(vertices.end(), {x.x, x.y, x.z});
  std::vector<int> tets;
  for (const auto& tet : file.mesh.tets) tets.insert(tets.end(), tet.begin(), tet.end());
  return nb::make_tuple(make_array(vertices, 3), make_array(tets, 4),
                        nb::str(io::field_kind_name(file.field_kind)), make_array(file.field, 1));
}

void write_tet_mesh(const std::string& path, const Vertices& vertices, const Tets& tets,
                    const std::string& field_kind, const Values& field) {
  io::TetMeshFile file;
  file.mesh = make_tet_mesh(vertices, tets);
  file.field.assign(field.data(), field.data() + field.size());
  for (const auto kind : {io::FieldKind::extent, io::FieldKind::pressure})
    if (field_kind == io::field_kind_name(kind)) file.field_kind = kind;
  io::write_tet_mesh(path, file);
}

nb::dict summarize_tet_mesh(const Vertices& vertices, const Tets& tets) {
  const geometry::TetMesh mesh = make_tet_mesh(vertices, tets);
  const geometry::TetMeshSummary summary = geometry::summarize(mesh);
  const std::vector<bool> is_boundary = io::find_boundary_vertices(mesh);
  nb::dict out;
  out["num_vertices"] = mesh.vertices.size();
  out["num_tets"] = mesh.tets.size();
  out["num_interior_vertices"] = std::count(is_boundary.begin(), is_boundary.end(), false);
  out["num_tets_on_boundary"] = summary.num_tets_on_boundary;
  out["min_quality"] = summary.min_quality;
  out["worst_tet"] = summary.worst_tet;
  out["volume"] = summary.volume;
  out["thickness"] = summary.thickness;
  return out;
}

}  // namespace

void bind_meshes(nb::module_& m) {
  m.def("read_tet_mesh", &read_tet_mesh, "path"_a,
        nb::sig("def read_tet_mesh(path: str) -> tuple[numpy.ndarray, numpy.ndarray, str, "
                "numpy.ndarray]"),
        "Reads a VTK file. Returns its vertices [m], its tets, the kind of its field ('none', "
        "'extent' or 'pressure'), and the field per vertex.");
  m.def("write_tet_mesh", &write_tet_mesh, "path"_a, "vertices"_a, "tets"_a, "field_kind"_a,
        "field"_a, "Writes a VTK file; the inverse of read_tet_mesh.");
  m.def(
      "check_tet_mesh",
      [](const Vertices& vertices, const Tets& tets, const std::string& where) {
        geometry::check_tet_mesh(make_tet_mesh(vertices, tets), where);
      },
      "vertices"_a, "tets"_a, "where"_a,
      "Raises stiction.Error with the faults of a tet mesh, if it has any.");
  m.def(
      "check_triangle_mesh",
      [](const Vertices& vertices, const Triangles& triangles, const std::string& where) {
        geometry::check_triangle_mesh({copy_vertices(vertices), copy_elements<3>(triangles)},
                                      where);
      },
      "vertices"_a, "triangles"_a, "where"_a,
      "Raises stiction.Error with the faults of a closed surface, if it has any.");
  m.def("summarize_tet_mesh", &summarize_tet_mesh, "vertices"_a, "tets"_a,
        nb::sig("def summarize_tet_mesh(vertices: numpy.ndarray, tets: numpy.ndarray) -> dict[str, "
                "int | float]"),
        "Returns counts, quality, volume and thickness of a mesh that check_tet_mesh accepts.");
  m.def(
      "calc_extent",
      [](const Vertices& vertices, const Tets& tets) {
        return make_array(
            geometry::calc_boundary_distance(make_tet_mesh(vertices, tets)).calc_extent(), 1);
      },
      "vertices"_a, "tets"_a,
      nb::sig("def calc_extent(vertices: numpy.ndarray, tets: numpy.ndarray) -> numpy.ndarray"),
      "Returns the distance of each vertex to the boundary, divided by the greatest such "
      "distance.");
}

}  // namespace stiction::python
