#pragma once

#include <string>
#include <vector>

#include "sim/step/stepping.hpp"

/// Scenes that fall asleep.
namespace stiction::sim {

inline constexpr const char* kTimeStep = R"(timestep="0.002")";

/// Sets the flag that allows sleep.
inline void allow_sleep(const support::Scene& scene) {
  scene.model->opt.enableflags |= mjENBL_SLEEP;
}

/// Returns the contact models whose steps may leave sleeping trees out: all but MuJoCo's own.
inline std::vector<contact::ContactModel> models_with_sleep() {
  return support::list_models([](const contact::ContactModelTraits& m) { return !m.is_mj_step; });
}

/// Returns a free box with sides of 0.2 m and a mass of 1 kg.
inline std::string make_box(const std::string& name, double x, double z) {
  return "<body name=\"" + name + "\" pos=\"" + std::to_string(x) + " 0 " + std::to_string(z) +
         "\"><freejoint/><geom name=\"" + name +
         R"(" type="box" size=".1 .1 .1" mass="1"/></body>)";
}

/// Returns a scene with two boxes on each other, and a third one beside them, on a floor.
inline std::string make_boxes() {
  return support::make_mjcf(
      kTimeStep, R"(<worldbody><geom name="floor" type="plane" size="9 9 1"/>)" +
                     make_box("low", 0, 0.1) + make_box("high", 0, 0.3) + make_box("far", 1, 0.1) +
                     "</worldbody>");
}

inline int tree_of(const support::Scene& scene, const char* body) {
  return scene.model->body_treeid[scene.body(body)];
}
inline bool sleeps(const support::Scene& scene, const char* body) {
  return scene.data->tree_asleep[tree_of(scene, body)] >= 0;
}

/// Steps until all trees sleep.
inline void run_until_asleep(Stepper* stepper, support::Scene* scene, int max_steps = 2000) {
  ASSERT_NO_FATAL_FAILURE(run(stepper, scene));
  for (int i = 0; i < max_steps && scene->data->ntree_awake > 0; ++i)
    ASSERT_NO_FATAL_FAILURE(run(stepper, scene));
  ASSERT_EQ(scene->data->ntree_awake, 0);
}

}  // namespace stiction::sim
