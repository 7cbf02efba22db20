// The structure of a model whose trees sleep, the trees that its elements tie, and its digest.
#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/model_digest.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "support/random_scene.hpp"
#include "support/scene.hpp"

namespace stiction::plant::sleeping_trees_test {
namespace {

using support::Scene;

/// A free body, a double pendulum with a ball joint, another free body, and a slider.
Scene make_trees() {
  return Scene(support::make_mjcf("", R"(<worldbody>
<body name="a"><freejoint/><geom size=".1"/></body>
<body name="b"><joint type="ball"/><geom size=".1"/>
  <body name="b2" pos="0 0 1"><joint/><geom size=".1"/></body></body>
<body name="c"><freejoint/><geom size=".1"/></body>
<body name="d"><joint type="slide"/><geom size=".1"/></body></worldbody>)"));
}

TEST(SleepingTrees, HaveNoBlocksAndNoDofs) {
  Scene scene = make_trees();
  Model plant(scene.model);
  ASSERT_EQ(plant.num_dofs(), 17);
  const std::vector<std::uint8_t> awake = {0, 1, 0, 1};
  plant.set_awake(scene.model, awake);
  EXPECT_EQ(plant.num_dofs(), 5);
  ASSERT_EQ(plant.num_blocks(), 2);
  EXPECT_EQ(plant.block(0).dof_start, 6);
  EXPECT_EQ(plant.block(0).solver_start, 0);
  EXPECT_EQ(plant.block(1).dof_start, 16);
  EXPECT_EQ(plant.block(1).solver_start, 4);
  EXPECT_EQ(plant.solver_dof(16), 4);
  EXPECT_TRUE(plant.is_awake(6));
  EXPECT_FALSE(plant.is_awake(0));
  EXPECT_TRUE(plant.dofs_of_body(scene.body("a")).empty());
  EXPECT_EQ(plant.dofs_of_body(scene.body("b2")).size(), 4u);
  ASSERT_EQ(plant.awake_dofs().size(), 2u);
  EXPECT_EQ(plant.awake_dofs()[0].begin, 6);
  EXPECT_EQ(plant.awake_dofs()[0].end, 10);

  plant.set_awake(scene.model, std::vector<std::uint8_t>(4, 1));
  EXPECT_EQ(plant.num_dofs(), 17);
  ASSERT_EQ(plant.awake_dofs().size(), 1u);
  EXPECT_EQ(plant.dofs_of_body(scene.body("a")).size(), 6u);
}

contact::ContactProblem make_problem(const Scene& scene, const Model& plant) {
  contact::ContactProblem problem;
  problem.clear(0.01);
  ImplicitForces implicit;
  RankOneTerms terms;
  implicit.start(scene.model);
  implicit.calc(scene.model, scene.data, plant);
  add_blocks(scene.model, scene.data, plant, implicit, &terms, &problem);
  return problem;
}

// The blocks of awake trees are those of a model without the others.
TEST(SleepingTrees, LeaveTheProblemOfTheOthersAsItIs) {
  Scene scene = make_trees();
  std::mt19937_64 rng(1);
  scene.randomize(1, &rng);
  mj_forward(scene.model, scene.data);
  Model plant(scene.model);
  const contact::ContactProblem all = make_problem(scene, plant);
  const std::vector<std::uint8_t> awake = {0, 1, 1, 0};
  plant.set_awake(scene.model, awake);
  const contact::ContactProblem some = make_problem(scene, plant);
  ASSERT_EQ(some.num_blocks(), 2);
  for (int b = 0; b < 2; ++b) {  // blocks 1 and 2 of all
    const int n = some.block_size(b);
    ASSERT_EQ(n, all.block_size(b + 1));
    for (int i = 0; i < n * n; ++i) EXPECT_EQ(some.diagonal(b)[i], all.diagonal(b + 1)[i]);
    for (int i = 0; i < n; ++i) {
      const int from = all.dof_start[b + 1] + i, to = some.dof_start[b] + i;
      EXPECT_EQ(some.v0[to], all.v0[from]);
      EXPECT_EQ(some.free_impulse[to], all.free_impulse[from]);
      EXPECT_EQ(some.inertia[to], all.inertia[from]);
    }
  }
}

// So are the terms of springs within trees and between them.
TEST(SleepingTrees, LeaveTheSpringsOfTheOthersAsTheyAre) {
  Scene scene(support::make_mjcf("", R"(<worldbody>
<body name="a"><freejoint/><geom size=".1"/></body>
<body><joint name="b" stiffness="2" damping="3"/><geom size=".1"/>
  <body pos="0 0 1"><joint name="b2"/><geom size=".1"/></body></body>
<body pos="0 3 0"><freejoint/><geom size=".1"/><site name="c"/></body>
<body pos="0 5 0"><joint name="d" type="slide"/><geom size=".1"/><site name="d"/></body></worldbody>
<tendon><fixed stiffness="5" damping="7" springlength="1"><joint joint="b" coef="1"/>
  <joint joint="b2" coef="2"/></fixed>
<spatial stiffness="11" damping="13" springlength=".1"><site site="c"/><site site="d"/></spatial>
</tendon>)"));
  std::mt19937_64 rng(1);
  scene.randomize(1, &rng);
  mj_forward(scene.model, scene.data);
  Model plant(scene.model);
  const contact::ContactProblem all = make_problem(scene, plant);
  const std::vector<std::uint8_t> awake = {0, 1, 1, 1};
  plant.set_awake(scene.model, awake);
  const contact::ContactProblem some = make_problem(scene, plant);
  ASSERT_EQ(some.num_dofs(), all.num_dofs() - 6);
  ASSERT_EQ(some.A.size(), all.A.size() - 36);
  EXPECT_TRUE(std::equal(some.A.begin(), some.A.end(), all.A.begin() + 36));
  EXPECT_TRUE(
      std::equal(some.free_impulse.begin(), some.free_impulse.end(), all.free_impulse.begin() + 6));
  ASSERT_EQ(some.couplings.size(), 1u);
  ASSERT_EQ(all.couplings.size(), 1u);
  EXPECT_EQ(some.couplings[0].row_block, all.couplings[0].row_block - 1);
  EXPECT_EQ(some.couplings[0].column_block, all.couplings[0].column_block - 1);
}

TEST(TreeTies, NameTheTreesOfEachElement) {
  Scene scene(support::make_mjcf("", R"(<worldbody><site name="world"/>
<body name="hand" mocap="true"><site name="hand"/></body>
<body name="a"><freejoint/><geom size=".1"/><site name="a"/></body>
<body name="b"><joint name="b"/><geom size=".1"/><site name="b"/></body>
<body name="c"><joint name="c"/><geom size=".1"/></body>
<body name="d"><joint name="d"/><geom size=".1"/></body></worldbody>
<tendon><spatial name="rope"><site site="a"/><site site="b"/></spatial>
  <spatial name="leash"><site site="a"/><site site="hand"/></spatial>
  <fixed name="belt"><joint joint="c" coef="1"/><joint joint="d" coef="-1"/></fixed></tendon>
<equality><weld body1="a" body2="hand"/><joint joint1="c" joint2="b"/><tendon tendon1="belt"/>
  <connect body1="d" anchor="0 0 0"/></equality>
<actuator><motor joint="c"/><motor tendon="rope"/><motor site="a" refsite="world"/>
  <position joint="d" delay=".01" nsample="3"/><adhesion body="b" ctrlrange="0 1"/></actuator>)"));
  const TreeTies ties(scene.model);
  using Trees = std::vector<int>;
  EXPECT_EQ(ties.of_tendon(0).trees, (Trees{0, 1}));
  EXPECT_FALSE(ties.of_tendon(0).has_mocap_body);
  EXPECT_EQ(ties.of_tendon(1).trees, Trees{0});
  EXPECT_TRUE(ties.of_tendon(1).has_mocap_body);
  EXPECT_EQ(ties.of_tendon(2).trees, (Trees{2, 3}));
  EXPECT_EQ(ties.of_equality(0).trees, Trees{0});
  EXPECT_TRUE(ties.of_equality(0).has_mocap_body);
  EXPECT_EQ(ties.of_equality(1).trees, (Trees{1, 2}));
  EXPECT_EQ(ties.of_equality(2).trees, (Trees{2, 3}));
  EXPECT_EQ(ties.of_equality(3).trees, Trees{3});
  EXPECT_EQ(ties.of_actuator(0).trees, Trees{2});
  EXPECT_EQ(ties.of_actuator(1).trees, (Trees{0, 1}));
  EXPECT_EQ(ties.of_actuator(2).trees, Trees{0});
  EXPECT_EQ(ties.of_actuator(4).trees, Trees{1});
  EXPECT_FALSE(ties.changes_by_itself(0));
  EXPECT_TRUE(ties.changes_by_itself(3));  // a control arrives later than it is set
}

TEST(ModelDigest, ChangesWithEveryValue) {
  Scene scene = make_trees();
  const mjModel* m = scene.model;
  const ModelDigest digest(m);
  const std::uint64_t value = digest.calc();
  EXPECT_EQ(digest.calc(), value);
  const auto expect_change = [&](auto* entry, auto other) {
    const auto before = *entry;
    *entry = other;
    EXPECT_NE(digest.calc(), value);
    *entry = before;
    EXPECT_EQ(digest.calc(), value);
  };
  for (int i = 0; i < 3 * m->ngeom; ++i) expect_change(m->geom_pos + i, m->geom_pos[i] + 1e-12);
  for (int i = 0; i < m->nbody; ++i) expect_change(m->body_mass + i, m->body_mass[i] * 1.5 + 1);
  for (int i = 0; i < m->nv; ++i) expect_change(m->dof_damping + i, 1e-300);
  for (int i = 0; i < m->ngeom; ++i) expect_change(m->geom_contype + i, 8);
  for (int i = 0; i < m->njnt; ++i) expect_change(m->jnt_limited + i, mjtBool{1});
  expect_change(&scene->opt.gravity[2], -9.8);
  expect_change(&scene->opt.disableflags, int{mjDSBL_GRAVITY});
  std::swap(m->geom_size[0], m->geom_size[3]);  // equal sizes
  EXPECT_EQ(digest.calc(), value);
}

}  // namespace
}  // namespace stiction::plant::sleeping_trees_test
