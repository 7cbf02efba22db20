// A batch gives the bits of a loop with one stepper per simulation, on any number of threads.
#include "stiction/sim/batch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"
#include "stiction/base/error.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::batch_test {
namespace {

using contact::ContactModel;
using support::Scene;

using State = std::vector<mjtNum>;

std::string make_scene() {
  support::RandomSceneOptions options;
  options.num_bodies = 4;
  options.spacing = 0.21;
  return support::make_random_scene(5, options);
}

/// A box on a plate, both with pressure fields, and a mocap body that pushes it.
std::string make_pushed_box() {
  return support::make_mjcf(R"(timestep="0.005")", R"(<worldbody>
<geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>
<body mocap="true" pos="-0.22 0 0.1"><geom size="0.1"/></body>
<body pos="0 0 0.095"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>)");
}

/// Returns materials of soft geoms if a contact model takes patches.
plant::MaterialTable make_soft(const Scene& scene, ContactModel model) {
  if (!contact::traits(model).takes_patches) return {};
  plant::Material soft = plant::kDefaultMaterial;
  soft.hydroelastic_modulus = 1e4;
  return make_materials(scene, soft);
}

/// Returns states of one scene that differ a little.
std::vector<State> make_states(Scene* scene, int count) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> uniform(-0.3, 0.3);
  std::vector<State> states;
  for (int i = 0; i < count; ++i) {
    mj_resetData(scene->model, scene->data);
    for (int j = 0; j < scene->model->nv; ++j) scene->data->qvel[j] = uniform(rng);
    states.push_back(scene->state());
  }
  return states;
}

/// The state and the contact impulses of a simulation after a step.
struct Result {
  State state;
  std::vector<double> impulse;
  bool operator==(const Result& other) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    return same(state, other.state) && same(impulse, other.impulse);
  }
};

/// Moves the first mocap body of a simulation before a step.
void move_mocap(double* mocap_pos, int sim, int step) { mocap_pos[0] = -0.22 + 1e-3 * sim * step; }

/// Steps each simulation alone.
/// @return the results of each simulation after each step; a failed step ends its simulation
std::vector<std::vector<Result>> step_alone(const std::string& xml, const StepOptions& options,
                                            const plant::MaterialTable& materials,
                                            const std::vector<State>& states, int num_steps) {
  std::vector<std::vector<Result>> out;
  for (std::size_t sim = 0; sim < states.size(); ++sim) {
    Scene scene(xml);
    scene.set_state(states[sim]);
    Stepper stepper(scene.model, options, materials);
    std::vector<Result>& results = out.emplace_back();
    for (int step = 0; step < num_steps; ++step) {
      if (scene->nmocap > 0) move_mocap(scene.data->mocap_pos, static_cast<int>(sim), step);
      const StepReport& report = stepper.step(scene.data);
      if (!report.ok()) break;
      results.push_back({scene.state(), report.contacts.impulse});
    }
  }
  return out;
}

mjBatchConfig with_threads(int num_threads, bool is_persistent = false) {
  return {.nthread = num_threads, .persistent = static_cast<mjtBool>(is_persistent)};
}

State row_of(const Batch& batch, int sim) {
  const int size = mjb_nstate(batch.get());
  const mjtNum* row = mjb_state(batch.get()) + static_cast<std::ptrdiff_t>(size) * sim;
  return {row, row + size};
}
void set_row(Batch* batch, int sim, const State& state) {
  const int size = mjb_nstate(batch->get());
  ASSERT_EQ(static_cast<int>(state.size()), size);
  std::copy(state.begin(), state.end(),
            mjb_state(batch->get()) + static_cast<std::ptrdiff_t>(size) * sim);
}
double* mocap_of(Batch* batch, int sim) {
  return mjb_stateComponent(batch->get(), mjSTATE_MOCAP_POS, nullptr) +
         static_cast<std::ptrdiff_t>(mjb_nstate(batch->get())) * sim;
}

template <class T>
const T* bind(Batch* batch, const char* name) {
  return reinterpret_cast<const T*>(batch->bind(name).data());
}

