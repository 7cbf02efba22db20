#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Hashes of results in a text file, which every build must reproduce.
namespace stiction::support {

/// The FNV-1a hash of 64 bits over the bytes of numbers, the lowest byte first. What is not a
/// number has one hash, because processors differ in its sign.
class Hash {
 public:
  void add(double x) {
    if (x != x) x = std::numeric_limits<double>::quiet_NaN();
    for (auto bits = std::bit_cast<std::uint64_t>(x), i = std::uint64_t{0}; i < 8; ++i)
      value_ = (value_ ^ (bits >> 8 * i & 0xff)) * 0x100000001b3;
  }
  template <class Numbers>
  void add_all(const Numbers& numbers) {
    for (const double x : numbers) add(x);
  }
  std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
    return text;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// A file with a name and a hash on each line.
class GoldenTable {
 public:
  explicit GoldenTable(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_);
    for (std::string name, hash; file >> name >> hash;) hashes_[name] = hash;
  }

  /// Returns the hash of a name; empty if there is none.
  std::string find(const std::string& name) const {
    const auto entry = hashes_.find(name);
    return entry == hashes_.end() ? "" : entry->second;
  }

  /// Writes the file with the hashes of runs, which have a `name`.
  template <class Run, class Function>
  void write(const std::vector<Run>& runs, const Function& calc_hash) const {
    std::ofstream file(path_);
    for (const Run& run : runs) file << run.name << ' ' << calc_hash(run) << '\n';
  }

  /// True if ./dev golden runs the test, to write the file.
  static bool is_to_be_written() { return std::getenv("STICTION_RENEW_GOLDEN") != nullptr; }

 private:
  std::string path_;
  std::map<std::string, std::string> hashes_;
};

}  // namespace stiction::support
