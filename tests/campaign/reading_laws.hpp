#pragma once

#include "campaign/step_laws.hpp"

namespace stiction::campaign {

/// Checks that what a user reads in mjData agrees with the report: mj_contactForce, cfrc_ext after
/// mj_rnePostConstraint, touch sensors, and accelerations.
void check_readings(const TakenStep& step, Ledger* ledger);

}  // namespace stiction::campaign
