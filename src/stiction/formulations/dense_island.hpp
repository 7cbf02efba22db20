#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"

namespace stiction::formulations {

/// The Jacobian of a constraint of kSize components: a column for each dof that moves it.
template <int kSize>
struct DenseJacobian {
  using Vector = Eigen::Matrix<double, kSize, 1>;
  using Matrix = Eigen::Matrix<double, kSize, kSize>;
  using Columns = Eigen::Map<const Eigen::Matrix<double, kSize, Eigen::Dynamic>>;

  std::span<const int> dofs;  // in the island
  Columns columns;            // one per dof

  /// Returns J v.
  /// @param v velocities of the island
  template <class Velocities>
  Vector multiply(const Velocities& v) const {
    Vector v_c = Vector::Zero();
    for (std::size_t i = 0; i < dofs.size(); ++i) v_c += columns.col(i) * v[dofs[i]];
    return v_c;
  }
  /// Adds J^T gamma to f.
  void add_force(const Vector& gamma, Eigen::VectorXd* f) const {
    for (std::size_t i = 0; i < dofs.size(); ++i) (*f)[dofs[i]] += columns.col(i).dot(gamma);
  }
  /// Adds J^T G J to H. G may be unsymmetric.
  void add_gradient(const Matrix& G, Eigen::MatrixXd* H) const {
    for (std::size_t j = 0; j < dofs.size(); ++j) {
      const Vector Gj = G * columns.col(j);
      for (std::size_t i = 0; i < dofs.size(); ++i)
        (*H)(dofs[i], dofs[j]) += columns.col(i).dot(Gj);
    }
  }
};

/// Finds the first dof of every block within its island.
/// @param first_dof is resized to num_blocks; entries of blocks without an island do not change
void place_blocks(const contact::ContactProblem& problem, const contact::Islands& islands,
                  std::vector<int>* first_dof);

/// One island as dense matrices, for models whose solvers need them. An object reuses its memory.
class DenseIsland {
 public:
  /// Fills A and the Jacobians of the island's contacts and rows.
  /// @param first_dof first dof of every block within its island, see place_blocks
  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof);
  /// Fills the Jacobians only.
  void assemble_constraints(const contact::ContactProblem& problem, const contact::Islands& islands,
                            int island, std::span<const int> first_dof);

  int num_dofs() const { return static_cast<int>(dofs_.size()); }
  int num_contacts() const { return static_cast<int>(contacts_.size()); }
  int num_rows() const { return static_cast<int>(rows_.size()); }

  // Indices of the island's dofs, contacts and rows in the problem.
  std::span<const int> dofs() const { return dofs_; }
  std::span<const int> contacts() const { return contacts_; }
  std::span<const int> rows() const { return rows_; }

  const Eigen::MatrixXd& A() const { return A_; }
  /// The Jacobian of a contact of this island, with rows t1, t2, n.
  /// @param contact in [0, num_contacts())
  DenseJacobian<3> contact_jacobian(int contact) const;
  /// The Jacobian of a scalar row of this island.
  /// @param row in [0, num_rows())
  DenseJacobian<1> row_jacobian(int row) const;

  /// Copies the entries of the island's dofs from a vector of the problem to x.
  void gather(std::span<const double> all, Eigen::VectorXd* x) const;
  /// Copies x to the entries of the island's dofs in a vector of the problem.
  void scatter(const Eigen::VectorXd& x, std::span<double> all) const;

 private:
  /// The place of a constraint's dofs and columns in moved_dofs_ and values_.
  struct Place {
    int first_dof = 0;
    int num_dofs = 0;
    int first_value = 0;
  };
  void assemble_A(const contact::ContactProblem& problem, const contact::Islands& islands,
                  int island, std::span<const int> first_dof);
  void add_pair(const contact::ContactProblem& problem, const contact::BodyPair& pair,
                std::span<const int> first_dof);
  void add_row(const contact::ContactProblem& problem, const contact::Islands& islands, int row,
               std::span<const int> first_dof);
  template <int kSize>
  DenseJacobian<kSize> jacobian(const Place& place) const;

  std::vector<int> dofs_, contacts_, rows_;
  Eigen::MatrixXd A_;
  std::vector<Place> contact_places_, row_places_;
  std::vector<int> moved_dofs_;  // dofs of all Jacobians
  std::vector<double> values_;   // columns of all Jacobians
};

}  // namespace stiction::formulations
