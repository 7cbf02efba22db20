#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/model/model_numbers.hpp"

namespace stiction::plant {

/// Checks all numbers of the table in model_numbers.hpp: they must be finite, physically possible,
/// and at most 1e50, because products of larger numbers overflow. Margins of contacts, and the
/// vertices and polygon normals of meshes, must be at most 1e6.
/// MuJoCo itself accepts infinite masses and negative time steps.
/// @throws Error listing the faults with element, value, range and place in the model, at most ten
/// faulty elements of an array
void check_model(const mjModel* model);

/// Returns the first fault that check_model finds, and the number of the others; otherwise an empty
/// text. Reads the whole model, so call it only after a failure.
std::string find_fault(const mjModel* model);

/// Explains why a step of this model may have failed. Returns the first fault that check_model
/// finds, otherwise the first negative damping or stiffness, otherwise an empty text. Negative
/// values are allowed, but the step may then have no solution.
std::string explain_failure(const mjModel* model);

/// An invalid entry of the state or of the inputs before a step.
struct StateFault {
  const char* array = nullptr;  // name of the field in mjData; null without a fault
  int index = 0;                // entry of the array
  double value = 0;
  bool is_state = false;  // false: an input
};

/// Returns the first entry of the state or the inputs that is not finite, or is larger than
/// MuJoCo's own limit of 1e10 (mjMAXVAL).
/// @param has_inputs false: only the state is checked
StateFault check_state(const mjModel* model, const mjData* data, bool has_inputs = true) noexcept;

/// The check of check_model without texts, for numbers that change between steps.
class NumberCheck {
 public:
  /// @param model  must outlive this object, like its arrays
  explicit NumberCheck(const mjModel* model);

  /// True if check_model finds no fault, except that a time step of 0 is in range. Of each array of
  /// vertices, elevations and bounding volumes it reads only 256 numbers. The next call reads the
  /// next ones if this one finds no fault, and the same ones otherwise. The number of calls is no
  /// part of what a stepper remembers, so after a checkpoint a fault in such an array may end
  /// another step.
  bool all_in_range() noexcept;

 private:
  /// An array of numbers, and its range as bits.
  template <class Number, class Bits>
  struct Span {
    const Number* values;
    mjtSize size;
    Bits limit, mask;
    bool is_large;
  };
  /// An array of quaternions or axes.
  struct Rows {
    const mjtNum* values;
    mjtSize count;
    int width;
    Range range;
  };
  /// Numbers of one or several arrays that follow each other in memory, with the padding between
  /// them.
  struct Run {
    const mjtNum* values;
    mjtSize size;
  };
  using Numbers = std::vector<Span<mjtNum, std::uint64_t>>;

  void add(const NumberArray& array);
  static void merge(std::vector<Run>* runs);
  bool are_surely_in_range() const noexcept;

  Numbers bounded_;               // those that are surely in range if they are small enough
  std::vector<Run> runs_;         // all of bounded_ that are not large
  std::vector<Run> nonnegative_;  // those of runs_ that must not be negative
  Numbers parts_;                 // those of bounded_ that are large
  Numbers others_;
  std::vector<Span<float, std::uint32_t>> floats_;
  std::vector<Rows> rows_;
  std::uint64_t num_passed_ = 0;  // calls without a fault; they choose the part of a large array
};

}  // namespace stiction::plant
