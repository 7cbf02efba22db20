#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::formulations {

/// The complementarity problem of one island, in coordinates y = L^T v with A = L L^T, in which the
/// bilateral constraints X y = -b_X are eliminated: all rows are projected on X's null space, and
/// u_hat satisfies the constraints. Impulses x move the island to u_hat + rows^T x.
struct RigidStage {
  int num_columns = 0;          // n
  int num_contacts = 0;         // contacts come first among the unilateral rows,
  int num_unilateral = 0;       // limits after them
  std::span<const double> N;    // unilateral rows, num_unilateral x n, row-major
  std::span<const double> b;    // num_unilateral [m/s, rad/s]; velocities N u + b
  std::span<const double> T;    // tangents, 2 num_contacts x n; empty where no model asks for them
  std::span<const double> b_t;  // 2 num_contacts [m/s]
  std::span<const double> F;    // rows with dry friction, as T; those of joints, bound.size() x n
  std::span<const double> b_f;  // of F [m/s, rad/s]
  std::span<const double> bound;  // of their impulses, >= 0 [N s, N m s]
  std::span<const double> mu;     // num_contacts [-]
  std::span<const double> nu;     // dt times viscous friction, num_contacts [N s^2/m]
  std::span<const double> slip0;  // slip speeds at the start of the step, num_contacts [m/s]
  std::span<const double> u_hat;  // n [sqrt(J)]
  std::span<const int> guess;     // unilateral rows that push, perhaps
};

struct StageImpulses {
  std::vector<double> z;         // of unilateral rows [N s]
  std::vector<double> tangents;  // 2 num_contacts, empty if the model has none [N s]
  std::vector<double> dry;       // of F, empty if there are none [N s, N m s]
  std::vector<double> u;         // u_hat + rows^T impulses
  std::vector<int> active;       // a guess for the next
};

/// A rigid model's own part of a step. Keeps its memory.
class RigidLaw {
 public:
  virtual ~RigidLaw() = default;
  virtual numerics::LcpReport solve(const RigidStage& stage, StageImpulses* out) = 0;
};

/// Normal impulses alone: `no_slip`, `viscous`.
std::unique_ptr<RigidLaw> make_normal_stage(numerics::LcpSolver solver);
/// Friction polygons: `stewart_trinkle`, `anitescu_potra`.
std::unique_ptr<RigidLaw> make_polygon_stage(int num_directions);
/// Least kinetic energy: `drumwright_shell`.
std::unique_ptr<RigidLaw> make_energy_stage(int num_directions);

}  // namespace stiction::formulations
