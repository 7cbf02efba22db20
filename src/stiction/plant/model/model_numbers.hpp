#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include <mujoco/mujoco.h>

/// The floating-point numbers of an mjModel that a step reads, each with its range. The checks of
/// model_check.hpp follow this table. A test compares it with MuJoCo's own list of arrays.
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

/// An array of mjModel with `width` numbers for each of its elements.
struct NumberArray {
  using Values = std::variant<mjtNum * mjModel::*, float * mjModel::*>;
  using Describe = std::string (*)(const mjModel*, int);

  const char* field;        // the name of the array in mjModel
  const char* what;         // the name in messages, which is that of the MJCF where it has one
  Values values;            // the array
  Describe describe;        // returns the name of an element
  mjtSize mjModel::*count;  // the number of elements
  int width;                // the numbers of an element
  Range range;
  bool is_large;  // a call of step checks a part of the array, and the next call the next part
};

/// A number or a short array inside mjModel.
struct NumberMember {
  const char* field;   // such as "opt.gravity"
  const char* where;   // the element in messages
  const char* what;    // the name in messages
  std::size_t offset;  // position in mjModel [bytes]
  int size;
  Range range;

  const mjtNum* at(const mjModel* model) const {
    return reinterpret_cast<const mjtNum*>(reinterpret_cast<const char*>(model) + offset);
  }
};

/// Returns the table of the arrays that a step reads.
std::span<const NumberArray> number_arrays();
/// Returns the table of the options and statistics that a step reads.
std::span<const NumberMember> number_members();

}  // namespace stiction::plant
