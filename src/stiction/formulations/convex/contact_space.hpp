#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/convex/island_dofs.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/newton.hpp"

namespace stiction::formulations {

/// The linear algebra of an island in contact space. The unknowns are the impulses lambda of its
/// contacts and rows, and the velocities follow from them,
///
///     v = v* + A^-1 J^T lambda,   u = J v = u* + W lambda,   W = J A^-1 J^T,
///
/// so an iteration costs O(m^2 + m n) for m impulses and n dofs that they reach. Newton's method
/// for lambda = gamma(u) has the same iterates as that for v, from the same start and curvature:
///
///     (I + G W) d = s,   s = gamma - lambda,   G = -d gamma/du.
///
/// The solution is d = s - f, where (W + G^-1) f = W s for the components that have curvature, and
/// f = 0 for the others. Source: [theory:contact-space].
///
/// A vector of contact space has the components of all contacts with three of them, one component
/// after the other, then those of the contacts with six, then the rows, then zeros up to a multiple
/// of four. Four neighbors are the lanes of a batch, so a batch has contacts of several pairs.
class ContactSpace : public IslandDofs {
 public:
  /// Column p of G^-1 from its diagonal down, of one contact or row.
  struct Compliance {
    int size = 1;
    std::array<double, kMaxSlips> entries{};
  };
  /// W + G^-1 of the components that have curvature, and its factor.
  struct Factor {
    std::vector<int> active;
    std::vector<Compliance> compliance;  // of these
    std::vector<double> S, inv_diagonal, scratch;
    std::vector<double> panel;  // four right sides
  };
  /// The arrays of a solve, which keep their memory.
  struct Scratch {
    std::vector<int> contacts;  // indices in the problem, those of three components first
    std::vector<double> J;      // J^T, column-major, one row per dof
    std::vector<double> Y;      // L^-1 J^T with A = L D L^T, row-major
    std::vector<int> reach;     // blocks of the factor in which Y is not 0, ascending
    std::vector<int> rows;      // the rows of the factor that belong to the dofs, in solver order
    std::vector<double> W;      // J A^-1 J^T
    std::vector<double> u_star, u, lambda, gamma;
    std::vector<double> s, d, du;  // gamma - lambda, the direction, and W d
    std::vector<double> g, f, D2;  // J^T s, J^T gamma and diag(A)^-1
    Factor factor;

    /// Makes room for vectors of `width` numbers and `num_dofs` dofs, rounded up, so that only new
    /// maxima allocate.
    void reserve(int width, int num_dofs);

   private:
    int width_ = 0, num_dofs_ = 0;
  };
  /// The place of up to four contacts: component k is at first + k stride.
  struct Place {
    int first, stride, count;
  };

  /// Computes J, W and u*, and sets lambda to 0.
  /// @return false if A is not positive definite
  bool build();
  /// Writes v, v - v* and A (v - v*) of lambda to the arrays of dofs.
  void write_velocities();

  /// Computes the direction d = (I + G W)^-1 s and du = W d with the last factor.
  void solve_direction();

  int num_contacts() const { return num_three_ + num_six_; }
  /// The indices of the contacts in the problem, in the order of contact space.
  std::span<const int> contacts() const { return x_.contacts; }

 protected:
  /// @param factor of the problem, or null
  ContactSpace(const IslandDofs& island, const contact::MomentumFactor* factor, Scratch* scratch);

  /// Computes J v0.
  void calc_start_velocities(std::vector<double>* u);

  Place place_of_three(int first) const { return {first, num_three_, num_three_ - first}; }
  Place place_of_six(int first) const {
    return {3 * num_three_ + first, num_six_, num_six_ - first};
  }
  int first_row() const { return 3 * num_three_ + 6 * num_six_; }
  /// The component of a contact along its normal.
  int normal_of(int contact) const {
    return contact < num_three_ ? 2 * num_three_ + contact
                                : 3 * num_three_ + 2 * num_six_ + contact - num_three_;
  }
  /// Returns component k of up to four contacts; lanes without a contact are 0.
  static math::Lanes get(const std::vector<double>& x, const Place& place, int k) {
    return math::internal::keep_first(
        place.count, math::load<math::Lanes>(x.data() + place.first + k * place.stride));
  }
  static void set(const math::Lanes& values, const Place& place, int k, std::vector<double>* x) {
    math::store_first(place.count, values, x->data() + place.first + k * place.stride);
  }

  /// Computes u = u* + W lambda.
  void update_velocities();
  /// Computes |D J^T (lambda - gamma)| and its scale.
  numerics::Residual calc_residual();

  /// Starts a factor. Add what has curvature in any order.
  void start_factor();
  /// Adds the curvature G > 0 of one component.
  void add_curvature(int i, double G) {
    if (!(G > 0)) return;
    x_.factor.active.push_back(i);
    x_.factor.compliance.push_back({1, {1 / G}});
  }
  /// Adds a matrix of curvature of several components, which must not be 0.
  /// @param G lower triangle, row by row with kMaxSlips numbers each; overwritten
  void add_curvatures(int size, const int* components, double (&G)[kMaxSlips][kMaxSlips]);
  /// Factors W + G^-1 of the components that were added.
  /// @return false if it is not positive definite
  bool factor();
  /// Computes the changes du of all normal velocities for four right sides s, impulses at one
  /// contact each.
  /// @param components which components of the contacts have an impulse
  /// @param impulses   of these components
  /// @param du_n       one row of four numbers per contact
  void solve_four(const Place& place, std::span<const int> components, const math::Lanes* impulses,
                  double* du_n);

  /// Starts the kinetic energy along the direction d.
  void start_momentum_line() {
    set_momentum_line(math::dot(width_, x_.lambda.data(), x_.du.data()),
                      math::dot(width_, x_.d.data(), x_.du.data()));
  }
  /// Returns the mobility of one component by its own impulse [1/kg, 1/(kg m^2)].
  double own_mobility(int i) const { return W_row(i)[i]; }
  /// Sets one impulse, and u.
  void set_impulse(int i, double impulse) {
    math::add_multiple(width_, impulse - x_.lambda[i], W_row(i), x_.u.data());
    x_.lambda[i] = impulse;
  }

  Scratch& x_;
  int num_three_ = 0, num_six_ = 0, num_rows_ = 0;
  int width_ = 0;  // of the vectors

 private:
  bool is_whole(const contact::MomentumFactor& factor) const;
  void find_rows();
  void calc_W();
  void fill_jacobian();
  void fill_contact(const Place& place, int num_components, int contact,
                    std::span<const SegmentBlock> segments);
  void multiply_by_J(const double* v, std::vector<double>* u) const;
  void multiply_by_W(const std::vector<double>& x, std::vector<double>* y) const;
  double* J_column(int i) { return x_.J.data() + static_cast<std::ptrdiff_t>(i) * stride_; }
  const double* W_row(int i) const { return x_.W.data() + static_cast<std::ptrdiff_t>(i) * width_; }

  int first_dof_ = 0, num_dofs_ = 0;  // in solver order, without idle blocks
  int stride_ = 0;                    // number of dofs, rounded up to a multiple of four
  int padded_ = 0;                    // size of S, a multiple of four
  const contact::MomentumFactor* shared_;
  const math::BlockSparseCholesky* A_;  // the factor of A, shared or the island's own
};

}  // namespace stiction::formulations
