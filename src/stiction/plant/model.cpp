#include "stiction/plant/model.hpp"

#include <algorithm>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::plant {
namespace {

void refuse_unsupported(const mjModel* m) {
  if (m->nflex > 0)
    throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_FLEX, 0),
                "deformable bodies (flex) are not simulated; remove the <flex> or <flexcomp> "
                "elements, or use contact_model 'mujoco'");
}

}  // namespace

std::string describe(const mjModel* model, mjtObj type, int id) {
  std::string kind;
  switch (type) {
    case mjOBJ_BODY: kind = "body"; break;
    case mjOBJ_JOINT: kind = "joint"; break;
    case mjOBJ_GEOM: kind = "geom"; break;
    case mjOBJ_TENDON: kind = "tendon"; break;
    case mjOBJ_ACTUATOR: kind = "actuator"; break;
    case mjOBJ_EQUALITY: kind = "equality"; break;
    case mjOBJ_FLEX: kind = "flex"; break;
    case mjOBJ_SITE: kind = "site"; break;
    default: kind = "element"; break;
  }
  const char* name = mj_id2name(model, type, id);
  return name && *name ? kind + " '" + name + "'" : kind + " " + std::to_string(id);
}

Model::Model(const mjModel* m) {
  refuse_unsupported(m);

  // A dof continues its parent's block if it is the only child.
  std::vector<int> num_children(m->nv, 0);
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_parentid[i] >= 0) ++num_children[m->dof_parentid[i]];
  dof_block_.resize(m->nv);
  for (int i = 0; i < m->nv; ++i) {
    const int parent = m->dof_parentid[i];
    if (parent >= 0 && num_children[parent] == 1) {
      dof_block_[i] = dof_block_[parent];
      ++blocks_[dof_block_[i]].num_dofs;
      continue;
    }
    dof_block_[i] = num_blocks();
    Block block;
    block.dof_start = i;
    block.num_dofs = 1;
    block.parent = parent >= 0 ? dof_block_[parent] : -1;
    block.depth = parent >= 0 ? blocks_[block.parent].depth + 1 : 0;
    if (!blocks_.empty())
      block.first_coupling = blocks_.back().first_coupling + blocks_.back().depth;
    block.body = m->dof_bodyid[i];
    blocks_.push_back(block);
  }
  for (Block& block : blocks_)
    block.is_free_body = block.num_dofs == 6 && block.parent < 0 &&
                         num_children[block.dof_start + 5] == 0 &&
                         m->jnt_type[m->dof_jntid[block.dof_start]] == mjJNT_FREE;

  // The dofs of a body: its last own dof, or its nearest moving ancestor's, and all before it in the
  // chain of parents.
  chain_start_.assign(1, 0);
  for (int body = 0; body < m->nbody; ++body) {
    int moving = body;
    while (moving > 0 && m->body_dofnum[moving] == 0) moving = m->body_parentid[moving];
    const auto begin = static_cast<std::ptrdiff_t>(chain_.size());
    int dof = moving > 0 ? m->body_dofadr[moving] + m->body_dofnum[moving] - 1 : -1;
    for (; dof >= 0; dof = m->dof_parentid[dof]) chain_.push_back(dof);
    std::reverse(chain_.begin() + begin, chain_.end());
    chain_start_.push_back(static_cast<int>(chain_.size()));
  }
}

bool Model::are_related(int a, int b) const {
  // A child has a higher index than its parent.
  while (a != b) {
    int& lower = a > b ? a : b;
    lower = blocks_[lower].parent;
    if (lower < 0) return false;
  }
  return true;
}

}  // namespace stiction::plant
