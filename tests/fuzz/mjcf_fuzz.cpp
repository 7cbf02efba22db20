// MJCF through the checks of a scene and of a model, and one step under a contact model.
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <mujoco/mujoco.h>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/io/scene_file.hpp"
#include "stiction/plant/model/model_check.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDofs = 100, kMaxGeoms = 100;
constexpr mjtSize kMemory = 1 << 24;  // [B]

/// Fuzzed texts must not open files or plug-ins.
bool names_files(const std::string& text) {
  for (const char* word : {"file", "File", "include", "dir", "plugin", "extension", "model="})
    if (text.find(word) != text.npos) return true;
  return false;
}

/// The text in a file, as a user has it.
class TemporaryScene {
 public:
  explicit TemporaryScene(const std::string& text)
      : path_(fs::temp_directory_path() / ("stiction_fuzz_" + std::to_string(getpid()) + ".xml")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryScene() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Compiles a scene; null if MuJoCo refuses it. What MuJoCo leaks when it raises an error is not
/// ours.
mjModel* compile(const std::string& text) {
  __lsan::ScopedDisabler disabler;
  plant::MuJoCoGuard guard;
  char error[1000] = "";
  mjSpec* spec = nullptr;
  mjModel* model = nullptr;
  (void)guard.run([&] {
    spec = mj_parseXMLString(text.c_str(), nullptr, error, sizeof error);
    if (!spec) return;
    spec->memory = kMemory;
    model = mj_compile(spec, nullptr);
  });
  if (spec) mj_deleteSpec(spec);
  return model;
}

bool is_small(const mjModel* model) {
  return model->nv <= kMaxDofs && model->ngeom <= kMaxGeoms && model->nflex == 0;
}

void step(const mjModel* model, sim::StepOptions options) {
  options.max_iterations = 30;
  options.iteration_budget = 1000;
  mjData* data = nullptr;
  {
    plant::MuJoCoGuard guard;
    if (!guard.run([&] { data = mj_makeData(model); }) || !data) return;
  }
  try {
    sim::Stepper stepper(model, options);
    const sim::StepReport& report = stepper.step(data, 2);
    if (report.ok())
      for (int i = 0; i < model->nq; ++i) require(std::isfinite(data->qpos[i]));
  } catch (const Error& e) {
    require(!e.message().empty());
  }
  mj_deleteData(data);
}

void load_and_step(const std::string& text, contact::ContactModel contact_model) {
  const TemporaryScene file(text);
  try {
    const io::SceneFile scene(file.path());
    scene.check();
  } catch (const Error&) {
    return;
  }
  mjModel* model = compile(text);
  if (!model) return;
  try {
    plant::check_model(model);
    sim::StepOptions options;
    options.contact_model = contact_model;
    if (is_small(model)) step(model, options);
  } catch (const Error& e) {
    require(!e.message().empty());
  }
  mj_deleteModel(model);
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (fuzz::names_files(text) || text.find('\0') != text.npos) return 0;
  const auto models = contact::contact_models();
  fuzz::load_and_step(text, models[size % models.size()].model);
  return 0;
}
