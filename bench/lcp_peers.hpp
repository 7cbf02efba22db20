#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::bench {

/// An LCP solver of another project, or another implementation of one of ours. It reuses memory as
/// far as its interface allows.
class LcpPeer {
 public:
  virtual ~LcpPeer() = default;
  virtual const char* name() const = 0;
  /// Solves a dense problem.
  /// @param z out: size of the problem
  virtual numerics::LcpReport solve(const numerics::DenseLcp& problem, double* z) = 0;
};

/// Makes Algorithm 1 of [drumwright2015] in its simplest form with Eigen: every pass gathers the
/// matrix of the active rows and factors it with PartialPivLU.
std::unique_ptr<LcpPeer> make_published_rule();
/// Makes DAQP on min 1/2 z^T (Q + 1e-9 I) z + r^T z with z >= 0. Returns null without DAQP.
std::unique_ptr<LcpPeer> make_daqp_dense();
/// Makes the lexicographic Lemke solver of Siconos. Returns null without Siconos.
std::unique_ptr<LcpPeer> make_siconos_lemke();

}  // namespace stiction::bench
