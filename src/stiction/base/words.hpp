#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "stiction/base/error.hpp"

/// Checkpoints as words of 64 bits. Whoever remembers something writes it as words, and reads as
/// many words back in the same order.
namespace stiction::base {

class WordWriter {
 public:
  explicit WordWriter(std::vector<std::uint64_t>* words) : words_(words) {}

  /// Writes the bits of a floating-point number, or an integer >= 0.
  template <class T>
  void put(T x) {
    if constexpr (std::is_floating_point_v<T>)
      words_->push_back(std::bit_cast<std::uint64_t>(static_cast<double>(x)));
    else
      words_->push_back(static_cast<std::uint64_t>(x));
  }
  /// Writes all numbers of a list, but not how many there are.
  void put_all(const auto& numbers) {
    for (const auto x : numbers) put(x);
  }

 private:
  std::vector<std::uint64_t>* words_;
};

/// Reads words that a caller may have cut off or altered. All functions throw Error if the words
/// are not those of WordWriter.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint64_t> words) : words_(words) {}

  /// Names the content that is read from now on, for errors: "the anchors of contacts".
  void begin(const char* content) { content_ = content; }

  std::uint64_t take() {
    check(!words_.empty());
    const std::uint64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  double take_double() { return std::bit_cast<double>(take()); }
  double take_finite() {
    const double x = take_double();
    check(std::isfinite(x));
    return x;
  }
  /// Takes an integer in [0, end).
  int take_below(std::uint64_t end) {
    const std::uint64_t word = take();
    check(word < end);
    return static_cast<int>(word);
  }
  bool take_flag() { return take_below(2) != 0; }
  /// Takes the number of items that follow, each with `words_of_item` words or more.
  int take_count(std::size_t words_of_item) {
    const std::uint64_t count = take();
    check(count <= words_.size() / words_of_item);
    return static_cast<int>(count);
  }
  /// Takes `size` numbers.
  void take_all(std::size_t size, std::vector<double>* numbers) {
    check(size <= words_.size());
    numbers->resize(size);
    for (double& x : *numbers) x = take_double();
  }

  void check(bool is_right) const {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  std::string("has wrong numbers for ") + content_ +
                      "; it was cut off or altered, or belongs to another model; take one of "
                      "Simulator.get_state()");
  }

  /// The words that are left.
  std::span<const std::uint64_t> rest() const { return words_; }

 private:
  std::span<const std::uint64_t> words_;
  const char* content_ = "a simulator";
};

}  // namespace stiction::base
