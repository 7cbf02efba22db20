#pragma once

namespace stiction::support {

/// Returns the number of calls of malloc and related functions since the program started, by any
/// thread and any library. Link allocation_counter.cpp into the test program itself.
long count_allocations();

}  // namespace stiction::support
