#include "stiction/contact/reach.hpp"

#include "stiction/contact/custom_law.hpp"

namespace stiction::contact {
namespace {

void add_law(const ModelParameters& parameters, const Contact& contact, Reach* reach) {
  constexpr double kLogBarrierReach = 1000;  // thicknesses
  switch (parameters.normal_law) {
    case NormalLawKind::hunt_crossley:
    case NormalLawKind::hertz: break;
    case NormalLawKind::linear: reach->time += contact.law.relaxation_time; break;
    case NormalLawKind::log_barrier:
      reach->distance = kLogBarrierReach * contact.law.barrier_thickness;
      break;
    case NormalLawKind::ipc_barrier: reach->distance = contact.law.barrier_thickness; break;
    case NormalLawKind::custom: reach->distance = parameters.custom_law->reach(); break;
  }
}

}  // namespace

Reach calc_reach(ContactModel model, const ModelParameters& parameters, double dt,
                 const Contact& contact) {
  Reach reach{.time = dt};
  if (model == ContactModel::sap) reach.time += contact.law.relaxation_time;
  if (model == ContactModel::sap || model == ContactModel::similar)
    reach.slip = contact.sliding_friction();
  if (traits(model).takes_laws) add_law(parameters, contact, &reach);
  return reach;
}

}  // namespace stiction::contact
