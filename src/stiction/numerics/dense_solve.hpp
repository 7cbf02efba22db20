#pragma once

namespace stiction::numerics {

/// X <- A^-1 X by elimination with row exchanges; A is lost.
/// @param A n x n, row-major
/// @param X n x num_right, row-major
/// @return -1, or the column of A in which no pivot above 1e-14 of A's largest entry is left
int solve_in_place(int n, double* A, int num_right, double* X) noexcept;

}  // namespace stiction::numerics
