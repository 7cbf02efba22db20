#include "stiction/geometry/bvh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace stiction::geometry {
namespace {

/// Of a box without content: smaller than any distance, and finite.
constexpr float kNoHalf = -1e30F;

/// Rounds outward.
float round_down(double x) {
  const auto y = static_cast<float>(x);
  return y <= x ? y : std::nextafter(y, -std::numeric_limits<float>::infinity());
}
float round_up(double x) { return -round_down(-x); }

ElementBox empty_box() {
  const double inf = std::numeric_limits<double>::infinity();
  return {{inf, inf, inf}, {-inf, -inf, -inf}, inf, -inf, -1};
}

void extend(const ElementBox& by, ElementBox* box) {
  box->low = componentwise_min(box->low, by.low);
  box->high = componentwise_max(box->high, by.high);
  box->p_low = std::min(box->p_low, by.p_low);
  box->p_high = std::max(box->p_high, by.p_high);
}

double half_surface(const ElementBox& box) {
  const Vec3 d = box.high - box.low;
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

PressureBox to_floats(const ElementBox& box, const Vec3& origin) {
  const Vec3 center = 0.5 * (box.low + box.high) - origin;
  PressureBox result;
  for (int i = 0; i < 3; ++i) {
    result.center[i] = static_cast<float>(center[i]);
    // The centre's rounding is the box's to cover.
    result.half[i] = round_up(0.5 * (box.high[i] - box.low[i]) + 1e-7 * std::abs(center[i]));
  }
  result.p_low = round_down(box.p_low);
  result.p_high = round_up(box.p_high);
  return result;
}

void set_lane(const PressureBox& box, int i, EightBoxes* boxes) {
  for (int axis = 0; axis < 3; ++axis) {
    boxes->center[axis][i] = box.center[axis];
    boxes->half[axis][i] = box.half[axis];
  }
  boxes->p_low[i] = box.p_low;
  boxes->p_high[i] = box.p_high;
}

EightBoxes no_boxes() {
  EightBoxes boxes{};
  for (Float8& half : boxes.half) half = broadcast8(kNoHalf);
  return boxes;
}

using Range = std::span<int>;
constexpr std::size_t kLargeRange = 256;

class Builder {
 public:
  Builder(const std::vector<ElementBox>& elements, Bvh* bvh) : elements_(elements), bvh_(bvh) {
    for (const ElementBox& e : elements) centers_.push_back(0.5 * (e.low + e.high));
    right_surface_.resize(elements.size());
  }

  /// Returns the new node's index.
  int add_node(Range range) {
    const std::vector<Range> parts = split_in_eight(range);
    const int index = static_cast<int>(bvh_->nodes.size());
    bvh_->nodes.push_back({no_boxes(), {}});
    for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
      const bool is_leaf = parts[i].size() <= kWidth;
      const int child = is_leaf ? ~add_leaf(parts[i]) : add_node(parts[i]);
      bvh_->nodes[index].child[i] = child;
      set_lane(to_floats(bounds(parts[i]), bvh_->origin), i, &bvh_->nodes[index].boxes);
    }
    return index;
  }

  ElementBox bounds(Range range) const {
    ElementBox box = empty_box();
    for (const int i : range) extend(elements_[i], &box);
    return box;
  }

 private:
  int add_leaf(Range range) {
    BvhLeaf leaf{no_boxes(), {}, static_cast<int>(range.size())};
    for (int i = 0; i < leaf.num_elements; ++i) {
      leaf.element[i] = elements_[range[i]].element;
      set_lane(to_floats(elements_[range[i]], bvh_->origin), i, &leaf.boxes);
    }
    bvh_->leaves.push_back(leaf);
    return static_cast<int>(bvh_->leaves.size()) - 1;
  }

  /// Splits the largest part until there are eight, or all are leaves.
  std::vector<Range> split_in_eight(Range range) {
    std::vector<Range> parts = {range};
    while (parts.size() < kWidth) {
      const auto largest = std::max_element(parts.begin(), parts.end(),
                                            [](Range a, Range b) { return a.size() < b.size(); });
      if (largest->size() <= kWidth) break;
      const Range whole = *largest;
      const std::size_t left = split(whole);
      *largest = whole.first(left);
      parts.push_back(whole.subspan(left));
    }
    return parts;
  }

  /// Orders the range so that its first n elements, which it returns, are the better half. Of a
  /// large one only the longest axis is tried.
  std::size_t split(Range range) {
    const int longest = find_longest_axis(range);
    double best_cost = std::numeric_limits<double>::infinity();
    std::size_t best = range.size() / 2;
    int best_axis = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (range.size() > kLargeRange && axis != longest) continue;
      sort_along(axis, range);
      ElementBox box = empty_box();
      for (std::size_t i = range.size() - 1; i > 0; --i) {
        extend(elements_[range[i]], &box);
        right_surface_[i] = half_surface(box);
      }
      box = empty_box();
      for (std::size_t i = 1; i < range.size(); ++i) {
        extend(elements_[range[i - 1]], &box);
        const double cost = half_surface(box) * count_leaves(i) +
                            right_surface_[i] * count_leaves(range.size() - i);
        if (cost < best_cost) {
          best_cost = cost;
          best = i;
          best_axis = axis;
        }
      }
    }
    if (range.size() <= kLargeRange) sort_along(best_axis, range);
    return best;
  }

