#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stiction/math/vec3.hpp"

/// A bounding volume hierarchy whose nodes test their eight children at once, in floats. Boxes are
/// padded for rounding: a test may accept boxes that do not overlap, but it never rejects boxes
/// that do.
///
/// Boxes move with pressure: at each pressure p a box contains the section of its elements where
/// their field is p. Two fields meet where their pressures are equal, so only boxes at the same
/// pressure are compared. A long tetrahedron, such as one from a sphere's center to its surface,
/// then needs no subdivision. Ray tracing of moving bodies uses the same idea with time instead of
/// pressure.
namespace stiction::geometry {

using math::RigidTransform;
using math::Vec3;

typedef float Float8 __attribute__((vector_size(32)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));

inline constexpr int kWidth = 8;  // lanes of Float8, children of a node

inline Float8 broadcast8(float x) { return Float8{x, x, x, x, x, x, x, x}; }
inline Float8 min8(const Float8& a, const Float8& b) { return a < b ? a : b; }
inline Float8 max8(const Float8& a, const Float8& b) { return a > b ? a : b; }
/// Returns a bit mask: bit i is set if lane i is true.
inline unsigned bits_of(const Int8& mask) {
#ifdef __AVX__
  Float8 lanes;
  std::memcpy(&lanes, &mask, sizeof lanes);
  return static_cast<unsigned>(__builtin_ia32_movmskps256(lanes));
#else
  unsigned bits = 0;
  for (int i = 0; i < kWidth; ++i) bits |= mask[i] ? 1u << i : 0u;
  return bits;
#endif
}

/// A box that moves with pressure: center + p center_rate, half + p half_rate in [p_low, p_high].
struct PressureBox {
  float center[3], half[3];            // at p = 0 [m]
  float center_rate[3], half_rate[3];  // [m/Pa]
  float p_low, p_high;                 // [Pa]

  /// Returns an eighth of the volume at pressure p [m^3].
  float volume(float p) const;
};

/// Eight boxes. A lane without a box has an empty range of pressures.
struct EightBoxes {
  Float8 center[3], half[3];
  Float8 center_rate[3], half_rate[3];
  Float8 p_low, p_high;

  PressureBox lane(int i) const;
};

/// A range of pressures per lane. Linear conditions make it smaller.
struct PressureRange {
  Float8 low, high;

  /// Keeps the pressures p with at_0 + rate p <= 0.
  void keep_negative(const Float8& at_0, const Float8& rate);
  /// Returns the bit mask of lanes whose range is not empty.
  unsigned find_nonempty() const { return bits_of(low <= high); }
};

struct BvhNode {
  EightBoxes boxes;
  std::array<std::int32_t, kWidth> child;  // index of a node, or ~index of a leaf
};

struct BvhLeaf {
  EightBoxes boxes;
  std::array<std::int32_t, kWidth> element;
  int num_elements;
};

/// The bounds of an element: low + p low_rate <= x <= high + p high_rate where its field is p.
struct ElementBox {
  Vec3 low, high;            // [m]
  Vec3 low_rate, high_rate;  // [m/Pa]
  double p_low, p_high;      // [Pa]
  int element;

  Vec3 low_at(double p) const { return low + p * low_rate; }
  Vec3 high_at(double p) const { return high + p * high_rate; }
};

/// Bounds a tetrahedron with a linear field.
/// @param most_rate largest rate >= 0 [m/Pa]. It limits the rounding of p rate where a field is
///   nearly constant.
ElementBox bound_sections(const std::array<Vec3, 4>& corners,
                          const std::array<double, 4>& pressures, double most_rate, int element);

/// Bounds an element without a field. Its box exists at all pressures.
ElementBox bound_all_pressures(const Vec3& low, const Vec3& high, int element);

/// A bounding volume hierarchy, relative to `origin`, so that floats resolve a body far away.
struct Bvh {
  Vec3 origin;
  float size;  // bound of all coordinates [m]
  PressureBox bounds;
  std::vector<BvhNode> nodes;  // the first is the root
  std::vector<BvhLeaf> leaves;
};

/// Makes a hierarchy with the surface area heuristic, applied to boxes in the middle of their
/// pressures. Each element is in one leaf.
/// @param size bound of all coordinates relative to origin [m]
/// @param most_rate as in bound_sections
Bvh make_bvh(const std::vector<ElementBox>& elements, const Vec3& origin, double size,
             double most_rate);

/// A pose in floats, from the coordinates of hierarchy M to those of hierarchy N.
struct FloatPose {
  FloatPose(const RigidTransform& X_NM, const Vec3& origin_N, const Vec3& origin_M);

  float R[3][3], abs_R[3][3], p[3];
};

/// Returns the pressures at which the boxes of frame N overlap the box of frame M. Separation is
/// tested along the axes of both frames.
/// @param pad distance by which the boxes are enlarged [m]
PressureRange find_overlaps(const EightBoxes& boxes_N, const PressureBox& box_M,
                            const FloatPose& X_NM, float pad);

}  // namespace stiction::geometry
