#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::certificate {

/// The results that the checks of a rigid step's contacts and rows accumulate.
struct RigidFindings {
  Certificate certificate;

  // For the error bound.
  double complementarity = 0;  // sum of gamma (v + b) where positive [J]
  double violation = 0;        // sum of |gamma| times the speed that violates the constraint [J]
  double max_mobility = 0;     // [1/kg]

  // For the verdict.
  double closing_speed = 0;    // largest speed into a surface or beyond a limit [m/s, rad/s]
  double speed = 1;            // scale of the rounding errors of velocities [m/s, rad/s]
  double impulse = 0;          // scale of the rounding errors of impulses [N s]
  double sum_of_impulses = 0;  // of the magnitudes of all impulses [N s, N m s]
  double energy_gain = 0;      // largest gain by springs, and by dry friction in rebounds [J]
  bool is_finite = true;
};

/// Sets *largest to `value` if `value` is larger.
inline void grow(double value, double* largest) { *largest = std::max(*largest, value); }

/// Returns the closing speed b that a gap allows, or minus that of an overlap's correction [m/s].
inline double calc_gap_speed(double gap, double dt, const contact::ModelParameters& parameters) {
  if (gap > 0) return gap / dt;
  return -std::min(parameters.gap_correction * -gap / dt, parameters.max_correction_speed);
}

/// Returns the constant b with which a solver met v + b >= 0. A solver may slow corrections down or
/// omit them, so for an overlap it is the constant between b and 0 that is nearest to -v.
inline double find_taken_speed(double v, double b) { return b < 0 ? std::clamp(-v, b, 0.0) : b; }

/// Returns |min(w gamma, v + b)| [m/s] for the constant that the solver took.
inline double calc_complementarity(double mobility, double gamma, double v, double b) {
  return std::abs(std::min(mobility * gamma, v + find_taken_speed(v, b)));
}

/// Finds the islands of a rigid step in which a contact rebounds.
///
/// In such an island the impulse is a sum over the phases of the impact, but the final velocity is
/// that of the last phase. A contact that was loaded during compression may be separating now, and
/// its friction may point along the present slip. So complementarity and the direction of friction
/// are not checked there, and the step has no error bound.
class Rebounds {
 public:
  void find(const SolvedStep& step);

  /// True if any island has a rebound.
  bool is_any() const { return is_any_; }
  bool in_island(int island) const { return in_island_[island] != 0; }

 private:
  bool is_any_ = false;
  std::vector<char> in_island_;
};

/// Checks the contacts of a rigid step: complementary normals, and tangents by the model's policy.
class RigidContactCheck {
 public:
  /// Checks all contacts.
  /// @param impulses out: the impulses of all contacts are added to it
  /// @param out      in, out: the findings so far
  void calc(const SolvedStep& step, const Rebounds& rebounds, GeneralizedImpulses* impulses,
            RigidFindings* out);

  /// True if the contact sticks or, in `viscous`, has viscous friction. After calc.
  bool is_sticking(int contact) const { return is_sticking_[contact] != 0; }

  /// How far a contact point is known [m], see [theory:short-levers]. After calc.
  double reach(int contact) const { return reach_[contact]; }

 private:
  void check_pair(const SolvedStep& step, const contact::BodyPair& pair, bool rebounds,
                  GeneralizedImpulses* impulses, RigidFindings* out);

  std::vector<char> is_sticking_;
  std::vector<double> reach_;  // of each contact [m]
};

/// Checks the rows of a rigid step: limits are complementary, equalities hold or are corrected, dry
/// friction is bounded and opposes motion, springs follow their law.
class RigidRowCheck {
 public:
  /// Checks all rows.
  /// @param impulses out: the impulses of all rows are added to it
  /// @param out      in, out: the findings so far
  void calc(const SolvedStep& step, const Rebounds& rebounds, GeneralizedImpulses* impulses,
            RigidFindings* out);

  /// Norms of what an island's equalities may miss.
  struct Corrections {
    double speed = 0;   // [m/s, rad/s]
    double motion = 0;  // the same by the roots of the rows' mobilities [sqrt(J)]
  };

 private:
  void calc_corrections(const SolvedStep& step);
  void add_dependent_rows(const SolvedStep& step);

  std::vector<Corrections> corrections_;  // of each island
  std::vector<double> momentum_;          // A v, scratch
};

/// Counts the eigenvalues of a symmetric matrix above a threshold. Memory is reused.
///
/// Householder's reflections make the matrix tridiagonal, and the signs of the pivots of T - t I
/// count the eigenvalues (Sturm). The error of an eigenvalue is a few units of double precision
/// times the largest one.
class EigenvalueCount {
 public:
  /// @param n      size of the matrix
  /// @param matrix in: n x n, full; destroyed
  int count_above(int n, double threshold, std::vector<double>* matrix);

 private:
  void reduce(int n, double* A);

  std::vector<double> diagonal_, off_diagonal_;  // of the tridiagonal matrix T
  std::vector<double> reflector_, product_;
};

/// Counts the active contacts and limits of a rigid step, which are those with an impulse, and the
/// number of them that is enough.
///
/// In an island of n dofs, n - rank X of them are enough. The bilateral rows X are the equalities
/// and, in models with bilateral tangents, the tangents of the sticking contacts. Source: Theorem 1
/// of [drumwright2015]; [theory:num-active].
class ActiveSet {
 public:
  struct Count {
    int num_active = 0;
    int max_active = 0;
  };
  /// Counts the active contacts and limits of one island.
  Count count(const SolvedStep& step, const RigidContactCheck& contacts, int island);

 private:
  int find_rank(const SolvedStep& step, const RigidContactCheck& contacts, int island);
  double take_row(const SolvedStep& step, double* row);
  double calc_spin(const SolvedStep& step, const contact::BodyPair& pair);
  void add_row(const SolvedStep& step, double unknown);
  int count_independent_rows();

  std::vector<int> dofs_;     // dofs of the island
  std::vector<double> row_;   // one row of X, size num_dofs
  std::vector<double> spin_;  // a row of an angular velocity, like a row of rows_
  // X diag(A)^(-1/2), each row in units of the distance at which it counts as dependent; an entry
  // for each of dofs_.
  std::vector<double> rows_;
  std::vector<double> gram_;
  EigenvalueCount eigenvalues_;
};

}  // namespace stiction::certificate
