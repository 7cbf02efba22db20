#include "stiction/plant/model/model.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/plant/mujoco/element_names.hpp"

namespace stiction::plant {
namespace {

void refuse_unsupported(const mjModel* m) {
  if (m->nflex > 0)
    throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_FLEX, 0),
                "no contact model simulates deformable bodies (flex); remove the <flex> or "
                "<flexcomp> elements, or step this scene with mj_step");
}

}  // namespace

std::string describe(const mjModel* model, mjtObj type, int id) {
  return describe(type, id, mj_id2name(model, type, id));
}

Model::Model(const mjModel* m) {
  refuse_unsupported(m);

  make_blocks(m);
  make_chains(m);
  set_awake(m, std::vector<std::uint8_t>(m->ntree, 1));
}

/// Finds the dofs that move each body: its own last dof, or that of its nearest ancestor with dofs,
/// and all parents of this dof.
void Model::make_chains(const mjModel* m) {
  for (int body = 0; body < m->nbody; ++body) {
    int carrier = body;
    while (carrier > 0 && m->body_dofnum[carrier] == 0) carrier = m->body_parentid[carrier];
    chain_start_.push_back(static_cast<int>(chain_.size()));
    int dof = carrier > 0 ? m->body_dofadr[carrier] + m->body_dofnum[carrier] - 1 : -1;
    for (; dof >= 0; dof = m->dof_parentid[dof]) chain_.push_back(dof);
    std::reverse(chain_.begin() + chain_start_.back(), chain_.end());
  }
  chain_size_.resize(m->nbody);
}

void Model::make_blocks(const mjModel* m) {
  std::vector<int> num_children(m->nv, 0);
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_parentid[i] >= 0) ++num_children[m->dof_parentid[i]];

  // A dof joins the open block if it is the only child of the block's last dof, or if the block is
  // so small that the zeros between siblings cost less than another block.
  dof_block_.resize(m->nv);
  for (int i = 0; i < m->nv; ++i) {
    const int parent = m->dof_parentid[i];
    const bool is_chain = parent == i - 1 && parent >= 0 && num_children[parent] == 1;
    if (parent >= 0 && (is_chain || fits_open_block(m, i))) {
      dof_block_[i] = static_cast<int>(all_blocks_.size()) - 1;
      ++all_blocks_.back().num_dofs;
      continue;
    }
    Block block;
    block.dof_start = i;
    block.num_dofs = 1;
    block.parent = parent >= 0 ? dof_block_[parent] : -1;
    block.depth = parent >= 0 ? all_blocks_[block.parent].depth + 1 : 0;
    block.body = m->dof_bodyid[i];
    dof_block_[i] = static_cast<int>(all_blocks_.size());
    all_blocks_.push_back(block);
  }
  for (Block& block : all_blocks_)
    block.is_free_body = block.num_dofs == 6 && block.parent < 0 &&
                         num_children[block.dof_start + 5] == 0 &&
                         m->jnt_type[m->dof_jntid[block.dof_start]] == mjJNT_FREE;
}

void Model::set_awake(const mjModel* m, std::span<const std::uint8_t> tree_awake) {
  select_blocks(m, tree_awake);
  make_pattern(m);
  for (int body = 0; body < m->nbody; ++body) {
    const int tree = m->body_treeid[body];
    const int end = body + 1 < m->nbody ? chain_start_[body + 1] : static_cast<int>(chain_.size());
    chain_size_[body] = tree < 0 || tree_awake[tree] ? end - chain_start_[body] : 0;
  }
}

void Model::select_blocks(const mjModel* m, std::span<const std::uint8_t> tree_awake) {
  blocks_.clear();
  awake_dofs_.clear();
  solver_block_.clear();
  block_index_.assign(all_blocks_.size(), -1);
  std::fill(dof_block_.begin(), dof_block_.end(), -1);
  int num_dofs = 0;
  for (std::size_t i = 0; i < all_blocks_.size(); ++i) {
    Block block = all_blocks_[i];
    const int begin = block.dof_start, end = begin + block.num_dofs;
    if (!tree_awake[m->dof_treeid[begin]]) continue;
    block_index_[i] = num_blocks();
    block.solver_start = num_dofs;
    if (block.parent >= 0) block.parent = block_index_[block.parent];
    std::fill(dof_block_.begin() + begin, dof_block_.begin() + end, num_blocks());
    solver_block_.insert(solver_block_.end(), block.num_dofs, num_blocks());
    blocks_.push_back(block);
    num_dofs += block.num_dofs;
    if (!awake_dofs_.empty() && awake_dofs_.back().end == begin)
      awake_dofs_.back().end = end;
    else
      awake_dofs_.push_back({begin, end});
  }
}

