#include "stiction/plant/number_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "stiction/plant/square_sum.hpp"

namespace stiction::plant {
namespace {

/// How many numbers of a large array one call checks.
constexpr mjtSize kPart = 1024;

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

/// True if the numbers of a span are in its range; of a large one, those of the call `turn`.
template <class Span>
bool all_in(const Span& span, std::uint64_t turn) {
  using Bits = std::remove_const_t<decltype(span.limit)>;
  using Number = std::remove_cvref_t<decltype(*span.values)>;
  mjtSize first = 0, size = span.size;
  if (span.is_large) {
    const auto num_parts = static_cast<std::uint64_t>((size + kPart - 1) / kPart);
    first = static_cast<mjtSize>(turn % num_parts) * kPart;
    size = std::min(kPart, size - first);
  }
  // The bits of numbers from +0 on, read as integers, have the order of the numbers. Those of an
  // infinity, of NaN and of negative numbers are larger than any limit. A sum with 0 is never -0.
  Bits bad = 0;
  const Bits limit = span.limit, mask = span.mask;
  for (const Number *value = span.values + first, *end = value + size; value != end; ++value) {
    const Bits bits = std::bit_cast<Bits>(*value + Number{0}) & mask;
    bad |= bits | (limit - bits);
  }
  return bad >> (8 * sizeof(Bits) - 1) == 0;
}

/// True if a number has a sign. That of -0 counts.
bool has_sign(const mjtNum* values, mjtSize size) {
  std::uint64_t bits = 0;
  for (mjtSize i = 0; i < size; ++i) bits |= std::bit_cast<std::uint64_t>(values[i]);
  return bits >> 63;
}

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
}

void NumberCheck::add(Range range, const mjtNum* values, mjtSize size, bool is_large) {
  Numbers* spans = &others_;
  if (!is_large && interval_of(range).max == interval_of(Range::kModerate).max)
    spans = interval_of(range).has_negative ? &moderate_ : &non_negative_;
  spans->push_back(make_span<mjtNum, Numbers::value_type>(range, values, size, is_large));
}

bool NumberCheck::all_in_range() noexcept {
  const auto is_good = [this](const auto& span) { return all_in(span, num_passed_); };
  const bool are_good =
      (are_surely_in_range() ||
       (std::ranges::all_of(moderate_, is_good) && std::ranges::all_of(non_negative_, is_good))) &&
      std::ranges::all_of(others_, is_good) && std::ranges::all_of(floats_, is_good) &&
      std::ranges::all_of(rows_, [](const Rows& rows) {
        return have_norms(rows.range, rows.count, rows.width, rows.values);
      });
  if (are_good) ++num_passed_;
  return are_good;
}

/// True if numbers that are limited by 1e50 are far below it, and none is negative or -0 that must
/// not be. Takes a third of the time of the exact check.
bool NumberCheck::are_surely_in_range() const noexcept {
  SquareSum squares;
  bool is_any_negative = false;
  for (const auto& span : moderate_) squares.add(span.values, span.size);
  for (const auto& span : non_negative_) {
    squares.add(span.values, span.size);
    is_any_negative |= has_sign(span.values, span.size);
  }
  const double max = interval_of(Range::kModerate).max;
  return !is_any_negative && squares.get() <= max * max;
}

}  // namespace stiction::plant