/// Expects the results of `alone` from a batch.
void expect_same(const Scene& scene, const StepOptions& options,
                 const plant::MaterialTable& materials, const std::vector<State>& states,
                 const std::vector<std::vector<Result>>& alone, const mjBatchConfig& config) {
  const int num_sims = static_cast<int>(states.size());
  Batch batch(scene.model, num_sims, config, options, materials);
  batch.keep_contacts(true);
  for (int sim = 0; sim < num_sims; ++sim) set_row(&batch, sim, states[sim]);
  std::size_t num_steps = 0;
  for (const auto& results : alone) num_steps = std::max(num_steps, results.size());
  for (std::size_t step = 0; step < num_steps; ++step) {
    std::vector<int> ids;  // of those that go on
    for (int sim = 0; sim < num_sims; ++sim)
      if (step < alone[sim].size()) ids.push_back(sim);
    if (scene.model->nmocap > 0)
      for (const int sim : ids) move_mocap(mocap_of(&batch, sim), sim, static_cast<int>(step));
    ASSERT_EQ(batch.step(ids.data(), static_cast<int>(ids.size()), 1, mjSTAGE_NONE), 0);
    for (const int sim : ids)
      ASSERT_EQ((Result{row_of(batch, sim), batch.reports().contacts[sim].impulse}),
                alone[sim][step])
          << "simulation " << sim << ", step " << step << ", threads " << config.nthread;
  }
}

class Batches : public testing::TestWithParam<IntegratorCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, Batches, testing::ValuesIn(make_integrator_cases()), name_case);

TEST_P(Batches, GiveTheBitsOfALoop) {
  const std::string xml = make_scene();
  Scene scene(xml);
  const StepOptions options = make_options_of(GetParam());
  const std::vector<State> states = make_states(&scene, 5);
  const auto alone = step_alone(xml, options, {}, states, 12);
  std::size_t num_results = 0;
  for (const auto& results : alone) num_results += results.size();
  ASSERT_GT(num_results, 30u);  // a model may fail in the scene, but not soon
  for (const int num_threads : {1, 2, 3, 7, 16})
    ASSERT_NO_FATAL_FAILURE(
        expect_same(scene, options, {}, states, alone, with_threads(num_threads)));
  ASSERT_NO_FATAL_FAILURE(expect_same(scene, options, {}, states, alone, with_threads(2, true)));
}

// Patches, mocap bodies and overlaps are remembered from step to step.
TEST_P(Batches, KeepTheMemoryOfEachSimulation) {
  const std::string xml = make_pushed_box();
  Scene scene(xml);
  const StepOptions options = make_options_of(GetParam());
  const plant::MaterialTable materials = make_soft(scene, GetParam().model);
  const std::vector<State> states = make_states(&scene, 4);
  const auto alone = step_alone(xml, options, materials, states, 15);
  for (const int num_threads : {1, 3})
    ASSERT_NO_FATAL_FAILURE(
        expect_same(scene, options, materials, states, alone, with_threads(num_threads)));
}

