#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "sim/stepping.hpp"

namespace stiction::sim {

inline StepOptions make_elastic(contact::ContactModel model = contact::ContactModel::lagged) {
  StepOptions options = make_options(model);
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  return options;
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

}  // namespace stiction::sim
