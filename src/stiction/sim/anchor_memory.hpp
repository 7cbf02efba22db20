#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/surface_motion.hpp"

namespace stiction::sim {

/// A contact at the start of a step, with its stretch at the end of that step.
struct AnchorPoint {
  math::Vec3 position{};      // world [m]
  math::Vec3 normal{};        // from A into B
  math::Vec3 stretch{};       // in the tangent plane, of B relative to A [m]
  math::Vec3 twist{};         // torsion about the normal and rolling [rad]
  math::Vec3 displacement{};  // dt v_t of the step, without moving surfaces [m]
  double stiffness = 0;       // k_t [N/m]; of a face: per area [Pa/m]
  double area = 1;            // of a face [m^2]; 1 for a point
  std::uint64_t feature = 0;  // the elements that meet in a face; 0 for a point
  /// True if the contact sticks, and its slip is the motion of the bodies alone.
  bool sticks = false;
};

/// The points of two geoms.
struct AnchorPair {
  std::array<int, 2> geoms{};
  std::array<plant::BodyPose, 2> poses{};  // of the geoms' bodies at the start of the step
  int first_point = 0;
  int num_points = 0;
};

/// The anchors of a step.
struct AnchorStep {
  std::vector<AnchorPair> pairs;
  std::vector<AnchorPoint> points;

  void clear();
  void reserve(int num_points);
  std::span<const AnchorPoint> points_of(const AnchorPair& pair) const {
    return std::span(points).subspan(pair.first_point, pair.num_points);
  }
  bool knows(const std::array<int, 2>& geoms) const;
  /// Appends a pair of another step.
  void copy(const AnchorPair& pair, const AnchorStep& from);
};

/// The anchors that the next step goes on with. Their pairs are sorted by their geoms.
struct AnchorMemory {
  AnchorStep step;
  std::uint64_t end = 0;  // hash of the state at the end of the step; 0: none

  /// Appends the words of the memory.
  void write(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write; the memory is then undefined
  void read(const mjModel* model, std::span<const std::uint64_t>* words);
};

}  // namespace stiction::sim
