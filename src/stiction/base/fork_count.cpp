#include "stiction/base/fork_count.hpp"

#ifdef _WIN32

namespace stiction::base {

int fork_count() noexcept { return 0; }  // Windows has no fork()

}  // namespace stiction::base

#else

#include <atomic>

#include <pthread.h>

namespace stiction::base {
namespace {

std::atomic<int> num_forks{0};
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { num_forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

int fork_count() noexcept { return num_forks.load(std::memory_order_relaxed); }

}  // namespace stiction::base

#endif
