#include "stiction/contact/pair_loads.hpp"

#include <algorithm>

namespace stiction::contact {

void set_pair_loads(const Islands& islands, ContactProblem* problem) {
  for (int island = 0; island < islands.size(); ++island) {
    double largest = 0;
    for (const int p : islands.pairs(island))
      for (const double mass : problem->pairs[p].masses)
        if (mass < kInfinity) largest = std::max(largest, mass);
    for (const int p : islands.pairs(island)) problem->pairs[p].load = largest;
  }
}

}  // namespace stiction::contact
