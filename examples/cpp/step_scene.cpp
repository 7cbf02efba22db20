// Simulates an MJCF file for a second with Stiction's contact, and prints the largest error bound:
//
//     step_scene scene.xml [CONTACT_MODEL]
#include <algorithm>
#include <cstdio>
#include <memory>

#include <mujoco/mujoco.h>

#include "stiction/base/error.hpp"
#include "stiction/sim/stepper.hpp"

namespace {

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

int run(const char* path, const char* contact_model) {
  char error[1000] = "";
  const ModelPtr model(mj_loadXML(path, nullptr, error, sizeof error), &mj_deleteModel);
  if (!model) {
    std::fprintf(stderr, "%s: %s\n", path, error);
    return 1;
  }
  const DataPtr data(mj_makeData(model.get()), &mj_deleteData);

  stiction::sim::StepOptions options;
  options.contact_model = stiction::contact::parse_contact_model(contact_model);
  stiction::sim::Stepper stepper(model.get(), options);

  double worst = 0;  // bound on the velocity error of any contact point [m/s]
  int num_steps = 0;
  while (data->time < 1) {
    const stiction::sim::StepReport& report = stepper.step(data.get());
    if (!report.ok()) {
      std::fprintf(stderr, "t = %.4f s: %s\n", data->time, report.message.c_str());
      return 3;
    }
    worst = std::max(worst, report.certificate.velocity_bound);
    ++num_steps;
  }
  std::printf("%d steps with %s, %d contacts at the end, bound on the velocity error %.1e m/s\n",
              num_steps, contact_model, data->ncon, worst);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: step_scene SCENE.xml [CONTACT_MODEL]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? argv[2] : "lagged");
  } catch (const stiction::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
