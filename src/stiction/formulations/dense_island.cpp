#include "stiction/formulations/dense_island.hpp"

#include "stiction/base/assert.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Islands;
using math::Vector3;

namespace {

/// Writes the Jacobian of a segment in the frame of a contact: three numbers per dof.
/// @return the end of the written numbers
double* write_columns(const ContactProblem& problem, const contact::Segment& segment,
                      const contact::Contact& c, double* out) {
  const Eigen::Map<const math::Matrix3> R_WC(c.R_WC.data());
  const Eigen::Map<const Vector3> offset(c.offset.data());
  if (segment.is_rigid_body) {
    // s R_CW [-[r]x I], r from the body's point to the contact. Rows of -R_CW [r]x are r x axis.
    const Vector3 r = Eigen::Map<const Vector3>(segment.offset.data()) + offset;
    Eigen::Map<math::Matrix3> of_w(out), of_v(out + 9);
    for (int axis = 0; axis < 3; ++axis)
      of_w.row(axis) = segment.sign * r.cross(R_WC.col(axis)).transpose();
    of_v = segment.sign * R_WC.transpose();
    return out + 18;
  }
  for_each_column(problem, segment, [&](int, const double* V) {
    const Eigen::Map<const Vector3> w(V), v(V + 3);
    Eigen::Map<Vector3> column(out);
    column = R_WC.transpose() * (v + w.cross(offset));
    out += 3;
  });
  return out;
}

}  // namespace

void place_blocks(const ContactProblem& problem, const Islands& islands,
                  std::vector<int>* first_dof) {
  first_dof->resize(problem.num_blocks());
  for (int i = 0; i < islands.size(); ++i) {
    int dof = 0;
    for (const int block : islands.blocks(i)) {
      (*first_dof)[block] = dof;
      dof += problem.block_size(block);
    }
  }
}

void DenseIsland::assemble(const ContactProblem& problem, const Islands& islands, int island,
                           std::span<const int> first_dof) {
  assemble_constraints(problem, islands, island, first_dof);
  assemble_A(problem, islands, island, first_dof);
}

void DenseIsland::assemble_constraints(const ContactProblem& problem, const Islands& islands,
                                       int island, std::span<const int> first_dof) {
  STICTION_ASSERT(static_cast<int>(first_dof.size()) == problem.num_blocks());
  for (auto* indices : {&dofs_, &contacts_, &rows_, &moved_dofs_}) indices->clear();
  contact_places_.clear();
  row_places_.clear();
  values_.clear();
  for (const int block : islands.blocks(island))
    for (int dof = problem.dof_start[block]; dof < problem.dof_start[block + 1]; ++dof)
      dofs_.push_back(dof);
  for (const int p : islands.pairs(island)) add_pair(problem, problem.pairs[p], first_dof);
  for (const int r : islands.rows(island)) add_row(problem, islands, r, first_dof);
}

void DenseIsland::assemble_A(const ContactProblem& problem, const Islands& islands, int island,
                             std::span<const int> first_dof) {
  using Block = Eigen::Map<const Eigen::MatrixXd>;
  A_.setZero(num_dofs(), num_dofs());
  for (const int b : islands.blocks(island)) {
    const int n = problem.block_size(b);
    A_.block(first_dof[b], first_dof[b], n, n) = Block(problem.diagonal(b), n, n);
  }
  for (const int i : islands.couplings(island)) {
    const contact::Coupling& c = problem.couplings[i];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    const Block A_c(problem.A.data() + c.start, m, n);
    A_.block(first_dof[c.row_block], first_dof[c.column_block], m, n) = A_c;
    A_.block(first_dof[c.column_block], first_dof[c.row_block], n, m) = A_c.transpose();
  }
}

void DenseIsland::add_pair(const ContactProblem& problem, const contact::BodyPair& pair,
                           std::span<const int> first_dof) {
  const std::span segments =
      std::span(problem.segments).subspan(pair.first_segment, pair.num_segments);
  // All contacts of a pair have the same dofs.
  Place place;
  place.first_dof = static_cast<int>(moved_dofs_.size());
  for (const contact::Segment& segment : segments)
    for_each_column(problem, segment, [&](int dof, const double*) {
      moved_dofs_.push_back(first_dof[segment.block] + dof);
    });
  place.num_dofs = static_cast<int>(moved_dofs_.size()) - place.first_dof;
  place.first_value = static_cast<int>(values_.size());
  values_.resize(values_.size() + static_cast<std::size_t>(3) * place.num_dofs * pair.num_contacts);
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    contacts_.push_back(i);
    contact_places_.push_back(place);
    double* columns = values_.data() + place.first_value;
    for (const contact::Segment& segment : segments)
      columns = write_columns(problem, segment, problem.contacts[i], columns);
    place.first_value += 3 * place.num_dofs;
  }
}

void DenseIsland::add_row(const ContactProblem& problem, const Islands& islands, int r,
                          std::span<const int> first_dof) {
  const contact::Row& row = problem.rows[r];
  rows_.push_back(r);
  row_places_.push_back(
      {static_cast<int>(moved_dofs_.size()), row.num_columns, static_cast<int>(values_.size())});
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const int dof = problem.row_dof[c], block = islands.block_of_dof(dof);
    moved_dofs_.push_back(first_dof[block] + dof - problem.dof_start[block]);
    values_.push_back(problem.row_columns[c]);
  }
}

template <int kSize>
DenseJacobian<kSize> DenseIsland::jacobian(const Place& place) const {
  return {std::span(moved_dofs_).subspan(place.first_dof, place.num_dofs),
          typename DenseJacobian<kSize>::Columns(values_.data() + place.first_value, kSize,
                                                 place.num_dofs)};
}

DenseJacobian<3> DenseIsland::contact_jacobian(int contact) const {
  STICTION_ASSERT(0 <= contact && contact < num_contacts());
  return jacobian<3>(contact_places_[contact]);
}

DenseJacobian<1> DenseIsland::row_jacobian(int row) const {
  STICTION_ASSERT(0 <= row && row < num_rows());
  return jacobian<1>(row_places_[row]);
}

void DenseIsland::gather(std::span<const double> all, Eigen::VectorXd* x) const {
  x->resize(num_dofs());
  for (int i = 0; i < num_dofs(); ++i) (*x)[i] = all[dofs_[i]];
}

void DenseIsland::scatter(const Eigen::VectorXd& x, std::span<double> all) const {
  STICTION_ASSERT(x.size() == num_dofs());
  for (int i = 0; i < num_dofs(); ++i) all[dofs_[i]] = x[i];
}

}  // namespace stiction::formulations
