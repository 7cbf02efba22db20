#include "stiction/geometry/bvh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace stiction::geometry {
namespace {

/// Larger than any pressure, but finite: its product with a rate of 0 is 0.
constexpr float kAnyPressure = 1e30F;

/// A bound of the relative rounding of coordinates and of their products with pressures to floats.
constexpr double kRounding = 3e-7;

/// Rounds to a float that is not larger.
float round_down(double x) {
  const auto y = static_cast<float>(x);
  return y <= x ? y : std::nextafter(y, -std::numeric_limits<float>::infinity());
}
/// Rounds to a float that is not smaller.
float round_up(double x) { return -round_down(-x); }

/// A coordinate x that an element, or a group of elements, reaches at pressure p.
struct PressurePoint {
  double p, x;
};

/// A line at_0 + p rate.
struct Line {
  double at_0, rate;
};

/// Returns the lowest line above all points at the middle pressure, with a limited rate.
Line fit_above(std::span<const PressurePoint> points, double middle, double most_rate) {
  Line line{0, 0};
  double highest = -std::numeric_limits<double>::infinity();
  for (const auto& [p, x] : points)
    for (const auto& [q, y] : points) {
      if (p > middle || q < middle) continue;
      const double rate = q > p ? (y - x) / (q - p) : 0;
      const double at_middle = q > p ? x + rate * (middle - p) : std::max(x, y);
      if (at_middle <= highest) continue;
      highest = at_middle;
      line.rate = std::clamp(rate, -most_rate, most_rate);
    }
  line.at_0 = -std::numeric_limits<double>::infinity();
  for (const auto& [p, x] : points) line.at_0 = std::max(line.at_0, x - p * line.rate);
  return line;
}

/// Bounds a group of up to 16 sections, each of them a box at one pressure.
class SectionBounds {
 public:
  void add(double p, const Vec3& low, const Vec3& high) {
    p_[count_] = p;
    low_[count_] = low;
    high_[count_++] = high;
  }
  ElementBox make_box(double most_rate, int element) const {
    const auto [p_low, p_high] = std::minmax_element(p_.begin(), p_.begin() + count_);
    ElementBox box{.low = {},
                   .high = {},
                   .low_rate = {},
                   .high_rate = {},
                   .p_low = *p_low,
                   .p_high = *p_high,
                   .element = element};
    const double middle = 0.5 * (*p_low + *p_high);
    std::array<PressurePoint, kCapacity> points;
    const auto fit = [&](auto coordinate) {
      for (int i = 0; i < count_; ++i) points[i] = {p_[i], coordinate(i)};
      return fit_above(std::span(points).first(count_), middle, most_rate);
    };
    std::array<Line, 3> above, below;
    for (int axis = 0; axis < 3; ++axis) {
      above[axis] = fit([&](int i) { return high_[i][axis]; });
      below[axis] = fit([&](int i) { return -low_[i][axis]; });
    }
    box.high = {above[0].at_0, above[1].at_0, above[2].at_0};
    box.high_rate = {above[0].rate, above[1].rate, above[2].rate};
    box.low = -Vec3{below[0].at_0, below[1].at_0, below[2].at_0};
    box.low_rate = -Vec3{below[0].rate, below[1].rate, below[2].rate};
    return box;
  }

