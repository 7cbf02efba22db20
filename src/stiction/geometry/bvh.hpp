#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stiction/math/vec3.hpp"

/// A bounding volume hierarchy whose nodes test their eight children at once, in floats. Boxes are
/// padded for their rounding: a test may say yes to boxes that do not meet, never no to such as do.
///
/// Boxes move with pressure: at each pressure p a box holds the section of its elements where their
/// field is p. Fields meet where their pressures agree, hence only boxes at one pressure need be
/// compared: a long tetrahedron, as from a sphere's centre to its surface, needs no splitting. So
/// are moving bodies traced with time in the place of pressure.
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

/// center + p center_rate and half + p half_rate, for pressures p in [p_low, p_high].
struct PressureBox {
  float center[3], half[3];            // at p = 0 [m]
  float center_rate[3], half_rate[3];  // [m/Pa]
  float p_low, p_high;                 // [Pa]

  float volume(float p) const;
};

/// Eight of them; a lane without box has no pressures.
struct EightBoxes {
  Float8 center[3], half[3];
  Float8 center_rate[3], half_rate[3];
  Float8 p_low, p_high;

  PressureBox lane(int i) const;
};

/// Pressures from low to high, of which linear conditions leave a part.
struct PressureRange {
  Float8 low, high;

  /// Leaves those with at_0 + rate p <= 0.
  void keep_negative(const Float8& at_0, const Float8& rate);
  unsigned are_left() const { return bits_of(low <= high); }
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

/// What bounds an element: low + p low_rate <= x <= high + p high_rate where its field is p.
struct ElementBox {
  Vec3 low, high;            // [m]
  Vec3 low_rate, high_rate;  // [m/Pa]
  double p_low, p_high;      // [Pa]
  int element;

  Vec3 low_at(double p) const { return low + p * low_rate; }
  Vec3 high_at(double p) const { return high + p * high_rate; }
};

/// Of a tetrahedron with a linear field.
/// @param most_rate rates are at most this [m/Pa] >= 0: where a field is nearly constant a box that
///   follows it would be lost in the rounding of p rate
ElementBox bound_sections(const std::array<Vec3, 4>& corners,
                          const std::array<double, 4>& pressures, double most_rate, int element);

/// Of an element without field, which meets all pressures.
ElementBox bound_all_pressures(const Vec3& low, const Vec3& high, int element);

/// Coordinates are less `origin`, so that floats resolve a body far from its frame's origin.
struct Bvh {
  Vec3 origin;
  float size;  // no coordinate is larger [m]
  PressureBox bounds;
  std::vector<BvhNode> nodes;  // the first is the root
  std::vector<BvhLeaf> leaves;
};

/// Splits by the surface area heuristic, of boxes in the middle of their pressures. Each element is
/// in one leaf.
/// @param size no coordinate less origin is larger [m]
/// @param most_rate as in bound_sections
Bvh make_bvh(const std::vector<ElementBox>& elements, const Vec3& origin, double size,
             double most_rate);

/// A pose in floats: from the coordinates of one hierarchy to those of another.
struct FloatPose {
  FloatPose(const RigidTransform& X_NM, const Vec3& origin_N, const Vec3& origin_M);

  float R[3][3], abs_R[3][3], p[3];
};

/// At which pressures the boxes, of frame N, meet the box of frame M, by the axes of both frames.
/// @param pad [m]
PressureRange find_overlaps(const EightBoxes& boxes_N, const PressureBox& box_M,
                            const FloatPose& X_NM, float pad);

}  // namespace stiction::geometry
