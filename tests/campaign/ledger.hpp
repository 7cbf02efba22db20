#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stiction::campaign {

/// A step that breaks a law.
struct Violation {
  std::string law, model;
  std::uint64_t seed = 0;
  int step = 0;
  double value = 0, allowed = 0;
  bool is_silent = true;  // the step succeeded without a warning
};

/// The checks of a campaign and its findings.
class Ledger {
 public:
  /// Names the step that the next checks belong to.
  void start(std::uint64_t seed, std::string_view model, int step, bool is_silent) {
    place_ = {};
    place_.model = model;
    place_.seed = seed;
    place_.step = step;
    place_.is_silent = is_silent;
  }
  /// Counts a check of a law, and a violation unless value <= allowed.
  /// @return whether the law holds
  bool check(const char* law, double value, double allowed) {
    ++counts_[law];
    if (value <= allowed) return true;
    Violation found = place_;
    found.law = law;
    found.value = value;
    found.allowed = allowed;
    violations_.push_back(found);
    return false;
  }
  /// Counts something that is not a check, such as steps, failures and comparisons left out.
  void count(const std::string& what, long number = 1) { counts_[what] += number; }

  const std::map<std::string, long>& counts() const { return counts_; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  Violation place_;
  std::map<std::string, long> counts_;
  std::vector<Violation> violations_;
};

}  // namespace stiction::campaign
