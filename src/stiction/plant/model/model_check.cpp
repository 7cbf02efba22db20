#include "stiction/plant/model/model_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {
namespace {

/// The number of faulty elements of an array after which the others are not listed.
constexpr int kMaxBadRows = 10;

/// Describes a range that `value` violates.
std::string to_text(Range range, double value) {
  if (range == Range::kDistance) return "finite and at most 1e6 in magnitude";
  if (range == Range::kNotNan) return "a number";
  if (std::isfinite(value) && std::abs(value) > interval_of(range).max)
    return range == Range::kDerived ? "at most 1e200" : "at most 1e50 in magnitude";
  if (interval_of(range).has_negative) return "finite";
  return range == Range::kPositive ? "finite and above 0" : "finite and at least 0";
}

/// Collects the faults of a model's numbers.
class Checker {
 public:
  Checker(const mjModel* model, ErrorList* errors) : m_(model), errors_(*errors) {}

  void check(const NumberArray& array) {
    int num_bad = 0;
    for (mjtSize i = 0; i < array.count && num_bad < kMaxBadRows; ++i)
      num_bad += !check_element(array, static_cast<int>(i));
  }

 private:
  /// Returns true if the numbers of an element have no fault.
  bool check_element(const NumberArray& array, int element) {
    bool is_good = true;
    for (int k = 0; k < array.width; ++k) {
      const double value = array.at(mjtSize{element} * array.width + k);
      if (is_in(array.range, value)) continue;
      is_good = false;
      add(array, element,
          " is " + base::to_text(value) + ", must be " + to_text(array.range, value) +
              "; correct " + find_place(array, element, array.width > 1 ? k : -1));
    }
    if (!is_good || !is_row(array.range)) return is_good;
    const mjtNum* row = array.numbers + mjtSize{element} * array.width;
    if (have_norms(array.range, 1, array.width, row)) return true;
    std::string text;
    for (int k = 0; k < array.width; ++k)
      text.append(k > 0 ? " " : "").append(base::to_text(row[k]));
    add(array, element,
        " is (" + text + "), must " +
            (array.range == Range::kUnitRow ? "have norm 1" : "not be 0") + "; normalize " +
            find_place(array, element, -1));
    return false;
  }

  void add(const NumberArray& array, int element, const std::string& text) {
    errors_.add(ErrorCode::kInvalidValue, name_element(m_, array, element),
                std::string(name_numbers(array)) + text);
  }

  /// Returns the place of a number as Python writes it, such as "model.geom_size[3, 1]".
  static std::string find_place(const NumberArray& array, int element, int column) {
    std::string text = "model." + std::string(array.field);
    const bool is_scalar = array.count_name.empty() && array.count == 1;
    if (is_scalar) return text;
    text.append("[").append(std::to_string(element));
    if (column >= 0) text.append(", ").append(std::to_string(column));
    return text.append("]");
  }

  const mjModel* m_;
  ErrorList& errors_;
};

/// Returns the first fault of a message, and the number of the others.
std::string first_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return text;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return text.substr(0, end) + " (and " + std::to_string(more) + " more)";
}

/// The sum of squares of numbers. While it is at most x^2, each of them is at most x in magnitude.
class SquareSum {
 public:
  void add(const mjtNum* values, mjtSize size) {
    mjtSize i = 0;
    for (; i + 16 <= size; i += 16)
      for (int k = 0; k < 4; ++k) {
        const math::Vec4 x = math::load<math::Vec4>(values + i + 4 * k);
        sums_[k] = math::multiply_add(x, x, sums_[k]);
      }
    for (; i + 4 <= size; i += 4) {
      const math::Vec4 x = math::load<math::Vec4>(values + i);
      sums_[0] = math::multiply_add(x, x, sums_[0]);
    }
    for (; i < size; ++i) rest_ = math::multiply_add(values[i], values[i], rest_);
  }
  double get() const { return math::sum(sums_[0] + sums_[1] + sums_[2] + sums_[3]) + rest_; }

 private:
  math::Vec4 sums_[4] = {};
  double rest_ = 0;
};

