#include "campaign/random_world.hpp"

#include "campaign/world_connections.hpp"
#include "campaign/world_parts.hpp"

namespace stiction::campaign {
namespace {

/// Returns hills of 5 x 5 points.
std::string make_height_field(const View& view, Dice* dice) {
  std::string heights[5];
  for (std::string& row : heights)
    for (int i = 0; i < 5; ++i) row += text(dice->uniform(0, 1)) + " ";
  std::string all;
  for (int i = 0; i < 5; ++i) all += heights[view.is_mirrored ? 4 - i : i];
  return "<hfield name=\"hills\" nrow=\"5\" ncol=\"5\" size=\"0.5 0.5 0.05 0.1\"" +
         attribute("elevation", all) + "/>";
}

std::string make_ground(const View& view, const WorldTraits& traits, Dice* dice) {
  const double friction = traits.is_calm ? 0.8 : dice->uniform(0.1, 1);
  const std::string common = attribute("friction", friction) + "/>";
  const double tilt = dice->uniform(-0.3, 0.3), turn = dice->uniform(0, 3);
  const bool is_tilted = dice->chance(0.3) && !traits.is_calm, is_box = dice->chance(0.15);
  if (traits.has_height_field)
    return "<geom name=\"ground\" type=\"hfield\" hfield=\"hills\"" + common;
  std::array<double, 4> q = {1, 0, 0, 0};
  const double axis[3] = {std::cos(turn), std::sin(turn), 0};
  if (is_tilted) mju_axisAngle2Quat(q.data(), axis, tilt);
  return std::string("<geom name=\"ground\"") + attribute("quat", view.quat(q)) +
         (is_box ? attribute("type", "box") + attribute("size", "1 1 0.1") +
                       attribute("pos", view.polar(0, 0, -0.1))
                 : attribute("type", "plane") + attribute("size", "2 2 1")) +
         common;
}

}  // namespace

World make_world(std::uint64_t seed, const View& view) {
  Dice dice(seed);
  World world;
  world.seed = seed;
  WorldTraits& traits = world.traits;
  traits.is_calm = dice.chance(0.1);
  const bool is_passive = dice.chance(0.3) || traits.is_calm;
  traits.is_passive = is_passive;
  traits.has_height_field = dice.chance(0.1) && !traits.is_calm;
  traits.has_pressure_fields = dice.chance(0.1) && !traits.has_height_field && !traits.is_calm;
  traits.is_near_rigid = (dice.chance(0.6) || traits.is_calm) && !traits.has_pressure_fields;
  const double steps[] = {5e-4, 1e-3, 2e-3, 2e-3, 5e-3, 1e-2};
  const int step = dice.below(6);
  const double time_step = traits.is_calm ? 5e-3 : steps[step];
  const double pull = dice.chance(0.1) && !traits.is_calm ? 0 : 9.81;
  const double down[3] = {0, 0, -pull};
  const std::array<double, 3> g = view.turn(down);
  const bool is_elliptic = dice.chance(0.5);
  const int num_roots = 1 + dice.below(3);

  Parts parts;
  PartMaker maker(view, traits.is_calm, &dice, &parts);
  std::string ground = make_ground(view, traits, &dice);
  if (traits.has_height_field) parts.assets += make_height_field(view, &dice);
  std::vector<std::string> trees;
  for (int i = 0; i < num_roots; ++i) trees.push_back(maker.make_body(0, is_passive));
  std::string bodies;
  for (int i = 0; i < num_roots; ++i) bodies += trees[view.is_reversed ? num_roots - 1 - i : i];
  const std::string connections = is_passive ? "" : make_connections(view, parts, &dice, &traits);
  world.xml =
      "<mujoco><option" + attribute("timestep", time_step) +
      attribute("gravity", text(g[0]) + " " + text(g[1]) + " " + text(g[2])) +
      attribute("cone", is_elliptic ? "elliptic" : "pyramidal") +
      attribute("ccd_tolerance", "1e-12") + attribute("ccd_iterations", "100") + "/><asset>" +
      parts.assets + "</asset><worldbody>" +
      view.wrap_world(ground + "<site name=\"tie\"" + attribute("pos", view.polar(0.1, 0.05, 0.3)) +
                      "/><body name=\"fixed\"/>" + bodies) +
      "</worldbody>" + connections + "<sensor>" + parts.sensors + "</sensor></mujoco>";
  return world;
}

plant::MaterialTable make_materials(const World& world, const support::Scene& scene) {
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  if (world.traits.is_near_rigid) return table;
  for (int g = 0; g < scene->ngeom; ++g) {
    // By name, so that a geom has the same material in every view.
    const std::string name = mj_id2name(scene.model, mjOBJ_GEOM, g);
    std::uint64_t hash = world.seed;
    for (const char c : name) hash = 31 * hash + static_cast<unsigned char>(c);
    Dice dice(hash);
    plant::Material& material = table.geoms[g];
    material.law.stiffness = dice.log_uniform(1e3, 1e7);
    material.law.dissipation = dice.chance(0.2) ? 0 : dice.log_uniform(0.1, 100);
    material.law.relaxation_time = dice.log_uniform(1e-4, 0.1);
    material.law.viscous_friction = dice.log_uniform(0.1, 100);
    if (dice.chance(0.2)) material.friction = dice.uniform(0, 1);
    if (dice.chance(0.3)) material.law.restitution = dice.uniform(0, 1);
    const int type = scene->geom_type[g];
    if (!world.traits.has_pressure_fields || type == mjGEOM_MESH) continue;
    material.rigid = type == mjGEOM_PLANE || dice.chance(0.2);
    if (!material.rigid) material.hydroelastic_modulus = dice.log_uniform(1e4, 1e7);
  }
  return table;
}

void randomize_state(const World& world, support::Scene* scene) {
  Dice dice(world.seed + 1);
  mjData* d = scene->data;
  const double speed = world.traits.is_calm ? 0.1
                       : dice.chance(0.2)   ? 0
                                            : dice.log_uniform(0.03, 3);
  for (int i = 0; i < scene->model->nv; ++i) d->qvel[i] = speed * dice.normal();
  for (int i = 0; i < scene->model->nu; ++i) {
    const mjtNum* range = scene->model->actuator_ctrlrange + 2 * i;
    const double share = dice.uniform(0, 1);
    d->ctrl[i] = scene->model->actuator_ctrllimited[i] ? range[0] + share * (range[1] - range[0])
                                                       : 2 * share - 1;
  }
  for (int b = 1; b < scene->model->nbody; ++b) {
    if (world.traits.is_calm || !dice.chance(0.2)) continue;
    for (int k = 0; k < 6; ++k) d->xfrc_applied[6 * b + k] = (k < 3 ? 5 : 0.3) * dice.normal();
  }
}

}  // namespace stiction::campaign