  /// Of the elements' centres.
  int find_longest_axis(Range range) const {
    Vec3 low = centers_[range[0]], high = low;
    for (const int i : range) {
      low = componentwise_min(low, centers_[i]);
      high = componentwise_max(high, centers_[i]);
    }
    const Vec3 d = high - low;
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
  }

  static double count_leaves(std::size_t n) {
    const std::size_t count = (n + kWidth - 1) / kWidth;
    return static_cast<double>(count);
  }

  void sort_along(int axis, Range range) {
    std::sort(range.begin(), range.end(), [&](int a, int b) {
      const double x = centers_[a][axis], y = centers_[b][axis];
      return x != y ? x < y : a < b;
    });
  }

  const std::vector<ElementBox>& elements_;
  std::vector<Vec3> centers_;
  std::vector<double> right_surface_;
  Bvh* bvh_;
};

}  // namespace

PressureBox EightBoxes::lane(int i) const {
  return {{center[0][i], center[1][i], center[2][i]},
          {half[0][i], half[1][i], half[2][i]},
          p_low[i],
          p_high[i]};
}

Bvh make_bvh(const std::vector<ElementBox>& elements, const Vec3& origin) {
  Bvh bvh;
  bvh.origin = origin;
  std::vector<int> order(elements.size());
  std::iota(order.begin(), order.end(), 0);
  Builder builder(elements, &bvh);
  builder.add_node(order);
  bvh.bounds = to_floats(builder.bounds(order), origin);
  return bvh;
}

FloatPose::FloatPose(const RigidTransform& X_NM, const Vec3& origin_N, const Vec3& origin_M) {
  const Vec3 offset = X_NM * origin_M - origin_N;
  for (int i = 0; i < 3; ++i) {
    p[i] = static_cast<float>(offset[i]);
    for (int j = 0; j < 3; ++j) {
      R[i][j] = static_cast<float>(X_NM.R.row[i][j]);
      abs_R[i][j] = std::abs(R[i][j]);
    }
  }
}

unsigned find_overlaps(const EightBoxes& boxes_N, const PressureBox& box_M, const FloatPose& X_NM,
                       float pad) {
  const auto& [R, abs_R, p] = X_NM;
  const float* c = box_M.center;
  const float* h = box_M.half;
  Int8 meets = (boxes_N.p_low <= box_M.p_high) & (boxes_N.p_high >= box_M.p_low);
  Float8 between[3];  // from M's box to those of N
  for (int i = 0; i < 3; ++i) {
    const float center = R[i][0] * c[0] + R[i][1] * c[1] + R[i][2] * c[2] + p[i];
    const float half = abs_R[i][0] * h[0] + abs_R[i][1] * h[1] + abs_R[i][2] * h[2] + pad;
    between[i] = boxes_N.center[i] - center;
    meets &= abs8(between[i]) <= boxes_N.half[i] + half;
  }
  for (int j = 0; j < 3; ++j) {
    const Float8 distance = R[0][j] * between[0] + R[1][j] * between[1] + R[2][j] * between[2];
    const Float8 half = abs_R[0][j] * boxes_N.half[0] + abs_R[1][j] * boxes_N.half[1] +
                        abs_R[2][j] * boxes_N.half[2];
    meets &= abs8(distance) <= half + (h[j] + pad);
  }
  return bits_of(meets);
}

}  // namespace stiction::geometry
