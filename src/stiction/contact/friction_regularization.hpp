#pragma once

#include <cmath>

#include "stiction/contact/curvature.hpp"
#include "stiction/math/spatial.hpp"

/// Regularized friction: the soft norm of a slip velocity and its derivatives.
namespace stiction::contact {

/// For slip u and tolerance eps,
///
///     |u|_s = sqrt(u.u + eps^2) - eps,   t = u / sqrt(u.u + eps^2),   dt/du = (I - t t^T) / h.
///
/// Source: [castro2023] appendix A, eqs. (45)-(47). Written without cancellation for any |u| / eps.
template <int kSize>
struct SoftNorm {
  using Vector = Eigen::Matrix<double, kSize, 1>;
  using Matrix = Eigen::Matrix<double, kSize, kSize>;

  Vector u;
  double eps = 0;
  double inv_h = 0;  // 1 / sqrt(u.u + eps^2)
  Vector t;          // soft direction, |t| < 1

  SoftNorm() = default;
  SoftNorm(const Vector& slip, double tolerance) : u(slip), eps(tolerance) {
    inv_h = 1 / std::sqrt(u.squaredNorm() + eps * eps);
    t = u * inv_h;
  }

  bool is_slipping() const { return u.squaredNorm() > eps * eps; }

  double norm() const {
    const double h = 1 / inv_h;
    return u.squaredNorm() / (h + eps);
  }

  /// The curvature asked for.
  Matrix curvature(Curvature kind) const {
    return kind == Curvature::kExact ? direction_gradient() : Matrix(inv_h * Matrix::Identity());
  }

  /// (I - t t^T) / h, its diagonal as a sum of squares: 1 - t_i^2 = (eps^2 + sum_{j != i}
  /// u_j^2)/h^2.
  Matrix direction_gradient() const {
    const double scale = inv_h * inv_h * inv_h;
    Matrix g = -scale * (u * u.transpose());
    for (int i = 0; i < kSize; ++i) {
      double others = eps * eps;
      for (int j = 0; j < kSize; ++j)
        if (j != i) others += u[j] * u[j];
      g(i, i) = scale * others;
    }
    return g;
  }
};

}  // namespace stiction::contact
