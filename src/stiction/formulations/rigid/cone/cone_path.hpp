#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone/cone_newton.hpp"

namespace stiction::formulations {

/// Follows the motion of springs that are undeformed without impulses, F(u, kappa) = 0 with p = 0,
/// from soft springs, which hardly change the free motion, to stiff ones. If rest satisfies all
/// constraints, the springs only take energy, so that u stays in a ball, and a path leads to every
/// stiffness. It may turn back on the way, and it has corners where blocks change their states. The
/// unknowns are therefore u and s = log kappa as functions of the arc length. Keeps its memory.
/// Source: [allgower2003] chapters 2 (predictor, tangent) and 3 (corrector);
/// [theory:friction-cone-path].
class ConePath {
 public:
  /// @param blocks, springs of the same problem; must outlive the calls
  void start(const ConeBlocks& blocks, ConeSprings* springs);

  /// Follows the path up to a stiffness, from where the last call since `start` ended. The first
  /// call begins with soft springs.
  /// @return false if the path is lost, or if it is too long; then no further call may follow it
  bool follow(double end_stiffness);

  /// The impulses where `follow` ended.
  std::span<const BlockVector> impulses() const { return at_.springs.r; }
  /// The number of evaluations of F in all calls since `start`.
  int iterations() const { return iterations_; }

 private:
  struct Place {
    std::vector<double> u;
    double s = 0;  // log of the stiffness
    SpringPoint springs;
  };
  /// A unit vector of arc length; u is measured in usual_speed_.
  struct Tangent {
    std::vector<double> u;
    double s = 0;
  };

  void find_usual_speed();
  bool find_first_place();
  void evaluate(Place* place);
  bool calc_slope(const Place& place);
  bool calc_tangent(const Place& place, Tangent* out);
  bool advance(const Tangent& tangent, double* length);
  bool turn_corner(double* length);
  bool correct(const Tangent& tangent, double length, bool is_last);
  double dot(const Tangent& tangent, std::span<const double> u) const;

  const ConeBlocks* blocks_ = nullptr;
  ConeSprings* springs_ = nullptr;
  std::vector<BlockVector> rest_;  // impulses at rest: 0
  double usual_speed_ = 0;         // [sqrt(J)]
  double end_ = 0;                 // s at the end
  bool has_begun_ = false;
  Place at_, next_;
  Tangent tangent_, next_tangent_;
  std::vector<BlockState> states_;              // those whose tangent was tried last
  std::vector<double> force_, slope_, step_u_;  // -dF/ds, du/ds at F = 0, a Newton step
  int num_corrections_ = 0;                     // of the last step
  int iterations_ = 0, last_iteration_ = 0;
};

}  // namespace stiction::formulations
