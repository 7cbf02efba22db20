#include "stiction/sim/memory/static_friction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {
namespace {

using contact::Anchor;
using contact::Contact;
using contact::ContactProblem;

constexpr int kSlip[5] = {0, 1, 3, 4, 5};  // components of friction: tangents, torsion, rolling
using SlipVector = std::array<double, 5>;

/// Returns the velocities of a contact that friction resists: two of slip [m/s], torsion and two of
/// rolling, times their friction relative to that of a slip [m/s].
/// @param V motion of the pair
SlipVector calc_slip_velocity(const Contact& c, const math::Six& V) {
  const auto turn = [&](int axis) {
    const double* a = c.R_WC.data() + 3 * axis;
    return a[0] * V[0] + a[1] * V[1] + a[2] * V[2];
  };
  const auto v = contact::calc_contact_velocity(c, V);
  SlipVector slip = {v[0], v[1], turn(2) + c.spin_bias, turn(0), turn(1)};
  const double largest = find_largest_friction(c);
  for (int i = 0; i < 5; ++i)
    slip[i] = i < c.dim - 1 && c.friction[i] > 0 ? slip[i] * c.friction[i] / largest : 0;
  return slip;
}

/// Returns calc_yielded_slip.
/// @param v its slip velocity at the end of the step
double calc_slip(const Contact& c, const Anchor& anchor, const SlipVector& v,
                 const std::array<double, 6>& gamma, double dt) {
  constexpr double kRounding = 1e-6;  // of long sums of stiff springs
  const double largest = find_largest_friction(c);
  const double resistance = dt * anchor.stiffness + anchor.damping;
  double trial = 0, actual = 0;  // squared impulses, in the norm of the cone
  for (int i = 0; i < c.dim - 1 && resistance > 0; ++i) {
    if (!(c.friction[i] > 0)) continue;
    const double ratio = c.friction[i] / largest, arc = i < 2 ? anchor.arc_velocity[i] : 0;
    const double stretch = dt * anchor.stiffness * anchor.stretch[i];
    trial += math::square((stretch + dt * resistance * arc) * ratio + dt * resistance * v[i]);
    actual += math::square(gamma[kSlip[i]] / ratio);
  }
  trial = std::sqrt(trial);
  actual = std::sqrt(actual);
  return trial > actual * (1 + kRounding) ? (trial - actual) / resistance : 0;
}

/// True if the slip of a contact comes to rest in the next step if it goes on to change as in this
/// one, from v0 to v.
bool stops_next(const SlipVector& v0, const SlipVector& v) {
  double change = 0;
  for (int i = 0; i < 5; ++i) change += (2 * v[i] - v0[i]) * v[i];
  return change <= 0;
}

/// True if a contact has no friction, such as a new one of a lagged model, whose bound is 0.
bool is_free(const std::array<double, 6>& gamma) {
  return std::ranges::all_of(kSlip, [&](int i) { return gamma[i] == 0; });
}

}  // namespace

double calc_yielded_slip(const ContactProblem& problem, int contact, const math::Six& V,
                         const std::array<double, 6>& gamma) {
  const Contact& c = problem.contacts[contact];
  return calc_slip(c, problem.anchors[contact], calc_slip_velocity(c, V), gamma, problem.time_step);
}

double find_static_ratio(double static_friction, const Contact& c) {
  const double dynamic = c.friction[0];
  return dynamic > 0 && static_friction > dynamic ? static_friction / dynamic : 1;
}

void begin_yielding(const mjModel* m, const ContactProblem& problem, std::span<const int> contacts,
                    std::span<const AnchorPoint> before, std::span<AnchorPoint> points) {
  const bool all_yield = std::ranges::all_of(before, &AnchorPoint::yields);
  const math::Six V =
      contact::calc_pair_velocity(problem, find_body_pair(problem, contacts.front()), problem.v0);
  const double fall = problem.time_step * mju_norm3(m->opt.gravity);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto v = contact::calc_contact_velocity(problem.contacts[contacts[p]], V);
    points[p].yields = before.empty() ? math::hypot(v[0], v[1]) > fall : all_yield;
  }
}

void raise_friction(double ratio, std::span<const int> contacts,
                    std::span<const AnchorPoint> points, ContactProblem* problem) {
  for (std::size_t p = 0; p < points.size(); ++p)
    if (!points[p].yields)
      for (double& mu : problem->contacts[contacts[p]].friction) mu *= ratio;
}

void record_yielding(const ContactProblem& problem, const contact::ContactSolution& solution,
                     std::span<const int> contacts, AnchorPoint* point) {
  constexpr double kHolds = 0.01;  // share of the load that holds the bodies
  const double dt = problem.time_step;
  const contact::BodyPair& bodies = find_body_pair(problem, contacts.front());
  const math::Six V0 = contact::calc_pair_velocity(problem, bodies, problem.v0);
  const math::Six V = contact::calc_pair_velocity(problem, bodies, solution.v);
  const auto slip_of = [&](int i) {
    return calc_yielded_slip(problem, i, V, solution.impulses[i]);
  };
  double bound = 0, held = 0, stiffness = 0;  // [N s], [N s], [N/m]
  for (int i = bodies.first_contact; i < bodies.first_contact + bodies.num_contacts; ++i) {
    const double normal = solution.impulses[i][2];
    if (!(normal > 0)) continue;
    const double of_contact = find_largest_friction(problem.contacts[i]) * normal;
    bound += of_contact;
    if (slip_of(i) == 0) held += of_contact;
    stiffness += problem.anchors[i].stiffness;
  }
  const double farthest = held > kHolds * bound ? 2 * bound / (dt * stiffness) : 0;  // [m]
  for (const int i : contacts) {
    if (!(solution.impulses[i][2] > 0)) continue;
    const Contact& c = problem.contacts[i];
    const double slip = slip_of(i);
    const bool sticks = slip == 0 || (point->yields ? stops_next(calc_slip_velocity(c, V0),
                                                                 calc_slip_velocity(c, V))
                                                    : is_free(solution.impulses[i]));
    point->slip = sticks ? 0 : point->slip + slip;
    point->yields = !sticks && (point->yields || point->slip > farthest);
    ++point;
  }
}

}  // namespace stiction::sim
