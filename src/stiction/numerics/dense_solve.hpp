#pragma once

namespace stiction::numerics {

/// Computes X <- A^-1 X by Gaussian elimination with row exchanges.
/// @param A n x n, row-major; overwritten
/// @param X in: right-hand sides, out: solutions; n x num_right, row-major
/// @return -1, or the first column of A without a pivot above 1e-14 times the largest entry of A
int solve_in_place(int n, double* A, int num_right, double* X);

}  // namespace stiction::numerics
