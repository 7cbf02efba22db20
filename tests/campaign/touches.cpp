#include "campaign/touches.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::campaign {

using Vector = Eigen::Vector3d;

Touches list_touches(const support::Scene& scene, const sim::ContactReport& contacts,
                     const View& view) {
  Touches out;
  for (int c = 0; c < contacts.size(); ++c) {
    std::string a = mj_id2name(scene.model, mjOBJ_GEOM, contacts.geoms[2 * c]);
    std::string b = mj_id2name(scene.model, mjOBJ_GEOM, contacts.geoms[2 * c + 1]);
    const bool is_swapped = b < a;
    if (is_swapped) std::swap(a, b);
    Touch& touch = out[{a, b}];
    touch.distances.push_back(contacts.distance[c]);
    const std::array<double, 3> p = view.turn(&contacts.point[3 * c]);
    const std::array<double, 3> n = view.turn(&contacts.normal[3 * c]);
    touch.points += Vector(p.data()) + Vector(view.translation.data());
    touch.normals += (is_swapped ? -1 : 1) * Vector(n.data());
  }
  for (auto& [names, touch] : out) std::sort(touch.distances.begin(), touch.distances.end());
  return out;
}

TouchDifference compare(const Touches& a, const Touches& b) {
  TouchDifference out;
  out.is_same_point = a.size() == b.size();
  for (const auto& [names, x] : a) {
    const auto found = b.find(names);
    out.is_same_point = out.is_same_point && found != b.end() &&
                        found->second.distances.size() == x.distances.size();
    if (!out.is_same_point) return out;
    const Touch& y = found->second;
    for (std::size_t i = 0; i < x.distances.size(); ++i)
      out.distance = std::max(out.distance, std::abs(x.distances[i] - y.distances[i]));
    out.point = std::max(out.point, (x.points - y.points).norm());
    out.normal = std::max(out.normal, (x.normals - y.normals).norm());
    const double allowed = kSamePoint * static_cast<double>(x.distances.size());
    out.is_same_point = out.distance <= kSamePoint && out.point <= allowed && out.normal <= allowed;
  }
  return out;
}

}  // namespace stiction::campaign
