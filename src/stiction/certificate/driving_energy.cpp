#include "stiction/certificate/driving_energy.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/rigid_findings.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::kInfinity;
using contact::RowKind;

namespace {

/// Returns the speed with which the surfaces of a contact may drive bodies [m/s].
double calc_surface_speed(const Contact& c) { return math::hypot(c.bias[0], c.bias[1], c.bias[2]); }

/// Returns the speed with which the overlap of a contact may drive bodies apart [m/s].
double calc_correction_speed(const SolvedStep& step, const Contact& c) {
  return c.phi0 < 0 ? -calc_gap_speed(c.phi0, step.problem.time_step, step.parameters) : 0;
}

/// Returns the speed of a row's correction [m/s, rad/s].
double calc_correction_speed(const SolvedStep& step, const Row& row) {
  const bool corrects =
      row.kind == RowKind::kEquality || (row.kind == RowKind::kLimit && row.position < 0);
  const double error = std::abs(row.position);
  return corrects ? -calc_gap_speed(-error, step.problem.time_step, step.parameters) : 0;
}

/// Returns the sum of the masses of a pair's bodies without the world [kg].
double calc_mass(const BodyPair& pair) {
  const auto [a, b] = pair.masses;
  if (a == kInfinity) return b;
  return b == kInfinity ? a : a + b;
}

}  // namespace

double calc_driving_energy(const SolvedStep& step) {
  // Overlaps may give bodies this many times the speed that each alone would. The solver allows
  // three times; the rest is for equalities that add to it.
  constexpr double kOverlapRatio = 4.5;
  // Moving surfaces, limits and equalities; bodies wedged on rough ground reach 47.
  constexpr double kRatio = 60;
  const ContactProblem& problem = step.problem;
  double energy = 0;
  for (int island = 0; island < step.islands.size(); ++island) {
    double speed = 0, mass = 0;
    for (const int p : step.islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        const double c = kOverlapRatio * calc_correction_speed(step, problem.contacts[i]);
        if (c > 0) energy += 0.5 * pair.reduced_mass() * c * c;  // the mass may be infinite
        speed = std::max(speed, calc_surface_speed(problem.contacts[i]));
      }
      mass += calc_mass(pair);
    }
    for (const int r : step.islands.rows(island)) {
      const Row& row = problem.rows[r];
      const double row_speed = calc_correction_speed(step, row);
      if (row_speed == 0) continue;
      speed = std::max(speed, row_speed);
      const double mobility = calc_inertial_mobility(problem, step.islands, row);
      if (mobility > 0) mass += 1 / mobility;
    }
    if (speed > 0) energy += 0.5 * mass * kRatio * kRatio * speed * speed;
  }
  return energy;
}

}  // namespace stiction::certificate
