// A mocap body leads the hand of an arm past the arm's reach. In the stretched pose the hand hardly
// moves along the arm, however fast the joints turn.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"

namespace stiction::sim::mocap_reach_test {
namespace {

using support::Scene;

constexpr double kStep = 0.002;   // [s]
constexpr double kReach = 0.6;    // from the base to the hand [m]
constexpr double kArmMass = 3.2;  // without the base [kg]
constexpr double kLeverage =
    30;  // of speeds that a mocap body may cause, [theory:correction-speed]

/// Returns an arm of two links. Its shoulder is at the origin, on a base with the given joint.
Scene make_arm(const std::string& base, const std::string& equality) {
  return Scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      R"(<worldbody>
<body name="m" mocap="true" pos="0.58 0 0"/>
<body>)" + base +
          R"(<geom type="box" size="0.1 0.1 0.1" mass="50" contype="0" conaffinity="0"/><body>
  <joint axis="0 1 0" range="-60 60"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="2"/>
  <body pos="0.3 0 0"><joint axis="0 1 0" range="-120 120"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/>
    <body name="hand" pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.02" mass="0.2"/></body>
  </body></body></body></worldbody><equality>)" +
          equality + "</equality>"));
}

std::vector<IntegratorCase> make_rigid_cases() {
  std::vector<IntegratorCase> cases = make_integrator_cases();
  std::erase_if(cases, [](const IntegratorCase& c) {
    return !contact::traits(c.model).is_rigid || c.integrator == Integrator::rk4;
  });
  return cases;
}

class MocapReach : public testing::TestWithParam<IntegratorCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, MocapReach, testing::ValuesIn(make_rigid_cases()), name_case);

TEST_P(MocapReach, AnArmStaysBehindWithoutGainingSpeed) {
  for (const char* base :
       {"", R"(<joint type="slide" damping="1e4"/>)", R"(<joint type="slide" damping="1e8"/>)"}) {
    for (const char* tie : {R"(<connect body1="m" body2="hand" anchor="0 0 0"/>)",
                            R"(<weld body1="m" body2="hand"/>)"}) {
      for (const auto& [speed, start] :
           {std::pair(0.1, 0.58), {0.4, 0.58}, {0.1, 0.99999 * kReach}, {0.4, 0.99999 * kReach}}) {
        SCOPED_TRACE(std::string(base) + tie + " at " + std::to_string(speed));
        Scene scene = make_arm(base, tie);
        // The hand is at the mocap body, with the elbow at the side.
        const double shoulder = std::acos(start / kReach);
        mjtNum* const arm = scene.data->qpos + scene.model->nq - 3;
        arm[0] = shoulder;
        arm[1] = -2 * shoulder;
        arm[2] = shoulder;
        Stepper stepper(scene.model, make_options_of(GetParam()));
        const double fastest = kLeverage * speed;
        // The energies of several steps add up: measured are 2.7 times that of one. Without the
        // limit it is 100 times.
        const double largest = 4 * 0.5 * kArmMass * fastest * fastest;  // [J]
        int num_warnings = 0;
        for (int i = 0; i < 1000; ++i) {
          scene.data->mocap_pos[0] = start + std::min(0.1, speed * kStep * i);
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << i << ": " << report.message;
          num_warnings += report.num_warnings;
          mj_energyVel(scene.model, scene.data);
          ASSERT_LE(scene.data->energy[1], largest) << i;
        }
        EXPECT_GT(num_warnings, 0);
      }
    }
  }
}

}  // namespace
}  // namespace stiction::sim::mocap_reach_test
