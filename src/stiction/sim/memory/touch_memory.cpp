#include "stiction/sim/memory/touch_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/sim/memory/contact_matching.hpp"

namespace stiction::sim {
namespace {

using contact::ContactProblem;
using math::Vec3;

Vec3 to_vector(const mjtNum* x) { return {x[0], x[1], x[2]}; }

/// Returns the position of the body to which the points of two geoms are relative, so that they
/// hardly move from one step to the next.
Vec3 find_origin(const mjModel* m, const mjData* d, const std::array<int, 2>& geoms) {
  const int body_A = m->geom_bodyid[geoms[0]], body_B = m->geom_bodyid[geoms[1]];
  return to_vector(d->xpos + 3 * (m->body_weldid[body_B] ? body_B : body_A));
}

/// Updates the near-rigid mass of two geoms with the contacts [first, end): the least of all contacts
/// when they begin to touch, then the largest, and 0 when they part.
void record_mass(const ContactProblem& problem, const contact::ContactSolution& solution, int first,
                 int end, double* mass) {
  bool touches = false;
  double least = contact::kInfinity, largest = 0;
  for (int i = first; i < end; ++i) {
    const double own = problem.near_rigid_mass[i];
    if (own == 0) continue;  // compliant
    touches = touches || problem.contacts[i].phi0 < 0 || solution.impulses[i][2] > 0;
    least = std::min(least, own);
    largest = std::max(largest, own);
  }
  *mass = !touches ? 0 : *mass == 0 ? least : largest;
}

}  // namespace

void TouchMemory::begin(const StepStart& start) {
  steps_.begin();
  steps_.now.clear();
  goes_on_ = start.has_positions;
}

void TouchMemory::end_part() {
  steps_.end_part();
  steps_.now.clear();
  goes_on_ = true;
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

void TouchMemory::carry_to(const mjData* d, bool has_impulses, ContactProblem* problem) {
  const int num_contacts = problem->num_contacts();
  problem->lagged_impulse.reserve(num_contacts);  // the next step has as many
  Step& now = steps_.now;
  for (Step* step : {&steps_.before, &now}) step->reserve(num_contacts);
  ranges_.reserve(num_contacts);
  ranges_.clear();
  now.clear();
  next_ = 0;
  sorted_.reserve(num_contacts);
  sorted_.clear();
  const bool knows_any = goes_on_ && !steps_.before.pairs.empty();
  problem->near_rigid_mass.assign(num_contacts, 0.0);
  if (knows_any && has_impulses) problem->lagged_impulse.assign(num_contacts, std::nullopt);
  for_each_geom_contacts(d, *problem, [&](const GeomContacts& contacts) {
    if (contacts.is_patch) return;
    Pair pair{.geoms = contacts.geoms,
              .first_point = static_cast<int>(now.points.size()),
              .num_points = has_impulses ? contacts.count : 0};
    const Pair* const before = knows_any ? find_before(pair.geoms) : nullptr;
    if (before) pair.near_rigid_mass = before->near_rigid_mass;
    std::fill_n(problem->near_rigid_mass.begin() + contacts.first, contacts.count,
                pair.near_rigid_mass);
    now.pairs.push_back(pair);
    ranges_.push_back({contacts.first, contacts.count});
    if (!has_impulses) return;
    const Vec3 origin = find_origin(m_, d, pair.geoms);
    for (int i = contacts.first; i < contacts.first + contacts.count; ++i)
      now.points.push_back({to_vector(d->contact[problem->contacts[i].source].pos) - origin});
    if (!before) return;
    match_nearest(steps_.before.points_of(*before), now.points_of(pair),
                  [&](std::size_t n, std::size_t b) {
                    problem->lagged_impulse[contacts.first + n] =
                        steps_.before.points_of(*before)[b].force * problem->time_step;
                  });
  });
}

void TouchMemory::record(const ContactProblem& problem,
                         const contact::ContactSolution& solution) {
  for (std::size_t p = 0; p < steps_.now.pairs.size(); ++p) {
    Pair& pair = steps_.now.pairs[p];
    const auto [first, count] = ranges_[p];
    record_mass(problem, solution, first, first + count, &pair.near_rigid_mass);
    for (int k = 0; k < pair.num_points; ++k)
      steps_.now.points[pair.first_point + k].force =
          std::max(0.0, solution.impulses[first + k][2]) / problem.time_step;
  }
}

void TouchMemory::write(base::WordWriter* words) const {
  const Step& step = steps_.before;
  words->put(step.pairs.size());
  for (const Pair& pair : step.pairs) {
    words->put_all(pair.geoms);
    words->put(pair.near_rigid_mass);
    words->put(pair.num_points);
    for (const Point& point : step.points_of(pair))
      words->put_all(std::array{point.position.x, point.position.y, point.position.z, point.force});
  }
}

void TouchMemory::read(base::WordReader* words) {
  constexpr std::size_t kWordsOfPair = 4, kWordsOfPoint = 4;
  Step& step = steps_.before;
  step.clear();
  step.pairs.resize(words->take_count(kWordsOfPair));
  for (Pair& pair : step.pairs) {
    for (int& geom : pair.geoms) geom = words->take_below(m_->ngeom);
    pair.near_rigid_mass = words->take_finite();
    words->check(pair.near_rigid_mass >= 0);
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
