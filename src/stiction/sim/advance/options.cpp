#include "stiction/sim/advance/options.hpp"

#include <cmath>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/sim/advance/control.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModelTraits;

/// Returns why steps of different lengths of a model do not fit together.
std::string explain(const ContactModelTraits& model) {
  if (model.is_mj_step) return "is MuJoCo's own step, whose error is not measured";
  if (model.lifts_sliding)
    return "lets sliding bodies glide on a gap that is proportional to the time step, so that each "
           "change of the step throws them";
  return "is rigid, and corrects overlaps by a share in each step, whatever its length";
}

[[noreturn]] void refuse(const char* name, double value, const std::string& range) {
  throw Error(ErrorCode::kInvalidValue, name, "is " + base::to_text(value) + ", must be " + range);
}

void check_step(const char* name, const std::optional<double>& value) {
  if (value && !(std::isfinite(*value) && *value > 0))
    refuse(name, *value, "finite and above 0 [s]");
}

}  // namespace

bool can_advance(const ContactModelTraits& model) {
  return !model.is_rigid && !model.is_mj_step && !model.lifts_sliding;
}

void check_can_advance(const StepOptions& options) {
  const ContactModelTraits& model = contact::traits(options.contact_model);
  if (!can_advance(model)) {
    std::string names;
    for (const ContactModelTraits& other : contact::contact_models())
      if (can_advance(other)) names += (names.empty() ? "" : ", ") + std::string(other.name);
    throw Error(ErrorCode::kUnsupported, "advance",
                "needs a contact model that does not depend on the time step, but '" +
                    std::string(model.name) + "' " + explain(model) +
                    "; choose one of these: " + names);
  }
  if (options.integrator != Integrator::euler)
    throw Error(ErrorCode::kUnsupported, "advance",
                "needs the integrator 'euler', but '" + std::string(name_of(options.integrator)) +
                    "' divides each step in its own way; choose 'euler'");
}

void check_advance(const AdvanceOptions& options, const mjData* d) {
  if (!(std::isfinite(options.until) && options.until >= d->time))
    refuse("until", options.until,
           "finite and not before the time of the data, " + base::to_text(d->time) +
               " s; advance goes forward only, so set data.time back to go there again");
  if (!(std::isfinite(options.accuracy) && options.accuracy >= kLeastAccuracy))
    refuse("accuracy", options.accuracy,
           "finite and at least " + base::to_text(kLeastAccuracy) +
               " m, because the solver certifies no smaller errors of positions");
  check_step("max_time_step", options.max_time_step);
  if (options.max_time_step && *options.max_time_step < AdvanceControl::kLeastStep)
    refuse("max_time_step", *options.max_time_step,
           "at least " + base::to_text(AdvanceControl::kLeastStep) +
               " s, the least step of error control");
  check_step("first_step", options.first_step);
  if (options.last_error && !(*options.last_error > 0 && *options.last_error <= 1))
    refuse("last_error", *options.last_error, "above 0 and at most 1");
}

}  // namespace stiction::sim
