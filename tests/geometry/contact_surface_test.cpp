#include "stiction/geometry/contact_surface.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "geometry/surface_support.hpp"

namespace stiction::geometry::contact_surface_test {
namespace {

using std::numbers::pi;

const HalfSpace kRigidGround{kInfinity};

/// The force of a sphere's field E (1 - r / R) on a rigid plane at depth h.
double sphere_force(double R, double E, double h) {
  const double s = R - h, a2 = R * R - s * s;
  return pi * E * (a2 - 2 * (R * R * R - s * s * s) / (3 * R));
}

TEST(ContactSurface, SphereOnRigidGroundConvergesInSecondOrder) {
  const double R = 0.1, E = 1e6, h = 0.01;
  double error[3], stiffness = 0;
  for (int level = 3; level <= 5; ++level) {
    const double hint = 2 * pi * R / std::pow(2, level + 2) * 1.05;
    const ContactSurface surface =
        calc_surface(make_sphere(R, hint, E), translation(0, 0, R - h), kRigidGround, kIdentity);
    const SurfaceTotals totals = calc_totals(surface);
    error[level - 3] = 1 - totals.force_on_A.z / sphere_force(R, E, h);
    stiffness = totals.stiffness;
  }
  EXPECT_NEAR(sphere_force(R, E, h), 293.215, 1e-3);
  EXPECT_GT(error[2], 0);  // An inscribed mesh is too small.
  EXPECT_NEAR(error[0] / error[1], 4, 0.4);
  EXPECT_NEAR(error[1] / error[2], 4, 0.4);
  EXPECT_NEAR(stiffness, 2 * pi * E * h * (R - h) / R, 0.01 * stiffness);
}

TEST(ContactSurface, BoxOnRigidGroundIsExact) {
  const double E = 1e6, d = 0.005, lx = 0.1, ly = 0.08, depth = 0.03;
  const ContactSurface surface = calc_surface(
      make_box({lx / 2, ly / 2, depth}, E), translation(0, 0, depth - d), kRigidGround, kIdentity);
  const SurfaceTotals totals = calc_totals(surface);
  const double force = E / depth * (lx * ly * d - (lx + ly) * d * d + 4.0 / 3 * d * d * d);
  EXPECT_NEAR(totals.area, lx * ly, 1e-12 * totals.area);
  EXPECT_NEAR(totals.force_on_A.z, force, 1e-12 * force);
  EXPECT_NEAR(norm(totals.force_on_A), force, 1e-12 * force);
}

TEST(ContactSurface, RigidBoxInCompliantGroundIsExact) {
  const double d = 0.005, gradient = 2e7;
  const ContactSurface surface =
      calc_surface(RigidBody(make_box_surface({0.05, 0.04, 0.03})), translation(0, 0, 0.03 - d),
                   HalfSpace{gradient}, kIdentity);
  const SurfaceTotals totals = calc_totals(surface);
  EXPECT_NEAR(totals.force_on_A.z, gradient * d * 0.1 * 0.08, 1e-9);
  EXPECT_NEAR(totals.stiffness, gradient * 0.1 * 0.08, 1e-6);
}

/// The surface between two equal spheres is the plane between them. Each sphere has the same force
/// as on rigid ground in that plane.
TEST(ContactSurface, EqualSpheresMeetAsOnRigidGround) {
  const double R = 0.05, E = 1e6, h = 0.005;
  const ContactBody sphere = make_sphere(R, 0.01, E);
  const math::Mat3 flip = rotation({1, 0, 0}, pi);
  const ContactSurface pair =
      calc_surface(sphere, translation(0, 0, R - h), sphere, {flip, {0, 0, h - R}});
  const ContactSurface ground =
      calc_surface(sphere, translation(0, 0, R - h), kRigidGround, kIdentity);
  const double force = calc_totals(ground).force_on_A.z;
  EXPECT_NEAR(calc_totals(pair).force_on_A.z, force, 1e-9 * force);
  EXPECT_NEAR(pair.area(), ground.area(), 1e-9 * ground.area());
}

TEST(ContactSurface, VeryStiffGroundIsRigidInTheLimit) {
  const ContactBody sphere = make_sphere(0.05, 0.01, 1e6);
  const RigidTransform X = {rotation({1, 2, 3}, 0.7), {0, 0, 0.043}};
  const double rigid = calc_totals(calc_surface(sphere, X, kRigidGround, kIdentity)).force_on_A.z;
  double last_error = 1;
  for (const double gradient : {1e9, 1e10, 1e11}) {
    const double force =
        calc_totals(calc_surface(sphere, X, HalfSpace{gradient}, kIdentity)).force_on_A.z;
    const double error = std::abs(force / rigid - 1);
    EXPECT_LT(error, 0.2 * last_error);
    last_error = error;
  }
}

/// The fields are springs in series with a depth of d / 2 each.
TEST(ContactSurface, CompliantBoxOnCompliantGroundSharesTheDepth) {
  const double d = 0.004, H = 0.05, E = 1e6;
  const ContactBody box = make_box({H, H, H}, E);
  const ContactSurface surface =
      calc_surface(box, translation(0, 0, H - d), HalfSpace{E / H}, kIdentity);
  for (const SurfaceFace& face : surface.faces) EXPECT_EQ(face.element_B, -1);
  // Near the middle of the face the two fields mirror each other, so each has half the depth.
  const double rigid_force =
      calc_totals(calc_surface(box, translation(0, 0, H - d / 2), kRigidGround, kIdentity))
          .force_on_A.z;
  const SurfaceTotals totals = calc_totals(surface);
  // At the rim the box's pressure also decreases sideways, and the surface bends there.
  EXPECT_NEAR(totals.force_on_A.z, rigid_force, 3 * d / H * rigid_force);
  EXPECT_NEAR(totals.force_on_A.x, 0, 1e-9);
}

struct PairCase {
  const char* name;
  ContactBody A, B;
  RigidTransform X_AB;
};

std::vector<PairCase> make_cases() {
  const ContactBody sphere = make_sphere(0.05, 0.02, 1e6);
  const ContactBody box = make_box({0.04, 0.05, 0.06}, 3e6);
  const ContactBody rigid_box = RigidBody(make_box_surface({0.04, 0.05, 0.06}));
  const ContactBody capsule =
      CompliantBody(make_pressure_field(make_capsule_mesh(0.03, 0.08, 0.02), 1e5));
  const RigidTransform near = {rotation({1, 2, 3}, 0.4), {0.01, 0.02, 0.09}};
  const RigidTransform above = {rotation({3, 1, 2}, 0.8), {0.3, 0.2, 0.042}};
  return {{"fields", sphere, box, near},
          {"fields of different stiffness", box, capsule, near},
          {"rigid", sphere, rigid_box, near},
          {"rigid ground", kRigidGround, sphere, above},
          {"compliant ground", HalfSpace{1e7}, sphere, above},
          {"rigid on compliant ground", HalfSpace{1e7}, rigid_box, above}};
}

TEST(ContactSurface, SwappingTheBodiesMirrorsTheSurface) {
  std::mt19937 random(5);
  for (const PairCase& test : make_cases()) {
    SCOPED_TRACE(test.name);
    const RigidTransform X_WA = random_pose(&random, 1), X_WB = X_WA * test.X_AB;
    const ContactSurface one = calc_surface(test.A, X_WA, test.B, X_WB);
    ContactSurface other = calc_surface(test.B, X_WB, test.A, X_WA);
    ASSERT_EQ(one.faces.size(), other.faces.size());
    ASSERT_FALSE(one.faces.empty());
    std::sort(other.faces.begin(), other.faces.end(),
              [](const SurfaceFace& a, const SurfaceFace& b) {
                return std::pair(a.element_B, a.element_A) < std::pair(b.element_B, b.element_A);
              });
    for (std::size_t i = 0; i < one.faces.size(); ++i) {
      const SurfaceFace &a = one.faces[i], &b = other.faces[i];
      EXPECT_EQ(a.element_A, b.element_B);
      EXPECT_EQ(a.element_B, b.element_A);
      EXPECT_EQ(a.num_vertices, b.num_vertices);
      EXPECT_NEAR(a.area, b.area, 1e-15);
      EXPECT_NEAR(a.pressure, b.pressure, 1e-6);
      EXPECT_LT(norm(a.normal + b.normal), 1e-10);
      if (std::isfinite(a.gradient_A)) {
        EXPECT_NEAR(a.gradient_A, b.gradient_B, 1e-4);
      }
    }
  }
}

TEST(ContactSurface, ForceAndAreaDoNotDependOnTheFrame) {
  std::mt19937 random(6);
  for (const PairCase& test : make_cases()) {
    SCOPED_TRACE(test.name);
    const ContactSurface here = calc_surface(test.A, kIdentity, test.B, test.X_AB);
    const RigidTransform X = random_pose(&random, 1);
    const SurfaceTotals there = calc_totals(calc_surface(test.A, X, test.B, X * test.X_AB));
    const SurfaceTotals expected = calc_totals(here);
    const double force = norm(expected.force_on_A);
    EXPECT_NEAR(there.area, expected.area, 1e-11 * expected.area);
    EXPECT_LT(norm(there.force_on_A - X.R * expected.force_on_A), 1e-11 * force);
    EXPECT_LT(norm(there.centroid - X * expected.centroid), 1e-12);
  }
}

/// The corners are counter-clockwise about the normal. Area, centroid and pressure follow from
/// them.
TEST(ContactSurface, FacesAgreeWithTheirVertices) {
  for (const PairCase& test : make_cases())
    for (const Tessellation tessellation : {Tessellation::polygon, Tessellation::triangle}) {
      SCOPED_TRACE(test.name);
      const ContactSurface surface =
          calc_surface(test.A, kIdentity, test.B, test.X_AB, tessellation);
      ASSERT_EQ(surface.vertices.size(), surface.vertex_pressure.size());
      for (const SurfaceFace& face : surface.faces) {
        const Vec3* V = &surface.vertices[face.first_vertex];
        Vec3 twice_area;
        for (int i = 0; i < face.num_vertices; ++i)
          twice_area += cross(V[i] - V[0], V[(i + 1) % face.num_vertices] - V[0]);
        EXPECT_LT(norm(0.5 * twice_area - face.area * face.normal), 1e-15);
        EXPECT_NEAR(norm(face.normal), 1, 1e-14);
        for (int i = 0; i < face.num_vertices; ++i) {
          EXPECT_NEAR(dot(face.normal, V[i] - face.centroid), 0, 1e-12);
          EXPECT_NEAR(surface.vertex_pressure[face.first_vertex + i],
                      face.pressure + dot(face.pressure_gradient, V[i] - face.centroid), 1e-5);
        }
        if (tessellation == Tessellation::triangle) {
          EXPECT_EQ(face.num_vertices, 3);
        }
      }
    }
}

TEST(ContactSurface, TrianglesHaveTheForceAndStiffnessOfPolygons) {
  for (const PairCase& test : make_cases()) {
    SCOPED_TRACE(test.name);
    const ContactSurface polygons = calc_surface(test.A, kIdentity, test.B, test.X_AB);
    const ContactSurface triangles =
        calc_surface(test.A, kIdentity, test.B, test.X_AB, Tessellation::triangle);
    const SurfaceTotals one = calc_totals(polygons), other = calc_totals(triangles);
    EXPECT_GT(triangles.faces.size(), polygons.faces.size());
    EXPECT_NEAR(one.area, other.area, 1e-12 * one.area);
    EXPECT_LT(norm(one.force_on_A - other.force_on_A), 1e-12 * norm(one.force_on_A));
    EXPECT_NEAR(one.stiffness, other.stiffness, 1e-12 * one.stiffness);
  }
}

/// This is true for a flat surface, because the pressure is 0 on its rim. (Where a surface bends,
/// approaching bodies slide along a part of it. g does not include that motion.)
TEST(ContactSurface, StiffnessIsTheForcesDerivative) {
  const ContactBody sphere = make_sphere(0.05, 0.02, 1e6);
  const math::Mat3 mirror = rotation({1, 0, 0}, pi);
  const ContactBody rigid_box = RigidBody(make_box_surface({0.04, 0.05, 0.06}));
  const std::vector<PairCase> cases = {
      {"rigid ground", kRigidGround, sphere, {rotation({3, 1, 2}, 0.8), {0.3, 0.2, 0.042}}},
      {"equal spheres", sphere, sphere, {mirror, {0, 0, 0.091}}},
      {"compliant ground", HalfSpace{1e7}, rigid_box, translation(0.3, 0.2, 0.05)}};
  for (const PairCase& test : cases) {
    SCOPED_TRACE(test.name);
    const auto totals_at = [&](double lift) {
      RigidTransform X = test.X_AB;
      X.p.z += lift;
      return calc_totals(calc_surface(test.A, kIdentity, test.B, X));
    };
    const double step = 1e-6;
    const double difference =
        (totals_at(step).force_on_A.z - totals_at(-step).force_on_A.z) / (2 * step);
    EXPECT_GT(difference, 9e3);
    EXPECT_NEAR(totals_at(0).stiffness, difference, 1e-4 * difference);
  }
}

TEST(ContactSurface, BitsDoNotDependOnEarlierQueries) {
  const std::vector<PairCase> cases = make_cases();
  SurfaceQuery query;
  ContactSurface used;
  for (int round = 0; round < 2; ++round)
    for (const PairCase& test : cases) {
      SCOPED_TRACE(test.name);
      const ContactSurface fresh = calc_surface(test.A, kIdentity, test.B, test.X_AB);
      query.calc(test.A, kIdentity, test.B, test.X_AB, Tessellation::polygon, &used);
      ASSERT_EQ(fresh.faces.size(), used.faces.size());
      EXPECT_EQ(fresh.vertices, used.vertices);
      EXPECT_EQ(fresh.vertex_pressure, used.vertex_pressure);
      for (std::size_t i = 0; i < used.faces.size(); ++i) {
        EXPECT_EQ(fresh.faces[i].centroid, used.faces[i].centroid);
        EXPECT_EQ(fresh.faces[i].pressure, used.faces[i].pressure);
        EXPECT_EQ(fresh.faces[i].gradient_A, used.faces[i].gradient_A);
      }
    }
}

TEST(ContactSurface, FacesAreSortedByElements) {
  for (const PairCase& test : make_cases()) {
    const ContactSurface surface = calc_surface(test.A, kIdentity, test.B, test.X_AB);
    for (std::size_t i = 1; i < surface.faces.size(); ++i) {
      const SurfaceFace &a = surface.faces[i - 1], &b = surface.faces[i];
      EXPECT_LT(std::pair(a.element_A, a.element_B), std::pair(b.element_A, b.element_B));
    }
  }
}

TEST(ContactSurface, SomePairsHaveNoSurface) {
  const ContactBody rigid = RigidBody(make_box_surface({1, 1, 1}));
  const ContactBody soft = make_box({1, 1, 1}, 1e5);
  const ContactBody ground = HalfSpace{1e5}, rigid_ground = kRigidGround;
  EXPECT_FALSE(has_contact_surface(rigid, rigid));
  EXPECT_FALSE(has_contact_surface(rigid, rigid_ground));
  EXPECT_FALSE(has_contact_surface(ground, ground));
  EXPECT_FALSE(has_contact_surface(ground, rigid_ground));
  EXPECT_TRUE(has_contact_surface(ground, rigid));
  EXPECT_TRUE(has_contact_surface(ground, soft));
  EXPECT_TRUE(has_contact_surface(soft, rigid_ground));
  EXPECT_TRUE(calc_surface(rigid, kIdentity, rigid, kIdentity).faces.empty());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(calc_surface(soft, translation(0, nan, 0), rigid, kIdentity).faces.empty());
  EXPECT_TRUE(calc_surface(soft, translation(0, 0, 1e3), rigid, kIdentity).faces.empty());
}

TEST(ContactSurface, ReportsThatTheMedialAxisIsReached) {
  const double R = 0.05;
  const ContactBody sphere = make_sphere(R, 0.01, 1e6);
  const auto at_depth = [&](double depth) {
    return calc_surface(sphere, translation(0, 0, R - depth), kRigidGround, kIdentity);
  };
  EXPECT_FALSE(passes_medial_axis(at_depth(0.2 * R)));
  EXPECT_FALSE(passes_medial_axis(at_depth(0.9 * R)));
  EXPECT_TRUE(passes_medial_axis(at_depth(R)));
  EXPECT_TRUE(passes_medial_axis(at_depth(1.5 * R)));
  EXPECT_GT(at_depth(1.5 * R).discarded_area, 0);
}

TEST(ContactSurface, MedialAxisOfAnEnclosedBodyIsWhereItsForceEnds) {
  // A body sinks into a soft ball. From some depth on its far side is in the ball too, and the
  // faces there are discarded. But the force increases until the near side comes to the ball's
  // center.
  const double R = 0.05, r = 0.01, hint = 0.003, modulus = 1e7;
  const std::pair<const char*, ContactBody> bodies[] = {
      {"rigid box", RigidBody(make_box_surface({r, r, r}))},
      {"rigid ball", RigidBody(make_sphere_surface(r, hint))},
      {"rigid cylinder", RigidBody(make_cylinder_surface(r, 6 * r, hint))},
      {"stiff box", make_box({r, r, r}, modulus)},
      {"stiff ball", make_sphere(r, hint, modulus)}};
  const ContactBody soft = make_sphere(R, 0.012, 1e4);
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    const auto at_depth = [&, &body = body](double depth) {
      return calc_surface(body, translation(R + r - depth, 0, 0), soft, kIdentity);
    };
    int num_enclosed = 0;
    double most = 0;  // the largest force so far
    for (double depth = 0.1 * R; depth < 1.1 * R; depth += 0.02 * R) {
      const ContactSurface surface = at_depth(depth);
      Vec3 sum;
      for (const SurfaceFace& face : surface.faces) sum += face.area * face.pressure * face.normal;
      const double force = norm(sum);
      // The force ends within the last fifth of the way, gradually because of the body's width.
      if (depth < 0.8 * R) {
        EXPECT_GT(force, most) << depth / R;
        EXPECT_FALSE(passes_medial_axis(surface)) << depth / R;
        num_enclosed += surface.discarded_area > 0.1 * surface.area();
      }
      if (force < 0.95 * most) {
        EXPECT_TRUE(passes_medial_axis(surface)) << depth / R;
      }
      most = std::max(most, force);
    }
    EXPECT_GT(num_enclosed, 10);
    EXPECT_TRUE(passes_medial_axis(at_depth(1.1 * R)));
  }
}

TEST(ContactSurface, DropsTiltedFacesOnRequest) {
  // The faces that remain are the others, bit for bit. The dropped area is that of the faces whose
  // gradients are not positive.
  const ContactBody coarse = make_sphere(0.05, 0.05, 1e6), box = make_box({0.04, 0.05, 0.03}, 1e6);
  const ContactBody rigid = RigidBody(make_box_surface({0.05, 0.04, 0.03}));
  std::mt19937 random(11);
  SurfaceQuery query;
  ContactSurface keep, drop;
  int num_dropped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const RigidTransform X = random_pose(&random, 0.06);
    const ContactBody& other = trial % 3 == 0 ? box : trial % 3 == 1 ? coarse : rigid;
    const Tessellation tessellation = trial % 2 ? Tessellation::polygon : Tessellation::triangle;
    query.calc(coarse, kIdentity, other, X, tessellation, &keep);
    query.calc(coarse, kIdentity, other, X, {tessellation, TiltedFaces::drop}, &drop);
    EXPECT_EQ(keep.dropped_area, 0);
    double area = 0;
    std::size_t next = 0;
    for (const SurfaceFace& face : keep.faces) {
      if (!(face.gradient_A > 0 && face.gradient_B > 0)) {
        EXPECT_EQ(stiffness_per_area(face), 0);
        area += face.area;
        ++num_dropped;
        continue;
      }
      ASSERT_LT(next, drop.faces.size());
      const SurfaceFace& same = drop.faces[next++];
      EXPECT_EQ(same.area, face.area);
      EXPECT_EQ(same.pressure, face.pressure);
      EXPECT_EQ(same.num_vertices, face.num_vertices);
      for (int i = 0; i < face.num_vertices; ++i)
        EXPECT_EQ(norm(drop.vertices[same.first_vertex + i] - keep.vertices[face.first_vertex + i]),
                  0);
    }
    EXPECT_EQ(next, drop.faces.size());
    EXPECT_NEAR(drop.dropped_area, area, 1e-12 * (area + keep.area()));
    EXPECT_EQ(drop.discarded_area, keep.discarded_area);
  }
  EXPECT_GT(num_dropped, 100);
}

TEST(ContactSurface, OfConcentricSpheresIsGivenUpAsDeep) {
  // All N^2 pairs of tets meet at the common center. Without a limit this takes half a minute.
  const MeshedShape shape = make_sphere_mesh(1, 0.05);
  const CompliantBody body(make_pressure_field(shape, 1e5));
  SurfaceQuery query;
  ContactSurface surface;
  for (const double offset : {0.0, 1e-9}) {
    query.calc(body, {}, body, {.R = {}, .p = {offset, 0, 0}}, Tessellation::polygon, &surface);
    EXPECT_TRUE(surface.faces.empty());
    EXPECT_TRUE(passes_medial_axis(surface));
  }
  query.calc(body, {}, body, {.R = {}, .p = {1, 0, 0}}, Tessellation::polygon, &surface);
  EXPECT_GT(surface.faces.size(), 100u);
  EXPECT_FALSE(passes_medial_axis(surface));
}

}  // namespace
}  // namespace stiction::geometry::contact_surface_test
