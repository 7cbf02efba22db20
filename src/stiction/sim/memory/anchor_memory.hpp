#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"

namespace stiction::sim {

/// A contact at the start of a step, with its stretch at the end of that step.
struct AnchorPoint {
  math::Vec3 position{};      // world [m]
  math::Vec3 normal{};        // from A into B
  math::Vec3 tangent{};       // the first one of the contact's frame
  math::Vec3 stretch{};       // in the tangent plane, of B relative to A [m]
  math::Vec3 twist{};         // torsion about the normal and rolling [rad]
  math::Vec3 force{};         // of the stretched spring on B at the end of the step [N]
  math::Vec3 displacement{};  // dt v_t of the step, without moving surfaces [m]
  double stiffness = 0;       // k_t [N/m]; of a face: per area [Pa/m]
  double area = 1;            // of a face [m^2]; 1 for a point
  std::uint64_t feature = 0;  // the elements that meet in a face; 0 for a point
  bool slips = false;
  /// True if the slip of the contact is not the motion of the bodies alone, but also that of a
  /// surface.
  bool surface_moves = false;

  /// True if the spring follows the motion of the bodies.
  bool follows_bodies() const { return !slips && !surface_moves; }
};

/// Returns the feature of the first point of the face in which two elements meet.
/// @param element_A, element_B -1 for a body without elements
std::uint64_t make_feature(int element_A, int element_B);
/// Returns the feature of the next point of the same face.
inline std::uint64_t next_feature(std::uint64_t feature) { return feature + 1; }
/// True if both are features of points of the same face.
bool is_same_face(std::uint64_t feature1, std::uint64_t feature2);
/// Returns the elements that meet in the face of a feature; -1 for a point, and for a body without
/// elements.
std::array<int, 2> find_elements(std::uint64_t feature);

/// The points of two geoms.
struct AnchorPair {
  std::array<int, 2> geoms{};
  std::array<plant::BodyPose, 2> poses{};  // of the geoms' bodies at the start of the step
  int first_point = 0;
  int num_points = 0;
  double energy = 0;  // of the springs at the end of the step [J]
  double spare = 0;   // energy that AnchorSharing has kept for these geoms [J]
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
  /// Appends a pair of another step.
  void copy(const AnchorPair& pair, const AnchorStep& from);
};

/// Tells when contacts that stick are lost in more than a fifth of the steps: a step with losses
/// counts four up, another one down. Bodies that rock lose contacts in cycles of two or three
/// steps.
struct LossCounter {
  static constexpr int kUp = 4, kMany = 200;
  int count = 0;           // 0 .. kMany
  bool is_warned = false;  // count has been kMany, and not 0 since

  /// Counts a step.
  /// @return true if a warning is due
  bool add(bool has_losses);
};

/// The anchors that the next step goes on with. Their pairs are sorted by their geoms.
struct AnchorMemory {
  AnchorStep step;
  std::uint64_t end = 0;  // hash of the state at the end of the step; 0: none
  LossCounter losses;

  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the memory is then undefined
  void read(const mjModel* model, base::WordReader* words);
};

}  // namespace stiction::sim
