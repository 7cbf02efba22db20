#pragma once

#include <cstdint>

#include "stiction/math/vec3.hpp"

/// How long a list of candidates holds.
namespace stiction::geometry {

using math::RigidTransform;
using math::Vec3;

/// What a search is between: two bodies, and how large and fine they are.
struct SearchPair {
  std::uint64_t O, T;  // ids
  Vec3 center_O;       // [m]
  double radius_O;     // about it [m]
  double width;        // of the finer body's elements, roughly [m]
};

/// A list of candidates that is made for all motions of O up to a drift is good until O has moved
/// that far in T's frame. The drift is some steps of the last step's motion; none where that is
/// more than elements are wide, for then the list would be long.
class Front {
 public:
  /// Goes on to this pose.
  /// @return true if the last list holds for it too; else a new one has to be made for drift()
  bool advance_to(const SearchPair& pair, const RigidTransform& X_TO);
  void forget() { O_ = T_ = 0; }

  double drift() const { return drift_; }

 private:
  std::uint64_t O_ = 0, T_ = 0;
  RigidTransform X_list_, X_last_;
  double drift_ = 0;
};

}  // namespace stiction::geometry
