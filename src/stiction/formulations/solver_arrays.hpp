#pragma once

#include <vector>

#include "stiction/formulations/formulation.hpp"
#include "stiction/formulations/solver_layout.hpp"
#include "stiction/math/six.hpp"

namespace stiction::formulations {

/// A contact with kSize components: v_c = Phi V + b, where row e of Phi is [r x e; e] for t1, t2, n
/// and [e; 0] for the angular components n, t1, t2.
template <class Law, int kSize>
struct SolverContact {
  static constexpr int kComponents = kSize;
  using Vector = Eigen::Matrix<double, kSize, 1>;
  double Phi[kSize][6];
  Vector bias;
  Vector v_c, dv_c, gamma;
  typename Law::Row row;
  typename Law::State state;
  int source = 0;  // in the problem

  /// Fills Phi and b from the contact's frame.
  void set_jacobian(const contact::Contact& contact) {
    const Eigen::Map<const Vector3> r(contact.offset.data());
    for (int i = 0; i < 3; ++i) {
      const Eigen::Map<const Vector3> e(contact.R_WC.data() + 3 * i);
      Eigen::Map<Vector3>(this->Phi[i]) = r.cross(e);
      Eigen::Map<Vector3>(this->Phi[i] + 3) = e;
      bias[i] = contact.bias[i];
    }
    if constexpr (kSize == 6) {
      constexpr int kAxis[3] = {2, 0, 1};  // n, t1, t2
      for (int i = 0; i < 3; ++i) {
        const Eigen::Map<const Vector3> e(contact.R_WC.data() + 3 * kAxis[i]);
        Eigen::Map<Vector3>(this->Phi[3 + i]) = e;
        Eigen::Map<Vector3>(this->Phi[3 + i] + 3).setZero();
        bias[3 + i] = i == 0 ? contact.spin_bias : 0;
      }
    }
  }
  /// Phi V.
  Vector multiply(const math::Six& V) const {
    Vector v;
    for (int e = 0; e < kSize; ++e) v[e] = dot(math::Six::load(Phi[e]), V);
    return v;
  }
  /// F += Phi^T gamma.
  void add_wrench(math::Six* F) const {
    for (int e = 0; e < kSize; ++e) *F += math::Six::load(Phi[e]) * gamma[e];
  }
  /// G += Phi^T G_c Phi.
  void add_hessian(const Eigen::Matrix<double, kSize, kSize>& G_c, math::SixBySix* G) const {
    double T[kSize][6];  // rows of G_c Phi
    for (int e = 0; e < kSize; ++e) {
      math::Six t = math::Six::load(Phi[0]) * G_c(e, 0);
      for (int f = 1; f < kSize; ++f) t += math::Six::load(Phi[f]) * G_c(e, f);
      t.store(T[e]);
    }
    for (int e = 0; e < kSize; ++e) {
      const math::Six phi = math::Six::load(Phi[e]);
      for (int j = 0; j < 6; ++j) G->column[j] += phi * T[e][j];
    }
  }
};

/// Stands in for the law of torsional friction where a model has none.
struct NoTorsion {
  using Row = int;
  using State = int;
};

template <class F>
concept TakesTorsion = requires {
  typename F::Torsion;
};

template <class F>
struct TorsionLaw {
  using type = NoTorsion;
};
template <TakesTorsion F>
struct TorsionLaw<F> {
  using type = typename F::Torsion;
};

/// Per-dof arrays, in solver order.
struct DofArrays {
  std::vector<double> v, v_star, p_star;        // p_star = A v*
  std::vector<double> dp, force;                // A (v - v*), J^T gamma
  std::vector<double> direction, dp_direction;  // d, A d
  std::vector<double> inv_sqrt_diagonal;        // D = diag(A)^(-1/2)

  void resize(int n) {
    for (auto* array :
         {&v, &v_star, &p_star, &dp, &force, &direction, &dp_direction, &inv_sqrt_diagonal})
      array->resize(n);
  }
};

/// What ConvexSolver prepares once per step and IslandProblem works on.
template <ConvexFormulation F>
struct SolverArrays {
  SolverLayout layout;
  DofArrays dofs;
  std::vector<SolverContact<F, 3>> contacts;
  std::vector<SolverContact<typename TorsionLaw<F>::type, 6>> torsions;
};

}  // namespace stiction::formulations
