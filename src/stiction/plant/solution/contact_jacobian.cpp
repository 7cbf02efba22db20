#include "stiction/plant/solution/contact_jacobian.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {
namespace {

std::array<int, 2> find_bodies(const mjModel* m, const mjContact& con) {
  return {m->geom_bodyid[con.geom[0]], m->geom_bodyid[con.geom[1]]};
}

int count_rows(const mjData* d, const mjContact& con) {
  if (con.dim == 1) return 1;
  const bool is_pyramidal = d->efc_type[con.efc_address] == mjCNSTR_CONTACT_PYRAMIDAL;
  return is_pyramidal ? 2 * (con.dim - 1) : con.dim;
}

/// Calls f(index in data->contact, points of action on both bodies) for each contact with rows.
template <class F>
void for_each_contact(const mjData* d, const contact::ContactProblem& problem, F&& f) {
  for (const contact::BodyPair& pair : problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      const mjContact& con = d->contact[c.source];
      const bool is_later_point = c.face >= 0 && i > pair.first_contact;
      if (con.efc_address < 0 || is_later_point) continue;
      double points[2][3];
      for (int k = 0; k < 3; ++k) {
        // The force of a patch has its moment about con.pos.
        const double point = c.face >= 0 ? con.pos[k] : pair.origin[k] + c.offset[k];
        points[0][k] = point - pair.half_gap[k];
        points[1][k] = point + pair.half_gap[k];
      }
      f(c.source, points);
    }
  }
}

}  // namespace

void ContactJacobian::reserve(const mjModel* m, const mjData* d) {
  const auto nv = static_cast<std::size_t>(m->nv);
  for (auto& body : jac_)
    for (std::vector<mjtNum>& part : body) part.resize(3 * nv);
  rows_.resize(6 * nv);
  row_.resize(nv);
  dofs_.reserve(nv);
  product_.resize(d->nefc);
}

bool ContactJacobian::write(const mjModel* m, mjData* d, const Model& plant,
                            const contact::ContactProblem& problem) {
  if (mj_isSparse(m) && !grow_sparse(m, d, plant)) return false;
  for_each_contact(d, problem, [&](int index, const double(*points)[3]) {
    const mjContact& con = d->contact[index];
    const int nv = static_cast<int>(m->nv), first = con.efc_address;
    find_dofs(m, d, plant, index);
    calc_rows(m, d, index, points);
    for (int i = 0; i < count_rows(d, con); ++i) {
      if (d->efc_type[first + i] == mjCNSTR_CONTACT_PYRAMIDAL) {
        // An edge of the pyramid: n +- mu t.
        const double mu = (i % 2 == 0 ? 1 : -1) * con.friction[i / 2];
        mju_addScl(row_.data(), rows_.data(), rows_.data() + (1 + i / 2) * nv, mu, nv);
      } else {
        mju_copy(row_.data(), rows_.data() + i * nv, nv);
      }
      write_row(m, d, first + i);
    }
  });
  mj_mulJacVec(m, d, product_.data(), d->qvel);
  const int first = limit_rows(d).end;
  std::copy(product_.begin() + first, product_.end(), d->efc_vel + first);
  mj_mulJacVec(m, d, product_.data(), d->qacc_smooth);
  for (int i = 0; i < d->nefc; ++i) d->efc_b[i] = product_[i] - d->efc_aref[i];
  return true;
}

/// Finds the dofs that move one body of a contact and not the other.
/// @return their number
int ContactJacobian::find_dofs(const mjModel* m, const mjData* d, const Model& plant, int index) {
  const auto [body_A, body_B] = find_bodies(m, d->contact[index]);
  const std::span<const int> A = plant.dofs_of_body(body_A), B = plant.dofs_of_body(body_B);
  dofs_.clear();
  std::set_symmetric_difference(A.begin(), A.end(), B.begin(), B.end(), std::back_inserter(dofs_));
  return static_cast<int>(dofs_.size());
}

/// Computes the Jacobian of the velocity of B's point relative to A's, in the contact's frame.
void ContactJacobian::calc_rows(const mjModel* m, const mjData* d, int index,
                                const double (*points)[3]) {
  const mjContact& con = d->contact[index];
  const int nv = static_cast<int>(m->nv);
  const std::array<int, 2> bodies = find_bodies(m, con);
  for (int side = 0; side < 2; ++side)
    mj_jac(m, d, jac_[side][0].data(), jac_[side][1].data(), points[side], bodies[side]);
  for (int part = 0; part < 2; ++part) {
    mju_subFrom(jac_[1][part].data(), jac_[0][part].data(), 3 * nv);
    mju_mulMatMat(rows_.data() + 3 * part * nv, con.frame, jac_[1][part].data(), 3, 3, nv);
  }
}

void ContactJacobian::write_row(const mjModel* m, mjData* d, int row) {
  if (!mj_isSparse(m)) {
    mjtNum* const J = d->efc_J + static_cast<std::size_t>(row) * m->nv;
    mju_zero(J, static_cast<int>(m->nv));
    for (const int dof : dofs_) J[dof] = row_[dof];
    return;
  }
  const int adr = d->efc_J_rowadr[row];
  for (std::size_t k = 0; k < dofs_.size(); ++k) {
    d->efc_J_colind[adr + k] = dofs_[k];
    d->efc_J[adr + k] = row_[dofs_[k]];
  }
}

/// Makes room for the rows of contacts in a sparse Jacobian.
/// @return false if the data's arena is too small
bool ContactJacobian::grow_sparse(const mjModel* m, mjData* d, const Model& plant) {
  int size = d->nJ;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (con.efc_address < 0) continue;
    const int num_dofs = find_dofs(m, d, plant, i);
    for (int row = con.efc_address; row < con.efc_address + count_rows(d, con); ++row) {
      d->efc_J_rownnz[row] = num_dofs;
      d->efc_J_rowadr[row] = size;
      size += num_dofs;
    }
  }
  if (!grow_in_arena(d, &d->efc_J, d->nJ, size)) return false;
  if (!grow_in_arena(d, &d->efc_J_colind, d->nJ, size)) return false;
  d->nJ = size;
  return true;
}

}  // namespace stiction::plant
