#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stiction/math/vec3.hpp"

/// A bounding volume hierarchy whose nodes test their eight children at once, in floats. Boxes are
/// padded for their rounding: a test may say yes to boxes that do not meet, never no to such as do.
namespace stiction::geometry {

using math::RigidTransform;
using math::Vec3;

typedef float Float8 __attribute__((vector_size(32)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));

inline constexpr int kWidth = 8;

inline Float8 broadcast8(float x) { return Float8{x, x, x, x, x, x, x, x}; }
inline Float8 abs8(const Float8& x) { return x < 0 ? -x : x; }
inline Float8 min8(const Float8& a, const Float8& b) { return a < b ? a : b; }
inline Float8 max8(const Float8& a, const Float8& b) { return a > b ? a : b; }
/// Bit i is set where lane i is true.
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

/// A box, and the range of pressures in it.
struct PressureBox {
  float center[3], half[3];  // [m]
  float p_low, p_high;       // [Pa]
};

/// Eight of them; a lane without box meets nothing.
struct EightBoxes {
  Float8 center[3], half[3];
  Float8 p_low, p_high;

  PressureBox lane(int i) const;
};

struct BvhNode {
  EightBoxes boxes;
  std::array<std::int32_t, kWidth> child;  // a node, or ~ of a leaf
};

struct BvhLeaf {
  EightBoxes boxes;
  std::array<std::int32_t, kWidth> element;
  int num_elements;
};

/// The extent of an element or of a part of it, of which the hierarchy is built.
struct ElementBox {
  Vec3 low, high;        // [m]
  double p_low, p_high;  // [Pa]
  int element;
};

/// Coordinates are less `origin`, so that floats resolve a body far from its frame's origin.
struct Bvh {
  Vec3 origin;
  PressureBox bounds;
  std::vector<BvhNode> nodes;  // the first is the root
  std::vector<BvhLeaf> leaves;
};

/// Splits by the surface area heuristic.
Bvh make_bvh(const std::vector<ElementBox>& elements, const Vec3& origin);

/// A pose in floats: from the coordinates of one hierarchy to those of another.
struct FloatPose {
  FloatPose(const RigidTransform& X_NM, const Vec3& origin_N, const Vec3& origin_M);

  float R[3][3], abs_R[3][3], p[3];
};

/// Which of the boxes, of frame N, meet the box of frame M: axes of both frames, and pressures.
/// @param pad [m]
unsigned find_overlaps(const EightBoxes& boxes_N, const PressureBox& box_M, const FloatPose& X_NM,
                       float pad);

}  // namespace stiction::geometry
