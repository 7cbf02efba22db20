#include "stiction/geometry/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stiction::geometry {
namespace {

/// Of the sizes of both bodies: a pose in floats, and sums of products with it, are off by less.
constexpr float kPosePadding = 2e-6F;

template <class Function>
void for_each_bit(unsigned bits, Function function) {
  for (; bits; bits &= bits - 1) function(std::countr_zero(bits));
}

float volume(const PressureBox& box) { return box.half[0] * box.half[1] * box.half[2]; }

/// How far boxes reach above and below a plane.
struct Heights {
  Float8 low, high;
};
class FloatPlane {
 public:
  FloatPlane(const MovedHalfSpace& half_space, const Bvh& bvh)
      : offset_(static_cast<float>(half_space.offset - dot(half_space.normal, bvh.origin))) {
    float size = std::abs(offset_);
    for (int i = 0; i < 3; ++i) {
      normal_[i] = static_cast<float>(half_space.normal[i]);
      size += std::abs(bvh.bounds.center[i]) + bvh.bounds.half[i];
    }
    pad_ = kPosePadding * size;
  }
  Heights heights(const EightBoxes& boxes) const {
    const Float8 center = normal_[0] * boxes.center[0] + normal_[1] * boxes.center[1] +
                          normal_[2] * boxes.center[2] - offset_;
    const Float8 half = std::abs(normal_[0]) * boxes.half[0] +
                        std::abs(normal_[1]) * boxes.half[1] +
                        std::abs(normal_[2]) * boxes.half[2] + pad_;
    return {center - half, center + half};
  }
  Heights heights(const TetLeaf& tets) const {
    Heights result;
    for (int i = 0; i < 4; ++i) {
      const Float8 z =
          normal_[0] * tets.x[i] + normal_[1] * tets.y[i] + normal_[2] * tets.z[i] - offset_;
      result.low = i ? min8(result.low, z) : z;
      result.high = i ? max8(result.high, z) : z;
    }
    return {result.low - pad_, result.high + pad_};
  }

 private:
  float normal_[3], offset_, pad_;
};

/// Calls on_leaf for each leaf whose box is_near says yes to.
template <class IsNear, class OnLeaf>
void visit_leaves(const Bvh& bvh, std::vector<int>* stack, IsNear is_near, OnLeaf on_leaf) {
  stack->assign(1, 0);
  while (!stack->empty()) {
    const BvhNode& node = bvh.nodes[stack->back()];
    stack->pop_back();
    for_each_bit(is_near(node.boxes), [&](int i) {
      if (const int child = node.child[i]; child < 0)
        on_leaf(~child);
      else
        stack->push_back(child);
    });
  }
}

}  // namespace

/// Descends where the boxes of both meet, the larger first.
template <class OnLeaves>
void CandidateSearch::visit_leaf_pairs(const Bvh& O, const Bvh& T, const RigidTransform& X_TO,
                                       OnLeaves on_leaves) {
  const FloatPose to_T(X_TO, T.origin, O.origin);
  const FloatPose to_O(inverse_times(X_TO, {}), O.origin, T.origin);
  float size = 0;
  for (int i = 0; i < 3; ++i) size += O.bounds.half[i] + T.bounds.half[i] + std::abs(to_T.p[i]);
  const float pad = kPosePadding * size;
  stack_.assign(1, {0, 0, O.bounds, T.bounds});
  while (!stack_.empty()) {
    const Visit at = stack_.back();
    stack_.pop_back();
    if (at.O < 0 && at.T < 0) {
      on_leaves(~at.O, ~at.T, to_O, pad, at.box_T);
    } else if (at.O < 0 || (at.T >= 0 && volume(at.box_T) >= volume(at.box_O))) {
      const BvhNode& node = T.nodes[at.T];
      for_each_bit(find_overlaps(node.boxes, at.box_O, to_T, pad), [&](int i) {
        stack_.push_back({at.O, node.child[i], at.box_O, node.boxes.lane(i)});
      });
    } else {
      const BvhNode& node = O.nodes[at.O];
      for_each_bit(find_overlaps(node.boxes, at.box_T, to_O, pad), [&](int i) {
        stack_.push_back({node.child[i], at.T, node.boxes.lane(i), at.box_T});
      });
    }
  }
}

void CandidateSearch::begin_moving(std::size_t num_elements) {
  candidates_.clear();
  if (moved_in_.size() < num_elements) moved_in_.resize(num_elements, 0);
  if (++search_ == 0) {
    std::fill(moved_in_.begin(), moved_in_.end(), 0);
    search_ = 1;
  }
}

