// Uses the contact library without a physics engine: builds the contact problem of a block on an
// incline in each step. Prints the distance that the block slides in a second, and the distance
// that Coulomb's law predicts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/contact_solver.hpp"

namespace {

using namespace stiction;

constexpr double kMass = 1;                    // [kg]
constexpr double kSide = 0.1, kHeight = 0.05;  // half lengths [m]
constexpr double kFriction = 0.5;
constexpr double kGravity = 9.81;   // [m/s^2]
constexpr double kTimeStep = 2e-3;  // [s]

/// The block in the frame of the incline: x points downhill, z along the normal. The block moves in
/// the xz plane.
struct Block {
  double x = 0, z = kHeight;  // position of the center [m]
  double pitch = 0;           // rotation about y [rad]
  std::array<double, 6> v{};  // [w; v] in world axes [rad/s, m/s]

  void advance(double dt) {
    pitch += dt * v[1];
    x += dt * v[3];
    z += dt * v[5];
  }
};

/// Adds a free body with its inertia and the impulse of gravity.
void add_block(const Block& block, double angle, contact::ContactProblem* problem) {
  const int b = problem->add_rigid_body();
  const double wide = kMass / 3 * (kSide * kSide + kHeight * kHeight);
  const double flat = kMass / 3 * (2 * kSide * kSide);
  const std::array<double, 6> inertia = {wide, wide, flat, kMass, kMass, kMass};
  for (int i = 0; i < 6; ++i) problem->diagonal(b)[7 * i] = inertia[i];
  problem->v0.assign(block.v.begin(), block.v.end());
  problem->free_impulse[3] = kTimeStep * kMass * kGravity * std::sin(angle);
  problem->free_impulse[5] = -kTimeStep * kMass * kGravity * std::cos(angle);
}

/// Adds the pair of the incline (A, fixed) and the block (B), with a contact at each lower corner.
void add_contacts(const Block& block, contact::ContactProblem* problem) {
  contact::BodyPair pair;
  pair.origin = {block.x, 0, block.z};
  pair.num_segments = 1;
  pair.num_contacts = 4;
  problem->pairs.push_back(pair);

  contact::Segment segment;
  segment.block = 0;
  segment.is_rigid_body = true;
  problem->segments.push_back(segment);

  for (const double sx : {-1.0, 1.0}) {
    for (const double sy : {-1.0, 1.0}) {
      // The position of the corner relative to the center, rotated by the pitch about y.
      const double rx = std::cos(block.pitch) * sx * kSide - std::sin(block.pitch) * kHeight;
      const double rz = -std::sin(block.pitch) * sx * kSide - std::cos(block.pitch) * kHeight;
      contact::Contact c;
      c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      c.offset = {rx, sy * kSide, rz};
      c.phi0 = block.z + rz;
      c.law.stiffness = 1e6;   // [N/m]
      c.law.dissipation = 10;  // [s/m]
      c.fn0 = -c.law.stiffness * c.phi0;
      c.friction[0] = c.friction[1] = kFriction;
      problem->contacts.push_back(c);
    }
  }
}

/// Releases the block on an incline of the given angle [rad] and simulates a second.
/// @return the distance that the block slides [m]; NaN if a step failed its certificate
double slide(contact::ContactModel model, double angle) {
  // Start with the compression that carries the block. Otherwise the block would first fall.
  Block block;
  block.z -= kMass * kGravity * std::cos(angle) / (4 * 1e6);

  contact::ContactProblem problem;
  contact::MomentumFactor factor;
  contact::Islands islands;
  contact::ContactSolution solution;
  certificate::Certifier certifier;
  const formulations::SolverOptions options;
  const auto solver = formulations::make_contact_solver(model);
  for (int i = 0; i < std::lround(1 / kTimeStep); ++i) {
    problem.clear(kTimeStep);
    add_block(block, angle, &problem);
    add_contacts(block, &problem);
    // Solvers trust the problem's indices. While you write such code, have them checked.
    if (i == 0) contact::validate(problem);
    if (!factor.calc_derived(contact::kNearRigidFactor, &problem)) return NAN;
    islands.find(problem);
    solver->solve(problem, islands, options, {}, nullptr, &solution);
    const certificate::SolvedStep step = {.problem = problem,
                                          .islands = islands,
                                          .model = model,
                                          .parameters = options.parameters,
                                          .relative_tolerance = options.relative_tolerance,
                                          .absolute_tolerance = options.absolute_tolerance,
                                          .solution = solution};
    if (!certifier.certify(step, &factor).ok) return NAN;
    std::copy(solution.v.begin(), solution.v.end(), block.v.begin());
    block.advance(kTimeStep);
  }
  return block.x;
}

}  // namespace

int main() {
  bool agrees = true;
  for (const double degrees : {20.0, 35.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    const double acceleration =
        std::max(0.0, kGravity * (std::sin(angle) - kFriction * std::cos(angle)));
    // The distance of semi-implicit Euler after n steps is a dt^2 n (n + 1) / 2.
    const double expected = acceleration / 2 * (1 + kTimeStep);
    const double distance = slide(contact::ContactModel::lagged, angle);
    std::printf("incline of %2.0f degrees: slid %.6f m in 1 s; by Coulomb's law: %.6f m\n", degrees,
                distance, expected);
    agrees = agrees && std::abs(distance - expected) < 1e-3;
  }
  return agrees ? 0 : 1;
}