TEST_P(Batches, RolloutsTakeTheSameSteps) {
  Scene scene(make_scene());
  const std::vector<State> states = make_states(&scene, 3);
  Batch steps(scene.model, 3, with_threads(1), make_options_of(GetParam()));
  Batch rolled(scene.model, 3, with_threads(2), make_options_of(GetParam()));
  for (Batch* batch : {&steps, &rolled})
    for (int sim = 0; sim < 3; ++sim) set_row(batch, sim, states[sim]);
  constexpr int kNumSteps = 4;
  const int num_states = mjb_nstate(steps.get());
  std::vector<mjtNum> rows(3 * kNumSteps * num_states);
  std::vector<mjtNum> positions(3 * kNumSteps * 3 * scene->nbody);
  std::vector<int> counts(3 * kNumSteps);
  const mjBatchRecord records[] = {{nullptr, mjSTATE_INTEGRATION, rows.data()},
                                   {"xpos", 0, positions.data()},
                                   {"ncon", 0, counts.data()}};
  ASSERT_EQ(rolled.rollout(nullptr, 0, kNumSteps, nullptr, 0, records), 0);
  const auto* xpos = bind<mjtNum>(&steps, "xpos");
  const auto* ncon = bind<int>(&steps, "ncon");
  for (int step = 0; step < kNumSteps; ++step) {
    ASSERT_EQ(steps.step(nullptr, 0, 1, mjSTAGE_NONE), 0);
    for (int sim = 0; sim < 3; ++sim) {
      const int i = sim * kNumSteps + step;
      EXPECT_EQ(row_of(steps, sim),
                State(rows.begin() + i * num_states, rows.begin() + (i + 1) * num_states));
      const int width = 3 * scene->nbody;
      EXPECT_TRUE(
          std::equal(xpos + width * sim, xpos + width * (sim + 1), positions.begin() + i * width));
      EXPECT_EQ(ncon[sim], counts[i]);
    }
  }
}

TEST(Batch, AFailedSimulationKeepsItsRowAndTheOthersGoOn) {
  Scene scene(make_scene());
  StepOptions options = make_options(ContactModel::coulomb);
  Batch batch(scene.model, 4, with_threads(2), options);
  ASSERT_EQ(batch.step(nullptr, 0, 3, mjSTAGE_NONE), 0);
  mjtNum* force = mjb_stateComponent(batch.get(), mjSTATE_QFRC_APPLIED, nullptr);
  force[2 * mjb_nstate(batch.get())] = 1e200;
  const State before = row_of(batch, 2), other = row_of(batch, 1);
  EXPECT_EQ(batch.step(nullptr, 0, 2, mjSTAGE_NONE), 1);
  EXPECT_EQ(row_of(batch, 2), before);
  EXPECT_NE(row_of(batch, 1), other);
  EXPECT_NE(mjb_status(batch.get())[2], 0);
  EXPECT_EQ(batch.reports().status[2], kNonFiniteInput);
  EXPECT_EQ(batch.reports().error_bound[2], contact::kInfinity);
  EXPECT_NE(batch.reports().message[2].find("qfrc_applied"), std::string::npos);
  EXPECT_EQ(batch.reports().status[1], kOk);
  // Without the force it goes on as if nothing had happened.
  force[2 * mjb_nstate(batch.get())] = 0;
  Batch twin(scene.model, 4, with_threads(1), options);
  ASSERT_EQ(twin.step(nullptr, 0, 3, mjSTAGE_NONE), 0);
  for (Batch* each : {&batch, &twin}) {
    const int ids[] = {2};
    ASSERT_EQ(each->step(ids, 1, 2, mjSTAGE_NONE), 0);
  }
  EXPECT_EQ(row_of(batch, 2), row_of(twin, 2));
  EXPECT_EQ(batch.reports().message[2], "");
}

TEST(Batch, ResetForgetsTheLastStep) {
  Scene scene(make_pushed_box());
  Batch batch(scene.model, 2, with_threads(1), make_options(ContactModel::coulomb));
  ASSERT_EQ(batch.step(nullptr, 0, 5, mjSTAGE_NONE), 0);
  const State after = row_of(batch, 0);
  const int ids[] = {0};
  ASSERT_EQ(batch.reset(ids, 1, nullptr, mjSTAGE_NONE), 0);
  EXPECT_EQ(row_of(batch, 1), after);
  ASSERT_EQ(batch.step(ids, 1, 5, mjSTAGE_NONE), 0);
  EXPECT_EQ(row_of(batch, 0), after);
}

