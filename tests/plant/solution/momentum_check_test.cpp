#include "stiction/plant/solution/momentum_check.hpp"

#include <random>

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/solution/write_back.hpp"

namespace stiction::plant::momentum_check_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// Free bodies, an arm with servos, springs and limits, tendons across trees, all in contact.
constexpr const char* kWorkshop = R"(
<default><geom condim="6" friction="0.7 0.02 0.003"/></default>
<worldbody>
  <geom type="plane" size="9 9 1"/>
  <body pos="0 0 0.099"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="a"/></body>
  <body pos="0.05 0 0.297"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="0.5" pos="0.01 0 0"/><site name="b"/></body>
  <body pos="0.5 0 0.09"><freejoint/><geom size="0.1" mass="2"/></body>
  <body pos="0.3 0.3 0.4"><joint name="s" axis="0 1 0" damping="1" stiffness="10" range="-20 20" frictionloss="0.2"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 -0.2"/>
    <body pos="0.3 0 -0.2"><joint name="e" axis="0 1 0" armature="0.01"/><geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.2"/>
    </body></body>
</worldbody>
<tendon>
  <fixed stiffness="20" damping="0.5"><joint joint="s" coef="1"/><joint joint="e" coef="-1"/></fixed>
  <spatial stiffness="30" damping="1" springlength="0.05"><site site="a"/><site site="b"/></spatial>
</tendon>
<actuator><position joint="e" kp="20" kv="1"/></actuator>)";

/// A solved step of a scene, with its result in MuJoCo's arrays.
struct SolvedScene {
  Scene scene;
  PlantProblem p;
  contact::Islands islands;
  contact::ContactSolution solution;
  std::vector<double> imbalance;

  SolvedScene(const std::string& option, std::mt19937_64* rng, double tolerance)
      : scene(support::make_mjcf(option, kWorkshop)), p(randomized(scene, rng)) {
    islands.find(p.problem);
    formulations::SolverOptions options;
    options.relative_tolerance = tolerance;
    formulations::make_contact_solver(ContactModel::lagged)
        ->solve(p.problem, islands, options, {}, nullptr, &solution);
    certificate::Certifier certifier;
    const certificate::SolvedStep step = {.problem = p.problem,
                                          .islands = islands,
                                          .model = ContactModel::lagged,
                                          .parameters = options.parameters,
                                          .relative_tolerance = tolerance,
                                          .absolute_tolerance = 1e-14,
                                          .solution = solution};
    EXPECT_TRUE(certifier.certify(step, &p.factor).ok);
    imbalance.assign(certifier.imbalance().begin(), certifier.imbalance().end());
    EXPECT_TRUE(write_back(scene.model, scene.data, p.plant, p.problem, solution,
                           certifier.constraint_impulse()));
  }

  MomentumCheck::Result check(const contact::ContactProblem& problem,
                              const contact::ContactSolution& candidate) {
    return MomentumCheck().calc({.model = scene.model,
                                 .data = scene.data,
                                 .plant = p.plant,
                                 .problem = problem,
                                 .solution = candidate,
                                 .imbalance = imbalance},
                                p.implicit);
  }

  static Scene& randomized(Scene& scene, std::mt19937_64* rng) {
    const std::vector<mjtNum> qpos(scene.data->qpos, scene.data->qpos + scene->nq);
    scene.randomize(2e-4, rng);
    mju_scl(scene.data->qvel, scene.data->qvel, 0.3, scene->nv);
    mj_forward(scene.model, scene.data);
    EXPECT_GE(scene.data->ncon, 6);
    return scene;
  }
};

TEST(MomentumCheck, BalancesSolvedSteps) {
  std::mt19937_64 rng(1);
  for (const char* option :
       {R"(cone="pyramidal" jacobian="dense")", R"(cone="elliptic" jacobian="sparse")"}) {
    for (int trial = 0; trial < 5; ++trial) {
      SolvedScene step(option, &rng, 1e-8);
      const MomentumCheck::Result result = step.check(step.p.problem, step.solution);
      EXPECT_LE(result.residual, 2e-8 * result.scale);   // the solver's tolerance and round-off
      EXPECT_LE(result.mismatch, 1e-12 * result.scale);  // round-off alone
      EXPECT_GT(result.scale, 0.1);
    }
  }
}

TEST(MomentumCheck, FindsAnImpulseOnTheWrongBody) {
  std::mt19937_64 rng(2);
  SolvedScene step("", &rng, 1e-8);
  const auto& contacts = step.p.problem.contacts;
  int num_checked = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (step.solution.impulses[i][2] < 1e-3) continue;
    // Move the contact to other geoms.
    mjContact& con = step.scene.data->contact[contacts[i].source];
    const int geom = con.geom[1];
    con.geom[1] = geom == 3 ? 1 : 3;
    const MomentumCheck::Result moved = step.check(step.p.problem, step.solution);
    con.geom[1] = geom;
    EXPECT_GT(moved.mismatch, 1e-3 * moved.scale) << "contact " << i;
    ++num_checked;
  }
  EXPECT_GT(num_checked, 3);
}

TEST(MomentumCheck, FindsAnImpulseAtTheWrongPointOrOfTheWrongSize) {
  std::mt19937_64 rng(3);
  SolvedScene step("", &rng, 1e-8);
  for (int i = 0; i < step.p.problem.num_contacts(); ++i) {
    if (step.solution.impulses[i][2] < 1e-3) continue;
    contact::ContactProblem moved = step.p.problem;
    moved.contacts[i].offset[0] += 0.05;
    MomentumCheck::Result result = step.check(moved, step.solution);
    EXPECT_GT(result.mismatch, 1e-4 * result.scale) << "contact " << i;

    contact::ContactSolution wrong = step.solution;
    wrong.impulses[i][2] *= 1.1;
    result = step.check(step.p.problem, wrong);
    EXPECT_GT(result.mismatch, 1e-4 * result.scale) << "contact " << i;
  }
}

TEST(MomentumCheck, FindsAWrongVelocityAndAWrongRow) {
  std::mt19937_64 rng(4);
  SolvedScene step("", &rng, 1e-8);
  for (std::size_t i = 0; i < step.solution.v.size(); ++i) {
    contact::ContactSolution wrong = step.solution;
    wrong.v[i] += 0.01;
    const MomentumCheck::Result result = step.check(step.p.problem, wrong);
    EXPECT_GT(result.mismatch, 1e-5 * result.scale) << "dof " << i;
  }
  ASSERT_GT(step.scene.data->nf, 0);
  step.scene.data->efc_force[step.scene.data->ne] += 5;  // dry friction of the shoulder [N m]
  const MomentumCheck::Result result = step.check(step.p.problem, step.solution);
  EXPECT_GT(result.mismatch, 1e-4 * result.scale);
}

}  // namespace
}  // namespace stiction::plant::momentum_check_test
