#include "stiction/sim/report/step_report.hpp"

#include <utility>

#include "stiction/sim/report/taxel_reader.hpp"

namespace stiction::sim {
namespace {

// In the order of the bits.
constexpr const char* kStatusNames[] = {
    "non_finite_state",      "non_finite_input",  "non_finite_solution", "not_converged",
    "not_positive_definite", "buffer_full",       "mujoco_error",        "certificate_failed",
    "out_of_time",           "out_of_iterations", "interrupted",         "too_large",
    "model_changed",         "inaccurate"};
constexpr const char* kMemoryNames[] = {"active_set",     "patch_history", "mocap_motion",
                                        "contact_forces", "anchors",       "warnings",
                                        "step_length"};

template <std::size_t kSize>
std::vector<std::string> list_names(std::uint32_t bits, const char* const (&names)[kSize]) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kSize; ++i)
    if (bits & (1u << i)) out.emplace_back(names[i]);
  return out;
}

}  // namespace

std::vector<std::string> list_memory(std::uint32_t kinds) {
  return list_names(kinds, kMemoryNames);
}

std::string describe_status(std::uint32_t status) {
  std::string text;
  for (const std::string& name : list_names(status, kStatusNames))
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "ok" : text;
}

const TaxelReport& StepReport::read_taxels() const {
  if (const auto reader = std::exchange(taxel_reader, nullptr))
    reader->read(*this, &started_taxels);
  return started_taxels;
}

void StepReport::warn(WarningKind kind, WarningText text, int count) {
  num_warnings += count;
  WarningReport& own = warnings[static_cast<int>(kind)];
  own.count += count;
  own.text = text;
  warning = std::move(text);
}

}  // namespace stiction::sim
