#include "turns.hpp"

#include <algorithm>
#include <ctime>

namespace stiction::bench {
namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

double Contestant::min_us() const { return *std::min_element(us.begin(), us.end()); }

double Contestant::median_us() const {
  std::vector<double> sorted = us;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void run_in_turns(int num_turns, std::vector<Contestant>* contestants) {
  constexpr double kLeastSeconds = 2e-3;
  for (int turn = 0; turn <= num_turns; ++turn)
    for (Contestant& c : *contestants) {
      // The clock is read after every batch. A batch grows until it fills a tenth of the turn.
      int count = 0, batch = 1;
      const double start = cpu_seconds();
      double seconds = 0;
      do {
        for (int i = 0; i < batch; ++i) c.run();
        count += batch;
        seconds = cpu_seconds() - start;
        if (seconds < kLeastSeconds / 10) batch *= 2;
      } while (seconds < kLeastSeconds);
      if (turn > 0) c.us.push_back(1e6 * seconds / count);
    }
}

}  // namespace stiction::bench
