#include "stiction/sim/advance/advance_plugins.hpp"

#include <set>
#include <string>

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
  context.report.warn(
      WarningKind::plugin_state,
      "the state of the engine plugins " + text +
          " is stepped, but its error does not shorten the steps of advance, because nothing is "
          "known of its units; give max_time_step the step that the plugins need");
}

}  // namespace stiction::sim
