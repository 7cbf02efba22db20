// Rigid models correct the error of an equality with several rows along a straight line, no faster
// than max_correction_speed, in whatever direction of the axes it is open.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::equality_correction_test {
namespace {

using support::Scene;

class EqualityCorrection : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, EqualityCorrection, testing::ValuesIn(rigid_models()), model_name);

/// Opens an equality to the world by p [m] and returns the velocity of the body after a step.
std::array<double, 3> correct(contact::ContactModel model, const char* equality, double x, double y,
                              double z) {
  std::string body =
      R"(<worldbody><body name="b"><freejoint/><geom size="0.1"/></body></worldbody><equality>)";
  body += equality;
  body += "</equality>";
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", body));
  scene.data->qpos[0] = x;
  scene.data->qpos[1] = y;
  scene.data->qpos[2] = z;
  Stepper stepper(scene.model, make_options(model));
  run(&stepper, &scene);
  return {scene.data->qvel[0], scene.data->qvel[1], scene.data->qvel[2]};
}

TEST_P(EqualityCorrection, HasTheSameSpeedInEveryDirection) {
  for (const char* equality : {R"(<connect body1="b" anchor="0 0 0"/>)", R"(<weld body1="b"/>)"}) {
    // Large errors are corrected at max_correction_speed, 0.1 m/s, and small ones by a tenth.
    for (const double error : {0.05, 1e-4}) {
      const double speed = std::min(0.1, 0.1 * error / 0.002);
      for (const std::array<double, 3>& n :
           {std::array{1.0, 0.0, 0.0},
            {0.6, 0.8, 0.0},
            {1 / std::sqrt(3), -1 / std::sqrt(3), 1 / std::sqrt(3)}}) {
        const auto v = correct(GetParam(), equality, error * n[0], error * n[1], error * n[2]);
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(v[k], -speed * n[k], 1e-9) << equality;
      }
    }
  }
}

}  // namespace
}  // namespace stiction::sim::equality_correction_test
