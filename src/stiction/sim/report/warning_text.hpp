#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "stiction/plant/mujoco/element_names.hpp"

namespace stiction::sim {

/// The kinds of warnings of a step.
enum class WarningKind {
  mujoco,        // MuJoCo's own
  patch_limit,   // pressure fields are thin for their speed, or deep in each other
  conflict,      // overlaps, limits and equalities cannot be corrected together
  large_force,   // a contact force that no weight, motion or applied force explains
  penetration,   // a contact lets geoms sink deep into each other
  limit,         // a rigid model lets a joint or tendon leave its range
  law_range,     // a contact is beyond the table of a normal law
  coupling,      // friction is bounded by other normal impulses than those of the step
  rotation,      // a body or joint turns by more than half a turn in the step
  plugin_state,  // advance does not know the error of an engine plugin's state
  anchors,       // bodies creep because springs of their contacts are lost
  made_energy,   // a contact gives energy that no motion has put into it
  contact_list,  // MuJoCo has found more contacts of two geoms than it keeps
};
/// The names of the kinds, in the order of the enum.
inline constexpr const char* kWarningKindNames[] = {
    "mujoco",  "patch_limit", "conflict",    "large_force", "penetration",
    "limit",   "law_range",   "coupling",    "rotation",    "plugin_state",
    "anchors", "made_energy", "contact_list"};
inline constexpr int kNumWarningKinds = std::size(kWarningKindNames);

/// Returns the name of a kind, such as "patch_limit".
constexpr const char* name(WarningKind kind) { return kWarningKindNames[static_cast<int>(kind)]; }

/// A warning of the table in warning_table.hpp. Its text has places for WarningFacts: {geom 0},
/// {joint 0} and {body 0} for the element ids[0], {id 2} for ids[2], {0:3} for numbers[0] with 3
/// digits, {cause} and {text}.
struct Warning {
  WarningKind kind;
  const char* text;
};

/// The facts of a warning.
struct WarningFacts {
  std::array<int, 4> ids = {};
  std::array<double, 3> numbers = {};
  const char* cause = "";  // a literal
  std::string text = {};
};

/// The text of a warning. It is written when it is asked for, because most warnings of a run are
/// only counted.
class WarningText {
 public:
  WarningText() = default;
  WarningText(std::string text) : facts_{.text = std::move(text)} {}
  WarningText(std::shared_ptr<const plant::ElementNames> names, const Warning& warning,
              WarningFacts facts)
      : names_(std::move(names)), form_(warning.text), facts_(std::move(facts)) {}

  std::string str() const;
  operator std::string() const { return str(); }
  bool empty() const { return !names_ && facts_.text.empty(); }

 private:
  std::string fill(std::string_view place) const;

  std::shared_ptr<const plant::ElementNames> names_;
  const char* form_ = "{text}";
  WarningFacts facts_;
};

inline std::ostream& operator<<(std::ostream& out, const WarningText& text) {
  return out << text.str();
}

}  // namespace stiction::sim