 private:
  static constexpr int kCapacity = 2 * kWidth;
  int count_ = 0;
  std::array<double, kCapacity> p_;
  std::array<Vec3, kCapacity> low_, high_;
};

/// Bounds boxes at both ends of their pressures, in which their bounds are linear.
ElementBox unite(std::span<const ElementBox> boxes, double most_rate) {
  SectionBounds bounds;
  for (const ElementBox& box : boxes)
    for (const double p : {box.p_low, box.p_high}) bounds.add(p, box.low_at(p), box.high_at(p));
  return bounds.make_box(most_rate, -1);
}

/// A plain box: an ElementBox in the middle of its pressures.
struct Section {
  Vec3 low, high;
};

Section middle_section(const ElementBox& box) {
  const double p = 0.5 * (box.p_low + box.p_high);
  return {box.low_at(p), box.high_at(p)};
}

Section empty_section() {
  const double inf = std::numeric_limits<double>::infinity();
  return {{inf, inf, inf}, {-inf, -inf, -inf}};
}

void extend(const Section& by, Section* section) {
  section->low = componentwise_min(section->low, by.low);
  section->high = componentwise_max(section->high, by.high);
}

double half_surface(const Section& section) {
  const Vec3 d = section.high - section.low;
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

PressureBox to_floats(const ElementBox& box, const Vec3& origin) {
  const Vec3 center = 0.5 * (box.low + box.high) - origin;
  const Vec3 center_rate = 0.5 * (box.low_rate + box.high_rate);
  const Vec3 half = 0.5 * (box.high - box.low);
  const Vec3 half_rate = 0.5 * (box.high_rate - box.low_rate);
  const double most_p = std::max(std::abs(box.p_low), std::abs(box.p_high));
  PressureBox result;
  for (int i = 0; i < 3; ++i) {
    result.center[i] = static_cast<float>(center[i]);
    result.center_rate[i] = static_cast<float>(center_rate[i]);
    result.half_rate[i] = static_cast<float>(half_rate[i]);
    // The half size covers all rounding.
    const double rounding =
        kRounding * (std::abs(center[i]) + std::abs(half[i]) +
                     most_p * (std::abs(center_rate[i]) + std::abs(half_rate[i])));
    result.half[i] = round_up(half[i] + rounding);
  }
  result.p_low = round_down(box.p_low - kRounding * most_p);
  result.p_high = round_up(box.p_high + kRounding * most_p);
  return result;
}

void set_lane(const PressureBox& box, int i, EightBoxes* boxes) {
  for (int axis = 0; axis < 3; ++axis) {
    boxes->center[axis][i] = box.center[axis];
    boxes->half[axis][i] = box.half[axis];
    boxes->center_rate[axis][i] = box.center_rate[axis];
    boxes->half_rate[axis][i] = box.half_rate[axis];
  }
  boxes->p_low[i] = box.p_low;
  boxes->p_high[i] = box.p_high;
}

EightBoxes make_empty_boxes() {
  EightBoxes boxes{};
  boxes.p_low = broadcast8(2 * kAnyPressure);
  boxes.p_high = -boxes.p_low;
  return boxes;
}

using Range = std::span<int>;
constexpr std::size_t kLargeRange = 256;

/// Builds a hierarchy from top to bottom.
class Builder {
 public:
  Builder(const std::vector<ElementBox>& elements, double most_rate, Bvh* bvh)
      : elements_(elements), most_rate_(most_rate), bvh_(bvh) {
    for (const ElementBox& e : elements) {
      sections_.push_back(middle_section(e));
      centers_.push_back(0.5 * (sections_.back().low + sections_.back().high));
    }
    right_surface_.resize(elements.size());
  }

  struct Child {
    int index;  // index of a node, or ~index of a leaf
    ElementBox box;
  };

  Child add_node(Range range) {
    const std::vector<Range> parts = split_in_eight(range);
    const int index = static_cast<int>(bvh_->nodes.size());
    bvh_->nodes.push_back({make_empty_boxes(), {}});
    std::vector<ElementBox> boxes;
    for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
      const Child child = parts[i].size() <= kWidth ? add_leaf(parts[i]) : add_node(parts[i]);
      bvh_->nodes[index].child[i] = child.index;
      set_lane(to_floats(child.box, bvh_->origin), i, &bvh_->nodes[index].boxes);
      boxes.push_back(child.box);
    }
    return {index, unite(boxes, most_rate_)};
  }

 private:
  Child add_leaf(Range range) {
    BvhLeaf leaf{make_empty_boxes(), {}, static_cast<int>(range.size())};
    std::vector<ElementBox> boxes;
    for (int i = 0; i < leaf.num_elements; ++i) {
      boxes.push_back(elements_[range[i]]);
      leaf.element[i] = boxes.back().element;
      set_lane(to_floats(boxes.back(), bvh_->origin), i, &leaf.boxes);
    }
    bvh_->leaves.push_back(leaf);
    return {~(static_cast<int>(bvh_->leaves.size()) - 1), unite(boxes, most_rate_)};
  }

  /// Splits the largest part until there are eight parts or all of them fit in leaves.
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

  /// Sorts the range and finds the split of least cost. Only the longest axis of a large range is
  /// tried.
  /// @return the number of elements in the first part
  std::size_t split(Range range) {
    const int longest = find_longest_axis(range);
    double best_cost = std::numeric_limits<double>::infinity();
    std::size_t best = range.size() / 2;
    int best_axis = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (range.size() > kLargeRange && axis != longest) continue;
      sort_along(axis, range);
      Section section = empty_section();
      for (std::size_t i = range.size() - 1; i > 0; --i) {
        extend(sections_[range[i]], &section);
        right_surface_[i] = half_surface(section);
      }
      section = empty_section();
      for (std::size_t i = 1; i < range.size(); ++i) {
        extend(sections_[range[i - 1]], &section);
        const double cost = half_surface(section) * count_leaves(i) +
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

  /// Returns the longest axis of the bounding box of the elements' centers.
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
  double most_rate_;
  std::vector<Section> sections_;
  std::vector<Vec3> centers_;
  std::vector<double> right_surface_;
  Bvh* bvh_;
};

}  // namespace

float PressureBox::volume(float p) const {
  return (half[0] + p * half_rate[0]) * (half[1] + p * half_rate[1]) * (half[2] + p * half_rate[2]);
}

PressureBox EightBoxes::lane(int i) const {
  return {.center = {center[0][i], center[1][i], center[2][i]},
          .half = {half[0][i], half[1][i], half[2][i]},
          .center_rate = {center_rate[0][i], center_rate[1][i], center_rate[2][i]},
          .half_rate = {half_rate[0][i], half_rate[1][i], half_rate[2][i]},
          .p_low = p_low[i],
          .p_high = p_high[i]};
}

void PressureRange::keep_negative(const Float8& at_0, const Float8& rate) {
  // Adding 0 turns -0 into 0. For at_0 = rate = 0 the limit is a NaN, which min8 and max8 ignore.
  const Float8 slope = rate + 0.0F, limit = -at_0 / slope;
  const Int8 grows = slope >= 0;
  high = min8(grows ? limit : high, high);
  low = max8(grows ? low : limit, low);
}

ElementBox bound_sections(const std::array<Vec3, 4>& corners,
                          const std::array<double, 4>& pressures, double most_rate, int element) {
  SectionBounds bounds;
  for (int i = 0; i < 4; ++i) bounds.add(pressures[i], corners[i], corners[i]);
  return bounds.make_box(most_rate, element);
}

ElementBox bound_all_pressures(const Vec3& low, const Vec3& high, int element) {
  return {.low = low,
          .high = high,
          .low_rate = {},
          .high_rate = {},
          .p_low = -kAnyPressure,
          .p_high = kAnyPressure,
          .element = element};
}

Bvh make_bvh(const std::vector<ElementBox>& elements, const Vec3& origin, double size,
             double most_rate) {
  Bvh bvh;
  bvh.origin = origin;
  bvh.size = static_cast<float>(size);
  std::vector<int> order(elements.size());
  std::iota(order.begin(), order.end(), 0);
  Builder builder(elements, most_rate, &bvh);
  bvh.bounds = to_floats(builder.add_node(order).box, origin);
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

PressureRange find_overlaps(const EightBoxes& boxes_N, const PressureBox& box_M,
                            const FloatPose& X_NM, float pad) {
  const auto& [R, abs_R, p] = X_NM;
  PressureRange range = {max8(boxes_N.p_low, broadcast8(box_M.p_low)),
                         min8(boxes_N.p_high, broadcast8(box_M.p_high))};
  // |distance| <= half gives two conditions that are linear in pressure.
  const auto keep_near = [&](const Float8& distance, const Float8& distance_rate,
                             const Float8& half, const Float8& half_rate) {
    range.keep_negative(distance - half, distance_rate - half_rate);
    range.keep_negative(-distance - half, -distance_rate - half_rate);
  };
  Float8 between[3], between_rate[3];  // from the center of M's box to those of N's boxes
  for (int i = 0; i < 3; ++i) {
    const auto rotate = [](const float(&row)[3], const float(&x)[3]) {
      return row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    };
    between[i] = boxes_N.center[i] - (rotate(R[i], box_M.center) + p[i]);
    between_rate[i] = boxes_N.center_rate[i] - rotate(R[i], box_M.center_rate);
    keep_near(between[i], between_rate[i], boxes_N.half[i] + (rotate(abs_R[i], box_M.half) + pad),
              boxes_N.half_rate[i] + rotate(abs_R[i], box_M.half_rate));
  }
  if (!range.find_nonempty()) return range;
  for (int j = 0; j < 3; ++j) {
    const auto turn = [j](const auto& matrix, const auto& x) {
      return Float8(matrix[0][j] * x[0] + matrix[1][j] * x[1] + matrix[2][j] * x[2]);
    };
    keep_near(turn(R, between), turn(R, between_rate),
              turn(abs_R, boxes_N.half) + (box_M.half[j] + pad),
              turn(abs_R, boxes_N.half_rate) + box_M.half_rate[j]);
  }
  return range;
}

}  // namespace stiction::geometry
