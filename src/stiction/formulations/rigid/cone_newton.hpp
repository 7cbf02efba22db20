#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone_springs.hpp"

namespace stiction::formulations {

/// Newton's method on the motion u of springs that carry the impulses p at rest, F(u) = 0. A
/// solution with r = p satisfies Coulomb's law exactly. Keeps its memory.
/// Source: [alart1991], [rockafellar1976]; [theory:friction-cone-newton].
class ConeNewton {
 public:
  /// Starts to count iterations.
  /// @param springs of the problem; must outlive the solves
  void start(ConeSprings* springs);

  /// Solves F(u) = 0.
  /// @param stiffness rho_i times the mobility of the block [-]
  /// @param p         impulses of the springs at rest, one per block
  /// @param u         in: initial guess; out: the motion
  /// @return true if |F| is within the round-off of its terms
  bool solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u);

  /// The impulses at the last motion.
  std::span<const BlockVector> impulses() const { return at_.r; }
  /// Newton steps of all solves since `start`.
  int iterations() const { return iterations_; }

 private:
  bool calc_direction();
  bool search(std::vector<double>* u);

  ConeSprings* springs_ = nullptr;
  double stiffness_ = 0;
  std::span<const BlockVector> p_;
  SpringPoint at_, next_;
  std::vector<double> direction_, trial_;
  int iterations_ = 0;
};

}  // namespace stiction::formulations
