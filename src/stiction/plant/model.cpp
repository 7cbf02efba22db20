#include "stiction/plant/model.hpp"

#include <algorithm>

#include "stiction/base/error.hpp"

namespace stiction::plant {
namespace {

void refuse_unsupported(const mjModel* m) {
  if (m->nflex > 0)
    throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_FLEX, 0),
                "deformable bodies (flex) are not simulated; remove the <flex> or <flexcomp> "
                "elements, or use contact_model 'mujoco'");
}

bool has_dry_friction(const mjModel* m) {
  const auto positive = [](mjtNum f) { return f > 0; };
  return std::any_of(m->dof_frictionloss, m->dof_frictionloss + m->nv, positive) ||
         std::any_of(m->tendon_frictionloss, m->tendon_frictionloss + m->ntendon, positive);
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

  trees_.resize(m->ntree);
  for (int t = 0; t < m->ntree; ++t) {
    Tree& tree = trees_[t];
    tree.dof_start = m->tree_dofadr[t];
    tree.num_dofs = m->tree_dofnum[t];
    tree.body = m->dof_bodyid[tree.dof_start];
    const int joint = m->dof_jntid[tree.dof_start];
    tree.is_free_body = tree.num_dofs == 6 && m->jnt_type[joint] == mjJNT_FREE;
  }
  body_tree_.assign(m->body_treeid, m->body_treeid + m->nbody);
  dof_tree_.assign(m->dof_treeid, m->dof_treeid + m->nv);

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

  has_rows_ = m->neq > 0 || has_dry_friction(m) ||
              std::any_of(m->jnt_limited, m->jnt_limited + m->njnt, [](bool b) { return b; }) ||
              std::any_of(m->tendon_limited, m->tendon_limited + m->ntendon,
                          [](bool b) { return b; });
  has_body_transmission_ = std::any_of(m->actuator_trntype, m->actuator_trntype + m->nactuator,
                                       [](int type) { return type == mjTRN_BODY; });
}

}  // namespace stiction::plant
