#include "support/scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

namespace stiction::support {
namespace {

// MuJoCo gives a small scene 13 MB, which AddressSanitizer clears in each copy of a scene.
constexpr mjtSize kMemory = 2 << 20;  // [B]

[[noreturn]] void stop(const char* problem, const char* detail) {
  std::fprintf(stderr, "test scene: %s: %s\n", problem, detail);
  std::abort();
}

}  // namespace

Scene::Scene(const std::string& xml) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
  if (!spec) stop("does not parse", error);
  if (spec->memory < 0) spec->memory = kMemory;
  model = mj_compile(spec, nullptr);
  if (!model) stop("does not compile", mjs_getError(spec));
  mj_deleteSpec(spec);
  data = mj_makeData(model);
  if (model->nkey > 0) mj_resetDataKeyframe(model, data, 0);
}

Scene::Scene(const Scene& other)
    : model(mj_copyModel(nullptr, other.model)), data(mj_makeData(model)) {
  set_state(other.state());
}

Scene::~Scene() {
  mj_deleteData(data);
  mj_deleteModel(model);
}

std::vector<mjtNum> Scene::state() const {
  std::vector<mjtNum> out(mj_stateSize(model, mjSTATE_INTEGRATION));
  mj_getState(model, data, out.data(), mjSTATE_INTEGRATION);
  return out;
}

void Scene::set_state(const std::vector<mjtNum>& state) {
  mj_setState(model, data, state.data(), mjSTATE_INTEGRATION);
}

void Scene::randomize(double size, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<mjtNum> move(model->nv);
  for (mjtNum& x : move) x = size * normal(*rng);
  mju_copy(data->qpos, model->qpos0, model->nq);
  mj_integratePos(model, data->qpos, move.data(), 1);
  for (int i = 0; i < model->nv; ++i) data->qvel[i] = normal(*rng);
  for (int i = 0; i < model->nu; ++i) {
    const mjtNum* range = model->actuator_ctrlrange + 2 * i;
    data->ctrl[i] = model->actuator_ctrllimited[i]
                        ? range[0] + (range[1] - range[0]) * uniform(*rng)
                        : normal(*rng);
  }
  for (int i = 0; i < model->na; ++i) data->act[i] = uniform(*rng);
}

int Scene::find(mjtObj type, const char* name) const {
  const int id = mj_name2id(model, type, name);
  if (id < 0) stop("has no element", name);
  return id;
}

std::string make_mjcf(const std::string& option, const std::string& body) {
  return "<mujoco><option " + option + "/>" + body + "</mujoco>";
}

std::string make_prism_mesh() {
  std::string vertices;
  for (int i = 0; i < 12; ++i)
    for (const double z : {-0.05, 0.05})
      vertices += std::to_string(0.1 * std::cos(i * std::numbers::pi / 6)) + " " +
                  std::to_string(0.1 * std::sin(i * std::numbers::pi / 6)) + " " +
                  std::to_string(z) + " ";
  return "<mesh name=\"prism\" vertex=\"" + vertices + "\"/>";
}

}  // namespace stiction::support
