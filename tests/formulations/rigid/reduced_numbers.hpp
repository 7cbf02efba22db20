#pragma once

#include <cstddef>
#include <vector>

#include "stiction/formulations/rigid/rigid_law.hpp"

namespace stiction::formulations {

/// A reduced problem that owns its numbers, which start as zeros.
struct ReducedNumbers {
  int n = 0;
  std::vector<double> N, b_n, T, b_t, F, b_f, dry_bounds, compliance, mu, nu, slip0, u_hat;

  ReducedNumbers(int num_columns, int num_contacts, int num_limits, int num_dry)
      : n(num_columns),
        N(static_cast<std::size_t>(n) * (num_contacts + num_limits)),
        b_n(num_contacts + num_limits),
        T(static_cast<std::size_t>(2) * n * num_contacts),
        b_t(2 * num_contacts),
        F(static_cast<std::size_t>(n) * num_dry),
        b_f(num_dry),
        dry_bounds(num_dry),
        compliance(num_dry),
        mu(num_contacts),
        nu(num_contacts),
        slip0(num_contacts),
        u_hat(n) {}

  ReducedProblem view() const {
    return {.num_columns = n,
            .num_contacts = static_cast<int>(mu.size()),
            .num_unilateral = static_cast<int>(b_n.size()),
            .N = N,
            .b_n = b_n,
            .T = T,
            .b_t = b_t,
            .F = F,
            .b_f = b_f,
            .dry_bounds = dry_bounds,
            .dry_compliance = compliance,
            .mu = mu,
            .nu = nu,
            .slip0 = slip0,
            .u_hat = u_hat,
            .guess = {}};
  }
};

}  // namespace stiction::formulations
