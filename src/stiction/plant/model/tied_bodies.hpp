#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

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
