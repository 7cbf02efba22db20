// The viscous forces of rk4, and the balance of forces that plant::MomentumCheck computes from
// MuJoCo's matrices.
#include "stiction/sim/integrators/viscous_motion.hpp"

#include <random>

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/solution/momentum_check.hpp"
#include "stiction/plant/solution/write_back.hpp"

namespace stiction::sim::viscous_forces_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using support::Scene;

/// Spinning boxes on a belt, and an arm at its limit. The arm's tip is connected to a slider and
/// rubs on the floor. The axis of its first joint is oblique, so that the tip can move in every
/// direction.
constexpr const char* kWorkshop = R"(
<worldbody>
  <geom type="plane" size="9 9 1" surfacevel="0.3 0.4 0 0 0 0"/>
  <body pos="0 0 0.099"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
  <body pos="0.05 0 0.297"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="0.5" pos="0.01 0 0"/></body>
  <body pos="0.6 0.3 0.4"><joint axis="0.2 1 0.1" damping="1" stiffness="10" range="5 20" limited="true"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 -0.2"/>
    <body pos="0.3 0 -0.2"><joint axis="0 1 0" armature="0.01"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.2"/><site name="tip" pos="0.2 0 -0.2"/>
    </body></body>
  <body name="slider" pos="1.1 0.3 0"><joint type="slide" axis="1 0 0"/>
    <geom size="0.01" mass="1" contype="0" conaffinity="0"/><site name="slot"/></body>
</worldbody>
<equality><connect site1="tip" site2="slot"/></equality>)";

/// The problem of accelerations in a random state, as rk4 assembles it.
struct AccelerationProblem {
  Scene scene;
  plant::PlantProblem p;
  ContactProblem problem;
  std::vector<double> v, coefficients;
  std::vector<std::array<double, 3>> forces;
  std::vector<double> viscous;  // the generalized force of `forces`
  contact::ContactSolution solution;

  explicit AccelerationProblem(std::mt19937_64* rng)
      : scene(support::make_mjcf("", kWorkshop)), p(randomized(scene, rng)) {
    p.implicit.clear(scene->nv);
    problem.clear(0);
    plant::add_blocks(scene.model, scene.data, p.plant, p.implicit, &p.rank_one_terms, &problem);
    problem.time_step = 1;
    v = problem.v0;
    plant::add_contacts(scene.model, scene.data, p.plant, make_materials(), {}, &problem);
    p.rows.add_rows(scene.model, scene.data, p.plant, {}, {}, &problem);
    std::fill(problem.v0.begin(), problem.v0.end(), 0.0);
    plant::to_solver_dofs(scene.data, p.plant, scene.data->qfrc_smooth,
                          problem.free_impulse.data());
    const std::vector<double> smooth = problem.free_impulse;
    add_viscous_forces(v, &problem, &forces);
    for (std::size_t i = 0; i < smooth.size(); ++i)
      viscous.push_back(problem.free_impulse[i] - smooth[i]);
    for (contact::Contact& c : problem.contacts) {
      coefficients.push_back(c.law.viscous_friction);
      c.phi0 = c.law.viscous_friction = c.spin_bias = 0;
      c.bias = {};
    }
    for (contact::Row& row : problem.rows) row.position = 0;
  }

  contact::Islands islands;
  certificate::Certifier certifier;

  static Scene& randomized(Scene& scene, std::mt19937_64* rng) {
    scene.randomize(2e-4, rng);
    mj_forward(scene.model, scene.data);
    EXPECT_GE(scene.data->ncon, 6);
    return scene;
  }

  /// Returns materials of different stiffnesses, so that contact points are not halfway between the
  /// surfaces.
  plant::MaterialTable make_materials() const {
    plant::MaterialTable table = plant::make_default_materials(scene.model);
    for (std::size_t i = 0; i < table.geoms.size(); ++i) {
      table.geoms[i].law.viscous_friction = 3.0 + static_cast<double>(i);
      table.geoms[i].law.stiffness = i % 2 == 0 ? 1e4 : 1e6;
    }
    return table;
  }

  /// Solves and certifies the problem, and compares the residual with MuJoCo's matrices.
  plant::MomentumCheck::Result check() {
    solve();
    return compare(solution);
  }

  void solve() {
    EXPECT_TRUE(p.factor.calc_derived(1, &problem));
    islands.find(problem);
    const formulations::SolverOptions options;
    formulations::make_contact_solver(ContactModel::viscous)
        ->solve(problem, islands, options, {}, nullptr, &solution);
    const certificate::SolvedStep step = {.problem = problem,
                                          .islands = islands,
                                          .model = ContactModel::viscous,
                                          .parameters = options.parameters,
                                          .relative_tolerance = options.relative_tolerance,
                                          .absolute_tolerance = options.absolute_tolerance,
                                          .solution = solution};
    EXPECT_TRUE(certifier.certify(step, &p.factor).ok);
  }

