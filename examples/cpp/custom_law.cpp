// Defines a custom normal law: foam that becomes stiffer as it is compressed. A ball comes to rest
// on it. Prints the depth of the ball, and the depth that the law predicts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <mujoco/mujoco.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/custom_law.hpp"
#include "stiction/sim/stepper.hpp"

namespace {

using namespace stiction;

constexpr double kMass = 1;  // mass of the ball [kg]
constexpr char kScene[] = R"(
<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>)";

/// The law f = k x (1 + (x/d)^2) (1 + c xdot)_+ for a compression x > 0.
struct Foam {
  double k = 1e4, d = 5e-4, c = 5;  // [N/m], [m], [s/m]

  double spring(double x) const noexcept { return x > 0 ? k * x * (1 + x * x / (d * d)) : 0; }
  contact::NormalForce calc_force(double x, double xdot) const noexcept {
    const double damping = std::max(0.0, 1 + c * xdot);
    const double slope = x > 0 ? k * (1 + 3 * x * x / (d * d)) : 0;
    return {spring(x) * damping, slope * damping, damping > 0 ? spring(x) * c : 0};
  }
};

/// Returns the compression at which the spring carries the ball [m].
double find_rest(const Foam& foam) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (foam.spring(middle) < 9.81 * kMass ? low : high) = middle;
  }
  return low;
}

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

ModelPtr load_scene() {
  mjVFS files;
  mj_defaultVFS(&files);
  mj_addBufferVFS(&files, "ball.xml", kScene, sizeof kScene - 1);
  char error[1000] = "";
  ModelPtr model(mj_loadXML("ball.xml", &files, error, sizeof error), &mj_deleteModel);
  mj_deleteVFS(&files);
  if (!model) std::fprintf(stderr, "%s\n", error);
  return model;
}

int run() {
  const ModelPtr model = load_scene();
  if (!model) return 1;
  const DataPtr data(mj_makeData(model.get()), &mj_deleteData);
  const Foam foam;
  sim::StepOptions options;
  options.contact_model = contact::ContactModel::lagged;
  options.parameters.normal_law = contact::NormalLawKind::custom;
  options.parameters.custom_law = contact::make_custom_law(foam);
  sim::Stepper stepper(model.get(), options);
  while (data->time < 2) {
    const sim::StepReport& report = stepper.step(data.get());
    if (!report.ok()) {
      std::fprintf(stderr, "t = %.4f s: %s\n", data->time, report.message.c_str());
      return 3;
    }
  }
  const double depth = 0.1 - data->qpos[2], expected = find_rest(foam);
  std::printf("the ball rests at a depth of %.6f mm; by the law: %.6f mm\n", 1e3 * depth,
              1e3 * expected);
  return std::abs(depth - expected) < 1e-6 * expected ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
