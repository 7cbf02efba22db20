#include "support/process_memory.hpp"

#include <malloc.h>

#ifdef _WIN32
#include <windows.h>
// After windows.h, whose types it needs.
#include <psapi.h>
#else
#include <sys/resource.h>
#endif

namespace stiction::support {

#ifdef _WIN32

double read_peak_bytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return static_cast<double>(counters.PeakWorkingSetSize);
}

double count_bytes_in_use() {
  double bytes = 0;
  _HEAPINFO entry = {};
  while (_heapwalk(&entry) == _HEAPOK)
    if (entry._useflag == _USEDENTRY) bytes += static_cast<double>(entry._size);
  return bytes;
}

#else

double read_peak_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double count_bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

#endif

}  // namespace stiction::support
