#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/bilateral_constraints.hpp"
#include "stiction/formulations/rigid/rigid_stage.hpp"
#include "stiction/formulations/rigid/whitening.hpp"
#include "stiction/formulations/solver_options.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

/// One island under a rigid model, formulations/README.md:
///
///     A (v - v*) = N^T f_N + X^T f_X + ...,   X v + b_X = 0,   0 <= f_N _|_ N v + b_n >= 0.
///
/// In y = L^T v it is a projection of y* on a cone; the constraints X, of which RowBasis keeps a
/// largest independent set, are eliminated, and the model's own law solves the rest. Around it:
///
///  1. Contacts are held (tangents in X, or viscous) if they touch or carry an impulse: the set
///     grows until it is consistent.
///  2. Dry friction of joints is part of the law where that has friction; else it is linearized
///     about the point of its law that is nearest to its last velocity and impulse.
///  3. Where constraints conflict some go: see rigid_island_ladder.cpp.
///  4. Contacts that hit with restitution are solved again, Poisson's way, until what that presses
///     is held: see rigid_island_impacts.cpp.
class RigidIsland {
 public:
  /// Keys of what pushes, a contact's id or that of a limit, in the first solve, where a model may
  /// hold nothing yet, and in the last.
  struct Pushing {
    std::vector<std::uint64_t> first, last;
  };

  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof, contact::ContactModel model,
                const SolverOptions& options);
  /// @param guess of the last step, each ascending
  contact::IslandStatistics solve(const Pushing& guess, RigidLaw* law);
  /// Copies the result to the island's place in the solution.
  void read_out(contact::ContactSolution* solution) const;

  const Pushing& pushing() const { return pushing_; }

 private:
  /// A contact that takes part.
  struct ContactTerms {
    int contact = 0;        // in the island
    double correction = 0;  // b of the gap: phi0 / h, or that of an overlap [m/s]
    bool is_held = false;   // tangents are constrained, or viscous
    bool was_dropped = false;
    bool rebounds = false;
    double impulse[3] = {};  // t1, t2, n [N s]
  };
  /// Dry friction, gamma = impulse - weight (J v - velocity).
  struct FrictionTerm {
    int row = 0;          // in the island
    double velocity = 0;  // about which it is linearized
    double weight = 0, impulse = 0;
    double mobility = 0;  // of the row [1/kg, 1/(kg m^2)]; 0: not known yet
  };

  /// Of positions: overlaps and violated limits, and what equalities are off; of the latter alone;
  /// as much of these as other constraints allow.
  enum class Corrections { kAll, kEqualities, kBent, kNone };

  void start_contacts(const contact::ContactProblem& problem);
  void start_rows(const contact::ContactProblem& problem);
  bool prepare();
  bool factor();
  void whiten();
  int eliminate();
  numerics::LcpReport solve_stage(std::span<const double> y_hat, RigidLaw* law);
  numerics::LcpReport solve_with_ladder(RigidLaw* law);
  bool is_round_off(double residual) const;
  bool relax(int row, RigidLaw* law);
  bool drop_overlap_corrections();
  bool bend_equalities(RigidLaw* law);
  void note_conflict(int row);
  void check_equalities();
  bool is_wedged() const;
  bool is_finite() const;
  bool keeps_constraints() const;
  bool update_held();
  void calc_friction_mobilities();
  bool update_friction(double tolerance);
  bool solve_impacts(RigidLaw* law);
  bool find_rebounds();
  void rebound(RigidLaw* law);
  double calc_rebound_share() const;
  bool hold_pressing();
  void finish();
  void calc_contact_velocities();
  void guess_rows(const std::vector<std::uint64_t>& keys);
  void find_keys(std::vector<std::uint64_t>* keys) const;

  static contact::SolveStatus to_solve_status(numerics::LcpStatus status);
  const contact::Contact& contact_of(const ContactTerms& terms) const {
    return problem_->contacts[island_.contacts()[terms.contact]];
  }
  /// 0 of a contact that does not hit.
  double restitution_of(const ContactTerms& terms) const {
    return terms.rebounds ? contact_of(terms).law.restitution : 0;
  }
  double* whitened(std::vector<double>* rows, int row) { return rows->data() + row * n_; }
  double correct(double position) const;

  /// Of a coefficient of friction beyond this one no digit would be left for what is not friction.
  /// The solution is the same unless a contact slips, which the certificate, on the coefficient
  /// itself, tells.
  static constexpr double kSticks = 1e8;
  // Dependence of rows, see BilateralConstraints::eliminate: at first, and where they conflict.
  static constexpr double kNarrowest = 1e-13, kWidest = 1e-10;

  const contact::ContactProblem* problem_ = nullptr;
  DenseIsland island_;
  contact::ContactModel model_{};
  contact::ModelParameters parameters_;
  int n_ = 0;
  bool uses_tangents_ = false;  // of the model's own law
  contact::IslandStatistics statistics_;

  std::vector<ContactTerms> contacts_;
  std::vector<int> limits_, equalities_, springs_, dry_;  // rows in the island
  std::vector<double> limit_bounds_, equality_b_, bent_b_, dry_bounds_;
  std::vector<FrictionTerm> frictions_;
  std::vector<double> softness_;  // weights of equalities that are springs; else empty
  std::vector<double> mu_, nu_, slip0_, no_mu_;

  Whitening whitening_;
  std::vector<double> v_star_, v0_, v_, y_hat_, scratch_;
  std::vector<math::Vector3> velocities_;  // of contacts in C, bias included, at v
  // Whitened rows, n numbers each: unilateral, tangents, equalities.
  std::vector<double> N_, T_, E_, F_;
  BilateralConstraints bilateral_;
  Corrections corrections_ = Corrections::kAll;
  double dependence_ = 0;  // of rows, see BilateralConstraints::eliminate
  // Projected.
  std::vector<double> N_projected_, T_projected_, b_, b_projected_, b_t_, b_t_projected_, u_hat_;
  std::vector<double> F_projected_, b_f_, b_f_projected_;
  std::vector<int> guess_;
  StageImpulses impulses_;
  std::vector<double> z_total_, t_total_, dry_total_, y_, rebound_;
  std::vector<int> held_;  // contacts whose tangents are in X
  std::vector<double> row_impulses_;
  Pushing pushing_;
};

}  // namespace stiction::formulations
