#include "stiction/sim/warnings/contact_warnings.hpp"

#include <gtest/gtest.h>

#include "sim/step/owned_inputs.hpp"
#include "sim/step/stepping.hpp"
#include "support/random_problem.hpp"

namespace stiction::sim::coupling_warning_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::coupling);

class CouplingWarning : public testing::Test {
 protected:
  /// Gives all islands of a problem a coupling error, and returns the warnings.
  WarningReport warn(ContactModel model, double error) {
    const OwnedInputs inputs(scene_, make_options(model));
    StepOutputs out(scene_.model, OnFailure::stop);
    std::mt19937_64 rng(1);
    SolvedContacts contacts;
    contacts.problem = support::make_problem_of_parts(3, &rng).whole;
    contacts.islands.find(contacts.problem);
    contacts.solution.islands.resize(contacts.islands.size());
    for (contact::IslandStatistics& island : contacts.solution.islands) {
      island.num_contacts = 5;
      island.rounds = 303;
      island.coupling_error = error;
    }
    num_islands_ = contacts.islands.size();
    out.report->contacts.geoms.assign(2 * contacts.problem.contacts.size(), 0);
    warn_of_coupling(inputs.in, contacts, &out);
    return out.report->warnings[kKind];
  }

  Scene scene_{support::make_mjcf("", R"(<worldbody><geom name="ball" size="1"/></worldbody>)")};
  int num_islands_ = 0;
};

TEST_F(CouplingWarning, CountsTheIslandsAndNamesOne) {
  const WarningReport warnings = warn(ContactModel::coulomb, 1.5);
  ASSERT_GE(num_islands_, 1);
  EXPECT_EQ(warnings.count, num_islands_);
  EXPECT_NE(warnings.text.str().find("geom 'ball', geom 'ball' and the 4 contacts"),
            std::string::npos)
      << warnings.text;
  EXPECT_NE(warnings.text.str().find("differ from those of the step by 1.5 times their mean"),
            std::string::npos)
      << warnings.text;
  EXPECT_NE(warnings.text.str().find("in 303 rounds; take a smaller step"), std::string::npos)
      << warnings.text;
}

TEST_F(CouplingWarning, SmallErrorsAndOtherModelsAreSilent) {
  EXPECT_EQ(warn(ContactModel::coulomb, 1e-3).count, 0);
  // Friction of the lagged models is bounded by other impulses by design.
  EXPECT_EQ(warn(ContactModel::lagged_regularized, 1.5).count, 0);
}

}  // namespace
}  // namespace stiction::sim::coupling_warning_test
