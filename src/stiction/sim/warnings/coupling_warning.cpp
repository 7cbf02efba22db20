#include "stiction/sim/warnings/coupling_warning.hpp"

#include <cstdio>
#include <string>

namespace stiction::sim {
namespace {

/// Describes the coupling error numbers[0] of the island of the geoms ids[0] and ids[1], which has
/// ids[2] other contacts, after ids[3] rounds.
std::string describe_coupling(const plant::ElementNames& names, const WarningFacts& facts) {
  char text[400];
  std::snprintf(text, sizeof text,
                " and the %d contacts that are connected with them: friction is bounded by normal "
                "impulses that differ from those of the step by %.2g times their mean, because no "
                "impulses that agree were found in %d rounds; take a smaller step, or choose "
                "lagged_regularized, whose friction is bounded by those of the step before",
                facts.ids[2], facts.numbers[0], facts.ids[3]);
  return names.describe(mjOBJ_GEOM, facts.ids[0]) + ", " +
         names.describe(mjOBJ_GEOM, facts.ids[1]) + text;
}

WarningFacts make_facts(const StepReport& report, const SolvedContacts& contacts, int island) {
  const int pair = contacts.islands.pairs(island).front();
  const int* geoms = &report.contacts.geoms[2 * contacts.problem.pairs[pair].first_contact];
  const contact::IslandStatistics& s = contacts.solution.islands[island];
  return {.describe = describe_coupling,
          .ids = {geoms[0], geoms[1], s.num_contacts - 1, s.rounds},
          .numbers = {s.coupling_error}};
}

}  // namespace

void warn_of_coupling(const StepInputs& in, const SolvedContacts& contacts, StepOutputs* out) {
  // A step that has failed says more in its message.
  if (in.options.contact_model != contact::ContactModel::coulomb || out->report.status) return;
  int worst = -1, num_coarse = 0;
  double largest = kNoticeableCoupling;
  for (int i = 0; i < contacts.islands.size(); ++i) {
    const double error = contacts.solution.islands[i].coupling_error;
    if (!(error > kNoticeableCoupling)) continue;
    ++num_coarse;
    if (error < largest) continue;
    largest = error;
    worst = i;
  }
  if (worst >= 0)
    out->warn(WarningKind::coupling, make_facts(out->report, contacts, worst), num_coarse);
}

}  // namespace stiction::sim
