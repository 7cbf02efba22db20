#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_kernels.hpp"
#include "stiction/geometry/tet_filter.hpp"

/// Which elements of two bodies may have a face of the contact surface: all that have one, and few
/// more.
namespace stiction::geometry {

struct Candidate {
  std::int32_t O, T;  // elements
};

/// Memory of a search between bodies O and T. Coordinates are T's.
class CandidateSearch {
 public:
  void find(const TetBodyData& O, const TetBodyData& T, const RigidTransform& X_TO);
  void find(const TriangleBodyData& O, const TetBodyData& T, const RigidTransform& X_TO);
  /// Elements of T only: O is 0.
  void find(const MovedHalfSpace& O, const TetBodyData& T);
  /// Elements of O only, in whose frame the half space is: T is 0.
  void find(const TriangleBodyData& O, const MovedHalfSpace& T);

  /// By O first, or by T.
  void sort(bool is_T_first);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Elements of O that candidates name.
  const MovedTet& moved_tet(int element) const { return tets_[element].moved; }
  const MovedTriangle& moved_triangle(int element) const { return triangles_[element].moved; }

 private:
  struct Visit {
    int O, T;             // nodes, or ~ of leaves
    float p_low, p_high;  // at which the boxes meet
    PressureBox box_O, box_T;
  };
  struct LeafPair {
    int O, T;
    const PressureBox& box_T;
    const FloatPose &to_T, &to_O;
    float pad;
  };
  struct TetEntry {
    MovedTet moved;
    FloatTet filter;
  };
  struct TriangleEntry {
    MovedTriangle moved;
    FloatTriangle filter;
  };

  template <class OnLeaves>
  void visit_leaf_pairs(const Bvh& O, const Bvh& T, const RigidTransform& X_TO, OnLeaves on_leaves);
  void begin_moving(std::size_t num_elements);
  /// True the first time since begin_moving.
  bool is_new(int element) { return std::exchange(moved_in_[element], search_) != search_; }

  std::vector<Visit> stack_;
  std::vector<int> nodes_;
  std::vector<TetEntry> tets_;
  std::vector<TriangleEntry> triangles_;
  std::vector<std::uint32_t> moved_in_;
  std::uint32_t search_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace stiction::geometry
