#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/integrators/gravity.hpp"
#include "sim/step/stepping.hpp"

namespace stiction::sim {

inline StepOptions make_elastic(contact::ContactModel model = contact::ContactModel::lagged) {
  StepOptions options = make_options(model);
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  return options;
}

/// Returns materials of a normal stiffness [N/m]; 0: near-rigid.
inline plant::MaterialTable make_stiff(const support::Scene& scene, double stiffness) {
  plant::Material material = plant::make_default_material();
  if (stiffness > 0) material.law.stiffness = stiffness;
  return make_materials(scene, material);
}

inline std::string tilt(double angle, double dt) {
  return "timestep=\"" + std::to_string(dt) + "\" gravity=\"" +
         std::to_string(kGravity * std::sin(angle)) + " 0 " +
         std::to_string(-kGravity * std::cos(angle)) + "\"";
}

/// A box of 1 kg on a plane with friction 0.5, tilted to a share of the friction cone.
inline support::Scene make_incline(double share, double dt) {
  return support::Scene(support::make_mjcf(tilt(std::atan(0.5 * share), dt), R"(<worldbody>
<geom type="plane" size="5 5 1" friction="0.5"/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5"/></body>
</worldbody>)"));
}

/// Expects that neither `forward` nor a step that fails changes the springs.
inline void expect_kept_by_forward_and_failure(Stepper* stepper, support::Scene* scene) {
  const std::vector<std::uint64_t> anchors = stepper->save_anchors();
  EXPECT_TRUE(stepper->forward(scene->data).ok());
  EXPECT_EQ(stepper->save_anchors(), anchors);
  scene->data->qfrc_applied[0] = std::nan("");
  EXPECT_FALSE(stepper->step(scene->data).ok());
  EXPECT_EQ(stepper->save_anchors(), anchors);
}

/// Returns how fast a coordinate moves on average in a time [m/s].
inline double measure_speed(Stepper* stepper, support::Scene* scene, int coordinate, double time) {
  const double x = scene->data->qpos[coordinate], t = scene->data->time;
  run(stepper, scene, static_cast<int>(std::lround(time / stepper->time_step())));
  return (scene->data->qpos[coordinate] - x) / (scene->data->time - t);
}

/// A plate that two fingers hold 60 mm from the axis of a wrist, which turns at 4 rad/s.
inline constexpr const char* kWrist = R"(<worldbody>
<body name="wrist"><joint name="turn" type="hinge" axis="0 1 0"/><geom type="sphere" size="0.01" mass="1" contype="0" conaffinity="0"/>
 <body pos="0.06 0.021 0"><joint name="one" type="slide" axis="0 -1 0" damping="5"/><geom type="box" size="0.01 0.01 0.01" mass="0.1" friction="0.8"/></body>
 <body pos="0.06 -0.021 0"><joint name="two" type="slide" axis="0 1 0" damping="5"/><geom type="box" size="0.01 0.01 0.01" mass="0.1" friction="0.8"/></body></body>
<body name="plate" pos="0.06 0 0"><freejoint/><geom type="box" size="0.03 0.0105 0.03" mass="0.2" friction="0.8"/></body>
</worldbody>
<actuator><velocity joint="turn" kv="1000"/><motor joint="one"/><motor joint="two"/></actuator>)";

inline std::string make_wrist(double dt) {
  return support::make_mjcf("timestep=\"" + std::to_string(dt) + "\" gravity=\"0 0 0\"", kWrist);
}

/// Presses the fingers, and lets the wrist turn faster and faster for 0.3 s.
inline void drive_wrist(support::Scene* scene) {
  scene->data->ctrl[0] = 4 * std::min(1.0, scene->data->time / 0.3);
  scene->data->ctrl[1] = scene->data->ctrl[2] = 20;
}

/// Returns the place of the plate in the frame of the wrist [m].
inline std::array<mjtNum, 3> find_plate(const support::Scene& scene) {
  std::array<mjtNum, 3> place;
  mj_kinematics(scene.model, scene.data);
  mju_mulMatTVec3(place.data(), scene.data->xmat + 9 * scene.body("wrist"),
                  scene.data->xpos + 3 * scene.body("plate"));
  return place;
}

/// A pile of different geoms that fall on each other between walls.
/// @param friction of the geoms: sliding, torsion and rolling
inline std::string make_pile(double dt, const std::string& friction = "0.6 0.004 0.001") {
  constexpr const char* kGeoms[] = {
      R"(type="box" size="0.04 0.03 0.05")", R"(type="sphere" size="0.04")",
      R"(type="capsule" size="0.03 0.04")", R"(type="cylinder" size="0.04 0.03")"};
  std::string bodies;
  for (int i = 0; i < 10; ++i)
    bodies += "<body pos=\"" + std::to_string(0.03 * (i % 3 - 1)) + " " +
              std::to_string(0.02 * (i % 4)) + " " + std::to_string(0.1 + 0.11 * i) +
              "\" euler=\"" + std::to_string(40 * i) + " 30 " + std::to_string(10 * i) +
              "\"><freejoint/><geom mass=\"0.3\" friction=\"" + friction + "\" condim=\"" +
              std::to_string(i % 3 == 0   ? 3
                             : i % 3 == 1 ? 4
                                          : 6) +
              "\" " + kGeoms[i % 4] + "/></body>";
  return support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"",
                            R"(<worldbody><geom type="plane" size="5 5 1"/>
<geom type="plane" size="1 1 1" pos="0.15 0 0" zaxis="-1 0 0"/><geom type="plane" size="1 1 1" pos="-0.15 0 0" zaxis="1 0 0"/>
<geom type="plane" size="1 1 1" pos="0 0.15 0" zaxis="0 -1 0"/><geom type="plane" size="1 1 1" pos="0 -0.15 0" zaxis="0 1 0"/>)" +
                                bodies + "</worldbody>");
}

}  // namespace stiction::sim
