#include "stiction/plant/collision/motion_bounds.hpp"

#include <cmath>

namespace stiction::plant {

void MotionBounds::calc(const mjModel* m, const double* qpos, const double* qvel, double duration,
                        const MocapMotion* mocap) {
  frames_.resize(m->nbody);
  frames_[0] = {};
  for (int body = 1; body < m->nbody; ++body) {
    Frame frame = frames_[m->body_parentid[body]];
    frame.shift(mju_norm3(m->body_pos + 3 * body));
    if (m->body_mocapid[body] >= 0) {
      const double* V = mocap ? mocap->of_body(m, body) : nullptr;
      frame = {.spin = V ? mju_norm3(V) : 0};
    }
    const int begin = m->body_jntadr[body];
    for (int joint = begin; joint < begin + m->body_jntnum[body]; ++joint)
      add_joint(m, joint, qpos, qvel, duration, &frame);
    frames_[body] = frame;
  }
}

void MotionBounds::add_joint(const mjModel* m, int joint, const double* qpos, const double* qvel,
                             double duration, Frame* frame) {
  const double* v = qvel + m->jnt_dofadr[joint];
  const int adr = m->jnt_qposadr[joint];
  switch (m->jnt_type[joint]) {
    case mjJNT_FREE: *frame = {.spin = mju_norm3(v + 3)}; break;
    case mjJNT_SLIDE:
      frame->slide(std::abs(*v), std::abs(qpos[adr] - m->qpos0[adr]) + duration * std::abs(*v));
      break;
    default: {
      const double to_anchor = mju_norm3(m->jnt_pos + 3 * joint);
      frame->shift(to_anchor);
      frame->turn(m->jnt_type[joint] == mjJNT_BALL ? mju_norm3(v) : std::abs(*v));
      frame->shift(to_anchor);
      break;
    }
  }
}

}  // namespace stiction::plant
