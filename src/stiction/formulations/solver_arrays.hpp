#pragma once

#include <type_traits>
#include <vector>

#include "stiction/contact/row_impulse.hpp"
#include "stiction/formulations/formulation.hpp"
#include "stiction/formulations/pair_hessian.hpp"
#include "stiction/math/six.hpp"

/// The data of a solve: what ConvexSolver prepares once per step and IslandProblem works on.
/// Blocks, pairs, contacts and rows stand island by island, and within an island blocks stand in
/// the order of elimination, so that an island is a slice of every array.
namespace stiction::formulations {

/// Slices [begin, end) of one island.
struct IslandRange {
  int block_begin = 0, block_end = 0;
  int coupling_begin = 0, coupling_end = 0;
  int pair_begin = 0, pair_end = 0;
  int row_begin = 0, row_end = 0;
  int dof_begin = 0, num_dofs = 0;
};

struct BlockSlice {
  int block = 0;        // in the problem
  int problem_dof = 0;  // the first of its dofs in the problem
  int dof = 0;          // and in solver order
  int size = 0;
};

/// An off-diagonal block of A.
struct CouplingSlice {
  int rows = 0, columns = 0;            // sizes
  int row_dof = 0, column_dof = 0;      // first dofs in solver order
  int row_block = 0, column_block = 0;  // of the island's Hessian
  const double* A = nullptr;            // column-major
};

struct PairSlice {
  int segment_begin = 0, segment_end = 0;
  int first_source = 0;  // the pair's contacts in the problem
  int contact_begin = 0, contact_end = 0;
  int torsion_begin = 0, torsion_end = 0;
};

struct RowSlice {
  int row = 0;  // in the problem
  int entry_begin = 0, entry_end = 0;
  double v_r = 0, dv_r = 0;
  contact::RowImpulse impulse;
};

/// One entry of a scalar row's Jacobian.
struct RowEntry {
  int dof = 0;    // in solver order
  int block = 0;  // of the island's Hessian
  int dof_in_block = 0;
  double value = 0;
};

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

template <ConvexFormulation F>
struct SolverArrays {
  DofArrays dofs;
  std::vector<IslandRange> islands;
  std::vector<BlockSlice> blocks;
  std::vector<CouplingSlice> couplings;
  std::vector<SegmentBlock> segments;
  std::vector<PairSlice> pairs;
  std::vector<SolverContact<F, 3>> contacts;
  std::vector<SolverContact<typename TorsionLaw<F>::type, 6>> torsions;
  std::vector<RowSlice> rows;
  std::vector<RowEntry> row_entries;
};

}  // namespace stiction::formulations
