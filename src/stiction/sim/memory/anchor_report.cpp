#include "stiction/sim/memory/anchor_report.hpp"

#include "stiction/sim/memory/anchor_memory.hpp"

namespace stiction::sim {

std::vector<AnchorReport> list_anchors(const AnchorStep& step) {
  std::vector<AnchorReport> out;
  out.reserve(step.points.size());
  for (const AnchorPair& pair : step.pairs)
    for (const AnchorPoint& point : step.points_of(pair)) {
      out.push_back({.geoms = pair.geoms,
                     .elements = find_elements(point.feature),
                     .position = point.position,
                     .normal = point.normal,
                     .stretch = point.stretch,
                     .twist = point.twist,
                     .force = point.force,
                     .stiffness = point.stiffness * point.area,
                     .slips = point.slips});
    }
  return out;
}

}  // namespace stiction::sim
