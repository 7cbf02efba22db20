#include "stiction/sim/warnings/mocap_warning.hpp"

#include <cstdio>
#include <string>

#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "stiction/sim/warnings/penetration_warning.hpp"

namespace stiction::sim {
namespace {

/// Returns the mocap body that carries a body, or -1.
int find_mocap(const mjModel* m, int body) { return m->body_mocapid[m->body_rootid[body]]; }

bool overlaps(const mjModel* m, const mjData* d, int mocap) {
  for (int i = 0; i < d->ncon; ++i)
    for (const int geom : d->contact[i].geom)
      if (d->contact[i].dist < 0 && geom >= 0 && find_mocap(m, m->geom_bodyid[geom]) == mocap)
        return true;
  return false;
}

bool is_tied(const mjModel* m, const mjData* d, int mocap) {
  bool is_any = false;
  for (int i = 0; i < m->neq; ++i)
    if (d->eq_active[i])
      plant::for_each_equality_body(m, i,
                                    [&](int body) { is_any |= find_mocap(m, body) == mocap; });
  return is_any;
}

std::string describe(const mjModel* m, int mocap, double share, const char* consequence) {
  int body = 0;
  while (m->body_mocapid[body] != mocap) ++body;
  char text[160];
  std::snprintf(text, sizeof text,
                " jumped: its known velocity does not explain %.2g times the thickness of its "
                "geoms, so ",
                share);
  return "mocap " + plant::describe(m, mjOBJ_BODY, body) + text + consequence +
         " no faster than max_correction_speed; move it by a similar, smaller distance before "
         "every step";
}

}  // namespace

void warn_of_jumps(const StepInputs& in, const mjData* d, StepOutputs* out) {
  const mjModel* m = in.model;
  const bool is_rigid = in.contact_model().is_rigid;
  for (int mocap = 0; mocap < m->nmocap; ++mocap) {
    const double share = in.mocap.jump(mocap);
    if (share < kTooDeep) continue;
    if (overlaps(m, d, mocap))
      out->report.warn(WarningKind::penetration,
                       describe(m, mocap, share, "it pushes the bodies that it overlaps"));
    if (is_rigid && is_tied(m, d, mocap))
      out->report.warn(WarningKind::conflict,
                       describe(m, mocap, share, "bodies that are tied to it follow"));
  }
}

}  // namespace stiction::sim
