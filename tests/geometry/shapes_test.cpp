#include "stiction/geometry/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "stiction/base/error.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/tet_mesh.hpp"
#include "support/error_message.hpp"

namespace stiction::geometry::shapes_test {
namespace {

namespace fs = std::filesystem;
using std::numbers::pi;

struct Shape {
  std::string name;
  std::function<MeshedShape(double hint)> mesh;
  std::function<TriangleMesh(double hint)> surface;
  double volume;
};

Shape cylinder(const char* name, double r, double l) {
  return {name, [=](double hint) { return make_cylinder_mesh(r, l, hint); },
          [=](double hint) { return make_cylinder_surface(r, l, hint); }, pi * r * r * l};
}

const std::vector<Shape>& curved_shapes() {
  static const std::vector<Shape> shapes = {
      {"sphere", [](double hint) { return make_sphere_mesh(0.05, hint); },
       [](double hint) { return make_sphere_surface(0.05, hint); }, 4 * pi / 3 * std::pow(0.05, 3)},
      {"ellipsoid",
       [](double hint) {
         return make_ellipsoid_mesh({0.05, 0.04, 0.03}, hint);
       },
       [](double hint) {
         return make_ellipsoid_surface({0.05, 0.04, 0.03}, hint);
       },
       4 * pi / 3 * 0.05 * 0.04 * 0.03},
      cylinder("short cylinder", 0.05, 0.04),
      cylinder("medium cylinder", 0.05, 0.1),
      cylinder("long cylinder", 0.05, 0.2),
      {"capsule", [](double hint) { return make_capsule_mesh(0.03, 0.08, hint); },
       [](double hint) { return make_capsule_surface(0.03, 0.08, hint); },
       4 * pi / 3 * std::pow(0.03, 3) + pi * 0.03 * 0.03 * 0.08}};
  return shapes;
}

/// Half sizes of a cube, of boxes whose medial axis is a segment along each axis, and of boxes
/// whose medial axis is a rectangle perpendicular to each axis.
const std::vector<Vec3> kBoxes = {{1, 1, 1}, {1, 1, 3}, {1, 3, 1}, {3, 1, 1},
                                  {1, 2, 3}, {2, 1, 3}, {3, 2, 1}, {1, 2, 2}};

/// Expects that every face belongs to one tet or two, and that the extent is 0 on the boundary and
/// 1 elsewhere.
void expect_conforming(const MeshedShape& shape) {
  std::map<std::set<int>, int> num_tets;
  for (const auto& tet : shape.mesh.tets) {
    ASSERT_GT(calc_volume(shape.mesh, tet), 0);
    for (int k = 0; k < 4; ++k) {
      std::set<int> face(tet.begin(), tet.end());
      face.erase(tet[k]);
      ASSERT_EQ(face.size(), 3u);
      ++num_tets[face];
    }
  }
  std::vector<double> extent(shape.extent.size(), 1.0);
  for (const auto& [face, n] : num_tets) {
    ASSERT_LE(n, 2);
    if (n == 1)
      for (const int v : face) extent[v] = 0;
  }
  EXPECT_EQ(shape.extent, extent);
  EXPECT_NO_THROW(check_tet_mesh(shape.mesh, ""));
}

/// Lists triangles in a form that does not depend on the order of vertices and triangles, but
/// depends on their winding.
auto list_triangles(const TriangleMesh& mesh) {
  std::multiset<std::array<double, 9>> triangles;
  for (const auto& t : mesh.triangles) {
    std::array<double, 9> least;
    least.fill(std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < 3; ++turn) {
      std::array<double, 9> x;
      for (int i = 0; i < 9; ++i) x[i] = mesh.vertices[t[(i / 3 + turn) % 3]][i % 3];
      least = std::min(least, x);
    }
    triangles.insert(least);
  }
  return triangles;
}

TEST(Shapes, MeshesConformAndSurfacesAreTheirBoundaries) {
  for (const Shape& shape : curved_shapes())
    for (const double hint : {1.0, 0.045, 0.03, 0.02, 0.01}) {
      SCOPED_TRACE(shape.name + " " + std::to_string(hint));
      const MeshedShape mesh = shape.mesh(hint);
      expect_conforming(mesh);
      const TriangleMesh surface = shape.surface(hint);
      EXPECT_NO_THROW(check_triangle_mesh(surface, ""));
      EXPECT_EQ(list_triangles(surface), list_triangles(make_boundary(mesh.mesh)));
      EXPECT_EQ(surface.vertices.size(), make_boundary(mesh.mesh).vertices.size());
      EXPECT_NEAR(calc_volume(surface), calc_volume(mesh.mesh), 1e-14 * shape.volume);
    }
}

TEST(Shapes, VolumesConvergeInSecondOrder) {
  // Half the hint is one more level of the sphere, and twice the sides of the others.
  for (const Shape& shape : curved_shapes()) {
    double before = 0;
    for (const double hint : {0.02, 0.01, 0.005}) {
      const double error = 1 - calc_volume(shape.mesh(hint).mesh) / shape.volume;
      EXPECT_GT(error, 0) << shape.name << " must be inscribed";
      if (before > 0) {
        EXPECT_NEAR(before / error, 4, 0.4) << shape.name << ", hint " << hint;
      }
      before = error;
    }
    EXPECT_LT(before, 0.012) << shape.name;
  }
}

/// Interpolates the extent at a point in the tet that contains it. Returns -1 outside.
double interpolate(const MeshedShape& shape, const Vec3& point) {
  TetMesh probe = shape.mesh;
  probe.vertices.push_back(point);
  const int at = static_cast<int>(probe.vertices.size()) - 1;
  for (const auto& tet : shape.mesh.tets) {
    double extent = 0, least = 1;
    for (int k = 0; k < 4; ++k) {
      std::array<int, 4> part = tet;
      part[k] = at;
      const double weight = calc_volume(probe, part) / calc_volume(probe, tet);
      extent += weight * shape.extent[tet[k]];
      least = std::min(least, weight);
    }
    if (least >= -1e-12) return extent;
  }
  return -1;
}

TEST(Shapes, ExtentOfBoxIsDistanceToItsFaces) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Vec3& half : kBoxes) {
    const MeshedShape box = make_box_mesh(half);
    expect_conforming(box);
    EXPECT_EQ(list_triangles(make_box_surface(half)), list_triangles(make_boundary(box.mesh)));
    EXPECT_NEAR(calc_volume(box.mesh), 8 * half.x * half.y * half.z, 1e-13);
    for (int i = 0; i < 100; ++i) {
      const Vec3 x = {half.x * uniform(random), half.y * uniform(random), half.z * uniform(random)};
      const double depth =
          std::min({half.x - std::abs(x.x), half.y - std::abs(x.y), half.z - std::abs(x.z)});
      EXPECT_NEAR(interpolate(box, x), depth / std::min({half.x, half.y, half.z}), 1e-12);
    }
  }
}

