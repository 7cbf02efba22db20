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
/// that is nearest to a given point. Further passes about the last x take e out of the answer
/// (proximal point method). Allocates: only the few steps whose LCP fails by round-off need it.
class KktProjection {
 public:
  /// @param kkt the LCP [[H, -A^T], [A, 0]], [h; a]
  /// @param x   out: the variables, size of H > 0
  /// @return kSolved also where the residual is within kAcceptedResidual of the problem's numbers
  numerics::LcpReport solve(const numerics::DenseLcp& kkt, std::span<double> x);

 private:
  numerics::RatioPivoting pivoting_;
};

}  // namespace stiction::formulations
