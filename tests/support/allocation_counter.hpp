#pragma once

namespace stiction::support {

/// Calls of malloc and its kin, by any thread and any library of this program, since it started.
/// Link allocation_counter.cpp into the test program itself.
long count_allocations();

}  // namespace stiction::support
