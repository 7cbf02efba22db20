#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mujoco/mujoco.h>

/// The floating-point numbers of an mjModel that a step reads, each with its range: all of MuJoCo's
/// own list (mjxmacro.h), except those that a step does not read.
namespace stiction::plant {

/// The range of a number, or of the numbers of a row.
enum class Range : std::uint8_t {
  kNotNan,       // a bound that clips, so that it may be infinite
  kModerate,     // at most 1e50 in magnitude
  kDistance,     // at most 1e6 in magnitude
  kDerived,      // from 0 to 1e200; MuJoCo computes it from numbers of at most 1e50
  kNonNegative,  // from 0 to 1e50
  kPositive,     // above 0, to 1e50
  kNonZeroRow,   // kModerate, and the norm of a row is above 0; MuJoCo normalizes the row
  kUnitRow,      // the norm of a row is 1, to one part in a thousand
};

/// The interval of a range.
struct Interval {
  double max;
  bool has_negative;  // from -max, otherwise from 0
};
Interval interval_of(Range range);

/// True if a number is in its range, apart from the norm of its row.
bool is_in(Range range, double value);

/// True if the range limits the norms of rows, which have 3 or 4 numbers.
bool is_row(Range range);

/// True if the norms of all rows are in their range; false if a number is not finite.
/// @param range  kNonZeroRow or kUnitRow
/// @param count  the number of rows
/// @param width  the numbers of a row, 3 or 4
/// @param values size (count x width), row by row
bool have_norms(Range range, mjtSize count, int width, const mjtNum* values);

/// An array of a model with `width` numbers for each of its elements, or an option with as many
/// elements as numbers.
struct NumberArray {
  std::string_view field;           // in mjModel, such as "geom_size" or "opt.gravity"
  std::string_view count_name;      // such as "ngeom"; empty: an option
  const mjtNum* numbers = nullptr;  // null: floats
  const float* floats = nullptr;
  mjtSize count = 0;
  int width = 0;
  Range range = Range::kModerate;
  bool is_large =
      false;  // a call of step checks a part of the array, and the next call the next part

  double at(mjtSize i) const { return numbers ? numbers[i] : static_cast<double>(floats[i]); }
  mjtSize size() const { return count * width; }
};

/// Lists the arrays and options of a model that a step reads.
/// @param model must outlive the result
std::vector<NumberArray> list_numbers(const mjModel* model);

/// True if a step does not read an array of mjModel.
bool is_unread(std::string_view field);

/// Names an element of an array for messages, such as "geom 'ball'".
std::string name_element(const mjModel* model, const NumberArray& array, int element);

/// Returns the name of an array's numbers for messages, such as "size" of "geom_size".
std::string_view name_numbers(const NumberArray& array);

}  // namespace stiction::plant
