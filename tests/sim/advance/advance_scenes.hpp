#pragma once

#include <cmath>
#include <string>

#include "sim/integrators/gravity.hpp"
#include "sim/step/stepping.hpp"

namespace stiction::sim {

/// The contact models with which a simulator can advance.
inline std::vector<contact::ContactModel> make_advance_models() {
  using contact::ContactModel;
  return {ContactModel::coulomb, ContactModel::lagged, ContactModel::lagged_regularized,
          ContactModel::tamsi};
}

/// A ball of 1 kg above a floor, at (0, 0, z).
inline std::string make_ball_mjcf(double z) {
  return support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
    <geom name="floor" type="plane" size="9 9 1" friction="0.5"/>
    <body pos="0 0 )" + std::to_string(z) + R"("><freejoint/>
      <geom name="ball" size="0.1" mass="1" friction="0.5"/><site name="pad" size="0.12"/></body>
    </worldbody><sensor><touch name="touch" site="pad"/></sensor>)");
}

/// A ball that can only slide and lift, on an incline that uses half the friction cone.
inline std::string make_incline() {
  const double angle = std::atan(0.25);
  const std::string gravity = std::to_string(kGravity * std::sin(angle)) + " 0 " +
                              std::to_string(-kGravity * std::cos(angle));
  return support::make_mjcf("timestep=\"0.002\" gravity=\"" + gravity + "\"", R"(<worldbody>
    <geom type="plane" size="9 9 1" friction="0.5"/>
    <body pos="0 0 0.0999"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="1" friction="0.5"/></body></worldbody>)");
}

/// Two linked rods without contact.
inline std::string make_pendulum() {
  return support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
    <body pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <body pos="0.3 0 0"><joint axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body></body></worldbody>)");
}

/// Balls and boxes that fall on each other.
inline std::string make_small_pile() {
  std::string bodies;
  for (int i = 0; i < 8; ++i) {
    const std::string x = std::to_string(0.02 * (i % 3)), z = std::to_string(0.15 + 0.16 * i);
    bodies += "<body pos=\"" + x + " 0 " + z + "\" euler=\"0 10 20\"><freejoint/><geom " +
              (i % 2 ? std::string(R"(size="0.06")")
                     : std::string(R"(type="box" size="0.06 0.07 0.05")")) +
              R"( friction="0.7"/></body>)";
  }
  return support::make_mjcf(
      R"(timestep="0.002")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies + "</worldbody>");
}

/// Advances data, which must succeed.
inline const StepReport& advance(Stepper* stepper, support::Scene* scene, double until,
                                 double accuracy = 1e-4) {
  const StepReport& report = stepper->advance(scene->data, {.until = until, .accuracy = accuracy});
  EXPECT_TRUE(report.ok()) << report.message << " at time " << report.time;
  return report;
}

}  // namespace stiction::sim
