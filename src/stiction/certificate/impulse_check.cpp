#include "stiction/certificate/impulse_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using math::Lanes;
using math::Lanes3;

namespace {

constexpr int kSlip[5] = {0, 1, 3, 4, 5};  // components of friction: tangents, torsion, rolling

/// Returns how far a friction impulse is outside the model's ellipsoid
/// sum (gamma_i / mu_i)^2 <= bound^2, scaled by the largest coefficient [N s].
double calc_cone_excess(ContactModel model, const Contact& c, const ContactVector& gamma,
                        double bound) {
  double largest = 0, ratio2 = 0, forbidden2 = 0;
  for (int i = 0; i < 5; ++i) {
    const bool has_slip = i < c.dim - 1 && (i < 2 || contact::traits(model).takes_torsion);
    const double own = contact::traits(model).takes_torsion ? c.friction[i] : c.sliding_friction();
    const double mu = has_slip ? own : 0;
    const double g = gamma[kSlip[i]];
    largest = std::max(largest, mu);
    (mu > 0 ? ratio2 : forbidden2) += mu > 0 ? (g / mu) * (g / mu) : g * g;
  }
  return largest * (std::sqrt(ratio2) - bound) + std::sqrt(forbidden2);
}

Lanes abs(const Lanes& a) { return math::max(a, -a); }
Lanes squared_norm(const Lanes3& a) { return a.x * a.x + a.y * a.y + a.z * a.z; }
Lanes largest_component(const Lanes3& a) {
  return math::max(abs(a.x), math::max(abs(a.y), abs(a.z)));
}

/// Returns the torsional and rolling components of an impulse alone.
ContactVector angular_part(const ContactVector& gamma) {
  return {0, 0, 0, gamma[3], gamma[4], gamma[5]};
}

}  // namespace

void LawCheck::add_quad(const Quad& quad) {
  const Lanes3 &law = quad.law, &given = quad.given, &given_torque = quad.given_torque;
  const Lanes3 error = {given.x - law.x, given.y - law.y, given.z - law.z};
  scale_ = math::max(largest_component(law), scale_);
  // add_contact compares the angular components of the contacts that have them.
  const Lanes torque_error =
      quad.friction_bound < kInfinity ? largest_component(given_torque) : Lanes{};
  impulse_error_ = math::max(math::max(largest_component(error), torque_error), impulse_error_);
  // The maxima above ignore a NaN; the sum keeps it.
  sum_ += abs(given.x) + abs(given.y) + abs(given.z) + squared_norm(given_torque);
  Lanes minus_normal = -given.z;
  for (int lane = quad.count; lane < math::kNumLanes; ++lane) minus_normal[lane] = -kInfinity;
  minus_normal_ = math::max(minus_normal, minus_normal_);
  const Lanes friction = math::sqrt(given.x * given.x + given.y * given.y);
  const Lanes excess = friction - quad.friction_bound + math::sqrt(squared_norm(given_torque));
  cone_excess_ = math::max(excess, cone_excess_);
}

void LawCheck::add_friction_work(const Lanes3& given, const Lanes3& v_c) {
  friction_work_ = math::max(given.x * v_c.x + given.y * v_c.y, friction_work_);
}

void LawCheck::add_friction_work(double work) {
  friction_work_[0] = std::max(friction_work_[0], work);
}

void LawCheck::add_gain(const Lanes3& law, const Lanes3& v_c, const Lanes3& bias) {
  const Lanes normal = law.z * v_c.z, friction = law.x * v_c.x + law.y * v_c.y;
  const Lanes surface = -(law.x * bias.x + law.y * bias.y + law.z * bias.z);
  gain_ += math::max(normal, Lanes{}) + math::max(friction, Lanes{}) + math::max(surface, Lanes{});
}

void LawCheck::add_gain(double gain) { gain_[0] += gain; }

void LawCheck::add_contact(ContactModel model, const Contact& c, const ReferenceImpulse& law,
                           const ContactVector& given) {
  for (int e = 0; e < 6; ++e) {
    sum_[0] += std::abs(given[e]);
    scale_[0] = std::max(scale_[0], std::abs(law.gamma[e]));
    impulse_error_[0] = std::max(impulse_error_[0], std::abs(given[e] - law.gamma[e]));
  }
  cone_excess_[0] = std::max(cone_excess_[0], calc_cone_excess(model, c, given, law.normal_bound));
}

double LawCheck::largest(const Lanes& a) {
  return std::max(std::max(a[0], a[1]), std::max(a[2], a[3]));
}

bool LawCheck::is_finite() const { return std::isfinite(math::sum(sum_)); }

