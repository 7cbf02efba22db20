#include "stiction/sim/coupling_warning.hpp"

#include <cstdio>
#include <string>

#include "stiction/plant/model.hpp"

namespace stiction::sim {
namespace {

std::string describe(const StepContext& context, const ContactPipeline& contacts, int island) {
  const int pair = contacts.islands.pairs(island).front();
  const int contact = contacts.problem.pairs[pair].first_contact;
  const ContactReport& report = context.report.contacts;
  const auto name = [&](int side) {
    return plant::describe(context.model, mjOBJ_GEOM, report.geoms[2 * contact + side]);
  };
  const contact::IslandStatistics& s = contacts.solution.islands[island];
  char text[400];
  std::snprintf(text, sizeof text,
                " and the %d contacts that are connected with them: friction is bounded by normal "
                "impulses that differ from those of the step by %.2g times their mean, because no "
                "impulses that agree were found in %d rounds; take a smaller step, or choose "
                "lagged_regularized, whose friction is bounded by those of the step before",
                s.num_contacts - 1, s.coupling_error, s.rounds);
  return name(0) + ", " + name(1) + text;
}

}  // namespace

void warn_of_coupling(StepContext& context, const ContactPipeline& contacts) {
  if (context.options.contact_model != contact::ContactModel::coulomb) return;
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
    context.report.warn(WarningKind::coupling, describe(context, contacts, worst), num_coarse);
}

}  // namespace stiction::sim
