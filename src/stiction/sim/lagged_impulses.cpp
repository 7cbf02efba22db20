#include "stiction/sim/lagged_impulses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

using contact::Contact;
using contact::ContactProblem;

std::array<int, 2> find_geoms(const mjData* d, const Contact& c) {
  const mjContact& con = d->contact[c.source];
  return {con.geom[0], con.geom[1]};
}

/// Returns the end of the contacts that begin with `first` and have the same geoms. Patches have no
/// such contacts; their points are skipped one by one.
int find_end(const mjData* d, const ContactProblem& problem, int first) {
  const auto& contacts = problem.contacts;
  int end = first + 1;
  while (end < problem.num_contacts() && contacts[end].face < 0 &&
         find_geoms(d, contacts[end]) == find_geoms(d, contacts[first]))
    ++end;
  return end;
}

/// Returns the position of a contact point relative to a body of the pair, so that it hardly moves
/// from one step to the next.
std::array<double, 3> calc_position(const mjModel* m, const mjData* d, const Contact& c) {
  const mjContact& con = d->contact[c.source];
  const int body_A = m->geom_bodyid[con.geom[0]], body_B = m->geom_bodyid[con.geom[1]];
  const mjtNum* origin = d->xpos + 3 * (m->body_weldid[body_B] ? body_B : body_A);
  return {con.pos[0] - origin[0], con.pos[1] - origin[1], con.pos[2] - origin[2]};
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

std::span<const LaggedImpulses::Point> LaggedImpulses::Step::find(
    const std::array<int, 2>& geoms) const {
  const auto pair = std::ranges::lower_bound(pairs, geoms, {}, &Pair::geoms);
  if (pair == pairs.end() || pair->geoms != geoms) return {};
  return std::span(points).subspan(pair->first_point, pair->num_points);
}

void LaggedImpulses::start(bool goes_on) {
  goes_on_ = goes_on;
  now_.clear();
}

void LaggedImpulses::write(const mjModel* m, const mjData* d, ContactProblem* problem) const {
  problem->lagged_impulse.reserve(problem->contacts.size());  // the next step has as many
  if (!goes_on_ || before_.pairs.empty()) return;
  problem->lagged_impulse.assign(problem->contacts.size(), std::nullopt);
  constexpr int kMaxPoints = 64;  // of two geoms; MuJoCo makes at most 50
  for (int i = 0; i < problem->num_contacts();) {
    if (problem->contacts[i].face >= 0) {
      ++i;
      continue;
    }
    const int end = find_end(d, *problem, i);
    std::span<const Point> points = before_.find(find_geoms(d, problem->contacts[i]));
    points = points.first(std::min<std::size_t>(points.size(), kMaxPoints));
    std::uint64_t is_free = ~std::uint64_t{0};  // bit p: no contact has taken point p
    for (; i < end; ++i) {
      // Each contact takes the nearest point that is free.
      const std::array<double, 3> position = calc_position(m, d, problem->contacts[i]);
      std::size_t nearest = points.size();
      double least = 0;
      for (std::size_t p = 0; p < points.size(); ++p) {
        if (!(is_free >> p & 1)) continue;
        const double distance = mju_dist3(position.data(), points[p].position.data());
        if (nearest < points.size() && distance >= least) continue;
        nearest = p;
        least = distance;
      }
      if (nearest == points.size()) continue;
      is_free &= ~(std::uint64_t{1} << nearest);
      problem->lagged_impulse[i] = points[nearest].force * problem->time_step;
    }
  }
}

void LaggedImpulses::record(const mjModel* m, const mjData* d, const ContactProblem& problem,
                            const contact::ContactSolution& solution) {
  for (Step* step : {&before_, &now_}) step->reserve(problem.num_contacts());
  now_.clear();
  for (int i = 0; i < problem.num_contacts();) {
    if (problem.contacts[i].face >= 0) {
      ++i;
      continue;
    }
    const int end = find_end(d, problem, i);
    now_.pairs.push_back({.geoms = find_geoms(d, problem.contacts[i]),
                          .first_point = static_cast<int>(now_.points.size()),
                          .num_points = end - i});
    for (; i < end; ++i)
      now_.points.push_back({.position = calc_position(m, d, problem.contacts[i]),
                             .force = std::max(0.0, solution.impulses[i][2]) / problem.time_step});
  }
  std::ranges::sort(now_.pairs, {},
                    [](const Pair& p) { return std::pair(p.geoms, p.first_point); });
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
    check(before_.pairs.empty() || before_.pairs.back().geoms <= pair.geoms);
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
