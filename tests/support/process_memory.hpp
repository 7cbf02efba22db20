#pragma once

/// The memory of this process.
namespace stiction::support {

/// Returns the largest memory that the process has had in use [bytes].
double read_peak_bytes();
/// Returns the memory that malloc has given out and that is not freed [bytes].
double count_bytes_in_use();

}  // namespace stiction::support