TEST(Batch, ForwardAndStagesAreThoseOfAStepper) {
  Scene scene(make_scene());
  Stepper stepper(scene.model, make_options(ContactModel::coulomb));
  Batch batch(scene.model, 1, with_threads(1), make_options(ContactModel::coulomb));
  const auto* force = bind<mjtNum>(&batch, "qfrc_constraint");
  const auto* xpos = bind<mjtNum>(&batch, "xpos");
  ASSERT_EQ(batch.step(nullptr, 0, 60, mjSTAGE_ACC), 0);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 60));
  ASSERT_TRUE(stepper.forward(scene.data).ok());
  ASSERT_GT(mju_norm(scene.data->qfrc_constraint, scene->nv), 0);
  EXPECT_TRUE(std::equal(force, force + scene->nv, scene.data->qfrc_constraint));
  ASSERT_EQ(batch.step(nullptr, 0, 1, mjSTAGE_VEL), 0);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  mj_fwdPosition(scene.model, scene.data);
  EXPECT_TRUE(std::equal(xpos, xpos + 3 * scene->nbody, scene.data->xpos));
}

// The values of each simulation's model count, though threads share their steppers.
TEST(Batch, ExpandedFieldsBelongToTheirSimulation) {
  const std::string xml = make_scene();
  Scene scene(xml);
  Batch batch(scene.model, 4, with_threads(2), make_options(ContactModel::coulomb));
  int size = 0;
  auto* friction = static_cast<mjtNum*>(mjb_expand(batch.get(), "geom_friction", &size, nullptr));
  batch.forget_models();
  for (int sim = 0; sim < 4; ++sim)
    for (int i = 0; i < size; i += 3) friction[sim * size + i] = 0.1 + 0.2 * sim;
  ASSERT_EQ(batch.step(nullptr, 0, 100, mjSTAGE_NONE), 0);
  for (int sim = 0; sim < 4; ++sim) {
    Scene alone(xml);
    for (int g = 0; g < alone->ngeom; ++g) alone->geom_friction[3 * g] = 0.1 + 0.2 * sim;
    Stepper stepper(alone.model, make_options(ContactModel::coulomb));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &alone, 100));
    EXPECT_EQ(row_of(batch, sim), alone.state()) << sim;
  }
  EXPECT_NE(row_of(batch, 0), row_of(batch, 3));
}

// Before and after a first step, with and without pressure fields.
TEST_P(Batches, TakeExpandedFields) {
  const std::string xml = make_pushed_box();
  Scene scene(xml);
  const StepOptions options = make_options_of(GetParam());
  const plant::MaterialTable materials = make_soft(scene, GetParam().model);
  struct Field {
    const char* name;
    mjtNum* (*of)(mjModel*);
    double factor;
  };
  const Field fields[] = {{"geom_friction", [](mjModel* m) { return m->geom_friction; }, 0.5},
                          {"body_mass", [](mjModel* m) { return m->body_mass; }, 1.5},
                          {"opt.gravity", [](mjModel* m) { return m->opt.gravity; }, 0.5}};
  for (const Field& field : fields) {
    for (const int num_before : {0, 2}) {
      Batch batch(scene.model, 2, with_threads(2), options, materials);
      if (num_before > 0) {
        ASSERT_EQ(batch.step(nullptr, 0, num_before, mjSTAGE_NONE), 0);
      }
      int size = 0;
      auto* values = static_cast<mjtNum*>(mjb_expand(batch.get(), field.name, &size, nullptr));
      batch.forget_models();
      for (int i = size; i < 2 * size; ++i) values[i] *= field.factor;
      const int num_failed = batch.step(nullptr, 0, 5, mjSTAGE_NONE);
      ASSERT_EQ(num_failed, 0) << field.name << ": " << batch.reports().message[0];
      for (const int sim : {0, 1}) {
        Scene alone(xml);
        Stepper stepper(alone.model, options, materials);
        if (num_before > 0) {
          ASSERT_NO_FATAL_FAILURE(run(&stepper, &alone, num_before));
        }
        for (int i = 0; sim == 1 && i < size; ++i) field.of(alone.model)[i] *= field.factor;
        ASSERT_NO_FATAL_FAILURE(run(&stepper, &alone, 5));
        EXPECT_EQ(row_of(batch, sim), alone.state()) << field.name << sim << num_before;
      }
    }
  }
}

