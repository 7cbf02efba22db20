#include "stiction/sim/memory/touch_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/sim/memory/contact_matching.hpp"

namespace stiction::sim {
namespace {

using contact::ContactProblem;
using math::Vec3;

using plant::to_vector;

/// Returns the position of the body to which the points of two geoms are relative, so that they
/// hardly move from one step to the next.
Vec3 find_origin(const mjModel* m, const mjData* d, const std::array<int, 2>& geoms) {
  const int body_A = m->geom_bodyid[geoms[0]], body_B = m->geom_bodyid[geoms[1]];
  return to_vector(d->xpos + 3 * (m->body_weldid[body_B] ? body_B : body_A));
}

/// An overlap that grows faster than this, beyond the velocities at the end of the step, counts as
/// a start inside each other or as one with another normal. Curved motion grows it by half of its
/// acceleration times the step [m/s].
constexpr double kFastestGrowth = 0.1;
/// Less is an error of rounding, or of the extrapolation of short steps [m].
constexpr double kLeastGrowth = 2e-5;

/// True if one of two bodies is on a base that moves away from the other along n: on a free joint,
/// on slides in several directions, as planar bases have, or on one slide beside a body that is
/// fixed to the world. Joints of links hold them where they are.
bool can_part(const mjModel* m, const mjData* d, std::array<int, 2> bodies, const Vec3& n) {
  constexpr double kAlong = 0.25;  // cos^2 of an angle of 60 degrees
  const bool is_fixed = !m->body_weldid[bodies[0]] || !m->body_weldid[bodies[1]];
  while (bodies[0] != bodies[1]) {
    int& body = bodies[bodies[0] < bodies[1]];  // parents have lower numbers
    int num_slides = 0;
    double along = 0;
    for (int j = m->body_jntadr[body]; j < m->body_jntadr[body] + m->body_jntnum[body]; ++j) {
      if (m->jnt_type[j] == mjJNT_FREE) return true;
      if (m->jnt_type[j] != mjJNT_SLIDE) continue;
      ++num_slides;
      along += math::square(dot(to_vector(d->xaxis + 3 * j), n));
    }
    if ((num_slides > 1 || is_fixed) && along > kAlong) return true;
    body = m->body_parentid[body];
  }
  return false;
}

/// Returns the overlap whose force drives bodies at the speed of correction [m].
double calc_corrected(const TouchMemory::CarryOptions& options, const ContactProblem& problem,
                      const contact::ContactLawData<double>& law) {
  // Linear dissipation lets an overlap x part at x / (dt + tau). The force of Hunt and Crossley
  // goes to 0 at this speed, so its spring must still be compressed there.
  const double time =
      options.has_relaxation ? problem.time_step + law.relaxation_time : 2 * problem.time_step;
  return options.correction_speed * time;
}

/// The deepest of some contacts of two geoms.
struct Deepest {
  double overlap = 0;  // [m]
  int contact = -1;    // of the problem; -1: none overlaps
};

template <class Takes>
Deepest find_deepest(const ContactProblem& problem, const GeomContacts& contacts, Takes takes) {
  Deepest deepest;
  for (int i = contacts.first; i < contacts.first + contacts.count; ++i) {
    const contact::Contact& c = problem.contacts[i];
    if (-c.phi0 > deepest.overlap && takes(c)) deepest = {-c.phi0, i};
  }
  return deepest;
}

double calc_next_overlap(const ContactProblem& problem, const contact::ContactSolution& solution,
                         int i) {
  return -problem.contacts[i].phi0 - problem.time_step * solution.contact_velocities[i][2];
}

/// Returns the work of the normal forces between two geoms in a step [J].
double calc_work(const ContactProblem& problem, const contact::ContactSolution& solution,
                 const contact::BodyPair& bodies, int first, int count) {
  const auto v0 = calc_pair_velocity(problem, bodies, problem.v0);
  double work = 0;
  for (int i = first; i < first + count; ++i) {
    const double at_start = calc_contact_velocity(problem.contacts[i], v0)[2];
    work += 0.5 * solution.impulses[i][2] * (at_start + solution.contact_velocities[i][2]);
  }
  return work;
}

}  // namespace

void TouchMemory::begin(const StepStart& start) {
  steps_.begin();
  steps_.now.clear();
  kept_ = *start.kept;
  is_known_ = start.kept->has_any() || start.goes_on;
}

void TouchMemory::end_part() {
  steps_.end_part();
  steps_.now.clear();
  kept_.set_all();
  is_known_ = true;
}

std::uint32_t TouchMemory::used() const {
  const Step& now = steps_.now;
  const bool is_any = !now.points.empty() || std::ranges::any_of(now.pairs, [](const Pair& pair) {
    return pair.rest_overlap > 0;
  });
  return is_any ? kContactForces : 0u;
}

/// Returns two geoms of the last step, or null. MuJoCo mostly lists pairs in the order of the
/// last step, so the pair after the last one that was found is tried first.
const TouchMemory::Pair* TouchMemory::find_before(const std::array<int, 2>& geoms) {
  const std::vector<Pair>& pairs = steps_.before.pairs;
  if (next_ >= pairs.size() || pairs[next_].geoms != geoms) {
    const auto geoms_of = [&](int i) { return pairs[i].geoms; };
    if (sorted_.empty()) {
      sorted_.resize(pairs.size());
      std::iota(sorted_.begin(), sorted_.end(), 0);
      std::ranges::sort(sorted_, {}, [&](int i) { return std::pair(geoms_of(i), i); });
    }
    const auto found = std::ranges::lower_bound(sorted_, geoms, {}, geoms_of);
    if (found == sorted_.end() || geoms_of(*found) != geoms) return nullptr;
    next_ = *found;
  }
  return &pairs[next_++];
}

void TouchMemory::carry_to(const mjData* d, const CarryOptions& options, ContactProblem* problem) {
  const bool has_impulses = options.has_impulses;
  const int num_contacts = problem->num_contacts();
  problem->lagged_impulse.reserve(num_contacts);  // the next step has as many
  Step& now = steps_.now;
  for (Step* step : {&steps_.start, &steps_.before, &now}) step->reserve(num_contacts);
  ranges_.reserve(num_contacts);
  ranges_.clear();
  now.clear();
  distances_.reserve(num_contacts);
  distances_.clear();
  if (!has_impulses && !options.has_near_rigid) return;
  next_ = 0;
  sorted_.reserve(num_contacts);
  sorted_.clear();
  const bool knows_any = is_known_ && !steps_.before.pairs.empty();
  if (knows_any && kept_.has_any() && has_impulses)
    problem->lagged_impulse.assign(num_contacts, std::nullopt);
  for_each_geom_contacts(d, *problem, [&](const GeomContacts& contacts) {
    if (contacts.is_patch) return;
    Pair pair{.geoms = contacts.geoms,
              .first_point = static_cast<int>(now.points.size()),
              .num_points = has_impulses ? contacts.count : 0};
    const Pair* const before = knows_any ? find_before(pair.geoms) : nullptr;
    if (before) pair.work = before->work;
    if (options.has_near_rigid) take_rest_overlap(d, contacts, before, options, &pair, problem);
    now.pairs.push_back(pair);
    ranges_.push_back({contacts.first, contacts.count});
    if (!has_impulses) return;
    const Vec3 origin = find_origin(m_, d, pair.geoms);
    for (int i = contacts.first; i < contacts.first + contacts.count; ++i)
      now.points.push_back({to_vector(d->contact[problem->contacts[i].source].pos) - origin});
    if (!before || !kept_.has_geoms(m_, pair.geoms)) return;
    match_nearest(steps_.before.points_of(*before), now.points_of(pair),
                  [&](std::size_t n, std::size_t b) {
                    problem->lagged_impulse[contacts.first + n] =
                        steps_.before.points_of(*before)[b].force * problem->time_step;
                  });
  });
}

/// Finds the overlap of two geoms that has no force, and takes it out of the distances. It is that
/// with which they start, or which a change of the normal adds. It shrinks as they part, and is
/// corrected if a joint lets them part. A given stiffness presses all that can part. Where no joint
/// lets them part, it is limited to the near-rigid one.
/// @param before the geoms in the last step; may be null
void TouchMemory::take_rest_overlap(const mjData* d, const GeomContacts& contacts,
                                    const Pair* before, const CarryOptions& options, Pair* pair,
                                    ContactProblem* problem) {
  const std::array<int, 2> bodies = {m_->geom_bodyid[contacts.geoms[0]],
                                     m_->geom_bodyid[contacts.geoms[1]]};
  const auto parts = [&](int contact) {
    const std::array<double, 9>& R = problem->contacts[contact].R_WC;
    return can_part(m_, d, bodies, {R[6], R[7], R[8]});
  };
  const auto is_near_rigid = [&](const contact::Contact& c) {
    return c.law.*options.stiffness == contact::kInfinity;
  };
  const auto has_mocap = [&] {
    return std::ranges::any_of(
        bodies, [&](int body) { return m_->body_mocapid[m_->body_rootid[body]] >= 0; });
  };
  Deepest deepest = find_deepest(*problem, contacts, is_near_rigid);
  const bool takes_all = deepest.contact < 0;
  if (takes_all) {
    deepest = find_deepest(*problem, contacts, [](const contact::Contact&) { return true; });
    if (deepest.contact < 0 || has_mocap() || parts(deepest.contact)) return;
  }
  const double known = before ? std::max(0.0, before->next_overlap) : 0;
  const double growth = deepest.overlap - known;
  double rest = before ? before->rest_overlap : 0;
  // What the caller moves pushes a link, which is not moved out otherwise.
  const bool is_moved = before && (!kept_.has_geoms(m_, pair->geoms) || has_mocap());
  if (growth > std::max(kLeastGrowth, kFastestGrowth * problem->time_step) &&
      (!is_moved || parts(deepest.contact)))
    rest += growth;
  if (rest == 0) return;
  const double corrected =
      parts(deepest.contact)
          ? calc_corrected(options, *problem, problem->contacts[deepest.contact].law)
          : 0;
  pair->rest_overlap = std::clamp(deepest.overlap - corrected, 0.0, rest);
  if (pair->rest_overlap == 0) return;
  for (int i = contacts.first; i < contacts.first + contacts.count; ++i) {
    contact::Contact& c = problem->contacts[i];
    if (!takes_all && !is_near_rigid(c)) continue;
    c.limits_stiffness = takes_all;
    distances_.emplace_back(i, c.phi0);
    c.phi0 += pair->rest_overlap;
    if (c.law.stiffness < contact::kInfinity) c.fn0 = -c.law.stiffness * c.phi0;
  }
}

void TouchMemory::restore_distances(ContactProblem* problem) const {
  for (const auto& [index, phi0] : distances_) problem->contacts[index].phi0 = phi0;
}

std::optional<TouchMemory::MadeEnergy> TouchMemory::record(
    const ContactProblem& problem, const contact::ContactSolution& solution) {
  std::optional<MadeEnergy> made;
  auto bodies = problem.pairs.begin();
  for (std::size_t p = 0; p < steps_.now.pairs.size(); ++p) {
    Pair& pair = steps_.now.pairs[p];
    const auto [first, count] = ranges_[p];
    while (first >= bodies->first_contact + bodies->num_contacts) ++bodies;
    double overlap = -contact::kInfinity, impulse = 0;
    pair.next_overlap = overlap;
    for (int i = first; i < first + count; ++i) {
      overlap = std::max(overlap, -problem.contacts[i].phi0);
      impulse = std::max(impulse, solution.impulses[i][2]);
      pair.next_overlap = std::max(pair.next_overlap, calc_next_overlap(problem, solution, i));
    }
    for (int k = 0; k < pair.num_points; ++k)
      steps_.now.points[pair.first_point + k].force =
          std::max(0.0, solution.impulses[first + k][2]) / problem.time_step;

    constexpr double kSpeed = 1;  // [m/s]
    const double limit = 0.5 * bodies->reduced_mass() * kSpeed * kSpeed;
    const double before = pair.work;
    // A correction lifts bodies out of an overlap.
    const bool counts = pair.rest_overlap == 0 && (overlap > 0 || impulse > 0);
    pair.work = counts ? before + calc_work(problem, solution, *bodies, first, count) : 0;
    if (pair.work > limit && before <= limit && !made)
      made = {.geoms = pair.geoms, .energy = pair.work};
  }
  return made;
}

void TouchMemory::write(base::WordWriter* words) const {
  const Step& step = steps_.before;
  words->put(step.pairs.size());
  for (const Pair& pair : step.pairs) {
    words->put_all(pair.geoms);
    words->put(pair.rest_overlap);
    words->put(pair.next_overlap);
    words->put(pair.work);
    words->put(pair.num_points);
    for (const Point& point : step.points_of(pair))
      words->put_all(std::array{point.position.x, point.position.y, point.position.z, point.force});
  }
}

void TouchMemory::read(base::WordReader* words) {
  constexpr std::size_t kWordsOfPair = 6, kWordsOfPoint = 4;
  Step& step = steps_.before;
  step.clear();
  step.pairs.resize(words->take_count(kWordsOfPair));
  for (Pair& pair : step.pairs) {
    for (int& geom : pair.geoms) geom = words->take_below(m_->ngeom);
    pair.rest_overlap = words->take_finite();
    pair.next_overlap = words->take_finite();
    pair.work = words->take_finite();
    words->check(pair.rest_overlap >= 0);
    pair.first_point = static_cast<int>(step.points.size());
    pair.num_points = words->take_count(kWordsOfPoint);
    for (int p = 0; p < pair.num_points; ++p) {
      Point& point = step.points.emplace_back();
      for (double* x : {&point.position.x, &point.position.y, &point.position.z})
        *x = words->take_double();
      point.force = words->take_finite();
      words->check(point.force >= 0);
    }
  }
}

}  // namespace stiction::sim
