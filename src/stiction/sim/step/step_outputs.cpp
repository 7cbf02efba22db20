#include "stiction/sim/step/step_outputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/sim/report/warning_table.hpp"

namespace stiction::sim {
namespace {

/// A callback of the user that functions of MuJoCo call within a step.
struct Callback {
  bool is_set;
  const char* name;
};

std::array<Callback, 5> list_callbacks() {
  return {{{mjcb_passive != nullptr, "mjcb_passive"},
           {mjcb_sensor != nullptr, "mjcb_sensor"},
           {mjcb_act_dyn != nullptr, "mjcb_act_dyn"},
           {mjcb_act_gain != nullptr, "mjcb_act_gain"},
           {mjcb_act_bias != nullptr, "mjcb_act_bias"}}};
}

bool has_callbacks() {
  return std::ranges::any_of(list_callbacks(), [](const Callback& c) { return c.is_set; });
}

}  // namespace

void StepOutputs::warn(const Warning& warning, WarningFacts facts, int count) {
  report->warn(warning.kind, {names_, warning, std::move(facts)}, count);
}

void StepOutputs::fail(std::uint32_t status, std::string message) {
  report->status |= status;
  report->message = std::move(message);
}

certificate::Verdict StepOutputs::report_momentum(const plant::MomentumCheck::Result& momentum,
                                                  double duration) {
  report->momentum_error = math::max_or_nan(report->momentum_error, duration * momentum.residual);
  certificate::Verdict verdict;
  verdict.require("disagreement of the momentum residual with MuJoCo's matrices",
                  duration * momentum.mismatch, duration * momentum.allowed_mismatch(), "sqrt(J)");
  return verdict;
}

void StepOutputs::fail_certificate(const certificate::FailedCheck& failed,
                                   const std::string& cause) {
  report->certificate.ok = false;
  report->certificate.failed = failed;
  const std::string unit = *failed.unit == '\0' ? "" : std::string(" ") + failed.unit;
  const std::string text = std::string("the ") + failed.quantity + " is " +
                           base::to_text(std::abs(failed.value), 3) + unit +
                           ", above its limit of " + base::to_text(failed.limit, 3) + unit;
  const char* unknown_cause =
      "; the solution is less accurate than it should be; take a smaller step, or another contact "
      "model";
  fail(kCertificateFailed, text + (cause.empty() ? unknown_cause : cause));
}

/// Reports what went wrong in a call, and mends MuJoCo's stack after an error.
void StepOutputs::finish_call(mjData* d, const MuJoCoState& before, bool ok) {
  if (!ok) {
    d->pstack = before.pstack;
    d->pbase = before.pbase;
    fail(kMuJoCoError, std::string("MuJoCo: ") + guard->error());
  }
  if (guard->num_warnings() > 0)
    warn(warnings::kMuJoCo, {.text = guard->warning()}, guard->num_warnings());
  guard->clear_warnings();
  if (MuJoCoState(d).num_full != before.num_full)
    fail(kBufferFull,
         "the contacts or constraints do not fit in mjData; enlarge it with <size "
         "memory=\"...\"/>");
}

void StepOutputs::keep_contacts(const mjModel* m, const mjData* d) {
  if (has_callbacks()) kept_.keep(m, d);
}

void StepOutputs::check_contacts(const mjData* d) {
  if (!has_callbacks() || failed() || kept_.has_same_contacts(d)) return;
  std::string names;
  for (const auto& [is_set, name] : list_callbacks())
    if (is_set) names += (names.empty() ? "" : " or ") + std::string(name);
  fail(kMuJoCoError, "the callback " + names +
                         " has replaced the contacts of the step, as mj_forward, mj_inverse and "
                         "mj_collision do; let it call such functions with another mjData");
}

bool StepOutputs::call_control(const mjModel* m, mjData* d) {
  if (!mjcb_control || (m->opt.disableflags & mjDSBL_ACTUATION)) return false;
  kept_.keep(m, d);
  call_mujoco(d, [&] { mjcb_control(m, d); });
  if (failed() || kept_.is_same(m, d)) return false;
  kept_.restore(m, d);
  return true;
}

}  // namespace stiction::sim