TEST(Shapes, ExtentOfCurvedShapesIsTheirRelativeDepth) {
  // A chord of the unit circle lies below it by 1 - cos of half its angle. For a capsule the errors
  // along a circle and along a meridian add up. For a sphere the error is measured.
  double sphere_error = 0;
  const TriangleMesh surface = make_sphere_surface(1, 0.1);
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3& x = surface.vertices[a];
    const Vec3 normal = cross(surface.vertices[b] - x, surface.vertices[c] - x);
    sphere_error = std::max(sphere_error, 1 - dot(normal, x) / norm(normal));
  }
  EXPECT_LT(sphere_error, 0.1 * 0.1 / 2);
  const double cylinder_error = 1 - std::cos(pi / 126);
  const double capsule_error = 2 - std::cos(pi / 31) - std::cos(pi / 60);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const MeshedShape sphere = make_sphere_mesh(1, 0.1);
  const MeshedShape flat = make_cylinder_mesh(1, 1.2, 0.05), thin = make_cylinder_mesh(1, 3, 0.05);
  const MeshedShape capsule = make_capsule_mesh(1, 1, 0.2);
  for (int i = 0; i < 30; ++i) {
    const Vec3 x = {0.4 * uniform(random), 0.4 * uniform(random), 0.55 * uniform(random)};
    const double rho = std::hypot(x.x, x.y);
    EXPECT_NEAR(interpolate(sphere, x), 1 - norm(x), sphere_error);
    EXPECT_NEAR(interpolate(flat, x), std::min(0.6 - std::abs(x.z), 1 - rho) / 0.6,
                cylinder_error / 0.6);
    EXPECT_NEAR(interpolate(thin, x), std::min(1.5 - std::abs(x.z), 1 - rho), cylinder_error);
    const double axis = std::max(std::abs(x.z) - 0.5, 0.0);
    EXPECT_NEAR(interpolate(capsule, x), 1 - std::hypot(rho, axis), capsule_error);
  }
}

