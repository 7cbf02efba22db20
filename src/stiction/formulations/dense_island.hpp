#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"

namespace stiction::formulations {

/// J of one constraint with kSize components, on the dofs of its island that it moves.
template <int kSize>
struct DenseJacobian {
  using Vector = Eigen::Matrix<double, kSize, 1>;
  using Matrix = Eigen::Matrix<double, kSize, kSize>;
  using Columns = Eigen::Map<const Eigen::Matrix<double, kSize, Eigen::Dynamic>>;

  std::span<const int> dofs;  // in the island
  Columns columns;            // one per dof

  /// J v.
  template <class Velocities>
  Vector multiply(const Velocities& v) const {
    Vector v_c = Vector::Zero();
    for (std::size_t i = 0; i < dofs.size(); ++i) v_c += columns.col(i) * v[dofs[i]];
    return v_c;
  }
  /// f += J^T gamma.
  void add_force(const Vector& gamma, Eigen::VectorXd* f) const {
    for (std::size_t i = 0; i < dofs.size(); ++i) (*f)[dofs[i]] += columns.col(i).dot(gamma);
  }
  /// H += J^T G J; G need not be symmetric.
  void add_gradient(const Matrix& G, Eigen::MatrixXd* H) const {
    for (std::size_t j = 0; j < dofs.size(); ++j) {
      const Vector Gj = G * columns.col(j);
      for (std::size_t i = 0; i < dofs.size(); ++i)
        (*H)(dofs[i], dofs[j]) += columns.col(i).dot(Gj);
    }
  }
};

/// The first dof of every block of the problem within its island. Those in none are left as they
/// are.
void place_blocks(const contact::ContactProblem& problem, const contact::Islands& islands,
                  std::vector<int>* first_dof);

/// One island as plain matrices, for solvers that are not about speed. Keeps its memory.
class DenseIsland {
 public:
  /// @param first_dof of every block of the problem within its island
  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof);
  /// All but A.
  void assemble_constraints(const contact::ContactProblem& problem, const contact::Islands& islands,
                            int island, std::span<const int> first_dof);

  int num_dofs() const { return static_cast<int>(dofs_.size()); }
  int num_contacts() const { return static_cast<int>(contacts_.size()); }
  int num_rows() const { return static_cast<int>(rows_.size()); }

  /// Indices in the problem.
  std::span<const int> dofs() const { return dofs_; }
  std::span<const int> contacts() const { return contacts_; }
  std::span<const int> rows() const { return rows_; }

  const Eigen::MatrixXd& A() const { return A_; }
  /// Of a contact of this island: rows t1, t2, n.
  DenseJacobian<3> contact_jacobian(int contact) const;
  DenseJacobian<1> row_jacobian(int row) const;

  /// x of the island's dofs, from a vector of the problem's.
  void gather(std::span<const double> all, Eigen::VectorXd* x) const;
  void scatter(const Eigen::VectorXd& x, std::span<double> all) const;

 private:
  /// Where a constraint's dofs and columns are.
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
  std::vector<int> moved_dofs_;
  std::vector<double> values_;
};

}  // namespace stiction::formulations