/// The data that the contacts of a body pair share.
struct ImpulseCheck::PairView {
  const SolvedStep& step;
  const SubstepCheck& substeps;
  bool is_divided = false;      // into sub-steps
  bool is_compensated = false;  // the laws are evaluated at v + v_low
  double V0[6], V[6];           // motion at the start and at the end
  math::DoubleDouble
      V_compensated[6];  // motion at the end, from v + v_low; set only if is_compensated

  PairView(const SolvedStep& step, const SubstepCheck& substeps, const BodyPair& pair);
  /// Returns the velocity of a contact with angular components, compensated if the island is.
  ContactVector find_velocity(const Contact& c, int lane, Lanes3* v) const;
  /// Returns the impulse that the law prescribes, summed over the sub-steps of a divided step.
  ReferenceImpulse find_law(int contact, double v_n0, const ContactVector& v_c) const;
};

/// Wrench impulses about the origin of a body pair.
struct ImpulseCheck::Wrenches {
  double law[6] = {};
  double given[6] = {};
};

ImpulseCheck::PairView::PairView(const SolvedStep& step, const SubstepCheck& substeps,
                                 const BodyPair& pair)
    : step(step), substeps(substeps) {
  const ContactProblem& problem = step.problem;
  const ContactSolution& solution = step.solution;
  const int island = step.islands.island_of_block(problem.segments[pair.first_segment].block);
  is_divided = !step.is_whole(island);
  is_compensated = solution.islands[island].is_compensated;
  if (is_compensated)
    calc_compensated_pair_motion(problem, pair, solution.v, solution.v_low, V_compensated);
  calc_pair_motion(problem, pair, problem.v0, V0);
  calc_pair_motion(problem, pair, solution.v, V);
}

ContactVector ImpulseCheck::PairView::find_velocity(const Contact& c, int lane, Lanes3* v) const {
  if (!is_compensated && c.dim <= 3) return {v->x[lane], v->y[lane], v->z[lane], 0, 0, 0};
  if (!is_compensated) return calc_contact_velocity(c, V);
  const ContactVector v_c = calc_compensated_contact_velocity(c, V_compensated);
  v->x[lane] = v_c[0];
  v->y[lane] = v_c[1];
  v->z[lane] = v_c[2];
  return v_c;
}

ReferenceImpulse ImpulseCheck::PairView::find_law(int contact, double v_n0,
                                                  const ContactVector& v_c) const {
  if (is_divided) return substeps.law(contact);
  const std::vector<double>& bounds = step.solution.normal_bounds;
  const ContactState state = {.time_step = step.problem.time_step,
                              .w = step.problem.delassus[contact],
                              .v_n0 = v_n0,
                              .given_bound = bounds.empty() ? 0 : bounds[contact],
                              .lagged_impulse = step.problem.find_lagged_impulse(contact),
                              .anchor = step.find_anchor(contact)};
  return calc_reference_impulse(step.model, step.parameters, step.problem.contacts[contact], state,
                                v_c);
}

void ImpulseCheck::calc(const SolvedStep& step, const SubstepCheck& substeps,
                        GeneralizedImpulses* impulses) {
  contacts_ = {};
  rows_ = {};
  max_w_ = 0;
  normal_impulses_.resize(step.problem.num_contacts());
  normal_bounds_.resize(step.problem.num_contacts());
  for (const BodyPair& pair : step.problem.pairs) add_pair(step, substeps, pair, impulses);
  add_rows(step, substeps, impulses);
}

void ImpulseCheck::add_pair(const SolvedStep& step, const SubstepCheck& substeps,
                            const BodyPair& pair, GeneralizedImpulses* impulses) {
  const PairView view(step, substeps, pair);
  Wrenches wrenches;
  const int end = pair.first_contact + pair.num_contacts;
  for (int first = pair.first_contact; first < end; first += math::kNumLanes)
    add_quad(view, first, std::min(math::kNumLanes, end - first), &wrenches);
  add_pair_force(step.problem, pair, wrenches.law, impulses->by_law);
  add_pair_force(step.problem, pair, wrenches.given, impulses->constraint);
}

