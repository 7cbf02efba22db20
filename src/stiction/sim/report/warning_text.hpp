#pragma once

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "stiction/plant/mujoco/element_names.hpp"

namespace stiction::sim {

/// What a warning tells, before it is written as a text. The function gives the numbers their
/// meaning.
struct WarningFacts {
  using Describe = std::string (*)(const plant::ElementNames&, const WarningFacts&);

  Describe describe = nullptr;
  std::array<int, 4> ids = {};
  std::array<double, 3> numbers = {};
};

/// The text of a warning. Most warnings of a run are only counted, because each kind is shown once.
/// So a warning that may come in every step keeps its facts, and writes the text when it is asked
/// for.
class WarningText {
 public:
  WarningText() = default;
  WarningText(std::string text) : text_(std::move(text)) {}
  WarningText(const char* text) : text_(text) {}
  WarningText(std::shared_ptr<const plant::ElementNames> names, const WarningFacts& facts)
      : names_(std::move(names)), facts_(facts) {}

  std::string str() const { return names_ ? facts_.describe(*names_, facts_) : text_; }
  operator std::string() const { return str(); }
  bool empty() const { return !names_ && text_.empty(); }
  void clear() {
    text_.clear();
    names_.reset();
  }

 private:
  std::string text_;
  std::shared_ptr<const plant::ElementNames> names_;  // null: text_ is the text
  WarningFacts facts_;
};

inline std::ostream& operator<<(std::ostream& out, const WarningText& text) {
  return out << text.str();
}

}  // namespace stiction::sim
