#pragma once

#include <span>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::formulations {

/// Solves a convex quadratic program whose KKT conditions Lemke's method could not solve,
///
///     min 1/2 x^T H x + h^T x,   A x + a >= 0,   x >= 0.
///
/// H is replaced by H + e I = L L^T. The program then asks for the point u = L^T x of a polyhedron
/// that is nearest to a given point. Further passes, centered at the last x, remove the effect of e
/// (proximal point method). It allocates memory, because only few steps need it, whose LCP fails by
/// round-off.
class KktProjection {
 public:
  /// Solves the program.
  /// @param kkt the LCP [[H, -A^T], [A, 0]], [h; a]
  /// @param x   out: the variables, size of H > 0
  /// @return kSolved also if the residual is at most kAcceptedResidual of the problem's numbers
  numerics::LcpReport solve(const numerics::DenseLcp& kkt, std::span<double> x);

 private:
  numerics::RatioPivoting pivoting_;
};

}  // namespace stiction::formulations
