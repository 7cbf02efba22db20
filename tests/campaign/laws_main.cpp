// Checks the laws of physics on random worlds, one after the other. tools/laws.py runs this program
// in chunks.
//
//     laws_campaign FIRST COUNT [MODEL]    prints violations and counts, one JSON object a line
//     laws_campaign --xml SEED             prints a world
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "campaign/campaign.hpp"
#include "campaign/random_world.hpp"
#include "stiction/base/error.hpp"

namespace {

using stiction::campaign::Ledger;

void print(const Ledger& ledger) {
  for (const auto& v : ledger.violations())
    std::printf(R"({"law": "%s", "model": "%s", "seed": %llu, "step": %d, "value": %.6g, )"
                R"("allowed": %.6g, "silent": %s})"
                "\n",
                v.law.c_str(), v.model.c_str(), static_cast<unsigned long long>(v.seed), v.step,
                v.value, v.allowed, v.is_silent ? "true" : "false");
  std::printf("{\"counts\": {");
  const char* separator = "";
  for (const auto& [what, number] : ledger.counts()) {
    std::printf("%s\"%s\": %ld", separator, what.c_str(), number);
    separator = ", ";
  }
  std::printf("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--xml") == 0) {
    std::puts(stiction::campaign::make_world(std::strtoull(argv[2], nullptr, 10), {}).xml.c_str());
    return 0;
  }
  if (argc < 3) {
    std::fprintf(stderr, "usage: laws_campaign FIRST COUNT [MODEL], or laws_campaign --xml SEED\n");
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  Ledger ledger;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try {
      stiction::campaign::check_world(seed, argc > 3 ? argv[3] : "", &ledger);
    } catch (const stiction::Error& e) {
      std::fprintf(stderr, "world %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
      return 1;
    }
  }
  print(ledger);
  return 0;
}
