#pragma once

#include <cstdint>

#include "stiction/math/vec3.hpp"

/// Reuse of a list of candidates while bodies move.
namespace stiction::geometry {

using math::RigidTransform;
using math::Vec3;

/// The bodies of a search and their dimensions.
struct SearchPair {
  std::uint64_t O, T;  // ids
  Vec3 center_O;       // [m]
  double radius_O;     // radius of the sphere about center_O that contains O [m]
  double width;        // approximate width of the elements of the finer body [m]
};

/// Decides how long a list of candidates is valid. A list made for all motions of O up to a
/// distance, the drift, is valid until O has moved that far in T's frame. The drift is the motion
/// of a few steps like the last one. It is 0 if the steps are too large compared with the width of
/// elements, because the list would become long.
class DriftTracker {
 public:
  /// Advances to a new pose.
  /// @return true if the last list is valid there; otherwise the caller makes a new one for drift()
  bool advance_to(const SearchPair& pair, const RigidTransform& X_TO);
  /// Restricts the list that is being made to the present pose.
  void stop_drift() { drift_ = 0; }
  /// Makes the last list invalid.
  void forget() { O_ = T_ = 0; }

  /// The distance by which O may move while the present list is valid [m].
  double drift() const { return drift_; }

 private:
  std::uint64_t O_ = 0, T_ = 0;
  RigidTransform X_list_, X_last_;  // poses of the list and of the last call
  double drift_ = 0;
};

}  // namespace stiction::geometry
