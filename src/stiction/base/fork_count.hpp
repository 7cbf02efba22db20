#pragma once

namespace stiction::base {

/// Returns how often this process and its ancestors were forked since the library was loaded. After
/// fork() the child has only the thread that called it, and mutexes stay as other threads left
/// them. What depends on threads compares this number with that of its construction. Always 0 on
/// Windows, which has no fork().
int fork_count() noexcept;

}  // namespace stiction::base
