#include "stiction/contact/gaps.hpp"

#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/contact/normal_laws.hpp"

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

namespace {

/// Returns the velocity at which two surfaces part at the start of the step [m/s].
double calc_parting_velocity(const ContactProblem& problem, const BodyPair& pair,
                             const Contact& c) {
  return calc_contact_velocity(c, calc_pair_velocity(problem, pair, problem.v0))[2];
}

/// Reduces a nonlinear dissipation that holds surfaces back.
/// @param factor the surfaces part at no more than 1 / (factor d)
void reduce_dissipation(const ModelParameters& parameters, double factor,
                        const ContactProblem& problem, const BodyPair& pair, Contact* c) {
  const double speed = std::min(parameters.gap_correction * -c->phi0 / problem.time_step,
                                parameters.max_correction_speed);
  double& d = c->law.dissipation;
  if (speed * factor * d <= 1) return;
  const double velocity = calc_parting_velocity(problem, pair, *c);
  // Surfaces that part at the speed wanted need no force; the law has a kink there.
  if (2 * factor * d * velocity < 1 || velocity >= (1 - 1e-9) * speed) return;
  d = 1 / (factor * speed);
}

}  // namespace

double calc_slip_scale(const Contact& contact) {
  constexpr double kLeastShare = 1e-3, kNoFriction = 1e-9;
  double least = kInfinity, largest = kNoFriction;
  for (int i = 0; i < contact.dim - 1; ++i) {
    const double mu =
        contact.friction[i] / (i >= 2 && contact.rim_radius > 0 ? contact.rim_radius : 1);
    largest = std::max(largest, mu);
    if (mu > 0 && (i < 2 || contact.rim_radius > 0)) least = std::min(least, mu);
  }
  return std::clamp(least, kLeastShare * largest, largest);
}

StiffnessMember find_stiffness(ContactModel model, const ModelParameters& parameters) {
  return calc_property_use(model, parameters.normal_law).hertz_stiffness
             ? &ContactLawData<double>::hertz_stiffness
             : &ContactLawData<double>::stiffness;
}

void correct_overlaps(ContactModel model, const ModelParameters& parameters,
                      ContactProblem* problem) {
  if (traits(model).is_rigid || traits(model).is_mj_step) return;
  const NormalLawKind law = find_normal_law(model, parameters.normal_law);
  if (!calc_property_use(model, parameters.normal_law).dissipation) return;
  const StiffnessMember stiffness = find_stiffness(model, parameters);
  const double factor = law == NormalLawKind::hertz ? 1.5 : 1;
  for (const BodyPair& pair : problem->pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      Contact& c = problem->contacts[i];
      if (c.phi0 < 0 && c.face < 0 && c.law.*stiffness == kInfinity)
        reduce_dissipation(parameters, factor, *problem, pair, &c);
    }
  }
}

}  // namespace stiction::contact