TEST(Batch, ModelsOfTheCallerAreUsed) {
  const std::string xml = make_scene();
  Scene scene(xml), slippery(xml);
  for (int g = 0; g < slippery->ngeom; ++g) slippery->geom_friction[3 * g] = 0.01;
  Batch batch(scene.model, 2, with_threads(1), make_options(ContactModel::coulomb));
  const mjModel* models[] = {scene.model, slippery.model};
  mjb_setModels(batch.get(), models);
  batch.forget_models();
  ASSERT_EQ(batch.step(nullptr, 0, 100, mjSTAGE_NONE), 0);
  Scene* scenes[] = {&scene, &slippery};
  for (int sim = 0; sim < 2; ++sim) {
    Stepper stepper(scenes[sim]->model, make_options(ContactModel::coulomb));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, scenes[sim], 100));
    EXPECT_EQ(row_of(batch, sim), scenes[sim]->state());
  }
}

TEST_P(Batches, ResetLeavesNoResultsOfTheLastStep) {
  Scene scene(make_pushed_box());
  const StepOptions options = make_options_of(GetParam());
  Batch batch(scene.model, 2, with_threads(1), options, make_soft(scene, GetParam().model));
  batch.keep_contacts(true);
  batch.keep_patches(true);
  const auto* xpos = bind<mjtNum>(&batch, "xpos");
  const auto* ncon = bind<int>(&batch, "ncon");
  ASSERT_EQ(batch.step(nullptr, 0, 5, mjSTAGE_NONE), 0);
  const BatchReports& reports = batch.reports();
  const int ids[] = {1};
  ASSERT_EQ(batch.reset(ids, 1, nullptr, mjSTAGE_NONE), 0);
  const auto is_empty = [&](int sim) {
    const mjtNum* first = xpos + 3 * scene->nbody * sim;
    return std::all_of(first, first + 3 * scene->nbody, [](mjtNum x) { return x == 0; }) &&
           ncon[sim] == 0 && reports.contacts[sim].size() == 0 &&
           reports.patches[sim].size() == 0 && reports.iterations[sim] == 0 &&
           std::isnan(reports.error_bound[sim]);
  };
  EXPECT_FALSE(is_empty(0));
  EXPECT_TRUE(is_empty(1));
  ASSERT_EQ(batch.reset(nullptr, 0, nullptr, mjSTAGE_POS), 0);
  EXPECT_NE(xpos[5], 0);
  EXPECT_TRUE(std::isnan(reports.error_bound[0]));
}

TEST(Batch, WrongIdsAreRefusedBeforeAnythingIsDone) {
  Scene scene(make_scene());
  Batch batch(scene.model, 3, with_threads(1), make_options(ContactModel::coulomb));
  for (const std::vector<int>& ids : {std::vector{-1}, {3}, {1000000000}, {1, 1}, {2, 1}}) {
    const int n = static_cast<int>(ids.size());
    EXPECT_THROW(batch.step(ids.data(), n, 1, mjSTAGE_NONE), Error);
    EXPECT_THROW(batch.forward(ids.data(), n, mjSTAGE_ACC), Error);
    EXPECT_THROW(batch.reset(ids.data(), n, nullptr, mjSTAGE_NONE), Error);
    EXPECT_THROW(batch.rollout(ids.data(), n, 1, nullptr, 0, {}), Error);
  }
  EXPECT_TRUE(std::isnan(batch.reports().error_bound[1]));
}

std::thread::id calling_thread;
std::atomic<bool> is_another_stepping;

/// Interrupts the calling thread alone, as a signal of Python does, once another thread steps.
bool interrupt_the_caller() {
  if (std::this_thread::get_id() == calling_thread) return is_another_stepping;
  is_another_stepping = true;
  return false;
}

