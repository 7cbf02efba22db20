#include "stiction/sim/advance/advance_plugins.hpp"

#include <set>
#include <string>

#include "stiction/sim/report/warning_table.hpp"

namespace stiction::sim {

bool has_force_plugins(const mjModel* m) {
  for (int i = 0; i < m->nplugin; ++i)
    if (mjp_getPluginAtSlot(m->plugin[i])->capabilityflags & (mjPLUGIN_ACTUATOR | mjPLUGIN_PASSIVE))
      return true;
  return false;
}

void warn_of_plugin_state(StepContext& context) {
  const mjModel* m = context.model;
  std::set<std::string> names;
  for (int i = 0; i < m->nplugin; ++i)
    if (m->plugin_statenum[i] > 0) names.insert(mjp_getPluginAtSlot(m->plugin[i])->name);
  if (names.empty()) return;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  context.warn(warnings::kPluginState, {.text = text});
}

}  // namespace stiction::sim
