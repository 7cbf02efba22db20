#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"

namespace stiction::formulations {

/// Finds corrections of overlaps that friction jams, as in a wedge that is too steep. Let a motion
/// u keep w = G u + b in the dual cones of all contacts, where friction can only help. Then each
/// set of impulses r within the cones gives 0 <= r . w, so that
///
///     |u| >= -(b . r) / |G^T r|.
///
/// Impulses that nearly cancel each other thus prove that such a motion would have to be fast. If
/// there is no such motion, the law may have no solution. Keeps its memory.
/// Source: [acary2011]; [theory:friction-cone-jam].
class ConeJam {
 public:
  /// @param blocks must outlive the calls
  void start(const ConeBlocks& blocks);

  /// Returns the least speed that the corrections need, relative to that of the motion without
  /// impulses and of each correction alone; 0 if the impulses prove nothing.
  /// @param r one impulse per block; those outside their cones are projected
  double calc_leverage(std::span<const BlockVector> r);

 private:
  const ConeBlocks* blocks_ = nullptr;
  double usual_speed_ = 0;    // [sqrt(J)]
  std::vector<double> push_;  // G^T r
};

}  // namespace stiction::formulations
