#include "support/allocation_counter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<long> num_allocations{0};
}

long stiction::support::count_allocations() { return num_allocations.load(); }

// A program's own malloc replaces that of the C library everywhere, also in shared libraries and in
// operator new. The memory still comes from glibc, so its free stays in use.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++num_allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++num_allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++num_allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  ++num_allocations;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
}
