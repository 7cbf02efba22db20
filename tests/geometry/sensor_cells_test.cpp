#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/geometry/sensor_cells.hpp"
#include "support/trials.hpp"

namespace stiction::geometry::sensor_cells_test {

// Cells of a grid and of points in space, which split polygons.
namespace {

using Polygon = std::vector<Vec3>;

constexpr double kRounding = 1e-14;

double calc_area(const Polygon& polygon) {
  std::vector<PolygonShare> whole;
  CutPolygon uncut;
  uncut.start(polygon);
  uncut.add_share(0, &whole);
  return whole.empty() ? 0 : whole[0].weight;
}

/// Makes a convex polygon of three to eight vertices in a random plane.
Polygon make_polygon(std::mt19937_64* rng, double radius) {
  std::uniform_real_distribution<double> in_pad(-0.05, 0.05), unit(-1, 1);
  std::uniform_int_distribution<int> count(3, 8);
  const int n = count(*rng);
  const double cx = in_pad(*rng);
  const double cy = in_pad(*rng);
  const double slope_x = unit(*rng);
  const double slope_y = unit(*rng);
  std::uniform_real_distribution<double> turn(0, 2 * M_PI);
  std::vector<double> angles;
  for (int i = 0; i < n; ++i) angles.push_back(turn(*rng));
  std::sort(angles.begin(), angles.end());
  Polygon polygon;
  for (const double angle : angles) {
    const double x = cx + radius * std::cos(angle), y = cy + radius * std::sin(angle);
    polygon.push_back({x, y, slope_x * (x - cx) + slope_y * (y - cy)});
  }
  return polygon;
}

/// The weights must add up to 1.
template <class Cells>
void expect_whole(Cells* cells, const Polygon& polygon, std::vector<PolygonShare>* shares) {
  cells->split(polygon, shares);
  double sum = 0;
  int before = -1;
  for (const PolygonShare& share : *shares) {
    EXPECT_GT(share.weight, 0);
    EXPECT_GT(share.cell, before);
    before = share.cell;
    sum += share.weight;
  }
  EXPECT_NEAR(sum, 1, kRounding);
}

TEST(GridCells, SquareOverFourCellsIsSplitByArea) {
  GridCells cells({4, 6}, {4, 6});
  const Polygon square = {{-0.25, -0.5, 1}, {0.75, -0.5, 1}, {0.75, 0.5, 1}, {-0.25, 0.5, 1}};
  std::vector<PolygonShare> shares;
  cells.split(square, &shares);
  ASSERT_EQ(shares.size(), 4u);
  const std::array<int, 4> expected = {1 * 6 + 2, 1 * 6 + 3, 2 * 6 + 2, 2 * 6 + 3};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(shares[i].cell, expected[i]);
    EXPECT_NEAR(shares[i].weight, i < 2 ? 0.125 : 0.375, kRounding);
  }
}

TEST(GridCells, PlacesBeyondTheEdgeBelongToTheNearestCell) {
  GridCells cells({1, 1}, {2, 2});
  EXPECT_EQ(cells.find({-9, -9, 3}), 0);
  EXPECT_EQ(cells.find({-9, 9, 3}), 1);
  EXPECT_EQ(cells.find({9, 0.1, 3}), 3);
  std::vector<PolygonShare> shares;
  cells.split(Polygon{{7, 7, 0}, {8, 7, 0}, {8, 8, 0}}, &shares);
  ASSERT_EQ(shares.size(), 1u);
  EXPECT_EQ(shares[0].cell, 3);
}

TEST(GridCells, PolygonWithoutAreaBelongsToOneCell) {
  GridCells cells({1, 1}, {2, 2});
  std::vector<PolygonShare> shares;
  cells.split(Polygon{{-0.4, 0.1, 0}, {0.2, 0.1, 0}, {-0.4, 0.1, 0}}, &shares);
  ASSERT_EQ(shares.size(), 1u);
  EXPECT_EQ(shares[0].weight, 1);
}

TEST(GridCells, PartsAddUpToThePolygon) {
  std::mt19937_64 rng(1);
  GridCells cells({0.08, 0.1}, {20, 25});
  std::vector<PolygonShare> shares;
  for (int i = 0; i < support::num_trials(2000); ++i)
    expect_whole(&cells, make_polygon(&rng, i % 2 ? 0.002 : 0.02), &shares);
}

TEST(GridCells, SquareIsSplitAsThePolygon) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> in_grid(-0.06, 0.06), below_pitch(1e-5, 0.0039);
  GridCells cells({0.08, 0.1}, {20, 25});
  std::vector<PolygonShare> a, b;
  for (int trial = 0; trial < support::num_trials(2000); ++trial) {
    const double x = in_grid(rng);
    const double y = in_grid(rng);
    const double side = below_pitch(rng), h = 0.5 * side;
    cells.split(Polygon{{x - h, y - h, 0}, {x + h, y - h, 0}, {x + h, y + h, 0}, {x - h, y + h, 0}},
                &a);
    cells.split_square({x, y, 1}, side, &b);
    std::vector<double> difference(cells.size(), 0.0);
    for (const PolygonShare& share : a) difference[share.cell] += share.weight;
    for (const PolygonShare& share : b) difference[share.cell] -= share.weight;
    for (const double d : difference) EXPECT_NEAR(d, 0, 1e-10);  // rounding over the smallest side
  }
}