TEST(Batch, AnInterruptEndsTheStepsOfAllThreads) {
  Scene scene(make_scene());
  Batch batch(scene.model, 4, with_threads(2), make_options(ContactModel::coulomb));
  calling_thread = std::this_thread::get_id();
  is_another_stepping = false;
  batch.set_interrupt(&interrupt_the_caller);
  EXPECT_EQ(batch.step(nullptr, 0, 20000, mjSTAGE_NONE), 4);
  for (int sim = 0; sim < 4; ++sim) {
    EXPECT_EQ(batch.reports().status[sim], kInterrupted) << sim;
    EXPECT_EQ(batch.reports().error_bound[sim], contact::kInfinity) << sim;
  }
  batch.set_interrupt(nullptr);
  EXPECT_EQ(batch.step(nullptr, 0, 1, mjSTAGE_NONE), 0);
}

TEST(Batch, RefusesWhatAStepperRefuses) {
  Scene scene(make_scene());
  StepOptions options = make_options(ContactModel::coulomb);
  EXPECT_THROW(Batch(scene.model, 0, with_threads(1), options), Error);
  options.tolerance = -1;
  EXPECT_THROW(Batch(scene.model, 2, with_threads(1), options), Error);
  options = make_options(ContactModel::coulomb);
  Batch batch(scene.model, 1, with_threads(1), options);
  mjtNum number = 0;
  const mjBatchRecord record = {"no_such_field", 0, &number};
  EXPECT_THROW(batch.rollout(nullptr, 0, 1, nullptr, 0, {&record, 1}), Error);
}

// The fields that MuJoCo's own batch copies can be bound and recorded too, with the same size.
TEST(DataFields, AreThoseOfMuJoCosBatch) {
  Scene scene(make_scene());
  Batch batch(scene.model, 1, with_threads(1), make_options(ContactModel::coulomb));
  int num_fields = 0;
  for (const char* name : {"xpos", "qacc", "sensordata", "efc_force", "contact", "cfrc_ext", "ncon",
                           "nefc", "energy", "solver_niter", "solver_fwdinv", "timer", "act_dot",
                           "qfrc_inverse", "nidof", "xanchor", "subtree_com", "nothing", ""}) {
    int size = 0, element = 0;
    const bool is_output = mjb_output(batch.get(), name, &size, &element) != nullptr;
    const auto field = plant::find_data_field(scene.model, name);
    EXPECT_EQ(field.has_value(), is_output) << name;
    EXPECT_EQ(batch.bind(name).empty(), !is_output) << name;
    if (!is_output) continue;
    ++num_fields;
    EXPECT_EQ(field->size, static_cast<std::size_t>(size) * static_cast<std::size_t>(element))
        << name;
  }
  EXPECT_GT(num_fields, 10);
}

TEST(ReportMerge, PutsReportsBehindEachOther) {
  Scene scene(make_pushed_box());
  plant::Material soft = plant::kDefaultMaterial;
  soft.hydroelastic_modulus = 1e5;
  Batch batch(scene.model, 3, with_threads(1), make_options(ContactModel::coulomb),
              make_materials(scene, soft));
  batch.keep_contacts(true);
  batch.keep_patches(true);
  const int ids[] = {0, 2};
  ASSERT_EQ(batch.step(ids, 2, 1, mjSTAGE_NONE), 0);
  const BatchReports& reports = batch.reports();
  ASSERT_GT(reports.patches[0].size(), 0);
  std::vector<int> offsets;
  const PatchReport patches = merge(reports.patches, &offsets);
  const int n = reports.patches[0].size();
  EXPECT_EQ(offsets, (std::vector<int>{0, n, n, 2 * n}));
  ASSERT_EQ(patches.size(), 2 * n);
  EXPECT_EQ(patches.face_start.back(), patches.num_faces());
  EXPECT_EQ(patches.vertex_start.back(), patches.num_vertices());
  EXPECT_EQ(patches.face_start[n], reports.patches[0].num_faces());
  const ContactReport contacts = merge(reports.contacts, &offsets);
  EXPECT_EQ(contacts.size(), 2 * reports.contacts[0].size());
  EXPECT_EQ(offsets.back(), contacts.size());
  EXPECT_EQ(contacts.time_step, reports.contacts[0].time_step);
}

}  // namespace
}  // namespace stiction::sim::batch_test
