#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stiction::bench {

/// Something that is timed against others, in turns.
struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> us = {};  // CPU time of one run, in each turn

  double min_us() const;
  double median_us() const;
};

/// Each runs for at least 2 ms of CPU time a turn; the first turn warms up and is not counted.
void run_in_turns(int num_turns, std::vector<Contestant>* contestants);

}  // namespace stiction::bench
