#include "stiction/sim/memory/walk.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/sim/memory/static_friction.hpp"

namespace stiction::sim {
namespace {

using contact::Contact;
using contact::ContactProblem;
using contact::ContactSolution;
using math::Vec3;

constexpr std::size_t kWordsOfWalkingPair = 12;

/// Returns the friction of a contact along the surface relative to its bound, at most 1.
double calc_ratio(const Contact& c, const std::array<double, 6>& gamma) {
  if (!(c.friction[0] > 0 && c.friction[1] > 0)) return 1;
  const double friction = math::hypot(gamma[0] / c.friction[0], gamma[1] / c.friction[1]);
  return std::min(friction / gamma[2], 1.0);
}

bool all_press(const ContactSolution& solution, std::span<const int> contacts) {
  return std::ranges::all_of(contacts, [&](int i) { return solution.impulses[i][2] > 0; });
}

/// True if some contacts slip, and all together bear less friction than they could.
bool slip_in_part(const ContactProblem& problem, const ContactSolution& solution,
                  std::span<const int> contacts) {
  if (std::ranges::none_of(contacts, [&](int i) { return solution.slipping[i] != 0; }))
    return false;
  double friction = 0, bound = 0;
  for (const int i : contacts) {
    const double normal = solution.impulses[i][2];
    bound += normal;
    friction += normal * calc_ratio(problem.contacts[i], solution.impulses[i]);
  }
  return friction < WalkWatch::kLargestRatio * bound;
}

/// Returns the way by which B slips on A in the step: that of all contacts, weighted by their
/// stiffnesses [m].
/// @param V motion of the pair
Vec3 calc_way(const ContactProblem& problem, const ContactSolution& solution, const math::Six& V,
              std::span<const int> contacts) {
  Vec3 sum;
  double stiffness = 0;
  for (const int i : contacts) {
    const std::array<double, 6>& gamma = solution.impulses[i];
    stiffness += problem.anchors[i].stiffness;
    if (!solution.slipping[i]) continue;
    const std::array<double, 9>& R = problem.contacts[i].R_WC;
    // Friction on B is opposite to the slip.
    const Vec3 back = Vec3{R[0], R[1], R[2]} * gamma[0] + Vec3{R[3], R[4], R[5]} * gamma[1];
    const double length = norm(back);
    if (length > 0)
      sum -=
          back * (problem.anchors[i].stiffness / length * calc_yielded_slip(problem, i, V, gamma));
  }
  return stiffness > 0 ? sum * (1 / stiffness) : Vec3{};
}

}  // namespace

/// Returns the first pair that is not before that of two geoms.
std::vector<WalkWatch::Pair>::iterator WalkWatch::find(const std::array<int, 2>& geoms) {
  return std::ranges::lower_bound(pairs_, geoms, {}, &Pair::geoms);
}

void WalkWatch::add(const std::array<int, 2>& geoms, const plant::BodyPose& body,
                    const ContactProblem& problem, const ContactSolution& solution,
                    std::span<const int> contacts) {
  auto at = find(geoms);
  const bool is_known = at != pairs_.end() && at->geoms == geoms;
  if (!all_press(solution, contacts)) {
    if (is_known) at->lifts = true;
    return;
  }
  if (!slip_in_part(problem, solution, contacts)) return;
  const math::Six V =
      contact::calc_pair_velocity(problem, find_body_pair(problem, contacts.front()), solution.v);
  const Vec3 way = calc_way(problem, solution, V, contacts);
  mjtNum inverse[4], turned[3];
  mju_negQuat(inverse, body.quaternion.data());
  mju_rotVecQuat(turned, &way.x, inverse);
  if (!is_known) at = pairs_.insert(at, {.geoms = geoms});
  ++at->num_steps;
  at->turned += problem.time_step * math::hypot(math::hypot(V[0], V[1]), V[2]);
  at->way += Vec3{turned[0], turned[1], turned[2]};
}

void WalkWatch::end_window(Pair* pair) const {
  const double length = norm(pair->way);
  // What slips to and fro need not end a window where it began, but changes its direction.
  const bool goes_on =
      pair->num_windows == 0 || dot(pair->way, pair->before) > 0.5 * length * norm(pair->before);
  const bool walks = kLeastShare * num_steps_ < pair->num_steps && length > kLeastSpeed * time_ &&
                     pair->turned < kMostTurn && !pair->lifts && goes_on;
  pair->num_windows = walks ? pair->num_windows + 1 : 0;
  pair->before = std::exchange(pair->way, {});
  pair->num_steps = 0;
  pair->turned = 0;
  pair->lifts = false;
}

std::optional<WalkWatch::Walk> WalkWatch::end_step(double dt) {
  time_ += dt;
  ++num_steps_;
  if (time_ < kWindow || num_steps_ < kLeastSteps) return std::nullopt;
  std::optional<Walk> fastest;
  for (Pair& pair : pairs_) {
    end_window(&pair);
    const double speed = norm(pair.before) / time_;
    if (pair.num_windows >= kLeastWindows && (!fastest || speed > fastest->speed))
      fastest = Walk{pair.geoms, speed};
  }
  std::erase_if(pairs_, [](const Pair& pair) { return pair.num_windows == 0; });
  time_ = 0;
  num_steps_ = 0;
  return std::exchange(is_warned_, fastest.has_value()) ? std::nullopt : fastest;
}

void WalkWatch::write(base::WordWriter* words) const {
  words->put(time_);
  words->put(num_steps_);
  words->put(is_warned_);
  words->put(pairs_.size());
  for (const Pair& pair : pairs_) {
    words->put_all(pair.geoms);
    words->put(pair.num_steps);
    words->put(pair.lifts);
    words->put(pair.num_windows);
    words->put(pair.turned);
    for (const Vec3& way : {pair.way, pair.before}) words->put_all(std::array{way.x, way.y, way.z});
  }
}

void WalkWatch::read(const mjModel* m, base::WordReader* words) {
  constexpr int kMost = std::numeric_limits<int>::max();
  time_ = words->take_finite();
  words->check(time_ >= 0);
  num_steps_ = words->take_below(kMost);
  is_warned_ = words->take_flag();
  pairs_.clear();
  pairs_.resize(words->take_count(kWordsOfWalkingPair));
  for (Pair& pair : pairs_) {
    for (int& geom : pair.geoms) geom = words->take_below(m->ngeom);
    pair.num_steps = words->take_below(kMost);
    pair.lifts = words->take_flag();
    pair.num_windows = words->take_below(kMost);
    pair.turned = words->take_finite();
    for (Vec3* way : {&pair.way, &pair.before})
      for (double* x : {&way->x, &way->y, &way->z}) *x = words->take_finite();
  }
  words->check(std::ranges::is_sorted(pairs_, {}, &Pair::geoms));
}

}  // namespace stiction::sim
