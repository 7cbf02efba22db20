#include "stiction/sim/memory/creep.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/sim/memory/static_friction.hpp"

namespace stiction::sim {
namespace {

constexpr std::size_t kWordsOfBodies = 8;

/// Calls f(number) for all numbers of two bodies that are remembered.
void for_each_number_of_bodies(auto& losing, auto&& f) {
  for (auto* x : {&losing.forgotten, &losing.yielded, &losing.turned, &losing.largest_stretch})
    f(*x);
}

void end_step_of(LosingBodies* losing) {
  const LosingBodies::Step step = std::exchange(losing->step, {});
  losing->turned += step.turn;
  if (!(step.stiffness > 0)) return;
  losing->forgotten += step.lost_force / step.stiffness;
  losing->yielded += step.yielding_force / step.stiffness;
}

bool creeps(const LosingBodies& losing, double time) {
  return losing.forgotten > CreepWatch::kLeastSpeed * time &&
         losing.forgotten > CreepWatch::kMostLosses * losing.largest_stretch &&
         losing.forgotten > losing.yielded && losing.turned < CreepWatch::kMostTurn;
}

}  // namespace

void CreepWatch::lose(const std::array<int, 2>& bodies, const std::array<int, 2>& geoms,
                      double force, double stretch) {
  if (!(force > 0)) return;
  auto at = std::ranges::lower_bound(losing_, bodies, {}, &LosingBodies::bodies);
  if (at == losing_.end() || at->bodies != bodies) at = losing_.insert(at, {.bodies = bodies});
  at->geoms = geoms;
  at->step.lost_force += force;
  at->largest_stretch = std::max(at->largest_stretch, stretch);
}

void CreepWatch::add_contacts(const std::array<int, 2>& bodies,
                              const contact::ContactProblem& problem,
                              const contact::ContactSolution& solution,
                              std::span<const int> contacts) {
  const auto at = std::ranges::lower_bound(losing_, bodies, {}, &LosingBodies::bodies);
  if (at == losing_.end() || at->bodies != bodies) return;
  if (at->turned >= kMostTurn) return;  // no creep in this window
  LosingBodies::Step& step = at->step;
  const double dt = problem.time_step;
  const math::Six V =
      contact::calc_pair_velocity(problem, find_body_pair(problem, contacts.front()), solution.v);
  for (const int i : contacts) {
    if (!(solution.impulses[i][2] > 0)) continue;
    const double stiffness = problem.anchors[i].stiffness;
    step.stiffness += stiffness;
    if (solution.slipping[i])
      step.yielding_force += stiffness * calc_yielded_slip(problem, i, V, solution.impulses[i]);
  }
  step.turn = std::max(step.turn, dt * math::hypot(math::hypot(V[0], V[1]), V[2]));
}

std::optional<CreepWatch::Creep> CreepWatch::end_step(double dt) {
  const std::optional<WalkWatch::Walk> walking = walk.end_step(dt);
  if (const std::optional<Creep> fastest = end_losses(dt)) return fastest;
  if (walking) return Creep{walking->geoms, walking->speed, true};
  return std::nullopt;
}

/// Ends a step of the bodies that lose springs.
std::optional<CreepWatch::Creep> CreepWatch::end_losses(double dt) {
  for (LosingBodies& losing : losing_) end_step_of(&losing);
  time_ += dt;
  ++num_steps_;
  if (time_ < kWindow || num_steps_ < kLeastSteps) return std::nullopt;
  std::optional<Creep> fastest;
  for (const LosingBodies& losing : losing_) {
    const double speed = losing.forgotten / time_;
    if (creeps(losing, time_) && (!fastest || speed > fastest->speed))
      fastest = Creep{losing.geoms, speed};
  }
  losing_.clear();
  time_ = 0;
  num_steps_ = 0;
  return std::exchange(is_warned_, fastest.has_value()) ? std::nullopt : fastest;
}

void CreepWatch::write(base::WordWriter* words) const {
  words->put(time_);
  words->put(num_steps_);
  words->put(is_warned_);
  words->put(losing_.size());
  for (const LosingBodies& losing : losing_) {
    words->put_all(losing.bodies);
    words->put_all(losing.geoms);
    for_each_number_of_bodies(losing, [words](double x) { words->put(x); });
  }
  walk.write(words);
}

void CreepWatch::read(const mjModel* m, base::WordReader* words) {
  const auto take = [words](double& x) {
    x = words->take_finite();
    words->check(x >= 0);
  };
  take(time_);
  num_steps_ = words->take_below(std::numeric_limits<int>::max());
  is_warned_ = words->take_flag();
  losing_.clear();
  losing_.resize(words->take_count(kWordsOfBodies));
  for (LosingBodies& losing : losing_) {
    for (int& body : losing.bodies) body = words->take_below(m->nbody);
    for (int& geom : losing.geoms) geom = words->take_below(m->ngeom);
    for_each_number_of_bodies(losing, take);
  }
  words->check(std::ranges::is_sorted(losing_, {}, &LosingBodies::bodies));
  walk.read(m, words);
}

}  // namespace stiction::sim
