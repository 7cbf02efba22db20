#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stiction::bench {

/// A function to be timed.
struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> us = {};  // CPU time of one run, in each turn

  double min_us() const;
  double median_us() const;
};

/// Times all contestants in turns. In each turn every contestant runs for at least 2 ms of CPU
/// time. The first turn is a warm-up and does not count.
void run_in_turns(int num_turns, std::vector<Contestant>* contestants);

}  // namespace stiction::bench
