#include "stiction/plant/model/number_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "stiction/plant/model/square_sum.hpp"

namespace stiction::plant {
namespace {

/// How many numbers of a large array one call checks.
constexpr mjtSize kPart = 1024;

/// The least limit of the ranges of numbers that a sum of squares checks: that of kModerate.
constexpr double kSmall = 1e50;

/// Returns the bits of a limit, which is infinite or at most the largest finite number.
template <class Number, class Bits>
Bits bits_of(double limit) {
  const auto most = static_cast<double>(std::numeric_limits<Number>::max());
  if (std::isfinite(limit)) limit = std::min(limit, most);
  return std::bit_cast<Bits>(static_cast<Number>(limit));
}

/// Returns the bits that are compared with the limit: without the sign if numbers may be negative.
template <class Bits>
Bits make_mask(Range range) {
  return interval_of(range).has_negative ? ~Bits{0} >> 1 : ~Bits{0};
}

template <class Number, class Span>
Span make_span(Range range, const Number* values, mjtSize size, bool is_large) {
  using Bits = decltype(Span::limit);
  return {values, size, bits_of<Number, Bits>(interval_of(range).max), make_mask<Bits>(range),
          is_large};
}

/// Returns the numbers of a span that the call `turn` checks: all, or a part of a large span.
template <class Span>
auto take_part(const Span& span, std::uint64_t turn) {
  const std::span all(span.values, static_cast<std::size_t>(span.size));
  if (!span.is_large) return all;
  const auto num_parts = static_cast<std::uint64_t>((span.size + kPart - 1) / kPart);
  const auto first = static_cast<mjtSize>(turn % num_parts) * kPart;
  return all.subspan(first, std::min(kPart, span.size - first));
}

/// True if the numbers of a span are in its range; of a large one, those of the call `turn`.
template <class Span>
bool all_in(const Span& span, std::uint64_t turn) {
  using Bits = std::remove_const_t<decltype(span.limit)>;
  using Number = std::remove_cvref_t<decltype(*span.values)>;
  // The bits of numbers from +0 on, read as integers, have the order of the numbers. Those of an
  // infinity, of NaN and of negative numbers are larger than any limit. A sum with 0 is never -0.
  Bits bad = 0;
  const Bits limit = span.limit, mask = span.mask;
  for (const Number value : take_part(span, turn)) {
    const Bits bits = std::bit_cast<Bits>(value + Number{0}) & mask;
    bad |= bits | (limit - bits);
  }
  return bad >> (8 * sizeof(Bits) - 1) == 0;
}

/// ORs the bits of numbers, in lanes. A sign bit of the result is that of at least one number.
class Bits {
 public:
  void add(const mjtNum* values, mjtSize size) {
    mjtSize i = 0;
    for (; i + kNumLanes <= size; i += kNumLanes)
      for (int k = 0; k < kNumLanes; ++k) lanes_[k] |= bits(values[i + k]);
    for (; i < size; ++i) lanes_[0] |= bits(values[i]);
  }
  bool has_sign() const {
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes_) all |= lane;
    return all >> 63;
  }

 private:
  static constexpr int kNumLanes = 8;
  static std::uint64_t bits(mjtNum x) { return std::bit_cast<std::uint64_t>(x); }

  std::uint64_t lanes_[kNumLanes] = {};
};

}  // namespace

NumberCheck::NumberCheck(const mjModel* model) {
  for (const NumberMember& member : number_members())
    add(member.range, member.at(model), member.size, false);
  for (const NumberArray& array : number_arrays()) {
    const mjtSize count = model->*array.count, size = count * array.width;
    if (size == 0) continue;
    if (const auto* floats = std::get_if<float * mjModel::*>(&array.values))
      floats_.push_back(make_span<float, Span<float, std::uint32_t>>(array.range, model->**floats,
                                                                     size, array.is_large));
    if (const auto* numbers = std::get_if<mjtNum * mjModel::*>(&array.values)) {
      add(array.range, model->**numbers, size, array.is_large);
      if (is_row(array.range)) rows_.push_back({model->**numbers, count, array.width, array.range});
    }
  }
  merge(&runs_);
  merge(&nonnegative_);
}

void NumberCheck::add(Range range, const mjtNum* values, mjtSize size, bool is_large) {
  const auto span = make_span<mjtNum, Numbers::value_type>(range, values, size, is_large);
  const Interval interval = interval_of(range);
  // A bound that clips may be infinite. Its array then takes the exact check alone, or the sum of
  // squares would never be finite.
  const bool is_finite =
      std::all_of(values, values + size, [](mjtNum x) { return std::isfinite(x); });
  const bool is_bounded = is_finite && interval.max >= kSmall && range != Range::kPositive;
  (is_bounded ? bounded_ : others_).push_back(span);
  if (!is_bounded) return;
  if (is_large) return parts_.push_back(span);
  runs_.push_back({values, size});
  if (!interval.has_negative) nonnegative_.push_back({values, size});
}

/// Joins arrays that follow each other in memory. MuJoCo allocates all arrays of a model at once
/// and pads them to 64 bytes. A long run takes less time than the same numbers in many short ones.
void NumberCheck::merge(std::vector<Run>* runs) {
  constexpr std::ptrdiff_t kMostPadding = 8;  // numbers
  std::ranges::sort(*runs, std::less<>(), &Run::values);
  std::vector<Run> merged;
  for (const Run& run : *runs) {
    const bool follows =
        !merged.empty() && run.values - (merged.back().values + merged.back().size) < kMostPadding;
    if (follows)
      merged.back().size = run.values + run.size - merged.back().values;
    else
      merged.push_back(run);
  }
  *runs = std::move(merged);
}

bool NumberCheck::all_in_range() noexcept {
  const auto is_good = [this](const auto& span) { return all_in(span, num_passed_); };
  const bool are_good = (are_surely_in_range() || std::ranges::all_of(bounded_, is_good)) &&
                        std::ranges::all_of(others_, is_good) &&
                        std::ranges::all_of(floats_, is_good) &&
                        std::ranges::all_of(rows_, [](const Rows& rows) {
                          return have_norms(rows.range, rows.count, rows.width, rows.values);
                        });
  if (are_good) ++num_passed_;
  return are_good;
}

/// True if the numbers of bounded_ are far below their limits, and none is negative or -0 that must
/// not be. This takes a third of the time of the exact check.
bool NumberCheck::are_surely_in_range() const noexcept {
  SquareSum squares;
  for (const Run& run : runs_) squares.add(run.values, run.size);
  for (const auto& span : parts_) {
    const auto part = take_part(span, num_passed_);
    squares.add(part.data(), static_cast<mjtSize>(part.size()));
  }
  Bits bits;
  for (const Run& run : nonnegative_) bits.add(run.values, run.size);
  return !bits.has_sign() && squares.get() <= kSmall * kSmall;
}

}  // namespace stiction::plant
