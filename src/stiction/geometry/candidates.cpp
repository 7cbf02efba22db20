#include "stiction/geometry/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/work_limits.hpp"

namespace stiction::geometry {
namespace {

/// The largest and least drift in units of the last step; 5 to 20 are measured equally fast.
constexpr double kMostSteps = 8, kLeastSteps = 2;
/// The largest drift relative to the width of an element.
constexpr double kMostDrift = 0.3;

/// Returns a bound of the motion of any point of O between two poses [m].
double calc_motion(const SearchPair& pair, const RigidTransform& X, const RigidTransform& Y) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3 difference = X.R.row[i] - Y.R.row[i];
    squares += dot(difference, difference);
  }
  return norm(X * pair.center_O - Y * pair.center_O) + std::sqrt(squares) * pair.radius_O;
}

/// A bound of the rounding of a pose in floats and of its products, relative to the bodies' sizes.
constexpr float kPosePadding = 8e-6F;

template <class Function>
void for_each_bit(unsigned bits, Function function) {
  for (; bits; bits &= bits - 1) function(std::countr_zero(bits));
}

/// The work after which a search gives up: per element, and at least.
constexpr std::int64_t kMaxWorkPerElement = 64, kMinMaxWork = 1 << 16;

/// The work between two looks at the limits of the step: about 20 us.
constexpr std::int64_t kBetweenChecks = 1 << 10;

/// Estimates the width of one of this many elements at the surface of a body [m].
double estimate_width(double radius, std::size_t num_elements) {
  return radius / std::sqrt(static_cast<double>(num_elements));
}

/// A range of heights above a plane.
struct Heights {
  Float8 low, high;
};

/// The boundary plane of a half space in the coordinates of a hierarchy, in floats.
class FloatPlane {
 public:
  FloatPlane(const MovedHalfSpace& half_space, const Bvh& bvh)
      : offset_(static_cast<float>(half_space.offset - dot(half_space.normal, bvh.origin))) {
    for (int i = 0; i < 3; ++i) normal_[i] = static_cast<float>(half_space.normal[i]);
    pad_ = kPosePadding * (std::abs(offset_) + bvh.size);
  }
  /// Returns the bit mask of the boxes below the plane. They must not move with pressure.
  unsigned find_below(const EightBoxes& boxes) const {
    const Float8 height = along_normal(boxes.center) - offset_;
    const Int8 is_box = boxes.p_low <= boxes.p_high;
    return bits_of(is_box & (height <= along_normal_size(boxes.half) + pad_));
  }
  /// Returns the pressures p at which boxes meet the plane at the height -compliance p.
  PressureRange find_overlaps(const EightBoxes& boxes, float compliance) const {
    PressureRange range = {max8(boxes.p_low, Float8{}), boxes.p_high};
    const Float8 height = along_normal(boxes.center) - offset_;
    const Float8 height_rate = along_normal(boxes.center_rate) + compliance;
    const Float8 half = along_normal_size(boxes.half) + pad_;
    const Float8 half_rate = along_normal_size(boxes.half_rate);
    range.keep_negative(height - half, height_rate - half_rate);
    range.keep_negative(-height - half, -height_rate - half_rate);
    return range;
  }
  /// Returns the range of height + compliance p over the corners. This sum is 0 on the surface.
  Heights levels(const TetLeaf& tets, float compliance) const {
    Heights result;
    for (int i = 0; i < 4; ++i) {
      const Float8 z = normal_[0] * tets.x[i] + normal_[1] * tets.y[i] + normal_[2] * tets.z[i] -
                       offset_ + compliance * tets.pressure[i];
      result.low = i ? min8(result.low, z) : z;
      result.high = i ? max8(result.high, z) : z;
    }
    const float pad = pad_ + kPosePadding * compliance * tets.pressure_size;
    return {result.low - pad, result.high + pad};
  }

 private:
  Float8 along_normal(const Float8 (&x)[3]) const {
    return normal_[0] * x[0] + normal_[1] * x[1] + normal_[2] * x[2];
  }
  Float8 along_normal_size(const Float8 (&half)[3]) const {
    return std::abs(normal_[0]) * half[0] + std::abs(normal_[1]) * half[1] +
           std::abs(normal_[2]) * half[2];
  }

  float normal_[3], offset_, pad_;
};

/// Calls on_leaf for each leaf whose box satisfies is_near.
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

bool DriftTracker::advance_to(const SearchPair& pair, const RigidTransform& X_TO) {
  STICTION_ASSERT(pair.radius_O >= 0 && pair.width >= 0);
  const bool is_same_pair = pair.O == O_ && pair.T == T_;
  const double step =
      is_same_pair ? calc_motion(pair, X_TO, X_last_) : std::numeric_limits<double>::infinity();
  X_last_ = X_TO;
  if (is_same_pair && calc_motion(pair, X_TO, X_list_) <= drift_) return true;
  O_ = pair.O;
  T_ = pair.T;
  X_list_ = X_TO;
  const double most = kMostDrift * pair.width;
  drift_ = kLeastSteps * step <= most ? std::min(kMostSteps * step, most) : 0;
  return false;
}

