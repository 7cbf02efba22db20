#pragma once

#include <span>
#include <vector>

#include "stiction/plant/shapes/surface_motion.hpp"
#include "stiction/sim/memory/anchor_memory.hpp"

namespace stiction::sim {

/// Finds the contacts of two geoms in the last step again among those of this step.
/// Source: [theory:anchors].
class AnchorMatching {
 public:
  /// Makes room for this many contacts in a step.
  void reserve(int num_contacts);
  /// Makes room for two geoms with this many points.
  void reserve_points(int num_points);

  /// Matches the contacts of two geoms: faces if they touch in a patch, otherwise points.
  /// @param motion that of the geoms' bodies since the last step
  /// @return for each contact before its index now, or -1; valid until the next call
  std::span<const int> match(const plant::SurfaceMotion& motion,
                             std::span<const AnchorPoint> before, std::span<const AnchorPoint> now);

 private:
  /// Two points of the last step and of this one that may be the same contact.
  struct Candidate {
    double distance = 0;  // [m]
    int before = 0, now = 0;
  };
  void match_points(const plant::SurfaceMotion& motion, std::span<const AnchorPoint> before,
                    std::span<const AnchorPoint> now);
  void match_faces(std::span<const AnchorPoint> before, std::span<const AnchorPoint> now);

  std::vector<int> match_;
  std::vector<bool> is_taken_;  // for each point of this step
  std::vector<Candidate> candidates_;
};

}  // namespace stiction::sim
