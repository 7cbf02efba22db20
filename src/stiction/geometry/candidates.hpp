#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_kernels.hpp"
#include "stiction/geometry/front.hpp"
#include "stiction/geometry/tet_filter.hpp"

/// Which elements of two bodies may have a face of the contact surface: all that have one, and few
/// more.
namespace stiction::geometry {

struct Candidate {
  std::int32_t O, T;  // elements
};

/// Memory of searches between bodies O and T, and the last list of two meshes, which is not made
/// anew while it holds. Coordinates are T's.
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
  /// An element of O that candidates name, where it is now.
  const MovedTriangle& move(const TriangleBodyData& O, int element) {
    if (is_new(element)) triangles_[element].moved = move_triangle(X_TO_, O.triangles[element]);
    return triangles_[element].moved;
  }

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
  struct TriangleEntry {
    MovedTriangle moved;
    FloatTriangle filter;
  };

  template <class OnLeaves>
  void visit_leaf_pairs(const Bvh& O, const Bvh& T, const RigidTransform& X_TO, OnLeaves on_leaves);
  /// @param get_filter of an element of O, moved
  template <class GetFilter>
  void find_in_trees(const Bvh& tree_O, const TetBodyData& T, const RigidTransform& X_TO,
                     GetFilter&& get_filter);
  void begin_moving(std::size_t num_elements);
  /// Begins with a list that holds, or with none.
  bool begin(const SearchPair& pair, const RigidTransform& X_TO, std::size_t num_elements);
  void begin_half_space();
  /// True the first time since begin_moving.
  bool is_new(int element) { return std::exchange(moved_in_[element], search_) != search_; }

  std::vector<Visit> stack_;
  std::vector<int> nodes_;
  std::vector<FloatTet> tets_;
  std::vector<TriangleEntry> triangles_;
  std::vector<std::uint32_t> moved_in_;
  std::uint32_t search_ = 0;
  std::vector<Candidate> candidates_;
  enum class Order { none, by_O, by_T } order_ = Order::none;
  Front front_;
  RigidTransform X_TO_;
};

}  // namespace stiction::geometry
