#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The kinematic trees that each tendon, equality and actuator of a model acts on. They follow from
/// the structure of the model alone.
class TreeTies {
 public:
  explicit TreeTies(const mjModel* model);

  /// The trees that an element acts on. A tie to the world or to a mocap body names no tree.
  struct Tie {
    std::vector<int> trees;       // in ascending order
    bool has_mocap_body = false;  // the element also acts on a mocap body
  };
  const Tie& of_tendon(int i) const { return tendons_[i]; }
  const Tie& of_equality(int i) const { return equalities_[i]; }
  const Tie& of_actuator(int i) const { return actuators_[i]; }
  /// True if the forces on a tree may change although nothing that a step reads changes: it has an
  /// actuator with a delay, a plugin, or a plastic joint or tendon.
  bool changes_by_itself(int tree) const { return changes_by_itself_[tree]; }

 private:
  Tie make_tendon_tie(const mjModel* m, int tendon) const;
  Tie make_equality_tie(const mjModel* m, int equality) const;
  Tie make_actuator_tie(const mjModel* m, int actuator) const;
  void find_changing_trees(const mjModel* m);

  std::vector<Tie> tendons_, equalities_, actuators_;
  std::vector<bool> changes_by_itself_;  // per tree
};

/// Calls f(body) for each site and geom of a spatial tendon; never for a fixed tendon.
template <class F>
void for_each_tendon_body(const mjModel* m, int tendon, F&& f) {
  const int begin = m->tendon_adr[tendon];
  for (int i = begin; i < begin + m->tendon_num[tendon]; ++i) {
    const int type = m->wrap_type[i], object = m->wrap_objid[i];
    if (type == mjWRAP_SITE) f(m->site_bodyid[object]);
    if (type == mjWRAP_SPHERE || type == mjWRAP_CYLINDER) f(m->geom_bodyid[object]);
  }
}

/// Calls f(body) for each body that a connect, a weld or the tendons of an equality tie; never for
/// other equalities.
template <class F>
void for_each_equality_body(const mjModel* m, int equality, F&& f) {
  const int type = m->eq_type[equality];
  for (const int object : {m->eq_obj1id[equality], m->eq_obj2id[equality]}) {
    if (type == mjEQ_TENDON && object >= 0) for_each_tendon_body(m, object, f);
    if (type == mjEQ_CONNECT || type == mjEQ_WELD)
      f(m->eq_objtype[equality] == mjOBJ_SITE ? m->site_bodyid[object] : object);
  }
}

}  // namespace stiction::plant
