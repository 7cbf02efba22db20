#include "stiction/contact/reach.hpp"

namespace stiction::contact {

Reach calc_reach(ContactModel model, double dt, const Contact& contact) {
  switch (model) {
    case ContactModel::sap:
      return {.time = dt + contact.relaxation_time, .slip = contact.sliding_friction()};
    case ContactModel::similar: return {.time = dt, .slip = contact.sliding_friction()};
    default: return {.time = dt};
  }
}

}  // namespace stiction::contact
