// Simulates an MJCF file for a second with Stiction's contact, and prints the largest error bound
// and the forces of the last step:
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

// Prints the geoms and the normal force of each contact. Arrays have a row per contact.
void print_contacts(const mjModel& model, const stiction::sim::ContactReport& contacts) {
  for (int i = 0; i < contacts.size(); ++i) {
    const char* names[2];
    for (int k = 0; k < 2; ++k)
      names[k] = mj_id2name(&model, mjOBJ_GEOM, contacts.geoms[2 * i + k]);
    std::printf("%s on %s: %.3f N\n", names[1] ? names[1] : "a geom",
                names[0] ? names[0] : "a geom", contacts.normal_impulse[i] / contacts.time_step);
  }
}

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
  const stiction::sim::StepReport* report = nullptr;
  while (data->time < 1) {
    report = &stepper.step(data.get());
    if (!report->ok()) {
      std::fprintf(stderr, "t = %.4f s: %s\n", data->time, report->message.c_str());
      return 3;
    }
    worst = std::max(worst, report->certificate.velocity_bound);
    ++num_steps;
  }
  std::printf("%d steps with %s, %d contacts at the end, bound on the velocity error %.1e m/s\n",
              num_steps, contact_model, data->ncon, worst);
  print_contacts(*model, report->contacts);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: step_scene SCENE.xml [CONTACT_MODEL]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? argv[2] : "coulomb");
  } catch (const stiction::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
