#include "stiction/contact/reach.hpp"

#include "stiction/contact/custom_law.hpp"

namespace stiction::contact {

Reach calc_reach(ContactModel model, const ModelParameters& parameters, double dt,
                 const Contact& contact) {
  const ContactModelTraits& own = traits(model);
  Reach reach{.time = dt};
  if (own.acts_ahead) reach.time += contact.law.relaxation_time;
  if (own.lifts_sliding) reach.slip = contact.sliding_friction();
  if (!own.takes_laws) return reach;

  const NormalLawTraits& law = traits(parameters.normal_law);
  if (law.law == NormalLawKind::custom) reach.distance = parameters.custom_law->reach();
  if (law.reach) {
    const LawReach ahead = law.reach(contact.law);
    reach.time += ahead.time;
    reach.distance = ahead.distance;
  }
  return reach;
}

}  // namespace stiction::contact
