#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "campaign/view.hpp"
#include "stiction/sim/report/step_report.hpp"

/// The contacts of a step, for comparing views of a world.
namespace stiction::campaign {

/// Collision finds the same points and normals up to this [m], [-]. Where several points are
/// equally good, or its iteration ends early, it finds others, and then the problems differ.
inline constexpr double kSamePoint = 1e-9;

/// The contacts of two geoms.
struct Touch {
  std::vector<double> distances;                      // ascending [m]
  Eigen::Vector3d points{0, 0, 0}, normals{0, 0, 0};  // sums
};
using Touches = std::map<std::pair<std::string, std::string>, Touch>;

/// Returns the contacts of a report by the names of their geoms. Vectors of the plain view are
/// turned into the given view.
Touches list_touches(const support::Scene& scene, const sim::ContactReport& contacts,
                     const View& view);

/// The largest differences of distances [m], of the sums of points [m] and of normals [-] of two
/// geoms.
struct TouchDifference {
  double distance = 0, point = 0, normal = 0;
  bool is_same_point = true;  // collision found the same points, up to kSamePoint
};
TouchDifference compare(const Touches& a, const Touches& b);

}  // namespace stiction::campaign
