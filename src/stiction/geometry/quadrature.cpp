#include "stiction/geometry/quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::geometry {
namespace {

/// Lengths relative to the surface's extent. Faces shorter than kLongFace are not cut. Strips are
/// about kStrip wide, and on wide faces at least kLeastAspect times the width of the face. Measured
/// on fans of 40 to 400 triangles, in tests/geometry/quadrature_test.cpp.
constexpr double kLongFace = 1.0 / 8, kStrip = 1.0 / 40, kLeastAspect = 2;

// Additive sequences that fill [0, 1): 1 / golden ratio, and 1 / plastic number squared.
constexpr double kPhaseStep = std::numbers::phi - 1, kTurnStep = 0.5698402909980532;

double fraction(double x) { return x - std::floor(x); }

/// A vector in the plane of a face [m].
struct Vec2 {
  double x, y;
};
Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
Vec2 operator*(Vec2 a, double s) { return {a.x * s, a.y * s}; }
double dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
double cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }

/// A face or a strip of it. Each of two cuts adds at most one corner.
struct FlatPolygon {
  int num_vertices = 0;
  std::array<Vec2, 10> vertex;
};

struct Moments {
  double area;
  Vec2 centroid;
  math::Symmetric2 covariance;  // of the area about the centroid [m^2]
};

Moments calc_moments(const FlatPolygon& polygon) {
  const Vec2 origin = polygon.vertex[0];
  Vec2 a = polygon.vertex[1] - origin, first = {0, 0};
  double area = 0, xx = 0, xy = 0, yy = 0;
  for (int i = 2; i < polygon.num_vertices; ++i) {
    const Vec2 b = polygon.vertex[i] - origin, sum = a + b;
    const double w = cross(a, b);
    area += w;
    first = first + sum * w;
    xx += w * (a.x * a.x + b.x * b.x + sum.x * sum.x);
    xy += w * (a.x * a.y + b.x * b.y + sum.x * sum.y);
    yy += w * (a.y * a.y + b.y * b.y + sum.y * sum.y);
    a = b;
  }
  const Vec2 c = first * (1 / (3 * area));
  const double scale = 1 / (12 * area);
  return {.area = area / 2,
          .centroid = origin + c,
          .covariance = {.xx = xx * scale - c.x * c.x,
                         .xy = xy * scale - c.x * c.y,
                         .yy = yy * scale - c.y * c.y}};
}

/// The standard deviations of area along its principal axes.
struct AreaAxes {
  Vec2 axis;  // unit vector along the longer axis
  double longer, shorter;
};

AreaAxes calc_axes(const Moments& m) {
  const math::PrincipalAxes principal = math::calc_principal_axes(m.covariance);
  return {{principal.x, principal.y},
          std::sqrt(std::max(0.0, principal.most)),
          std::sqrt(std::max(0.0, principal.least))};
}

/// Returns the part of a polygon with sign (axis . x - offset) <= 0.
FlatPolygon cut(const FlatPolygon& polygon, Vec2 axis, double offset, double sign) {
  FlatPolygon part;
  const auto height = [&](Vec2 x) { return sign * (dot(axis, x) - offset); };
  Vec2 before = polygon.vertex[polygon.num_vertices - 1];
  double h0 = height(before);
  for (int i = 0; i < polygon.num_vertices; ++i) {
    const Vec2 x = polygon.vertex[i];
    const double h1 = height(x);
    const bool crosses = (h0 > 0) != (h1 > 0);
    if (crosses && part.num_vertices < 10)
      part.vertex[part.num_vertices++] = before + (x - before) * (h0 / (h0 - h1));
    if (h1 <= 0 && part.num_vertices < 10) part.vertex[part.num_vertices++] = x;
    before = x;
    h0 = h1;
  }
  return part;
}

/// Writes the points of one face.
class FaceQuadrature {
 public:
  FaceQuadrature(const ContactSurface& surface, int index, std::vector<QuadraturePoint>* points)
      : face_(surface.faces[index]), index_(index), points_(points) {
    const Vec3* V = &surface.vertices[face_.first_vertex];
    const Vec3 along = V[1] - V[0];
    x_ = along * (1 / norm(along));
    y_ = math::cross(face_.normal, x_);
    polygon_.num_vertices = face_.num_vertices;
    for (int i = 0; i < face_.num_vertices; ++i) {
      const Vec3 v = V[i] - face_.centroid;
      polygon_.vertex[i] = {math::dot(x_, v), math::dot(y_, v)};
    }
  }

