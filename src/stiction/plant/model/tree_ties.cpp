#include "stiction/plant/model/tree_ties.hpp"

#include <algorithm>

namespace stiction::plant {
namespace {

using Tie = TreeTies::Tie;

void add_tree(int tree, Tie* tie) {
  const auto at = std::lower_bound(tie->trees.begin(), tie->trees.end(), tree);
  if (at == tie->trees.end() || *at != tree) tie->trees.insert(at, tree);
}

void add_body(const mjModel* m, int body, Tie* tie) {
  if (m->body_treeid[body] >= 0) add_tree(m->body_treeid[body], tie);
  if (m->body_mocapid[m->body_rootid[body]] >= 0) tie->has_mocap_body = true;
}

void add_joint(const mjModel* m, int joint, Tie* tie) {
  if (joint >= 0) add_body(m, m->jnt_bodyid[joint], tie);
}

void add_site(const mjModel* m, int site, Tie* tie) {
  if (site >= 0) add_body(m, m->site_bodyid[site], tie);
}

void add_all(const Tie& from, Tie* to) {
  for (const int tree : from.trees) add_tree(tree, to);
  to->has_mocap_body |= from.has_mocap_body;
}

}  // namespace

TreeTies::TreeTies(const mjModel* m) : changes_by_itself_(m->ntree, false) {
  for (int i = 0; i < m->ntendon; ++i) tendons_.push_back(make_tendon_tie(m, i));
  for (int i = 0; i < m->neq; ++i) equalities_.push_back(make_equality_tie(m, i));
  for (int i = 0; i < m->nactuator; ++i) actuators_.push_back(make_actuator_tie(m, i));
  find_changing_trees(m);
}

TreeTies::Tie TreeTies::make_tendon_tie(const mjModel* m, int tendon) const {
  Tie tie;
  const int begin = m->tendon_adr[tendon];
  for (int i = begin; i < begin + m->tendon_num[tendon]; ++i)
    if (m->wrap_type[i] == mjWRAP_JOINT) add_joint(m, m->wrap_objid[i], &tie);
  for_each_tendon_body(m, tendon, [&](int body) { add_body(m, body, &tie); });
  return tie;
}

TreeTies::Tie TreeTies::make_equality_tie(const mjModel* m, int equality) const {
  Tie tie;
  for (const int object : {m->eq_obj1id[equality], m->eq_obj2id[equality]}) {
    if (m->eq_type[equality] == mjEQ_JOINT) add_joint(m, object, &tie);
    if (m->eq_type[equality] == mjEQ_TENDON && object >= 0) add_all(tendons_[object], &tie);
  }
  for_each_equality_body(m, equality, [&](int body) { add_body(m, body, &tie); });
  return tie;
}

TreeTies::Tie TreeTies::make_actuator_tie(const mjModel* m, int actuator) const {
  Tie tie;
  const int *ids = m->actuator_trnid + 2 * actuator, id = ids[0], other = ids[1];
  switch (m->actuator_trntype[actuator]) {
    case mjTRN_JOINT:
    case mjTRN_JOINTINPARENT: add_joint(m, id, &tie); break;
    case mjTRN_TENDON: add_all(tendons_[id], &tie); break;
    case mjTRN_BODY: add_body(m, id, &tie); break;
    case mjTRN_SO3:
      if (other < 0) {
        add_joint(m, id, &tie);
        break;
      }
      [[fallthrough]];
    default:  // one or two sites
      add_site(m, id, &tie);
      add_site(m, other, &tie);
      break;
  }
  return tie;
}

void TreeTies::find_changing_trees(const mjModel* m) {
  const auto mark = [this](const Tie& tie) {
    for (const int tree : tie.trees) changes_by_itself_[tree] = true;
  };
  for (int i = 0; i < m->nactuator; ++i)
    if (m->actuator_delay[i] > 0 || m->actuator_plugin[i] >= 0) mark(actuators_[i]);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_plasticadr[i] >= 0) mark(tendons_[i]);
  Tie bodies;
  for (int i = 0; i < m->nbody; ++i)
    if (m->body_plugin[i] >= 0) add_body(m, i, &bodies);
  for (int i = 0; i < m->njnt; ++i)
    if (m->jnt_plasticadr[i] >= 0) add_joint(m, i, &bodies);
  mark(bodies);
}

}  // namespace stiction::plant