TEST(NearestCells, FindTheNearestOfAllPoints) {
  std::mt19937_64 rng(2);
  std::uniform_real_distribution<double> in_box(-1, 1);
  for (const int count : {1, 2, 8, 9, 100, 500}) {
    std::vector<Vec3> points(count);
    for (Vec3& point : points)
      for (double* x : {&point.x, &point.y, &point.z}) *x = in_box(rng);
    const NearestCells cells(points);
    for (int trial = 0; trial < support::num_trials(300); ++trial) {
      Vec3 x;
      for (double* coordinate : {&x.x, &x.y, &x.z}) *coordinate = 1.5 * in_box(rng);
      const auto is_nearer = [&](const Vec3& a, const Vec3& b) {
        return norm(a - x) < norm(b - x);
      };
      const auto nearest = std::min_element(points.begin(), points.end(), is_nearer);
      EXPECT_EQ(cells.find(x), nearest - points.begin());
    }
  }
}

TEST(NearestCells, EqualPointsShareTheirCell) {
  NearestCells cells({{0, 0, 0}, {0, 0, 0}, {5, 0, 0}});
  std::vector<PolygonShare> shares;
  cells.split(Polygon{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, &shares);
  double sum = 0;
  for (const PolygonShare& share : shares) sum += share.weight;
  EXPECT_NEAR(sum, 1, kRounding);
  EXPECT_EQ(cells.find({0.1, 0, 0}), 0);
}

TEST(NearestCells, PartsAddUpToThePolygonOnACurvedSurface) {
  std::mt19937_64 rng(3);
  std::vector<Vec3> points;  // a spiral on a sphere
  for (int i = 0; i < 300; ++i) {
    const double z = 1 - (2 * i + 1) / 300.0, angle = 2.4 * i, r = std::sqrt(1 - z * z);
    points.push_back(0.04 * Vec3{r * std::cos(angle), r * std::sin(angle), z});
  }
  NearestCells cells(points);
  std::vector<PolygonShare> shares;
  for (int i = 0; i < support::num_trials(2000); ++i)
    expect_whole(&cells, make_polygon(&rng, i % 2 ? 0.003 : 0.03), &shares);
}

TEST(NearestCells, CellsOfAGridAreTheGrid) {
  GridCells grid({0.08, 0.1}, {8, 10});
  std::vector<Vec3> centers;
  for (int i = 0; i < grid.size(); ++i) centers.push_back(grid.center(i));
  NearestCells nearest(centers);
  std::mt19937_64 rng(4);
  std::vector<PolygonShare> a, b;
  for (int trial = 0; trial < support::num_trials(2000); ++trial) {
    const Polygon polygon = make_polygon(&rng, trial % 2 ? 0.002 : 0.02);
    if (calc_area(polygon) < 1e-12) continue;
    grid.split(polygon, &a);
    nearest.split(polygon, &b);
    std::vector<double> difference(grid.size(), 0.0);
    for (const PolygonShare& share : a) difference[share.cell] += share.weight;
    for (const PolygonShare& share : b) difference[share.cell] -= share.weight;
    // Both cut at the same lines, computed differently. The shares differ by rounding times the
    // ratio of coordinates to the width of the polygon.
    for (const double x : difference) EXPECT_NEAR(x, 0, 1e-10);
  }
}

}  // namespace

}  // namespace stiction::geometry::sensor_cells_test
