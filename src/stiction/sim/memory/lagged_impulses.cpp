#include "stiction/sim/memory/lagged_impulses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {
namespace {

using contact::Contact;
using contact::ContactProblem;

std::array<int, 2> find_contact_geoms(const mjData* d, const Contact& c) {
  const mjContact& con = d->contact[c.source];
  return {con.geom[0], con.geom[1]};
}

/// Returns the position of the body to which the points of two geoms are relative, so that they
/// hardly move from one step to the next.
const mjtNum* find_origin(const mjModel* m, const mjData* d, const std::array<int, 2>& geoms) {
  const int body_A = m->geom_bodyid[geoms[0]], body_B = m->geom_bodyid[geoms[1]];
  return d->xpos + 3 * (m->body_weldid[body_B] ? body_B : body_A);
}

double calc_squared_distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return math::square(a[0] - b[0]) + math::square(a[1] - b[1]) + math::square(a[2] - b[2]);
}

}  // namespace

void LaggedImpulses::Step::clear() {
  pairs.clear();
  points.clear();
}

void LaggedImpulses::Step::reserve(int num_points) {
  pairs.reserve(num_points);
  points.reserve(num_points);
}

/// Returns the points of two geoms in the last step. MuJoCo mostly lists pairs in the order of the
/// last step, so the pair after the last one that was found is tried first.
std::span<const LaggedImpulses::Point> LaggedImpulses::find_before(
    const std::array<int, 2>& geoms) {
  const std::vector<Pair>& pairs = before_.pairs;
  if (next_ >= pairs.size() || pairs[next_].geoms != geoms) {
    const auto geoms_of = [&](int i) { return pairs[i].geoms; };
    if (sorted_.empty()) {
      sorted_.resize(pairs.size());
      std::iota(sorted_.begin(), sorted_.end(), 0);
      std::ranges::sort(sorted_, {}, [&](int i) { return std::pair(geoms_of(i), i); });
    }
    const auto found = std::ranges::lower_bound(sorted_, geoms, {}, geoms_of);
    if (found == sorted_.end() || geoms_of(*found) != geoms) return {};
    next_ = *found;
  }
  const Pair& pair = pairs[next_++];
  return std::span(before_.points).subspan(pair.first_point, pair.num_points);
}

/// Gives each contact of a pair the impulse of the nearest point of the last step that no other
/// contact has taken.
void LaggedImpulses::write_pair(const Pair& pair, int first_contact, ContactProblem* problem) {
  constexpr int kMaxPoints = 64;  // of two geoms; MuJoCo makes at most 50
  std::span<const Point> points = find_before(pair.geoms);
  points = points.first(std::min<std::size_t>(points.size(), kMaxPoints));
  std::uint64_t is_free = ~std::uint64_t{0};  // bit p: no contact has taken point p
  for (int i = 0; i < pair.num_points; ++i) {
    const std::array<double, 3>& position = now_.points[pair.first_point + i].position;
    std::size_t nearest = points.size();
    double least = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!(is_free >> p & 1)) continue;
      const double distance = calc_squared_distance(position, points[p].position);
      if (nearest < points.size() && distance >= least) continue;
      nearest = p;
      least = distance;
    }
    if (nearest == points.size()) continue;
    is_free &= ~(std::uint64_t{1} << nearest);
    problem->lagged_impulse[first_contact + i] = points[nearest].force * problem->time_step;
  }
}

void LaggedImpulses::start(bool goes_on) {
  goes_on_ = goes_on;
  now_.clear();
}

void LaggedImpulses::write(const mjModel* m, const mjData* d, ContactProblem* problem) {
  const int num_contacts = problem->num_contacts();
  problem->lagged_impulse.reserve(num_contacts);  // the next step has as many
  for (Step* step : {&before_, &now_}) step->reserve(num_contacts);
  now_.clear();
  next_ = 0;
  sorted_.reserve(num_contacts);
  sorted_.clear();
  const bool knows_any = goes_on_ && !before_.pairs.empty();
  if (knows_any) problem->lagged_impulse.assign(num_contacts, std::nullopt);
  const std::vector<Contact>& contacts = problem->contacts;
  for (int i = 0; i < num_contacts;) {
    if (contacts[i].face >= 0) {
      ++i;
      continue;
    }
    const int first = i;
    Pair pair{.geoms = find_contact_geoms(d, contacts[i]),
              .first_point = static_cast<int>(now_.points.size())};
    const mjtNum* origin = find_origin(m, d, pair.geoms);
    do {
      const mjtNum* x = d->contact[contacts[i].source].pos;
      now_.points.push_back({.position = {x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]}});
      ++i;
    } while (i < num_contacts && contacts[i].face < 0 &&
             find_contact_geoms(d, contacts[i]) == pair.geoms);
    pair.num_points = i - first;
    now_.pairs.push_back(pair);
    if (knows_any) write_pair(pair, first, problem);
  }
}

void LaggedImpulses::record(const ContactProblem& problem,
                            const contact::ContactSolution& solution) {
  auto point = now_.points.begin();
  for (int i = 0; i < problem.num_contacts(); ++i)
    if (problem.contacts[i].face < 0)
      (point++)->force = std::max(0.0, solution.impulses[i][2]) / problem.time_step;
  STICTION_ASSERT(point == now_.points.end());
}

void LaggedImpulses::finish() { std::swap(before_, now_); }

void LaggedImpulses::write_memory(std::vector<std::uint64_t>* words) const {
  words->push_back(before_.pairs.size());
  for (const Pair& pair : before_.pairs) {
    for (const int geom : pair.geoms) words->push_back(geom);
    words->push_back(pair.num_points);
    for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
      for (const double x : before_.points[p].position)
        words->push_back(std::bit_cast<std::uint64_t>(x));
      words->push_back(std::bit_cast<std::uint64_t>(before_.points[p].force));
    }
  }
}

void LaggedImpulses::read_memory(const mjModel* m, std::span<const std::uint64_t>* words) {
  constexpr std::size_t kWordsOfPair = 3, kWordsOfPoint = 4;
  const auto check = [](bool is_right) {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  "has wrong numbers for the contact forces of the last step; it belongs to "
                  "another model");
  };
  std::span<const std::uint64_t> rest = *words;
  const auto take = [&] {
    const std::uint64_t word = rest.front();
    rest = rest.subspan(1);
    return word;
  };
  check(!rest.empty());
  before_.clear();
  const std::uint64_t num_pairs = take();
  for (std::uint64_t i = 0; i < num_pairs; ++i) {
    check(rest.size() >= kWordsOfPair);
    Pair pair;
    for (int& geom : pair.geoms) {
      check(rest.front() < static_cast<std::uint64_t>(m->ngeom));
      geom = static_cast<int>(take());
    }
    check(rest.front() <= (rest.size() - 1) / kWordsOfPoint);
    pair.first_point = static_cast<int>(before_.points.size());
    pair.num_points = static_cast<int>(take());
    for (int p = 0; p < pair.num_points; ++p) {
      Point point;
      for (double& x : point.position) x = std::bit_cast<double>(take());
      point.force = std::bit_cast<double>(take());
      check(point.force >= 0 && std::isfinite(point.force));
      before_.points.push_back(point);
    }
    before_.pairs.push_back(pair);
  }
  *words = rest;
}

}  // namespace stiction::sim
