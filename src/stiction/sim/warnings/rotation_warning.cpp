#include "stiction/sim/warnings/rotation_warning.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

namespace stiction::sim {
namespace {

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

/// Describes the angle of the joint ids[0] [rad].
std::string describe_rotation(const plant::ElementNames& names, const WarningFacts& facts) {
  char text[300];
  std::snprintf(text, sizeof text,
                " turns by %.3g rad in the step, more than half a turn, so forces that depend on "
                "its angle or on its speed are not resolved and may add energy; take a smaller "
                "step, or give the joint armature or damping",
                facts.numbers[0]);
  return names.describe(mjOBJ_JOINT, facts.ids[0]) + text;
}

}  // namespace

void warn_of_rotation(const StepInputs& in, const mjData* d, StepOutputs* out) {
  const mjModel* m = in.model;
  const double dt = m->opt.timestep;
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
  out->warn(WarningKind::rotation,
            {.describe = describe_rotation, .ids = {fastest}, .numbers = {largest * dt}}, num_fast);
}

}  // namespace stiction::sim
