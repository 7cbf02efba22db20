// Prints the numbers that MuJoCo alone computes in a short run, stage by stage, with all bits. A
// comparison of the outputs of two systems shows the first stage at which their libmujoco differ.
#include <cstdio>

#include <mujoco/mujoco.h>

#include "support/scene.hpp"

namespace {

using stiction::support::Scene;

constexpr int kNumSteps = 10;

void print(const char* stage, const double* numbers, mjtSize count) {
  for (mjtSize i = 0; i < count; ++i)
    std::printf("%s[%lld] = %a\n", stage, static_cast<long long>(i), numbers[i]);
}

void print_position(const mjModel* m, mjData* d) {
  mj_kinematics(m, d);
  print("kinematics: xpos", d->xpos, 3 * m->nbody);
  print("kinematics: geom_xmat", d->geom_xmat, 9 * m->ngeom);
  mj_comPos(m, d);
  print("comPos: subtree_com", d->subtree_com, 3 * m->nbody);
  print("comPos: cinert", d->cinert, 10 * m->nbody);
  mj_makeM(m, d);
  print("makeM: M", d->M, m->nC);
  mj_collision(m, d);
  for (int i = 0; i < d->ncon; ++i) {
    print("collision: dist", &d->contact[i].dist, 1);
    print("collision: frame", d->contact[i].frame, 9);
  }
}

}  // namespace

int main() {
  const Scene scene(R"(<mujoco><worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 0.12" euler="0 20 0"><freejoint/><geom type="box" size="0.1 0.08 0.06"/></body>
    <body pos="0.02 0.01 0.32" euler="37 20 0"><freejoint/>
      <geom type="capsule" size="0.05 0.08"/></body>
    </worldbody></mujoco>)");
  const mjModel* m = scene.model;
  print("compiler: body_inertia", m->body_inertia, 3 * m->nbody);
  print("compiler: body_quat", m->body_quat, 4 * m->nbody);
  for (int i = 0; i < kNumSteps; ++i) {
    std::printf("step %d\n", i);
    print_position(m, scene.data);
    mj_step(m, scene.data);
    print("step: qvel", scene.data->qvel, m->nv);
  }
}