/// True if a dof that starts a branch may join the open block.
bool Model::fits_open_block(const mjModel* m, int dof) const {
  constexpr int kDenseTree = 24;   // most dofs of a tree that is stored as one block
  constexpr int kDenseTrunk = 12;  // most dofs of a trunk together with the chain that extends it
  const Block& open = all_blocks_.back();
  const int tree = m->dof_treeid[dof];
  if (m->dof_treeid[open.dof_start] != tree) return false;
  if (m->tree_dofnum[tree] <= kDenseTree) return true;
  // Find the end of the chain that begins here. It extends the trunk if it branches there.
  int end = dof + 1;
  const auto children = [&](int i) {
    int n = 0;
    for (int j = i + 1; j < m->nv; ++j) n += m->dof_parentid[j] == i;
    return n;
  };
  while (children(end - 1) == 1) ++end;
  const bool is_trunk = children(end - 1) > 1;
  return is_trunk && dof_block_[m->dof_parentid[dof]] == static_cast<int>(all_blocks_.size()) - 1 &&
         end - open.dof_start <= kDenseTrunk;
}

void Model::make_pattern(const mjModel* m) {
  pattern_.clear(0);
  for (const Block& block : blocks_) {
    if (block.is_free_body)
      pattern_.add_rigid_body();
    else
      pattern_.add_block(block.num_dofs);
  }
  first_coupling_.clear();
  for (int b = 0; b < num_blocks(); ++b) {
    first_coupling_.push_back(static_cast<int>(pattern_.couplings.size()));
    for (int a = blocks_[b].parent; a >= 0; a = blocks_[a].parent) pattern_.add_coupling(a, b);
  }
  inertia_entries_.resize(m->nC);
  for (const DofRange& range : awake_dofs_)
    for (int i = range.begin; i < range.end; ++i)
      for (int k = m->M_rowadr[i]; k < m->M_rowadr[i] + m->M_rownnz[i]; ++k)
        inertia_entries_[k] = find_entry(i, m->M_colind[k]);
}

Model::Entry Model::find_entry(int i, int j) const {
  if (dof_block_[i] < dof_block_[j]) std::swap(i, j);
  const int b = dof_block_[i], a = dof_block_[j];  // a is b, or an ancestor of b
  i -= blocks_[b].dof_start;
  j -= blocks_[a].dof_start;
  const int start = find_block(a, b), index = start + j + i * blocks_[a].num_dofs;
  return {a == b ? start + i + j * blocks_[a].num_dofs : index, index};
}

int Model::find_block(int a, int b) const {
  if (a == b) return pattern_.diagonal_start[b];
  return pattern_.couplings[first_coupling_[b] + blocks_[b].depth - blocks_[a].depth - 1].start;
}

bool Model::are_related(int a, int b) const {
  // A child has a higher index than its parent, so climb from the higher index toward the lower.
  if (a > b) std::swap(a, b);
  while (b > a) b = blocks_[b].parent;
  return a == b;
}

double calc_moved_mass(const mjModel* m, const mjData* d, std::span<const int> dofs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (dofs.empty()) return kInfinity;
  double largest = 0;
  for (const int dof : dofs) {
    const double mass = d->crb[10 * m->dof_bodyid[dof] + 9];  // of the body and its descendants
    const double armature = m->dof_armature[dof];
    const double inertia = d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1] - armature;
    // Bodies without inertia behind an armature have no radius of gyration.
    largest = std::max(largest, inertia > 0 ? mass * (1 + armature / inertia) : kInfinity);
  }
  return largest;
}

int find_pair(const mjModel* m, int geom1, int geom2) {
  if (m->npair == 0) return -1;
  // MuJoCo sorts the elements by the signature of the two bodies.
  const auto [low, high] = std::minmax(m->geom_bodyid[geom1], m->geom_bodyid[geom2]);
  const int signature = (low << 16) + high;
  const int* begin = m->pair_signature;
  const int* end = begin + m->npair;
  const int* at = std::lower_bound(begin, end, signature);
  for (; at != end && *at == signature; ++at) {
    const auto i = static_cast<int>(at - begin);
    if (std::minmax(m->pair_geom1[i], m->pair_geom2[i]) == std::minmax(geom1, geom2)) return i;
  }
  return -1;
}

double find_gap(const mjModel* m, int geom1, int geom2) {
  const int pair = find_pair(m, geom1, geom2);
  return pair >= 0 ? m->pair_gap[pair] : m->geom_gap[geom1] + m->geom_gap[geom2];
}

}  // namespace stiction::plant
