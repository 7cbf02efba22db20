// Measures queries of contact surfaces for several kinds and sizes of bodies: the time per face,
// and how the time grows with the number of faces.

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <benchmark/benchmark.h>

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"
#include "stiction/geometry/shapes.hpp"

namespace {

using namespace stiction::geometry;

constexpr double kRadius = 0.05, kModulus = 1e6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Pair {
  ContactBody A, B;
  RigidTransform X_AB;
};

RigidTransform at_height(double z) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  return {{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}, {0.002, 0.001, z}};
}

ContactBody make_sphere(double hint) {
  return CompliantBody(make_pressure_field(make_sphere_mesh(kRadius, hint), kModulus));
}

Pair make_spheres(double hint) {
  return {make_sphere(hint), make_sphere(hint), at_height(1.8 * kRadius)};
}
Pair make_sphere_on_rigid_box(double hint) {
  return {make_sphere(hint), RigidBody(make_box_surface({0.2, 0.2, 0.05})),
          at_height(-0.05 - 0.8 * kRadius)};
}
Pair make_sphere_in_rigid_sphere(double hint) {
  return {make_sphere(hint), RigidBody(make_sphere_surface(kRadius, hint)),
          at_height(1.8 * kRadius)};
}
Pair make_sphere_on_rigid_ground(double hint) {
  return {HalfSpace{kInfinity}, make_sphere(hint), at_height(0.8 * kRadius)};
}
Pair make_sphere_on_compliant_ground(double hint) {
  return {HalfSpace{2e7}, make_sphere(hint), at_height(0.8 * kRadius)};
}
Pair make_rigid_sphere_on_compliant_ground(double hint) {
  return {HalfSpace{2e7}, RigidBody(make_sphere_surface(kRadius, hint)), at_height(0.8 * kRadius)};
}
/// A cylinder within an ellipsoid. The triangles of the cylinder's side are long and thin.
Pair make_bubble_on_handle(double hint) {
  const Vec3 bubble = {0.04165, 0.04165, 0.0625};
  return {CompliantBody(make_pressure_field(make_ellipsoid_mesh(bubble, hint), 1e5)),
          CompliantBody(make_pressure_field(make_cylinder_mesh(0.015, 0.11, hint / 4), 1e8)),
          {{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}}, {0.051, 0.002, 0.001}}};
}

/// Two ellipsoids that are mirror images of each other. Each face touches twelve faces of the other
/// body along edges and at corners only, where the overlap has no area. This remains true in
/// motion.
Pair make_mirrored_bubbles(double hint) {
  const Vec3 bubble = {0.04165, 0.04165, 0.0625};
  const ContactBody body =
      CompliantBody(make_pressure_field(make_ellipsoid_mesh(bubble, hint), 1e4));
  return {body, body, {{}, {0.064, 0, 0}}};
}

enum class Query {
  first,      // no earlier query helps
  in_motion,  // the bodies slide back and forth by 10 um per query
};

/// Measures queries of one pair of bodies.
/// @param state the argument of the benchmark is the resolution hint [0.1 mm]
void query(benchmark::State& state, Pair (*make)(double), Query kind = Query::first) {
  Pair pair = make(1e-4 * static_cast<double>(state.range(0)));
  SurfaceQuery query;
  ContactSurface surface;
  const RigidTransform far_away = {{}, {10, 10, 10}};
  const double x = pair.X_AB.p.x;
  int i = 0;
  query.calc(pair.A, {}, pair.B, pair.X_AB, Tessellation::polygon, &surface);  // allocates
  for (auto _ : state) {
    if (kind == Query::first)  // A query far away discards the list of candidates.
      query.calc(pair.A, {}, pair.B, far_away, Tessellation::polygon, &surface);
    else
      pair.X_AB.p.x = x + 1e-5 * std::abs(i++ % 80 - 40);
    query.calc(pair.A, {}, pair.B, pair.X_AB, Tessellation::polygon, &surface);
    benchmark::DoNotOptimize(surface.faces.data());
  }
  const auto num_faces = static_cast<double>(surface.faces.size());
  state.counters["faces"] = num_faces;
  state.counters["s/face"] = benchmark::Counter(
      num_faces, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(static_cast<std::int64_t>(surface.faces.size()));
}

void points(benchmark::State& state, Quadrature quadrature) {
  const Pair pair = make_spheres(1e-4 * static_cast<double>(state.range(0)));
  ContactSurface surface;
  SurfaceQuery().calc(pair.A, {}, pair.B, pair.X_AB, Tessellation::polygon, &surface);
  std::vector<QuadraturePoint> points;
  for (auto _ : state) {
    calc_quadrature_points(surface, quadrature, &points);
    benchmark::DoNotOptimize(points.data());
  }
  state.counters["points"] = static_cast<double>(points.size());
  state.counters["s/face"] = benchmark::Counter(
      static_cast<double>(surface.faces.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

#define SIZES Arg(200)->Arg(100)->Arg(50)->Arg(25)->Arg(12)->Unit(benchmark::kMicrosecond)
BENCHMARK_CAPTURE(query, spheres, make_spheres)->SIZES;
BENCHMARK_CAPTURE(query, bubble_on_handle, make_bubble_on_handle)->SIZES;
BENCHMARK_CAPTURE(query, spheres_in_motion, make_spheres, Query::in_motion)->SIZES;
BENCHMARK_CAPTURE(query, bubble_on_handle_in_motion, make_bubble_on_handle, Query::in_motion)
    ->SIZES;
BENCHMARK_CAPTURE(query, rigid_sphere_in_motion, make_sphere_in_rigid_sphere, Query::in_motion)
    ->SIZES;
BENCHMARK_CAPTURE(query, mirrored_bubbles_in_motion, make_mirrored_bubbles, Query::in_motion)
    ->SIZES;
BENCHMARK_CAPTURE(query, rigid_box, make_sphere_on_rigid_box)->SIZES;
BENCHMARK_CAPTURE(query, rigid_sphere, make_sphere_in_rigid_sphere)->SIZES;
BENCHMARK_CAPTURE(query, rigid_ground, make_sphere_on_rigid_ground)->SIZES;
BENCHMARK_CAPTURE(query, compliant_ground, make_sphere_on_compliant_ground)->SIZES;
BENCHMARK_CAPTURE(query, rigid_on_compliant_ground, make_rigid_sphere_on_compliant_ground)->SIZES;
BENCHMARK_CAPTURE(points, centroid, Quadrature::centroid)->Arg(50)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(points, moment_exact, Quadrature::moment_exact)
    ->Arg(50)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