/// Calls on_leaves for pairs of leaves whose boxes overlap, up to a limit of work.
template <class OnLeaves>
void CandidateSearch::visit_leaf_pairs(const Bvh& O, const Bvh& T, const RigidTransform& X_TO,
                                       OnLeaves on_leaves) {
  const FloatPose to_T(X_TO, T.origin, O.origin);
  const FloatPose to_O(inverse_times(X_TO, {}), O.origin, T.origin);
  float size = O.size + T.size;
  for (int i = 0; i < 3; ++i) size += std::abs(to_T.p[i]);
  const float pad = kPosePadding * size + static_cast<float>(drift_tracker_.drift());
  const float p_low = std::max(O.bounds.p_low, T.bounds.p_low);
  const float p_high = std::min(O.bounds.p_high, T.bounds.p_high);
  if (p_low > p_high) return;
  stack_.assign(
      1, {.O = 0, .T = 0, .p_low = p_low, .p_high = p_high, .box_O = O.bounds, .box_T = T.bounds});
  std::int64_t next_check = kBetweenChecks;
  while (!stack_.empty()) {
    if (++work_ > max_work_) return;
    if (work_ > next_check) {
      base::check_limits();
      next_check = work_ + kBetweenChecks;
    }
    const Visit at = stack_.back();
    stack_.pop_back();
    const float middle = 0.5F * (at.p_low + at.p_high);
    if (at.O < 0 && at.T < 0) {
      work_ += on_leaves(
          {.O = ~at.O, .T = ~at.T, .box_T = at.box_T, .to_T = to_T, .to_O = to_O, .pad = pad});
    } else if (at.O < 0 || (at.T >= 0 && at.box_T.volume(middle) >= at.box_O.volume(middle))) {
      const BvhNode& node = T.nodes[at.T];
      const PressureRange range = find_overlaps(node.boxes, at.box_O, to_T, pad);
      for_each_bit(range.find_nonempty(), [&](int i) {
        stack_.push_back({.O = at.O,
                          .T = node.child[i],
                          .p_low = range.low[i],
                          .p_high = range.high[i],
                          .box_O = at.box_O,
                          .box_T = node.boxes.lane(i)});
      });
    } else {
      const BvhNode& node = O.nodes[at.O];
      const PressureRange range = find_overlaps(node.boxes, at.box_T, to_O, pad);
      for_each_bit(range.find_nonempty(), [&](int i) {
        stack_.push_back({.O = node.child[i],
                          .T = at.T,
                          .p_low = range.low[i],
                          .p_high = range.high[i],
                          .box_O = node.boxes.lane(i),
                          .box_T = at.box_T});
      });
    }
  }
}

void CandidateSearch::begin_moving(std::size_t num_elements) {
  if (moved_in_.size() < num_elements) moved_in_.resize(num_elements, 0);
  // The counter may have wrapped around to 0, which means that an element was never moved.
  if (++search_ == 0) {
    std::fill(moved_in_.begin(), moved_in_.end(), 0);
    search_ = 1;
  }
}

bool CandidateSearch::begin(const SearchPair& pair, const RigidTransform& X_TO,
                            std::size_t num_elements) {
  begin_moving(num_elements);
  X_TO_ = X_TO;
  if (drift_tracker_.advance_to(pair, X_TO)) return true;
  candidates_.clear();
  order_ = Order::none;
  is_complete_ = true;
  return false;
}

void CandidateSearch::begin_half_space() {
  drift_tracker_.forget();
  candidates_.clear();
  order_ = Order::none;
  is_complete_ = true;
}

template <class GetFilter>
void CandidateSearch::find_in_trees(const Bvh& tree_O, const TetBodyData& T,
                                    const RigidTransform& X_TO, GetFilter&& get_filter) {
  const auto num_leaves = static_cast<std::int64_t>(tree_O.leaves.size() + T.bvh.leaves.size());
  max_work_ = std::max(kMinMaxWork, kMaxWorkPerElement * kWidth * num_leaves);
  try {
    add_candidates(tree_O, T, X_TO, get_filter);
    // A list for the present pose only is shorter, and complete or not by itself.
    if (work_ > max_work_ && drift_tracker_.drift() > 0) {
      drift_tracker_.stop_drift();
      add_candidates(tree_O, T, X_TO, get_filter);
    }
  } catch (...) {  // a limit of the step has ended the search
    drift_tracker_.forget();
    throw;
  }
  is_complete_ = work_ <= max_work_;
  if (!is_complete_) candidates_.clear();
}

