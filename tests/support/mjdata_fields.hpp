#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <mujoco/mujoco.h>

/// All fields of mjData by name, from MuJoCo's own list of them.
namespace stiction::support {

using Fields = std::map<std::string, std::vector<unsigned char>>;

/// Returns the bytes of every array and number of the data, except those that MuJoCo computes on
/// demand only (see kOnDemand in the source), addresses, and statistics of memory and time.
Fields read_fields(const mjModel* model, const mjData* data);

/// Overwrites all that a step does not start from: every array that is neither a state nor an
/// input, the whole arena, and the statistics of the solver.
void poison(const mjModel* model, mjData* data, double value);

/// Returns the names of the fields that differ, separated by spaces.
std::string find_differences(const Fields& a, const Fields& b);

}  // namespace stiction::support