  /// Adds three points, or three per strip if the face is long.
  /// @param extent extent of the surface [m], see calc_extent
  void add_points(double extent) {
    const Moments moments = calc_moments(polygon_);
    area_scale_ = face_.area / moments.area;
    const AreaAxes axes = calc_axes(moments);
    double low = dot(axes.axis, polygon_.vertex[0]), high = low;
    for (int i = 1; i < polygon_.num_vertices; ++i) {
      low = std::min(low, dot(axes.axis, polygon_.vertex[i]));
      high = std::max(high, dot(axes.axis, polygon_.vertex[i]));
    }
    const double length = high - low, width = length * (axes.shorter / axes.longer);
    const double num_strips = std::ceil(length / std::max(kStrip * extent, kLeastAspect * width));
    if (length > kLongFace * extent && num_strips > 1)
      add_strips(axes.axis, low, high, length / num_strips);
    else
      add_three(moments, axes);
  }

 private:
  void add_strips(Vec2 axis, double low, double high, double width) {
    const double least_area = 1e-9 * face_.area;
    FlatPolygon rest = polygon_;
    // The first strip is narrower than the others by a phase that differs from face to face.
    double offset = low + width * fraction((index_ + 1) * kPhaseStep);
    for (; offset < high; offset += width) {
      const FlatPolygon strip = cut(rest, axis, offset, 1), after = cut(rest, axis, offset, -1);
      if (strip.num_vertices < 3 || after.num_vertices < 3) continue;
      const Moments moments = calc_moments(strip);
      if (moments.area < least_area || calc_moments(after).area < least_area) continue;
      add_three(moments, calc_axes(moments));
      rest = after;
    }
    const Moments moments = calc_moments(rest);
    add_three(moments, calc_axes(moments));
  }

  void add_three(const Moments& moments, const AreaAxes& axes) {
    const Vec2 longer = axes.axis * (std::numbers::sqrt2 * axes.longer);
    const Vec2 shorter = Vec2{-axes.axis.y, axes.axis.x} * (std::numbers::sqrt2 * axes.shorter);
    // A third of a turn maps the three points to themselves.
    const double turn = fraction((static_cast<double>(points_->size()) / 3 + 1) * kTurnStep) / 3;
    double c = math::cos(2 * std::numbers::pi * turn), s = math::sin(2 * std::numbers::pi * turn);
    for (int i = 0; i < 3; ++i) {
      add_point(moments.centroid + longer * c + shorter * s, area_scale_ * moments.area / 3);
      const double next = -0.5 * c - 0.5 * std::numbers::sqrt3 * s;
      s = 0.5 * std::numbers::sqrt3 * c - 0.5 * s;
      c = next;
    }
  }

  void add_point(Vec2 x, double area) {
    const Vec3 from_centroid = x.x * x_ + x.y * y_;
    const double pressure = face_.pressure + math::dot(face_.pressure_gradient, from_centroid);
    points_->push_back({.position = face_.centroid + from_centroid,
                        .area = area,
                        .pressure = pressure,
                        .face = index_});
  }

  const SurfaceFace& face_;
  int index_;
  std::vector<QuadraturePoint>* points_;
  Vec3 x_, y_;  // axes of the face's plane
  FlatPolygon polygon_;
  /// The face's area divided by the polygon's area. It differs from 1 by rounding of the corners.
  double area_scale_ = 1;
};

/// Returns the extent [m]: the diameter of the disk with the same mean square distance.
double calc_extent(const ContactSurface& surface) {
  double area = 0;
  Vec3 center;
  for (const SurfaceFace& face : surface.faces) {
    area += face.area;
    center += face.area * face.centroid;
  }
  center = center * (1 / area);
  double second = 0;
  for (const SurfaceFace& face : surface.faces) {
    double mean = 0;
    for (int i = 0; i < face.num_vertices; ++i) {
      const Vec3 v = surface.vertices[face.first_vertex + i] - face.centroid;
      mean += math::dot(v, v);
    }
    const Vec3 c = face.centroid - center;
    // The mean square distance of a triangle's area from its centroid is a twelfth of the sum of
    // the squared distances of its corners. mean / (4 n) is exact for n = 3 and approximate
    // otherwise.
    second += face.area * (math::dot(c, c) + mean / (4 * face.num_vertices));
  }
  return std::sqrt(8 * second / area);
}

}  // namespace

void calc_quadrature_points(const ContactSurface& surface, Quadrature quadrature,
                            std::vector<QuadraturePoint>* points) {
  points->clear();
  if (surface.faces.empty()) return;
  const double extent = quadrature == Quadrature::centroid ? 0 : calc_extent(surface);
  for (int i = 0; i < static_cast<int>(surface.faces.size()); ++i) {
    const SurfaceFace& face = surface.faces[i];
    if (quadrature == Quadrature::centroid)
      points->push_back(
          {.position = face.centroid, .area = face.area, .pressure = face.pressure, .face = i});
    else
      FaceQuadrature(surface, i, points).add_points(extent);
  }
}

}  // namespace stiction::geometry
