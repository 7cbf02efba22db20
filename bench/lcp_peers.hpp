#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::bench {

/// A solver of dense LCPs that is not ours, or not how we would write it. Keeps the memory that its
/// author lets it keep.
class LcpPeer {
 public:
  virtual ~LcpPeer() = default;
  virtual const char* name() const = 0;
  /// @param z out: size of the problem
  virtual numerics::LcpReport solve(const numerics::DenseLcp& problem, double* z) = 0;
};

/// [drumwright2015] Algorithm 1 as one writes it with Eigen: the matrix of the active rows is
/// gathered and factored by PartialPivLU in every pass.
std::unique_ptr<LcpPeer> make_published_rule();
/// DAQP on min 1/2 z^T (Q + 1e-9 I) z + r^T z with z >= 0; null without DAQP.
std::unique_ptr<LcpPeer> make_daqp_dense();
/// Siconos' lexicographic Lemke; null without Siconos.
std::unique_ptr<LcpPeer> make_siconos_lemke();

}  // namespace stiction::bench