void CandidateSearch::find(const TetBodyData& O, const TetBodyData& T, const RigidTransform& X_TO) {
  begin_moving(O.tets.size());
  if (tets_.size() < O.tets.size()) tets_.resize(O.tets.size());
  visit_leaf_pairs(
      O.bvh, T.bvh, X_TO,
      [&](int leaf_O, int leaf_T, const FloatPose& to_O, float pad, const PressureBox& box_T) {
        const BvhLeaf& elements_O = O.bvh.leaves[leaf_O];
        const BvhLeaf& elements_T = T.bvh.leaves[leaf_T];
        for_each_bit(find_overlaps(elements_O.boxes, box_T, to_O, pad), [&](int i) {
          const int element = elements_O.element[i];
          TetEntry& entry = tets_[element];
          if (is_new(element)) {
            entry.moved = move_tet(X_TO, O.tets[element]);
            entry.filter = make_float_tet(entry.moved, X_TO, O.tets[element], T.bvh.origin);
          }
          for_each_bit(filter_tets(entry.filter, elements_T, T.leaves[leaf_T], ~0U), [&](int j) {
            candidates_.push_back({element, elements_T.element[j]});
          });
        });
      });
}

void CandidateSearch::find(const TriangleBodyData& O, const TetBodyData& T,
                           const RigidTransform& X_TO) {
  begin_moving(O.triangles.size());
  if (triangles_.size() < O.triangles.size()) triangles_.resize(O.triangles.size());
  visit_leaf_pairs(
      O.bvh, T.bvh, X_TO,
      [&](int leaf_O, int leaf_T, const FloatPose& to_O, float pad, const PressureBox& box_T) {
        const BvhLeaf& elements_O = O.bvh.leaves[leaf_O];
        const BvhLeaf& elements_T = T.bvh.leaves[leaf_T];
        for_each_bit(find_overlaps(elements_O.boxes, box_T, to_O, pad), [&](int i) {
          const int element = elements_O.element[i];
          TriangleEntry& entry = triangles_[element];
          if (is_new(element)) {
            entry.moved = move_triangle(X_TO, O.triangles[element]);
            entry.filter = make_float_triangle(entry.moved, T.bvh.origin);
          }
          for_each_bit(filter_tets(entry.filter, elements_T, T.leaves[leaf_T], ~0U), [&](int j) {
            candidates_.push_back({element, elements_T.element[j]});
          });
        });
      });
}

void CandidateSearch::find(const MovedHalfSpace& O, const TetBodyData& T) {
  candidates_.clear();
  const FloatPlane plane(O, T.bvh);
  const bool is_rigid = std::isinf(O.pressure_gradient);
  const auto inverse_gradient = static_cast<float>(1 / O.pressure_gradient);
  // The surface is where p_T = p_O, at the height -p_T / pressure_gradient; a little more for what
  // rounding does to the products.
  const auto is_near = [&](const Heights& z, const Float8& p_low, const Float8& p_high) {
    Int8 cut = (z.low <= 0) & (z.high >= 0);
    if (!is_rigid) {
      const Float8 lowest = -1.000001F * inverse_gradient * max8(p_high, Float8{});
      const Float8 highest = -0.999999F * inverse_gradient * max8(p_low, Float8{});
      cut = (z.low <= highest) & (z.high >= lowest);
    }
    return bits_of(cut);
  };
  visit_leaves(
      T.bvh, &nodes_,
      [&](const EightBoxes& boxes) {
        return is_near(plane.heights(boxes), boxes.p_low, boxes.p_high);
      },
      [&](int leaf) {
        const BvhLeaf& elements = T.bvh.leaves[leaf];
        const unsigned lanes = (1U << elements.num_elements) - 1;
        const unsigned near =
            is_near(plane.heights(T.leaves[leaf]), elements.boxes.p_low, elements.boxes.p_high);
        for_each_bit(near & lanes, [&](int i) { candidates_.push_back({0, elements.element[i]}); });
      });
}

void CandidateSearch::find(const TriangleBodyData& O, const MovedHalfSpace& T) {
  candidates_.clear();
  const FloatPlane plane(T, O.bvh);
  const auto is_near = [&](const EightBoxes& boxes) {
    return bits_of(plane.heights(boxes).low <= 0);
  };
  visit_leaves(O.bvh, &nodes_, is_near, [&](int leaf) {
    const BvhLeaf& elements = O.bvh.leaves[leaf];
    for_each_bit(is_near(elements.boxes) & ((1U << elements.num_elements) - 1), [&](int i) {
      candidates_.push_back({elements.element[i], 0});
    });
  });
}

void CandidateSearch::sort(bool is_T_first) {
  const auto key = [is_T_first](const Candidate& c) {
    const auto O = static_cast<std::uint64_t>(c.O), T = static_cast<std::uint64_t>(c.T);
    return is_T_first ? T << 32 | O : O << 32 | T;
  };
  std::sort(candidates_.begin(), candidates_.end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  const auto end =
      std::unique(candidates_.begin(), candidates_.end(),
                  [](const Candidate& a, const Candidate& b) { return a.O == b.O && a.T == b.T; });
  candidates_.erase(end, candidates_.end());
}

}  // namespace stiction::geometry
