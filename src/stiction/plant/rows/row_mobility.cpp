#include "stiction/plant/rows/row_mobility.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {

RowComponents find_components(const mjModel* m, const mjData* d, int row) {
  if (d->efc_type[row] != mjCNSTR_EQUALITY) return {row, row + 1};
  const int equality = d->efc_id[row], type = m->eq_type[equality];
  if (type != mjEQ_CONNECT && type != mjEQ_WELD) return {row, row + 1};
  int first = row;
  while (first > 0 && d->efc_id[first - 1] == equality) --first;
  first += (row - first) / 3 * 3;
  return {first, std::min(first + 3, limit_rows(d).end)};
}

double RowMobility::calc_mean(const mjModel* m, const mjData* d, const RowComponents& rows) {
  z_.resize(m->nv);
  const bool is_sparse = mj_isSparse(m);
  double sum = 0;
  for (int row = rows.begin; row < rows.end; ++row) {
    const std::size_t start =
        is_sparse ? d->efc_J_rowadr[row] : static_cast<std::size_t>(row) * m->nv;
    const int size = is_sparse ? d->efc_J_rownnz[row] : static_cast<int>(m->nv);
    // The dofs ascend, and those of a tree are contiguous.
    int first = -1, last = -1;  // first dof of the present tree, and the last nonzero in it
    for (int k = 0; k < size; ++k) {
      const double entry = d->efc_J[start + k];
      if (entry == 0) continue;
      const int dof = is_sparse ? d->efc_J_colind[start + k] : k;
      const int tree = m->tree_dofadr[m->dof_treeid[dof]];
      if (tree != first && last >= 0) sum += take_squared_norm(m, d, first, last);
      z_[dof] = entry;
      first = tree;
      last = dof;
    }
    if (last >= 0) sum += take_squared_norm(m, d, first, last);
  }
  return sum / rows.size();
}

/// Solves L^T x = z for the dofs of a tree, sets z to 0, and returns x^T D^-1 x.
/// @param first, last the tree's first dof, and the last dof with a nonzero z
double RowMobility::take_squared_norm(const mjModel* m, const mjData* d, int first, int last) {
  double sum = 0;
  for (int i = last; i >= first; --i) {
    const double x = std::exchange(z_[i], 0.0);
    if (x == 0) continue;
    // The diagonal is the last entry of a row; the others belong to ancestors.
    const int begin = m->M_rowadr[i], diagonal = begin + m->M_rownnz[i] - 1;
    for (int k = begin; k < diagonal; ++k) z_[m->M_colind[k]] -= d->qLD[k] * x;
    sum += x * x * d->qLDiagInv[i];
  }
  return sum;
}

}  // namespace stiction::plant
