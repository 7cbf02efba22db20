#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/tamsi/dense_lu.hpp"
#include "stiction/formulations/tamsi/tamsi.hpp"
#include "stiction/laws/row_impulse.hpp"

namespace stiction::formulations {

/// Solves one island under `tamsi`, by Newton's method on the balance of momentum of a (sub-)step
/// of length h,
///
///     r(v) = J^T gamma(v) + p h/dt - A (v - v_begin) = 0,   (A + J^T G J) dv = r,   v += alpha dv,
///
/// where p is the impulse of all other forces in dt and alpha is that of calc_slip_limit. The whole
/// step h = dt is tried first, then n = 2 .. 20 sub-steps of h = dt/n. Each sub-step starts from
/// the end of the one before. All sub-steps have A and p of the whole step, so that their sum
/// satisfies the balance of the step. The impulse of a row in a sub-step is h/dt of its law.
/// Between sub-steps the penetration follows the motion: fe0 <- fe0 - h k v_n. Source:
/// [castro2020]; [theory:tamsi-substeps].
class TamsiIsland {
 public:
  /// Newton iterations until no constraint velocity changes by more than v_s / 100, at most.
  static constexpr int kMaxIterations = 20;
  /// Largest number of further iterations until the residual is within its tolerance.
  static constexpr int kMaxRefinements = 10;
  static constexpr int kMaxSubsteps = 20;

  /// Reads an island of a problem.
  /// @param first_dof first dof of every block within its island, see place_blocks
  /// @param guess     initial velocities, size num_dofs; empty: v0
  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof, const SolverOptions& options,
                std::span<const double> guess);
  /// Solves the island. If neither the whole step nor any division of it converges, the result is
  /// the last iterate of the whole step.
  /// @param trace gets the iterates of each sub-step; null: nothing is recorded
  contact::IslandStatistics solve(numerics::NewtonTrace* trace = nullptr);
  /// Copies the result to its place in the solution.
  void read_out(const contact::ContactProblem& problem, contact::ContactSolution* solution) const;

 private:
  /// A contact, with its velocity and impulse at the current iterate.
  struct ContactTerms {
    double fe0 = 0;  // elastic force at the start of the step [N]; parameters has the sub-step's
    math::Vector3 bias, v_c, gamma;
    math::Vector3 sum;  // impulse of all finished sub-steps [N s]
    Tamsi::Parameters parameters;
    Tamsi::State state;
  };
  /// A scalar row, with its impulse at the current iterate.
  struct RowTerms {
    contact::Row row;
    laws::RowImpulse impulse;
    double sum = 0;  // impulse of all finished sub-steps
  };
  /// Vectors over the island's dofs that a solve does not change.
  struct FixedVectors {
    Eigen::VectorXd v0;
    Eigen::VectorXd guess;              // initial guess of v
    Eigen::VectorXd free_change;        // v* - v0
    Eigen::VectorXd free_impulse;       // p = A (v* - v0)
    Eigen::VectorXd inv_sqrt_diagonal;  // the diagonal of D = diag(A)^(-1/2)
  };
  /// The balance of momentum at the current iterate, as vectors over the island's dofs.
  struct Balance {
    Eigen::VectorXd force;     // J^T gamma
    Eigen::VectorXd change;    // v - v_begin
    Eigen::VectorXd inertial;  // A (v - v_begin)
    Eigen::VectorXd momentum;  // A v
    Eigen::VectorXd residual;  // r = J^T gamma + p h/dt - A (v - v_begin)
  };
  /// The linear system (A + J^T G J) dv = r of one iteration.
  struct NewtonSystem {
    Eigen::MatrixXd matrix;  // replaced by its factors
    DenseLu lu;
    Eigen::VectorXd dv;  // the Newton step
  };
  /// The result of a Newton solve, or of the Newton solves of all sub-steps.
  struct Outcome {
    contact::SolveStatus status = contact::SolveStatus::kConverged;
    int iterations = 0;
    double residual = 0, scale = 0;
    bool ok() const {
      return status == contact::SolveStatus::kConverged ||
             status == contact::SolveStatus::kStagnated;
    }
  };
  /// The effect of a Newton step on the velocities of constraints.
  struct Change {
    double alpha = 1;  // fraction of the step that the limiter allows
    /// The larger of the norm of all tangential changes and the norm of all other changes [m/s].
    double speed = 0;
  };

  Outcome take_substeps(int num_substeps, numerics::NewtonTrace* trace);
  Outcome find_velocities(numerics::NewtonTrace* trace);
  void start_substeps(int num_substeps);
  void finish_substep();
  void fall_back(Outcome* whole_step);
  double calc_rounding_step() const;
  void calc_residual(Outcome* outcome);
  bool calc_direction();
  Change calc_change() const;
  double calc_limit(const ContactTerms& c, const math::Vector3& dv_c) const;

  DenseIsland island_;
  SolverOptions options_;
  double time_step_ = 0;
  int num_substeps_ = 1;
  std::vector<ContactTerms> contacts_;
  std::vector<RowTerms> rows_;
  FixedVectors fixed_;
  Balance balance_;
  NewtonSystem newton_;
  Eigen::VectorXd v_;             // the current iterate
  Eigen::VectorXd v_begin_;       // v at the start of the sub-step
  Eigen::VectorXd v_whole_step_;  // the last iterate of the undivided step
  std::vector<double> history_;   // v at the end of each finished sub-step
};

}  // namespace stiction::formulations
