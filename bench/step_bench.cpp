// Steps scenes from a warmed-up state and prints one CSV line for each scene, model and number of
// threads. It does not need Python, so a profiler sees only the step:
//
//     perf record -e cpu-clock build/release/bench/step_bench --steps 20000 scene.xml
//
// The last column is the environment variable STICTION_COMMIT.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/error.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/sim/stepper.hpp"

namespace {

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

struct Arguments {
  std::vector<std::string> scenes;
  std::string properties;
  std::string integrator = "euler";
  std::vector<std::string> models = {"lagged_regularized"};
  std::vector<int> threads = {1};
  bool random_controls = false;
  std::vector<double> controls;  // of all actuators, if they are constant
  int warm_up = 200;
  int steps = 200;
  int repeats = 5;
};

double cpu_us() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

ModelPtr load(const std::string& path) {
  char message[1000] = "cannot be read";
  mjModel* model = path.ends_with(".mjb") ? mj_loadModel(path.c_str(), nullptr)
                                          : mj_loadXML(path.c_str(), nullptr, message, 1000);
  if (!model) throw stiction::Error(stiction::ErrorCode::kSyntax, path, message);
  return {model, &mj_deleteModel};
}

/// Sets all controls to random values in their ranges, or in [-1, 1] without a range. They are the
/// same in every run.
void set_random_controls(const mjModel* m, std::minstd_rand* generator, mjData* d) {
  for (int i = 0; i < m->nu; ++i) {
    const double unit = static_cast<double>((*generator)()) / std::minstd_rand::max();
    const mjtNum* range = m->actuator_ctrlrange + 2 * i;
    d->ctrl[i] =
        m->actuator_ctrllimited[i] ? range[0] + unit * (range[1] - range[0]) : 2 * unit - 1;
  }
}

struct Sums {
  double contacts = 0, iterations = 0, residual = 0;
  stiction::sim::StepTimings us;

  void add(const stiction::sim::StepReport& report) {
    contacts += report.statistics.num_contacts;
    iterations += report.statistics.iterations;
    residual = std::max(residual, report.statistics.residual);
    us.kinematics += report.timings.kinematics;
    us.collision += report.timings.collision;
    us.assembly += report.timings.assembly;
    us.solve += report.timings.solve;
    us.certificate += report.timings.certificate;
    us.finish += report.timings.finish;
  }
};

void run(const std::string& scene, const std::string& contact_model, int threads,
         const Arguments& arguments) {
  const ModelPtr model = load(scene);
  const DataPtr data(mj_makeData(model.get()), &mj_deleteData);
  if (model->nkey > 0) mj_resetDataKeyframe(model.get(), data.get(), 0);
  stiction::sim::StepOptions options;
  options.contact_model = stiction::contact::parse_contact_model(contact_model);
  options.integrator = static_cast<stiction::sim::Integrator>(stiction::parse_name(
      "integrator", arguments.integrator, stiction::list_names(stiction::sim::integrators())));
  options.num_threads = threads;
  const stiction::io::ContactProperties properties =
      arguments.properties.empty() ? stiction::io::ContactProperties{}
                                   : stiction::io::read_contact_properties(arguments.properties);
  stiction::sim::Stepper stepper(model.get(), options,
                                 stiction::io::assign_materials(model.get(), properties));

  stepper.set_taxels(stiction::io::assign_taxels(model.get(), properties));
  if (!arguments.controls.empty() && static_cast<int>(arguments.controls.size()) != model->nu)
    throw stiction::Error(stiction::ErrorCode::kWrongShape, "--controls",
                          std::to_string(arguments.controls.size()) + " values for " +
                              std::to_string(model->nu) + " actuators of " + scene +
                              "; name one for each, or 'random'");
  std::copy(arguments.controls.begin(), arguments.controls.end(), data->ctrl);

  std::minstd_rand generator;
  constexpr int kStride = 10;  // steps between changes of the controls
  const auto step = [&](int i) -> const stiction::sim::StepReport& {
    if (arguments.random_controls && i % kStride == 0)
      set_random_controls(model.get(), &generator, data.get());
    const stiction::sim::StepReport& report = stepper.step(data.get());
    if (!report.ok())
      throw stiction::Error(stiction::ErrorCode::kStepFailed, scene,
                            stiction::sim::describe_status(report.status) + ": " + report.message);
    return report;
  };
  for (int i = 0; i < arguments.warm_up; ++i) (void)step(i);
  std::vector<mjtNum> state(mj_stateSize(model.get(), mjSTATE_INTEGRATION));
  mj_getState(model.get(), data.get(), state.data(), mjSTATE_INTEGRATION);

  std::vector<double> times;
  Sums sums;
  for (int r = 0; r < arguments.repeats; ++r) {
    mj_setState(model.get(), data.get(), state.data(), mjSTATE_INTEGRATION);
    generator.seed();
    const double start = cpu_us();
    for (int i = 0; i < arguments.steps; ++i) sums.add(step(i));
    times.push_back((cpu_us() - start) / arguments.steps);
  }
  std::sort(times.begin(), times.end());
  const double n = static_cast<double>(arguments.steps) * arguments.repeats;
  const char* commit = std::getenv("STICTION_COMMIT");
  std::printf("%s,%s,%d,%.1f,%.2f,%.2f,%.2f,%.1e,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%s\n", scene.c_str(),
              contact_model.c_str(), threads, sums.contacts / n, times.front(),
              times[times.size() / 2], sums.iterations / n, sums.residual, sums.us.kinematics / n,
              sums.us.collision / n, sums.us.assembly / n, sums.us.solve / n,
              sums.us.certificate / n, sums.us.finish / n, commit ? commit : "");
  std::fflush(stdout);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) c == ',' ? (void)parts.emplace_back() : parts.back().push_back(c);
  return parts;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      out.scenes.push_back(argument);
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (argument == "--models") {
      out.models = split(value);
    } else if (argument == "--threads") {
      out.threads.clear();
      for (const std::string& t : split(value))
        out.threads.push_back(std::max(1, std::atoi(t.c_str())));
    } else if (argument == "--integrator") {
      out.integrator = value;
    } else if (argument == "--controls") {
      out.random_controls = value == "random";
      if (!out.random_controls)
        for (const std::string& control : split(value))
          out.controls.push_back(std::strtod(control.c_str(), nullptr));
    } else if (argument == "--properties") {
      out.properties = value;
    } else if (argument == "--warm-up") {
      out.warm_up = std::max(1, std::atoi(value.c_str()));
    } else if (argument == "--steps") {
      out.steps = std::max(1, std::atoi(value.c_str()));
    } else if (argument == "--repeats") {
      out.repeats = std::max(1, std::atoi(value.c_str()));
    } else {
      out.scenes.clear();
      break;
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.scenes.empty()) {
    std::fprintf(
        stderr,
        "usage: %s [--models a,b] [--threads 1,2] [--warm-up N] [--steps N] [--repeats N] "
        "[--controls random|a,b,...] [--integrator NAME] [--properties FILE] SCENE.xml|.mjb ...\n",
        argv[0]);
    return 2;
  }
  std::puts(
      "scene,model,threads,contacts,us_min,us_median,iterations,residual,us_kinematics,"
      "us_collision,us_assembly,us_solve,us_certificate,us_finish,commit");
  try {
    for (const std::string& scene : arguments.scenes)
      for (const std::string& model : arguments.models)
        for (const int threads : arguments.threads) run(scene, model, threads, arguments);
  } catch (const stiction::Error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