/// How many numbers of a large array one call checks.
constexpr mjtSize kPart = 256;

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
Span make_span(const NumberArray& array, const Number* values) {
  using Bits = decltype(Span::limit);
  return {values, array.size(), bits_of<Number, Bits>(interval_of(array.range).max),
          make_mask<Bits>(array.range), array.is_large};
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

void check_model(const mjModel* m) {
  ErrorList errors;
  Checker checker(m, &errors);
  for (const NumberArray& array : list_numbers(m)) checker.check(array);
  errors.throw_if_any();
}

std::string find_fault(const mjModel* m) {
  try {
    check_model(m);
  } catch (const Error& e) {
    return first_line(e.what());
  }
  return "";
}

std::string explain_failure(const mjModel* m) {
  std::string found = find_fault(m);
  if (!found.empty()) return found;
  struct Term {
    mjtObj type;
    mjtSize count;
    const char* what;
    const mjtNum* values;
  };
  for (const Term& term : {Term{mjOBJ_DOF, m->nv, "damping", m->dof_damping},
                           {mjOBJ_JOINT, m->njnt, "stiffness", m->jnt_stiffness},
                           {mjOBJ_TENDON, m->ntendon, "damping", m->tendon_damping},
                           {mjOBJ_TENDON, m->ntendon, "stiffness", m->tendon_stiffness}}) {
    for (int i = 0; i < term.count; ++i) {
      if (!(term.values[i] < 0)) continue;
      const bool is_dof = term.type == mjOBJ_DOF;
      return describe(m, is_dof ? mjOBJ_JOINT : term.type, is_dof ? m->dof_jntid[i] : i) + ": " +
             term.what + " is " + base::to_text(term.values[i]) +
             ", which may make the step's matrix indefinite";
    }
  }
  return "";
}

StateFault check_state(const mjModel* m, const mjData* d, bool has_inputs) noexcept {
  struct Array {
    const char* name;
    const mjtNum* values;
    mjtSize size;
    bool is_state;
  };
  constexpr std::size_t kNumStates = 4;  // the others are inputs
  const Array arrays[] = {{"time", &d->time, 1, true},
                          {"qpos", d->qpos, m->nq, true},
                          {"qvel", d->qvel, m->nv, true},
                          {"act", d->act, m->na, true},
                          {"ctrl", d->ctrl, m->nu, false},
                          {"qfrc_applied", d->qfrc_applied, m->nv, false},
                          {"xfrc_applied", d->xfrc_applied, 6 * m->nbody, false},
                          {"mocap_pos", d->mocap_pos, 3 * m->nmocap, false},
                          {"mocap_quat", d->mocap_quat, 4 * m->nmocap, false}};
  const std::span checked(arrays, has_inputs ? std::size(arrays) : kNumStates);
  // Nearly always all numbers are so small that the sum of their squares shows it.
  SquareSum squares;
  for (const Array& array : checked) squares.add(array.values, array.size);
  if (squares.get() <= mjMAXVAL * mjMAXVAL) return {};
  for (const Array& array : checked)
    for (mjtSize i = 0; i < array.size; ++i)
      if (!(std::abs(array.values[i]) <= mjMAXVAL))  // true for NaN
        return {.array = array.name,
                .index = static_cast<int>(i),
                .value = array.values[i],
                .is_state = array.is_state};
  return {};
}

NumberCheck::NumberCheck(const mjModel* model) {
  for (const NumberArray& array : list_numbers(model)) {
    if (array.size() == 0) continue;
    if (array.floats)
      floats_.push_back(make_span<float, Span<float, std::uint32_t>>(array, array.floats));
    else
      add(array);
    if (is_row(array.range))
      rows_.push_back({array.numbers, array.count, array.width, array.range});
  }
  merge(&runs_);
  merge(&nonnegative_);
}

void NumberCheck::add(const NumberArray& array) {
  const auto span = make_span<mjtNum, Numbers::value_type>(array, array.numbers);
  const Interval interval = interval_of(array.range);
  const Run run{array.numbers, array.size()};
  // A bound that clips may be infinite. Its array then takes the exact check alone, or the sum of
  // squares would never be finite.
  const bool is_finite =
      std::all_of(run.values, run.values + run.size, [](mjtNum x) { return std::isfinite(x); });
  const bool is_bounded = is_finite && interval.max >= kSmall && array.range != Range::kPositive;
  (is_bounded ? bounded_ : others_).push_back(span);
  if (!is_bounded) return;
  if (array.is_large) return parts_.push_back(span);
  runs_.push_back(run);
  if (!interval.has_negative) nonnegative_.push_back(run);
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
