// Compares the bits of short runs with a table, so that every compiler, optimization and number of
// threads must give the same results. `./dev golden` writes the table again.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/golden_table.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::golden_test {
namespace {

using contact::ContactModel;
using support::GoldenTable;
using support::Hash;
using support::RandomSceneOptions;
using support::Scene;

constexpr const char* kTable = STICTION_SOURCE_DIR "/tests/golden/hashes.txt";

/// A run whose result has a hash in the table.
struct GoldenRun {
  std::string name;
  std::function<std::string()> make_scene;  // MJCF
  StepOptions options;
  bool has_pressure_fields = false;  // of all geoms except planes, which are rigid
  int num_steps = 100;
  bool has_outputs = false;  // the hash also covers forces, sensors, sleep and taxels
  double call = 0;           // the length of a call of Stepper::advance, 0: steps [s]
};

void PrintTo(const GoldenRun& run, std::ostream* out) { *out << run.name; }

RandomSceneOptions make_cluster_options(int num_bodies, double spacing, int num_hinged = 0) {
  RandomSceneOptions options;
  options.num_bodies = num_bodies;
  options.spacing = spacing;
  options.num_hinged = num_hinged;
  return options;
}

std::function<std::string()> make_cluster(int seed, const RandomSceneOptions& options) {
  return [=] { return support::make_random_scene(seed, options); };
}

/// Returns separate piles of bodies with hinges, and two dolls with servos.
std::string make_piles() {
  std::string bodies, actuators;
  for (int i = 0; i < 24; ++i) {
    char text[240];
    std::snprintf(
        text, sizeof text, R"(<body pos="%d %d %g" euler="%d 20 0"><freejoint/><geom %s/></body>)",
        i % 4, i / 4 % 2, 0.12 + 0.2 * (i / 8), 37 * i % 90,
        i % 2 ? R"(type="capsule" size="0.05 0.08")" : R"(type="box" size="0.1 0.08 0.06")");
    bodies += text;
  }
  for (int i = 0; i < 2; ++i) {
    const support::Doll doll = support::make_doll(std::string(1, char('a' + i)), 2 * i, -2, 0.8);
    bodies += doll.body;
    actuators += doll.actuators;
  }
  return support::make_mjcf(R"(timestep="0.002")",
                            R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies +
                                "</worldbody><actuator>" + actuators + "</actuator>");
}

/// A fluid that flows, as attributes of <option>.
constexpr const char* kFluid = R"(density="800" viscosity="0.05" wind="0.3 0 0")";

/// Returns bodies that touch a floor, a mocap body that pushes them, and a pad that adheres.
/// @param option attributes of <option>
/// @param flag   attributes of <flag>
std::string make_machine(const std::string& option, const std::string& flag = "") {
  return support::make_mjcf(R"(timestep="0.002" )" + option,
                            "<option><flag " + flag + R"(/></option>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1"/>
  <body name="pusher" mocap="true" pos="0.79 0 0.1"><geom type="box" size="0.1 0.3 0.05"/></body>
  <body pos="0 0 0.12" euler="20 10 0"><freejoint/><geom type="cylinder" size="0.1 0.05"/></body>
  <body pos="0 0.4 0.11" euler="90 0 30"><freejoint/><geom type="cylinder" size="0.1 0.08"/></body>
  <body pos="0 -0.4 0.09"><freejoint/><geom type="ellipsoid" size="0.12 0.1 0.08" fluidshape="ellipsoid"/></body>
  <body name="rest" pos="2 0 0.0999"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  <body name="pad" pos="1 0 0.05"><freejoint/><geom name="pad" type="box" size="0.1 0.1 0.05" margin="0.01"/></body>
  <body pos="1 1 0.4"><joint axis="0 1 0" range="-20 20" damping="0.1" frictionloss="0.05"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/><site name="tip" pos="0.3 0 0"/></body>
</worldbody>
<actuator><adhesion body="pad" ctrlrange="0 1" gain="20"/></actuator>
<sensor><accelerometer site="tip"/><force site="tip"/></sensor>)");
}

std::string read_scene(const char* name) {
  std::ifstream file(STICTION_SOURCE_DIR "/scenes/" + std::string(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

StepOptions make_custom(ContactModel model, const std::function<void(StepOptions*)>& change) {
  StepOptions options = make_options(model);
  change(&options);
  return options;
}

std::vector<GoldenRun> make_runs() {
  const RandomSceneOptions heap = make_cluster_options(27, 0.2);
  const RandomSceneOptions hinged = make_cluster_options(9, 0.3, 5);
  const RandomSceneOptions few = make_cluster_options(5, 0.3);
  return {
      {"coulomb_heap", make_cluster(1, heap), make_options(ContactModel::coulomb)},
      {"lagged_regularized_piles", make_piles, make_options(ContactModel::lagged_regularized)},
      {"sap_hinges", make_cluster(2, hinged), make_options(ContactModel::sap)},
      {"similar_hertz", make_cluster(3, hinged),
       make_custom(
           ContactModel::similar,
           [](StepOptions* o) { o->parameters.normal_law = contact::NormalLawKind::hertz; })},
      {"coulomb_quadruped", [] { return read_scene("quadruped.xml"); },
       make_options(ContactModel::coulomb)},
      {"coulomb_patches", make_cluster(4, few), make_options(ContactModel::coulomb), true, 40},
      {"tamsi_hinges", make_cluster(5, few), make_options(ContactModel::tamsi)},
      {"no_slip_piles", make_piles, make_options(ContactModel::no_slip)},
      {"viscous_rk4", make_cluster(6, few),
       make_custom(ContactModel::viscous, [](StepOptions* o) { o->integrator = Integrator::rk4; })},
      {"stewart_trinkle_hinges", make_cluster(7, few), make_options(ContactModel::stewart_trinkle)},
      {"no_slip_events", make_cluster(8, few),
       make_custom(ContactModel::no_slip,
                   [](StepOptions* o) { o->integrator = Integrator::event_driven; })},
      {"coulomb_machine", [] { return make_machine(kFluid); }, make_options(ContactModel::coulomb),
       false, 100, true},
      {"lagged_elastic_machine", [] { return make_machine(kFluid); },
       make_custom(ContactModel::lagged,
                   [](StepOptions* o) {
                     o->parameters.friction_law = contact::FrictionRegularizationKind::elastic;
                   }),
       false, 100, true},
      {"coulomb_sleeping_machine", [] { return make_machine("", R"(sleep="enable")"); },
       make_options(ContactModel::coulomb), false, 700, true},
      {"coulomb_advanced_machine", [] { return make_machine(kFluid); },
       make_options(ContactModel::coulomb), false, 20, true, 0.01},
      {"lagged_taxels", [] { return make_machine(kFluid); }, make_options(ContactModel::lagged),
       true, 40, true},
      // Only MuJoCo computes this run. If it differs, another libmujoco or C library is in use.
      {"mujoco_control", make_piles, make_options(ContactModel::mujoco)},
  };
}

/// Lets every geom have a pressure field, except planes, which become rigid.
plant::MaterialTable make_pressure_fields(const Scene& scene) {
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  for (int g = 0; g < scene->ngeom; ++g) {
    table.geoms[g].rigid = scene->geom_type[g] == mjGEOM_PLANE;
    if (!table.geoms[g].rigid) table.geoms[g].hydroelastic_modulus = 1e5;
  }
  return table;
}

/// Sets the inputs of a step: controls that jump, and mocap bodies that move and turn.
void drive(const Scene& scene, int step) {
  for (int u = 0; u < scene->nu; ++u) scene.data->ctrl[u] = 0.5 * ((step / 20 + u) % 3 - 1);
  for (int i = 0; i < scene->nmocap; ++i) {
    scene.data->mocap_pos[3 * i] += 0.001;
    const mjtNum turn[3] = {0, 0, 0.002};
    mju_quatIntegrate(scene.data->mocap_quat + 4 * i, turn, 1);
  }
}

/// Adds what a step writes besides the state.
void add_outputs(const Scene& scene, const StepReport& report, Hash* hash) {
  const mjModel* m = scene.model;
  const mjData* d = scene.data;
  hash->add_all(std::span(d->sensordata, m->nsensordata));
  hash->add_all(std::span(d->qfrc_constraint, m->nv));
  hash->add_all(std::span(d->efc_force, d->nefc));
  const TaxelReport& taxels = report.read_taxels();
  for (const auto* values : {&taxels.area, &taxels.traction, &taxels.force, &taxels.torque})
    hash->add_all(*values);
  hash->add_all(std::span(d->tree_asleep, m->ntree));
}

/// Returns the hash of mjSTATE_INTEGRATION after the run and of the impulses of its last step.
std::string run_and_hash(const GoldenRun& run, int num_threads) {
  Scene scene(run.make_scene());
  StepOptions options = run.options;
  options.num_threads = num_threads;
  options.on_failure = OnFailure::keep_best;
  Stepper stepper(scene.model, options,
                  run.has_pressure_fields ? make_pressure_fields(scene) : plant::MaterialTable{});
  if (run.has_outputs && run.has_pressure_fields)
    stepper.set_taxels(std::vector<plant::TaxelGrid>{{.name = "skin",
                                                      .geom = scene.geom("pad"),
                                                      .pos = {0, 0, -0.05},
                                                      .size = {0.2, 0.2},
                                                      .shape = {10, 10}}});
  int max_contacts = 0;
  Hash hash;
  for (int i = 0; i < run.num_steps; ++i) {
    drive(scene, i);
    const StepReport& report =
        run.call > 0 ? stepper.advance(scene.data, {.until = scene.data->time + run.call})
                     : stepper.step(scene.data);
    EXPECT_TRUE(run.call > 0 ? report.ok() : report.num_steps == 1)
        << run.name << ": " << report.message;
    max_contacts = std::max(max_contacts, std::max(report.contacts.size(), scene.data->ncon));
    if (i + 1 < run.num_steps) continue;
    hash.add_all(scene.state());
    hash.add_all(report.contacts.impulse);
    hash.add_all(report.contacts.torque_impulse);
    if (run.has_outputs) add_outputs(scene, report, &hash);
  }
  EXPECT_GT(max_contacts, 3) << run.name;
  const bool sleeps = scene->opt.enableflags & mjENBL_SLEEP;
  EXPECT_TRUE(!sleeps ||
              std::any_of(scene.data->tree_asleep, scene.data->tree_asleep + scene->ntree,
                          [](int asleep) { return asleep >= 0; }));
  return hash.text();
}

class Golden : public testing::TestWithParam<GoldenRun> {
 protected:
  static void SetUpTestSuite() {
    if (GoldenTable::is_to_be_written())
      GoldenTable(kTable).write(make_runs(),
                                [](const GoldenRun& run) { return run_and_hash(run, 1); });
  }
};
INSTANTIATE_TEST_SUITE_P(Runs, Golden, testing::ValuesIn(make_runs()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Golden, HasTheHashOfTheTableWithAnyNumberOfThreads) {
  const std::string expected = GoldenTable(kTable).find(GetParam().name);
  ASSERT_NE(expected, "") << kTable << " has no such run; write it again with ./dev golden";
  for (const int num_threads : {1, 2, 16}) {
    EXPECT_EQ(run_and_hash(GetParam(), num_threads), expected)
        << num_threads << " threads. If mujoco_control differs too, libmujoco or the C library "
        << "computes other bits. If results change on purpose, run ./dev golden.";
  }
}

}  // namespace
}  // namespace stiction::sim::golden_test
