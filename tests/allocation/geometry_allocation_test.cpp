// After its largest surface a query allocates nothing. The test replaces malloc, so it is a
// separate program.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "geometry/surface_support.hpp"
#include "stiction/geometry/quadrature.hpp"
#include "support/allocation_counter.hpp"

namespace stiction::geometry::geometry_allocation_test {
namespace {

TEST(SurfaceAllocation, WarmQueriesDoNotAllocate) {
  const ContactBody sphere = make_sphere(0.05, 0.01, 1e6), box = make_box({0.1, 0.1, 0.05}, 1e6);
  const ContactBody rigid = RigidBody(make_box_surface({0.1, 0.1, 0.05}));
  const ContactBody ground = HalfSpace{kInfinity}, soft_ground = HalfSpace{1e7};
  const std::vector<std::pair<ContactBody, ContactBody>> pairs = {{sphere, box},
                                                                  {sphere, rigid},
                                                                  {ground, sphere},
                                                                  {soft_ground, sphere},
                                                                  {soft_ground, rigid}};
  for (const auto& [A, B] : pairs) {
    SurfaceQuery query;
    ContactSurface surface;
    std::vector<QuadraturePoint> points;
    const auto run = [&](double depth) {
      query.calc(A, kIdentity, B, translation(0, 0, 0.08 - depth), Tessellation::triangle,
                 &surface);
      calc_quadrature_points(surface, Quadrature::moment_exact, &points);
    };
    // The depths need different amounts of memory for candidates, faces and nodes to visit.
    for (int i = 0; i <= 10; ++i) run(0.004 * i);
    ASSERT_FALSE(surface.faces.empty());
    const long before = support::count_allocations();
    for (int i = 0; i <= 10; ++i) run(0.004 * i);
    EXPECT_EQ(support::count_allocations(), before);
  }
}

}  // namespace
}  // namespace stiction::geometry::geometry_allocation_test
