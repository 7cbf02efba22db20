#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/solver_options.hpp"
#include "stiction/formulations/tamsi/tamsi.hpp"
#include "stiction/laws/row_impulse.hpp"

namespace stiction::formulations {

/// One island under `tamsi`: Newton's method on the balance of momentum of a step of length h,
///
///     r(v) = J^T gamma(v) + p h/dt - A (v - v_begin) = 0,   (A + J^T G J) dv = r,   v += alpha dv,
///
/// with p the impulse of all other forces in dt, and alpha of calc_slip_limit. The whole step is
/// tried first, h = dt, then n = 2 .. 20 sub-steps of dt/n, each from the end of the last. A and p
/// are the step's in all of them, so that the sub-steps' sum balances as the step does; the
/// impulses of rows are h/dt of theirs. Between sub-steps the overlap follows the motion,
/// fe0 <- fe0 - h k v_n. Source: [castro2020]; [theory:tamsi-substeps].
class TamsiIsland {
 public:
  /// Newton iterations until no velocity of a constraint changes by more than v_s / 100, and those
  /// that may follow until the residual is within its tolerance.
  static constexpr int kMaxIterations = 20;
  static constexpr int kMaxRefinements = 10;
  static constexpr int kMaxSubsteps = 20;

  /// @param first_dof of every block of the problem within its island
  /// @param guess     starting velocities, size num_dofs; empty: v0
  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof, const SolverOptions& options,
                std::span<const double> guess);
  /// If nothing converges, the whole step's last iterate is what remains.
  /// @param trace gets the iterates of each sub-step; null: nothing is recorded
  contact::IslandStatistics solve(numerics::NewtonTrace* trace = nullptr);
  /// Copies the result to the island's place in the solution.
  void read_out(const contact::ContactProblem& problem, contact::ContactSolution* solution) const;

 private:
  struct ContactTerms {
    double fe0 = 0;  // at the start of the step [N]
    math::Vector3 bias, v_c, gamma, sum;
    Tamsi::Row row;
    Tamsi::State state;
  };
  struct RowTerms {
    contact::Row row;
    laws::RowImpulse impulse;  // of this sub-step
    double sum = 0;
  };
  /// How a Newton solve, or a row of them, ended.
  struct Outcome {
    contact::SolveStatus status = contact::SolveStatus::kConverged;
    int iterations = 0;
    double residual = 0, scale = 0;
    bool ok() const {
      return status == contact::SolveStatus::kConverged ||
             status == contact::SolveStatus::kStagnated;
    }
  };
  /// What a Newton step does to the constraints' velocities.
  struct Change {
    double alpha = 1;
    double speed = 0;  // the larger of the stacked tangential and of all other changes [m/s]
  };

  Outcome take_substeps(int num_substeps, numerics::NewtonTrace* trace);
  Outcome find_velocities(numerics::NewtonTrace* trace);
  void start_substeps(int num_substeps);
  void finish_substep();
  void fall_back(Outcome* whole_step);
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
  Eigen::VectorXd v0_, guess_, free_impulse_, inv_sqrt_diagonal_;
  Eigen::VectorXd v_, v_begin_, v_whole_step_, force_, product_, r_, dv_;
  Eigen::MatrixXd H_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  std::vector<double> history_;  // v at the end of each sub-step
};

}  // namespace stiction::formulations