TEST(Shapes, ConvexMeshOfASphereIsTheSphereMesh) {
  const MeshedShape sphere = make_sphere_mesh(0.1, 0.05);
  TriangleMesh hull = make_sphere_surface(0.1, 0.05);
  for (Vec3& v : hull.vertices) v += {3, 4, 5};
  const MeshedShape convex = make_convex_mesh(hull);
  expect_conforming(convex);
  EXPECT_EQ(convex.mesh.tets, sphere.mesh.tets);
  EXPECT_LT(norm(convex.mesh.vertices.back() - Vec3{3, 4, 5}), 1e-15 * 10);

  // The centroid of a tetrahedron is the mean of its vertices. A dented box is not convex.
  const TriangleMesh tet = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  EXPECT_LT(norm(make_convex_mesh(tet).mesh.vertices.back() - Vec3{0.25, 0.25, 0.25}), 1e-15);
  TriangleMesh dented = make_box_surface({1, 1, 1});
  for (Vec3& v : dented.vertices)
    if (v == Vec3{0, 0, 1}) v.z = -0.9;
  EXPECT_THROW(make_convex_mesh(dented), Error);
}

TEST(Shapes, PressureIsModulusTimesExtent) {
  const MeshedShape box = make_box_mesh({1, 2, 3});
  const PressureField field = make_pressure_field(box, 2e6);
  EXPECT_EQ(field.mesh.tets, box.mesh.tets);
  for (std::size_t i = 0; i < box.extent.size(); ++i)
    EXPECT_EQ(field.pressure[i], 2e6 * box.extent[i]);
  EXPECT_THROW(make_pressure_field(box, 0), Error);
}

// The lengths are those that the messages about finer hints give, to four digits.
TEST(Shapes, FinestMeshIsBounded) {
  EXPECT_EQ(make_sphere_surface(1, 0.006136).triangles.size(), 8u << 16);
  EXPECT_EQ(make_ellipsoid_surface({2, 1, 1}, 0.01227).triangles.size(), 8u << 16);
  EXPECT_EQ(make_cylinder_mesh(1, 2, 6.283e-05).mesh.tets.size(), 400000u);
  EXPECT_EQ(make_capsule_mesh(1, 2, 0.008895).mesh.tets.size(), 997578u);
}

TEST(Shapes, FinerHintsAreRefusedWithTheLeastOne) {
  const auto expect_refused = [](const char* least, auto make) {
    const std::string message = support::message_of(make);
    EXPECT_NE(message.find(std::string("of ") + least + " m; give at least"), std::string::npos)
        << message;
  };
  for (const double hint : {1e-300, 1e-9, 6e-5}) {
    expect_refused("0.006136", [&] { make_sphere_mesh(1, hint); });
    expect_refused("0.006136", [&] { make_sphere_surface(1, hint); });
    expect_refused("0.01227", [&] { make_ellipsoid_mesh({2, 1, 1}, hint); });
    expect_refused("6.283e-05", [&] { make_cylinder_mesh(1, 2, hint); });
    expect_refused("0.0089", [&] { make_capsule_mesh(1, 2, hint); });
  }
}

TEST(Shapes, NearlyEqualSizesGiveNoSlivers) {
  EXPECT_EQ(make_box_mesh({1, 1 + 1e-12, 1 - 1e-12}).mesh.tets.size(), 24u);
  EXPECT_NO_THROW(check_tet_mesh(make_box_mesh({1, 1 + 1e-6, 1}).mesh, ""));
  EXPECT_EQ(make_cylinder_mesh(1, 2 + 1e-12, 1).mesh.tets.size(), 28u);
  EXPECT_NO_THROW(check_tet_mesh(make_cylinder_mesh(1, 2 - 1e-6, 1).mesh, ""));
}