  /// Compares the certificate's residual with that of MuJoCo's matrices for a candidate.
  plant::MomentumCheck::Result compare(const contact::ContactSolution& candidate) {
    plant::write_row_forces(scene.data, problem, candidate);
    return plant::MomentumCheck().calc_accelerations({.model = scene.model,
                                                      .data = scene.data,
                                                      .plant = p.plant,
                                                      .problem = problem,
                                                      .solution = candidate,
                                                      .imbalance = certifier.imbalance()},
                                                     coefficients);
  }
};

/// Returns |D f| of a generalized force [N/sqrt(kg)]. The free bodies here have equal inertias
/// about all axes, so the norm is the same in MuJoCo's dofs.
double calc_norm(const ContactProblem& problem, const std::vector<double>& f) {
  double sum = 0;
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 0; i < problem.block_size(b); ++i)
      sum += f[problem.dof_start[b] + i] * f[problem.dof_start[b] + i] /
             problem.diagonal(b)[i * (problem.block_size(b) + 1)];
  return std::sqrt(sum);
}

TEST(ViscousForces, AgreeWithMuJoCosMatrices) {
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    AccelerationProblem accelerations(&rng);
    ASSERT_GT(accelerations.scene.data->nl, 0);
    ASSERT_GT(accelerations.scene.data->ne, 0);
    const plant::MomentumCheck::Result result = accelerations.check();
    EXPECT_LE(result.mismatch, 1e-12 * result.scale) << "trial " << trial;
    EXPECT_LE(result.residual, 1e-12 * result.scale) << "trial " << trial;
    EXPECT_GT(calc_norm(accelerations.problem, accelerations.viscous), 0.1 * result.scale);
  }
}

/// A sign error changes the problem, so the certificate of the problem's solution still passes.
TEST(ViscousForces, MuJoCosMatricesFindASignError) {
  std::mt19937_64 rng(2);
  for (int trial = 0; trial < 10; ++trial) {
    AccelerationProblem wrong(&rng);
    for (std::size_t i = 0; i < wrong.viscous.size(); ++i)
      wrong.problem.free_impulse[i] -= 2 * wrong.viscous[i];
    const double error = 2 * calc_norm(wrong.problem, wrong.viscous);
    EXPECT_NEAR(wrong.check().mismatch, error, 1e-2 * error) << "trial " << trial;
  }
}

TEST(ViscousForces, MuJoCosMatricesFindAWrongCoefficientSurfaceOrPoint) {
  std::mt19937_64 rng(3);
  const auto add_forces_of = [](AccelerationProblem* wrong, auto&& change) {
    ContactProblem changed = wrong->problem;
    for (int i = 0; i < changed.num_contacts(); ++i) {
      const mjContact& con = wrong->scene.data->contact[changed.contacts[i].source];
      changed.contacts[i].law.viscous_friction = wrong->coefficients[i];
      changed.contacts[i].bias = {con.surfacevel[0], con.surfacevel[1], 0};
    }
    change(&changed.contacts[0]);
    for (std::size_t i = 0; i < wrong->viscous.size(); ++i)
      changed.free_impulse[i] -= wrong->viscous[i];
    add_viscous_forces(wrong->v, &changed, &wrong->forces);
    wrong->problem.free_impulse = changed.free_impulse;
    return wrong->check().mismatch;
  };
  AccelerationProblem same(&rng);
  EXPECT_LE(add_forces_of(&same, [](contact::Contact*) {}), 1e-11);
  AccelerationProblem coefficient(&rng), surface(&rng), point(&rng);
  EXPECT_GT(add_forces_of(&coefficient, [](auto* c) { c->law.viscous_friction *= 1.01; }), 1e-3);
  EXPECT_GT(add_forces_of(&surface, [](auto* c) { c->bias[0] = 0; }), 1e-3);
  EXPECT_GT(add_forces_of(&point, [](auto* c) { c->offset[0] += 0.01; }), 1e-3);
}

TEST(ViscousForces, MuJoCosMatricesFindAWrongForceOfEveryContactAndRow) {
  std::mt19937_64 rng(4);
  AccelerationProblem accelerations(&rng);
  const plant::MomentumCheck::Result right = accelerations.check();
  ASSERT_LE(right.mismatch, 1e-12 * right.scale);
  const contact::ContactSolution solution = accelerations.solution;
  for (int i = 0; i < accelerations.problem.num_contacts(); ++i) {
    for (int component = 0; component < 3; ++component) {
      contact::ContactSolution wrong = solution;
      wrong.impulses[i][component] += 1e-3;
      EXPECT_GT(accelerations.compare(wrong).mismatch, 1e-5)
          << "contact " << i << " component " << component;
    }
  }
  for (int i = 0; i < accelerations.problem.num_rows(); ++i) {
    contact::ContactSolution wrong = solution;
    wrong.row_impulses[i] += 1e-3;
    EXPECT_GT(accelerations.compare(wrong).mismatch, 1e-5) << "row " << i;
  }
  for (std::size_t i = 0; i < solution.v.size(); ++i) {
    contact::ContactSolution wrong = solution;
    wrong.v[i] += 1e-3;
    EXPECT_GT(accelerations.compare(wrong).mismatch, 1e-5) << "dof " << i;
  }
}

}  // namespace
}  // namespace stiction::sim::viscous_forces_test
