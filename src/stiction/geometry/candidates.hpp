#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_kernels.hpp"
#include "stiction/geometry/tet_filter.hpp"
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

// The search for pairs of elements of two bodies that may share a face of the contact surface. It
// finds all pairs that do, and few others.

/// A pair of elements, one of each body.
struct Candidate {
  std::int32_t O, T;
};

/// Finds candidates between bodies O and T, in T's frame, and keeps the list while it is valid.
class CandidateSearch {
 public:
  void find(const TetBodyData& O, const TetBodyData& T, const RigidTransform& X_TO);
  void find(const TriangleBodyData& O, const TetBodyData& T, const RigidTransform& X_TO);
  /// Finds elements of T; the element of O is always 0.
  void find(const MovedHalfSpace& O, const TetBodyData& T);
  /// Finds elements of O; the element of T is always 0. The half space is in O's frame.
  void find(const TriangleBodyData& O, const MovedHalfSpace& T);

  /// Sorts the candidates by O and then T, or by T first.
  void sort(bool is_T_first);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// False if the search gave up, because each element of a body meets very many of the other. Then
  /// there are no candidates. This happens if all elements meet at one place, as the tets about the
  /// centers of two concentric spheres do, or if a body is so thin that floats do not resolve it.
  bool is_complete() const { return is_complete_; }
  /// Returns an element of O from the list of candidates at its present pose.
  const MovedTriangle& move(const TriangleBodyData& O, int element) {
    STICTION_ASSERT(0 <= element && element < static_cast<int>(triangles_.size()));
    if (is_new(element)) triangles_[element].moved = move_triangle(X_TO_, O.triangles[element]);
    return triangles_[element].moved;
  }

 private:
  /// A pair of nodes whose boxes overlap.
  struct Visit {
    int O, T;             // index of a node, or ~index of a leaf
    float p_low, p_high;  // pressures at which the boxes overlap
    PressureBox box_O, box_T;
  };
  /// A pair of leaves whose boxes overlap.
  struct LeafPair {
    int O, T;  // indices of leaves
    const PressureBox& box_T;
    const FloatPose &to_T, &to_O;
    float pad;
  };
  struct TriangleEntry {
    MovedTriangle moved;
    FloatTriangle filter;
  };

  /// @param on_leaves returns the work that it did, see `work_`
  template <class OnLeaves>
  void visit_leaf_pairs(const Bvh& O, const Bvh& T, const RigidTransform& X_TO, OnLeaves on_leaves);
  template <class GetFilter>
  void add_candidates(const Bvh& tree_O, const TetBodyData& T, const RigidTransform& X_TO,
                      GetFilter&& get_filter);
  /// @param get_filter returns the float version of an element of O at its present pose
  template <class GetFilter>
  void find_in_trees(const Bvh& tree_O, const TetBodyData& T, const RigidTransform& X_TO,
                     GetFilter&& get_filter);
  /// Forgets which elements of O were moved.
  void begin_moving(std::size_t num_elements);
  /// Starts a search.
  /// @return true if the last list is still valid; otherwise the list is empty
  bool begin(const SearchPair& pair, const RigidTransform& X_TO, std::size_t num_elements);
  /// Starts a search against a half space. Its list is not reused.
  void begin_half_space();
  /// Returns true if an element has not been moved since begin_moving, and records the move.
  bool is_new(int element) { return std::exchange(moved_in_[element], search_) != search_; }

  std::vector<Visit> stack_;
  std::vector<int> nodes_;
  std::vector<FloatTet> tets_;
  std::vector<TriangleEntry> triangles_;
  std::vector<std::uint32_t> moved_in_;  // last search that moved each element
  std::uint32_t search_ = 0;             // number of the present search
  std::vector<Candidate> candidates_;
  std::int64_t work_ = 0, max_work_ = 0;  // pairs of nodes visited, and candidates found
  bool is_complete_ = true;
  enum class Order { none, by_O, by_T } order_ = Order::none;
  DriftTracker drift_tracker_;
  RigidTransform X_TO_;
};

}  // namespace stiction::geometry