TEST(Shapes, RejectSizesThatAreNotPositiveAndFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    EXPECT_THROW(make_sphere_mesh(1, bad), Error);
    EXPECT_THROW(make_sphere_surface(bad, 1), Error);
    EXPECT_THROW(make_ellipsoid_mesh({1, bad, 1}, 1), Error);
    EXPECT_THROW(make_ellipsoid_surface({1, 1, 1}, bad), Error);
    EXPECT_THROW(make_box_mesh({1, 1, bad}), Error);
    EXPECT_THROW(make_cylinder_mesh(bad, 1, 1), Error);
    EXPECT_THROW(make_cylinder_surface(1, bad, 1), Error);
    EXPECT_THROW(make_cylinder_mesh(1, 1, bad), Error);
    EXPECT_THROW(make_capsule_mesh(1, bad, 1), Error);
    EXPECT_THROW(make_capsule_mesh(bad, 1, 1), Error);
    EXPECT_THROW(make_capsule_surface(1, 1, bad), Error);
  }
  try {
    make_capsule_mesh(1, 1, -0.02);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "resolution_hint of a capsule: is -0.02, must be finite and above 0");
  }
}

/// Reads an OBJ file of triangles.
TriangleMesh read_obj(const fs::path& path) {
  TriangleMesh mesh;
  std::ifstream file(path);
  for (std::string line, kind; std::getline(file, line);) {
    std::istringstream in(line);
    in >> kind;
    Vec3 x;
    std::array<int, 3> t;
    if (kind == "v" && in >> x.x >> x.y >> x.z) mesh.vertices.push_back(x);
    if (kind == "f" && in >> t[0] >> t[1] >> t[2])
      mesh.triangles.push_back({t[0] - 1, t[1] - 1, t[2] - 1});
  }
  return mesh;
}

// The reference data are the sizes of the meshes of Drake 1.51.1.
TEST(Shapes, MeshSizesEqualDrakes) {
  const fs::path folder = fs::path(STICTION_SOURCE_DIR) / "../shared/reference/surfaces";
  if (!fs::exists(folder / "mesh.json")) GTEST_SKIP() << "no reference data";
  int num_rows = 0;
  for (const YAML::Node& row : YAML::LoadFile((folder / "mesh.json").string())["rows"]) {
    const YAML::Node& shape_node = row["shape"];
    const auto kind = shape_node["kind"].as<std::string>();
    const double hint = row["hint"] ? row["hint"].as<double>() : 1.0;
    MeshedShape shape;
    TriangleMesh surface;
    const auto get_size = [&](const char* key) {
      return Vec3{shape_node[key][0].as<double>(), shape_node[key][1].as<double>(),
                  shape_node[key][2].as<double>()};
    };
    if (kind == "sphere") {
      shape = make_sphere_mesh(shape_node["r"].as<double>(), hint);
      surface = make_sphere_surface(shape_node["r"].as<double>(), hint);
    } else if (kind == "ellipsoid") {
      shape = make_ellipsoid_mesh(get_size("abc"), hint);
      surface = make_ellipsoid_surface(get_size("abc"), hint);
    } else if (kind == "box") {
      shape = make_box_mesh(0.5 * get_size("size"));
      surface = make_box_surface(0.5 * get_size("size"));
    } else if (kind == "cylinder") {
      shape = make_cylinder_mesh(shape_node["r"].as<double>(), shape_node["l"].as<double>(), hint);
      surface =
          make_cylinder_surface(shape_node["r"].as<double>(), shape_node["l"].as<double>(), hint);
    } else if (kind == "capsule") {
      shape = make_capsule_mesh(shape_node["r"].as<double>(), shape_node["l"].as<double>(), hint);
      surface =
          make_capsule_surface(shape_node["r"].as<double>(), shape_node["l"].as<double>(), hint);
    } else if (kind == "convex") {
      const TriangleMesh hull = read_obj(folder / shape_node["file"].as<std::string>());
      shape = make_convex_mesh(hull);
      surface = make_convex_surface(hull);
    } else {
      continue;  // This is a tet mesh from a file.
    }
    SCOPED_TRACE(kind + " " + std::to_string(hint));
    ++num_rows;
    EXPECT_EQ(shape.mesh.vertices.size(), row["compliant"]["verts"].as<std::size_t>());
    EXPECT_EQ(shape.mesh.tets.size(), row["compliant"]["tets"].as<std::size_t>());
    if (!row["rigid"]) continue;
    EXPECT_EQ(surface.vertices.size(), row["rigid"]["verts"].as<std::size_t>());
    EXPECT_EQ(surface.triangles.size(), row["rigid"]["tris"].as<std::size_t>());
  }
  EXPECT_EQ(num_rows, 62);
}

}  // namespace
}  // namespace stiction::geometry::shapes_test