/// Compares up to four contacts, the first of which is `first`.
void ImpulseCheck::add_quad(const PairView& pair, int first, int count, Wrenches* wrenches) {
  const std::vector<Contact>& contacts = pair.step.problem.contacts;
  const ContactVector* given = &pair.step.solution.impulses[first];
  const bool has_anchors = contact::has_anchors(pair.step.parameters);
  const ContactQuad quad(&contacts[first], count);
  const Lanes v_n0 = quad.calc_normal_velocity(pair.V0);
  Lanes3 v = quad.calc_velocity(pair.V);
  std::array<ContactVector, math::kNumLanes> by_law;
  Lanes bound{};
  for (int lane = 0; lane < count; ++lane) {
    const int i = first + lane;
    const Contact& c = contacts[i];
    max_w_ = std::max(max_w_, pair.step.problem.delassus[i]);
    const ContactVector v_c = pair.find_velocity(c, lane, &v);
    const ReferenceImpulse law = pair.find_law(i, v_n0[lane], v_c);
    by_law[lane] = law.gamma;
    normal_impulses_[i] = law.gamma[2];
    // Each sub-step of a divided step has its own bound.
    normal_bounds_[i] = pair.is_divided ? law.gamma[2] : law.normal_bound;
    if (pair.is_divided) contacts_.add_friction_work(pair.substeps.friction_work(i));
    // A spring that relaxes gives energy back, but no more than it loses.
    if (has_anchors)
      contacts_.add_friction_work(calc_anchor_gain(c, *pair.step.find_anchor(i),
                                                   pair.step.problem.time_step, given[lane], v_c));
    // The gain of torsion and rolling; that of the linear components is added below.
    if (!pair.is_divided && c.dim > 3)
      contacts_.add_gain(calc_gain(c, angular_part(law.gamma), v_c));

    // Contacts with torsion, rolling or unequal coefficients are compared one by one.
    const bool has_disk = c.dim <= 3 && c.friction[0] == c.friction[1];
    bound[lane] = has_disk ? c.sliding_friction() * law.normal_bound : kInfinity;
    if (has_disk) continue;
    contacts_.add_contact(pair.step.model, c, law, given[lane]);
    if (!pair.is_divided && !has_anchors)
      contacts_.add_friction_work(calc_friction_work(given[lane], v_c));
    add_contact_torque(c, law.gamma, wrenches->law);
    add_contact_torque(c, given[lane], wrenches->given);
  }
  const LawCheck::Quad impulses = {.law = quad.read_impulses(by_law.data()),
                                   .given = quad.read_impulses(given),
                                   .given_torque = quad.read_torques(given),
                                   .friction_bound = bound,
                                   .count = count};
  contacts_.add_quad(impulses);
  // A divided step has no single slip velocity. Its sub-steps' work was added above.
  if (!pair.is_divided) {
    if (!has_anchors) contacts_.add_friction_work(impulses.given, v);
    contacts_.add_gain(impulses.law, v, quad.bias());
  }
  quad.add_wrench(impulses.law, wrenches->law);
  quad.add_wrench(impulses.given, wrenches->given);
}

void ImpulseCheck::add_rows(const SolvedStep& step, const SubstepCheck& substeps,
                            GeneralizedImpulses* impulses) {
  const ContactProblem& problem = step.problem;
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    const bool is_whole = step.is_whole(step.island_of_row(row));
    const double v_r = calc_row_velocity(problem, row, step.solution.v);
    const double law = is_whole ? calc_reference_row_impulse(row, v_r) : substeps.row_impulse(i);
    if (is_whole) rows_.gain += calc_row_gain(row, law, v_r);
    const double given = step.solution.row_impulses[i];
    if (row.kind == contact::RowKind::kDrySpring)
      contacts_.add_friction_work(calc_dry_spring_gain(row, problem.time_step, given, v_r));
    const bool is_spring = row.kind == contact::RowKind::kSpring;
    add_row_force(problem, row, law, impulses->by_law);
    add_row_force(problem, row, given, is_spring ? impulses->spring : impulses->constraint);
    rows_.is_finite = rows_.is_finite && std::isfinite(given);
    rows_.scale = std::max(rows_.scale, std::abs(law));
    rows_.impulse_error = std::max(rows_.impulse_error, std::abs(law - given));
  }
}

double ImpulseCheck::gain() const { return contacts_.gain() + rows_.gain; }

double ImpulseCheck::scale() const { return std::max(contacts_.scale(), rows_.scale); }

void ImpulseCheck::write(const SolvedStep& step, Certificate* out) const {
  out->impulse_error = std::max(contacts_.impulse_error(), rows_.impulse_error);
  if (!step.problem.contacts.empty()) out->min_normal_impulse = contacts_.min_normal_impulse();
  out->max_cone_excess = contacts_.max_cone_excess();
  out->max_friction_work = contacts_.max_friction_work();
}

void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!is_finite) verdict->require("non-finite impulse", kInfinity, 1e300, "N s");
  verdict->require("deviation from the contact law", certificate.impulse_error, tolerance, "N s");
  verdict->require("adhesive normal impulse", -certificate.min_normal_impulse, tolerance, "N s");
  verdict->require("friction beyond its bound", certificate.max_cone_excess, tolerance, "N s");
}

}  // namespace stiction::certificate
