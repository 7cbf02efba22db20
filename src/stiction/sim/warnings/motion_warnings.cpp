#include "stiction/sim/warnings/motion_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "stiction/sim/report/warning_table.hpp"

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

/// Returns the turning speed of a joint [rad/s]; 0 for slides.
double calc_turning_speed(const mjModel* m, const mjData* d, int joint) {
  const mjtNum* v = d->qvel + m->jnt_dofadr[joint];
  switch (m->jnt_type[joint]) {
    case mjJNT_HINGE: return std::abs(v[0]);
    case mjJNT_BALL: return mju_norm3(v);
    case mjJNT_FREE: return mju_norm3(v + 3);
    default: return 0;
  }
}

}  // namespace

void warn_of_jumps(const StepInputs& in, const mjData* d, StepOutputs* out) {
  const mjModel* m = in.model;
  const bool is_rigid = in.contact_model().is_rigid;
  for (int mocap = 0; mocap < m->nmocap; ++mocap) {
    const double share = in.mocap.jump(mocap);
    if (share < kTooDeep) continue;
    int body = 0;
    while (m->body_mocapid[body] != mocap) ++body;
    const auto warn = [&](const Warning& warning, const char* consequence) {
      out->warn(warning, {.ids = {body}, .numbers = {share}, .cause = consequence});
    };
    if (overlaps(m, d, mocap))
      warn(warnings::kJumpIntoOthers, "it pushes the bodies that it overlaps");
    if (is_rigid && is_tied(m, d, mocap))
      warn(warnings::kJumpOfTies, "bodies that are tied to it follow");
  }
}

void warn_of_rotation(const StepInputs& in, const mjData* d, StepOutputs* out) {
  const mjModel* m = in.model;
  const double dt = in.time_step();
  const double fast = std::numbers::pi / dt;
  // Nearly always all velocities are smaller. [rad/s] and [m/s] are compared with the same number.
  if (mju_norm(d->qvel, m->nv) <= fast) return;
  int fastest = -1, num_fast = 0;
  double largest = fast;
  for (int joint = 0; joint < m->njnt; ++joint) {
    const double speed = calc_turning_speed(m, d, joint);
    if (!(speed > fast)) continue;
    ++num_fast;
    if (speed < largest) continue;
    largest = speed;
    fastest = joint;
  }
  if (fastest < 0) return;
  out->warn(warnings::kRotation, {.ids = {fastest}, .numbers = {largest * dt}}, num_fast);
}

void warn_of_limits(const StepInputs& in, const mjData* d, LimitMemory* limits, StepOutputs* out) {
  const mjModel* m = in.model;
  const bool has_limits =
      !(in.models.integrated()->opt.disableflags & (mjDSBL_LIMIT | mjDSBL_CONSTRAINT));
  if (!in.contact_model().is_rigid || !has_limits) return;
  const auto violations = limits->find_new(d);
  if (violations.empty()) return;
  const auto& largest = *std::max_element(
      violations.begin(), violations.end(),
      [](const auto& a, const auto& b) { return a.excess * b.tolerance < b.excess * a.tolerance; });
  const bool is_length = largest.is_tendon || m->jnt_type[largest.id] == mjJNT_SLIDE;
  const mjtObj kind = largest.is_tendon ? mjOBJ_TENDON : mjOBJ_JOINT;
  out->warn(warnings::kLimit,
            {.numbers = {largest.excess, largest.tolerance},
             .cause = is_length ? "m" : "rad",
             .text = plant::describe(m, kind, largest.id)},
            static_cast<int>(violations.size()));
}

}  // namespace stiction::sim
