#include "stiction/plant/rows/row_mobility.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"

namespace stiction::plant::row_mobility_test {
namespace {

using support::Scene;

/// Every kind of equality and limit, within a tree, between trees, and to the world.
std::string make_mechanisms(const char* jacobian) {
  return support::make_mjcf(std::string(R"(timestep="0.002" jacobian=")") + jacobian + '"',
                            R"(
<compiler angle="radian"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <site name="hook" pos="0 0 3"/>
  <body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.1"/>
    <body name="arm" pos="0 0.3 0"><joint name="arm" axis="1 0 0" range="-0.1 0.1"/><geom type="capsule" fromto="0 0 0 0 0.4 0.1" size="0.03"/>
      <body name="hand" pos="0 0.4 0.1"><joint name="hand" type="ball" range="0 0.1"/><geom type="box" size="0.01 0.05 0.02"/><site name="palm" pos="0 0.05 0"/></body></body>
    <body name="leg" pos="0 -0.3 0"><joint name="leg" type="slide" axis="0 0.3 1" range="-0.01 0.01"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/></body></body>
  <body name="nut" pos="1 0 1"><joint name="z" type="slide" axis="0 0 1"/><joint name="phi" axis="0 0 1" armature="1e-4"/><geom type="cylinder" size="0.03 0.01" mass="2"/></body>
  <body name="box" pos="0 1 1"><freejoint/><geom type="box" size="0.1 0.05 0.02"/></body>
</worldbody>
<tendon>
  <spatial name="rope" range="0 1"><site site="hook"/><site site="palm"/></spatial>
  <fixed name="sum"><joint joint="arm" coef="1"/><joint joint="phi" coef="-0.1"/></fixed>
  <fixed name="other"><joint joint="leg" coef="3"/></fixed>
</tendon>
<equality>
  <connect body1="box" body2="nut" anchor="0.15 0 0"/><weld body1="box" body2="trunk"/>
  <weld body1="hand" body2="leg"/><connect body1="leg" anchor="0.3 0 0"/>
  <joint joint1="z" joint2="phi" polycoef="0 0.0016 0 0 0"/><joint joint1="arm" joint2="leg" polycoef="0.1 2 1 0 0"/>
  <tendon tendon1="sum" tendon2="other" polycoef="0 0.5 0 0 0"/>
</equality>)");
}

/// The diagonal of J M^-1 J^T by MuJoCo's solver, one entry per row.
std::vector<double> calc_diagonal(const Scene& scene) {
  const mjModel* m = scene.model;
  mjData* d = scene.data;
  std::vector<double> diagonal;
  std::vector<mjtNum> J(m->nv), x(m->nv);
  for (int row = 0; row < d->nefc; ++row) {
    std::fill(J.begin(), J.end(), 0.0);
    if (mj_isSparse(m))
      for (int k = 0; k < d->efc_J_rownnz[row]; ++k)
        J[d->efc_J_colind[d->efc_J_rowadr[row] + k]] = d->efc_J[d->efc_J_rowadr[row] + k];
    else
      std::copy_n(d->efc_J + static_cast<std::size_t>(row) * m->nv, m->nv, J.begin());
    mj_solveM(m, d, x.data(), J.data(), 1);
    diagonal.push_back(mju_dot(x.data(), J.data(), static_cast<int>(m->nv)));
  }
  return diagonal;
}

double calc_mean(const std::vector<double>& diagonal, const RowComponents& rows) {
  double sum = 0;
  for (int i = rows.begin; i < rows.end; ++i) sum += diagonal[i];
  return sum / rows.size();
}

TEST(RowMobility, IsTheMeanOfMujocosExactDiagonal) {
  for (const char* jacobian : {"dense", "sparse"}) {
    Scene scene(make_mechanisms(jacobian));
    std::mt19937_64 rng(1);
    RowMobility mobility;
    int num_vectors = 0;
    for (int trial = 0; trial < 20; ++trial) {
      scene.randomize(0.5, &rng);
      mj_forward(scene.model, scene.data);
      const std::vector<double> diagonal = calc_diagonal(scene);
      for (int row = 0; row < scene.data->nefc; ++row) {
        const RowComponents rows = find_components(scene.model, scene.data, row);
        ASSERT_TRUE(rows.begin <= row && row < rows.end);
        const double expected = calc_mean(diagonal, rows);
        EXPECT_NEAR(mobility.calc_mean(scene.model, scene.data, rows), expected, 1e-11 * expected);
        num_vectors += rows.size() == 3;
      }
    }
    EXPECT_EQ(num_vectors, 20 * 18) << "two connects and two welds";
  }
}

/// In random poses, the rows of the step are as stiff as solimp asks by the exact mobility, or as
/// MuJoCo's where these are stiffer, and mjData says so.
TEST(RowMobility, NoRowIsSofterThanItsExactMobility) {
  Scene scene(make_mechanisms("sparse"));
  std::mt19937_64 rng(2);
  int num_stiffer = 0, num_equal = 0;
  for (int trial = 0; trial < 20; ++trial) {
    scene.randomize(0.5, &rng);
    Scene other(scene);
    const PlantProblem estimated(other);
    const PlantProblem exact(scene, {.exact_mobility = true});
    const std::vector<double> diagonal = calc_diagonal(scene);
    ASSERT_EQ(exact.problem.num_rows(), estimated.problem.num_rows());
    for (int r = 0; r < exact.problem.num_rows(); ++r) {
      const contact::Row &row = exact.problem.rows[r], &theirs = estimated.problem.rows[r];
      const int i = row.source;
      const double w = calc_mean(diagonal, find_components(scene.model, scene.data, i));
      const double estimate = other.data->efc_diagA[i], used = scene.data->efc_diagA[i];
      EXPECT_NEAR(used, std::min(w, estimate), 1e-9 * w);
      EXPECT_NEAR(row.regularization / theirs.regularization, used / estimate, 1e-9);
      EXPECT_EQ(row.target, theirs.target);
      const double impedance = scene.data->efc_KBIP[4 * i + 2];
      EXPECT_NEAR(scene.data->efc_R[i], used * (1 - impedance) / impedance, 1e-9 * used);
      EXPECT_DOUBLE_EQ(scene.data->efc_D[i], 1 / scene.data->efc_R[i]);
      (used < estimate ? num_stiffer : num_equal) += 1;
    }
  }
  EXPECT_GT(num_stiffer, 100);
  EXPECT_GT(num_equal, 50);
}

/// A rod on a connect at its end is easier to move across than along. All components have the same
/// regularization, so that the motion does not depend on the axes of the world.
TEST(RowMobility, DoesNotDependOnTheAxesOfTheWorld) {
  std::vector<double> regularizations;
  for (const char* turn : {"0 0 0", "20 40 60"}) {
    Scene scene(support::make_mjcf("", std::string(R"(
<worldbody><body name="rod" euler=")") + turn +
                                           R"("><freejoint/>
  <geom type="capsule" fromto="0 0 0 1 0 0" size="0.03" contype="0" conaffinity="0"/></body></worldbody>
<equality><connect body1="rod" anchor="0 0 0"/></equality>)"));
    const PlantProblem p(scene, {.exact_mobility = true});
    ASSERT_EQ(p.problem.num_rows(), 3);
    for (const contact::Row& row : p.problem.rows) regularizations.push_back(row.regularization);
    const std::vector<double> diagonal = calc_diagonal(scene);
    EXPECT_GT(*std::ranges::max_element(diagonal), 1.5 * *std::ranges::min_element(diagonal));
  }
  for (const double R : regularizations) EXPECT_NEAR(R, regularizations[0], 1e-12 * R);
}

}  // namespace
}  // namespace stiction::plant::row_mobility_test