template <class GetFilter>
void CandidateSearch::add_candidates(const Bvh& tree_O, const TetBodyData& T,
                                     const RigidTransform& X_TO, GetFilter&& get_filter) {
  work_ = 0;
  candidates_.clear();
  const auto drift = static_cast<float>(drift_tracker_.drift());
  visit_leaf_pairs(tree_O, T.bvh, X_TO, [&](const LeafPair& pair) {
    const BvhLeaf& elements_O = tree_O.leaves[pair.O];
    const BvhLeaf& elements_T = T.bvh.leaves[pair.T];
    const std::size_t before = candidates_.size();
    const unsigned near_T =
        find_overlaps(elements_O.boxes, pair.box_T, pair.to_O, pair.pad).find_nonempty();
    for_each_bit(near_T, [&](int i) {
      const PressureRange near_O =
          find_overlaps(elements_T.boxes, elements_O.boxes.lane(i), pair.to_T, pair.pad);
      const unsigned lanes = near_O.find_nonempty();
      if (!lanes) return;
      const int element = elements_O.element[i];
      for_each_bit(filter_tets(get_filter(element), T.leaves[pair.T], lanes, drift), [&](int j) {
        candidates_.push_back({element, elements_T.element[j]});
      });
    });
    return static_cast<std::int64_t>(candidates_.size() - before);
  });
}

void CandidateSearch::find(const TetBodyData& O, const TetBodyData& T, const RigidTransform& X_TO) {
  const double width =
      std::min(estimate_width(O.radius, O.tets.size()), estimate_width(T.radius, T.tets.size()));
  const SearchPair pair = {
      .O = O.id, .T = T.id, .center_O = O.center, .radius_O = O.radius, .width = width};
  if (begin(pair, X_TO, O.tets.size())) return;
  if (tets_.size() < O.tets.size()) tets_.resize(O.tets.size());
  find_in_trees(
      O.bvh, T, X_TO, [&](int element) -> const auto& {
        FloatTet& filter = tets_[element];
        if (is_new(element)) {
          const Tet& tet = O.tets[element];
          filter = make_float_tet(move_tet(X_TO, tet), X_TO, tet, T.bvh.origin);
        }
        return filter;
      });
}

void CandidateSearch::find(const TriangleBodyData& O, const TetBodyData& T,
                           const RigidTransform& X_TO) {
  const double width = std::min(estimate_width(O.radius, O.triangles.size()),
                                estimate_width(T.radius, T.tets.size()));
  const SearchPair pair = {
      .O = O.id, .T = T.id, .center_O = O.center, .radius_O = O.radius, .width = width};
  if (begin(pair, X_TO, O.triangles.size())) return;
  if (triangles_.size() < O.triangles.size()) triangles_.resize(O.triangles.size());
  find_in_trees(
      O.bvh, T, X_TO, [&](int element) -> const auto& {
        TriangleEntry& entry = triangles_[element];
        if (is_new(element)) {
          entry.moved = move_triangle(X_TO, O.triangles[element]);
          entry.filter = make_float_triangle(entry.moved, T.bvh.origin);
        }
        return entry.filter;
      });
}

void CandidateSearch::find(const MovedHalfSpace& O, const TetBodyData& T) {
  begin_half_space();
  const FloatPlane plane(O, T.bvh);
  // On the surface p_T = p_O, so its height is -p_T / pressure_gradient.
  const auto compliance = static_cast<float>(1 / O.pressure_gradient);
  const auto is_near = [&](const EightBoxes& boxes) {
    return plane.find_overlaps(boxes, compliance).find_nonempty();
  };
  visit_leaves(T.bvh, &nodes_, is_near, [&](int leaf) {
    const BvhLeaf& elements = T.bvh.leaves[leaf];
    const auto [low, high] = plane.levels(T.leaves[leaf], compliance);
    const unsigned cut = bits_of((low <= 0) & (high >= 0));
    for_each_bit(cut & is_near(elements.boxes), [&](int i) {
      candidates_.push_back({0, elements.element[i]});
    });
  });
}

void CandidateSearch::find(const TriangleBodyData& O, const MovedHalfSpace& T) {
  begin_half_space();
  const FloatPlane plane(T, O.bvh);
  const auto is_near = [&](const EightBoxes& boxes) { return plane.find_below(boxes); };
  visit_leaves(O.bvh, &nodes_, is_near, [&](int leaf) {
    const BvhLeaf& elements = O.bvh.leaves[leaf];
    for_each_bit(is_near(elements.boxes), [&](int i) {
      candidates_.push_back({elements.element[i], 0});
    });
  });
}

void CandidateSearch::sort(bool is_T_first) {
  const Order order = is_T_first ? Order::by_T : Order::by_O;
  if (std::exchange(order_, order) == order) return;
  const auto key = [is_T_first](const Candidate& c) {
    const auto O = static_cast<std::uint64_t>(c.O), T = static_cast<std::uint64_t>(c.T);
    return is_T_first ? T << 32 | O : O << 32 | T;
  };
  std::sort(candidates_.begin(), candidates_.end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

}  // namespace stiction::geometry
