// The rows of equalities and tendons have the velocity that they would have if the mocap body were
// a free body of the same motion.
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/mocap/mocap_rows.hpp"
#include "support/scene.hpp"

namespace stiction::plant::mocap_rows_test {
namespace {

using support::Scene;

constexpr double kStep = 0.01;  // [s]

/// @param joint of the hand: a free joint, or none if it is a mocap body
std::string make_model(const char* jacobian, const char* attribute, const char* joint) {
  return support::make_mjcf(std::string("jacobian=\"") + jacobian + "\"", R"(<worldbody>
<site name="world" pos="0 0 1"/>
<body name="hand" pos="0.1 0.2 0.3" quat="1 0.2 0.3 0.4" )" + std::string(attribute) +
                                                                              ">" + joint + R"(
  <geom name="hand" size="0.03" mass="1" contype="0"/>
  <site name="palm" pos="0.1 0.05 0" quat="1 0.5 0 0"/>
  <body name="finger" pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/><site name="tip" pos="0.2 0 0.1"/></body></body>
<body name="load" pos="1 0.4 0.2" quat="1 0 0.3 0.1"><freejoint/><geom size="0.1"/><site name="hook" pos="0 0.1 0"/></body>
<body name="other" pos="-1 0.4 0.2"><freejoint/><geom size="0.1"/><site name="ring" pos="0 0.1 0.2"/></body>
</worldbody>
<tendon>
  <spatial name="rope" range="0 0.5" frictionloss="1"><site site="palm"/><site site="hook"/></spatial>
  <spatial name="short" range="2 3"><site site="tip"/><site site="ring"/></spatial>
  <spatial name="bent" frictionloss="1"><site site="hook"/><geom geom="hand"/><site site="ring"/><pulley divisor="2"/>
    <site site="ring"/><site site="palm"/><site site="world"/></spatial>
</tendon>
<equality>
  <connect body1="hand" body2="load" anchor="0.1 0.2 0"/>
  <connect body1="load" body2="finger" anchor="0.1 0.2 0"/>
  <connect site1="tip" site2="hook"/>
  <weld body1="hand" body2="load" relpose="0.1 0.2 0.3 1 0.1 0.2 0.3" anchor="0.1 0.1 0" torquescale="0.7"/>
  <weld body1="load" body2="hand" torquescale="2"/>
  <weld body1="finger" body2="other"/>
  <weld site1="palm" site2="ring"/>
  <weld site1="hook" site2="tip"/>
  <tendon tendon1="rope" tendon2="bent" polycoef="0 0.5 0.3 0.2 0.1"/>
  <tendon tendon1="bent"/>
</equality>)");
}

constexpr std::array<double, 6> kVelocity = {0.1, -0.2, 0.3, 0.4, 0.5, -0.6};  // [w; v] of the hand

void pose(Scene* scene, double time) {
  mjData* d = scene->data;
  mjtNum axis[3], turn[4], quat[4];
  mju_copy3(axis, kVelocity.data());
  const double speed = mju_normalize3(axis);
  mju_axisAngle2Quat(turn, axis, speed * time);
  mju_addScl3(d->mocap_pos, scene->model->body_pos + 3, kVelocity.data() + 3, time);
  mju_mulQuat(quat, turn, scene->model->body_quat + 4);
  mju_copy4(d->mocap_quat, quat);
}

/// Sets positions and velocities of all dofs but the hand's, and computes rows.
void compute(Scene* scene) {
  mjData* d = scene->data;
  const int first = static_cast<int>(scene->model->nv) - 13;
  for (int i = 0; i < 13; ++i) d->qvel[first + i] = std::sin(1.0 + i);
  d->qpos[static_cast<int>(scene->model->nq) - 15] = 0.4;  // of the finger
  mj_fwdPosition(scene->model, d);
  mj_fwdVelocity(scene->model, d);
}

/// Rows have the same order in both models, except dry friction, which MuJoCo sorts by sparsity.
using RowName = std::array<int, 3>;
std::map<RowName, double> read_rows(const Scene& scene, const MocapMotion* mocap) {
  std::map<RowName, double> rows;
  for (int i = 0; i < scene.data->nefc; ++i) {
    RowName name = {scene.data->efc_type[i], scene.data->efc_id[i], 0};
    while (rows.contains(name)) ++name[2];
    rows[name] = scene.data->efc_vel[i] +
                 (mocap ? calc_mocap_row_velocity(scene.model, scene.data, *mocap, i) : 0);
  }
  return rows;
}

TEST(MocapRows, HaveTheVelocitiesThatAFreeBodyGives) {
  for (const char* jacobian : {"dense", "sparse"}) {
    Scene scene(make_model(jacobian, R"(mocap="true")", ""));
    Scene twin(make_model(jacobian, "", "<freejoint/>"));
    MocapMotion motion;
    for (int i = 0; i < 3; ++i) {
      pose(&scene, (i - 2) * kStep);
      motion.start(scene.model, scene.data, kStep, true);
      scene.data->time += kStep;
    }
    ASSERT_TRUE(motion.is_any());
    compute(&scene);
    compute(&twin);
    mju_copy3(twin.data->qvel, kVelocity.data() + 3);
    mju_mulMatTVec3(twin.data->qvel + 3, twin.data->xmat + 9, kVelocity.data());
    mj_fwdVelocity(twin.model, twin.data);
    const auto rows = read_rows(scene, &motion), expected = read_rows(twin, nullptr);
    ASSERT_EQ(rows.size(), expected.size());
    ASSERT_GE(rows.size(), 9U + 30U + 2U + 4U) << "connects, welds, tendons, limits and friction";
    for (const auto& [name, v] : expected)
      EXPECT_NEAR(rows.at(name), v, 1e-12) << name[0] << " " << name[1] << " " << name[2];
  }
}

TEST(MocapRows, HaveOppositeSignsAtBothLimits) {
  // The margin makes both limits active at the same distance.
  Scene scene(support::make_mjcf(
      "", R"(<worldbody><body name="hand" mocap="true" pos="0.3 0 0"><site name="palm"/></body>
<body><freejoint/><geom size="0.1"/><site name="hook"/></body></worldbody>
<tendon><spatial limited="true" range="0 0.6" margin="1"><site site="palm"/><site site="hook"/></spatial></tendon>)"));
  MocapMotion motion;
  for (int i = 0; i < 3; ++i) {
    scene.data->mocap_pos[0] = 0.3 + (i - 2) * 0.5 * kStep;
    motion.start(scene.model, scene.data, kStep, true);
    scene.data->time += kStep;
  }
  mj_fwdPosition(scene.model, scene.data);
  ASSERT_EQ(scene.data->nefc, 2);
  ASSERT_EQ(scene.data->efc_pos[0], scene.data->efc_pos[1]);
  for (int row = 0; row < 2; ++row) {
    const bool is_lower = scene.data->efc_J[row * scene.model->nv] < 0;  // the hook is behind
    EXPECT_NEAR(calc_mocap_row_velocity(scene.model, scene.data, motion, row),
                is_lower ? 0.5 : -0.5, 1e-9);
  }
}

}  // namespace
}  // namespace stiction::plant::mocap_rows_test
