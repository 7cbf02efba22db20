#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/patches/patch_continuation.hpp"

namespace stiction::plant {

/// The largest force of a patch along its first direction, and the pose at which it had it.
///
/// PatchContinuation compares forces along their present direction. Where a body overhangs the edge
/// of another one, this direction turns sideways as the overlap grows, and the force pushes the
/// body off the edge. So does that of a round body that passes beside the middle of another one.
/// Its part along the first direction may then decrease although the bodies approach along it. This
/// class finds such a decrease, which is not that of bodies that slide, turn or retreat.
class PatchPeak {
 public:
  enum class Loss {
    kNone,
    kDecrease,
    kTurn,  // a decrease because the force has turned by more than 18 degrees
  };

  void forget() { largest_ = 0; }

  /// Compares a force with the largest one, or remembers it as the largest one. After a motion that
  /// is more aside, by sliding and turning, than along the direction, the force has a new first
  /// direction.
  /// @param force  PatchContinuation::sum_force of the patch
  /// @param radius about the origin of S, the smaller body, that contains it [m]
  /// @return whether the force along the direction is below 95 % of the largest one, and S has
  /// since
  ///         moved against the direction by more than aside
  Loss find_loss(const math::Vec3& force, const PatchContinuation::Pair& pair, double radius);

  // The memory as words, as in PatchContinuation.
  static constexpr int kNumWords = 16;
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// @param words at least kNumWords
  void read_memory(std::span<const std::uint64_t> words);

 private:
  /// Calls f(double&) for every number of the memory.
  template <class F>
  void for_each_number(F&& f);

  double largest_ = 0;         // [N]; 0: nothing remembered
  math::Vec3 normal_;          // the first direction, in the frame of the larger body O
  math::RigidTransform X_OS_;  // pose of S in O at the largest force
};

}  // namespace stiction::plant
