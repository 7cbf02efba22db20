#include "stiction/geometry/polygon_share.hpp"

#include <cmath>
#include <utility>

namespace stiction::geometry {

void CutPolygon::cut(const Vec3& normal, double offset) {
  if (empty()) return vertices_.clear();
  scratch_.clear();
  const Vec3* before = &vertices_.back();
  double d0 = dot(normal, *before) - offset;
  for (const Vec3& vertex : vertices_) {
    const double d1 = dot(normal, vertex) - offset;
    if ((d0 > 0) != (d1 > 0)) scratch_.push_back(*before + (d0 / (d0 - d1)) * (vertex - *before));
    if (d1 <= 0) scratch_.push_back(vertex);
    before = &vertex;
    d0 = d1;
  }
  std::swap(vertices_, scratch_);
}

void CutPolygon::add_share(int cell, std::vector<PolygonShare>* shares) const {
  double area = 0;
  for (std::size_t i = 2; i < vertices_.size(); ++i)
    area += 0.5 * norm(cross(vertices_[i - 1] - vertices_[0], vertices_[i] - vertices_[0]));
  if (area > 0) shares->push_back({cell, area});
}

bool normalize(std::span<PolygonShare> shares) {
  double sum = 0;
  for (const PolygonShare& share : shares) sum += share.weight;
  const double scale = 1 / sum;
  if (!std::isfinite(scale)) return false;
  for (PolygonShare& share : shares) share.weight *= scale;
  return true;
}

Vec3 calc_mean(std::span<const Vec3> polygon) {
  Vec3 sum;
  for (const Vec3& vertex : polygon) sum += vertex;
  return sum * (1.0 / static_cast<double>(polygon.size()));
}

}  // namespace stiction::geometry
