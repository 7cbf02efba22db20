#include "stiction/plant/forces/dynamics.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "plant/rows/plant_problem.hpp"
#include "support/dense_problem.hpp"

namespace stiction::plant::dynamics_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::Scene;

constexpr const char* kMixed = R"(
<worldbody>
  <site name="w" pos="0 0 2"/>
  <body pos="0 0 1" euler="20 30 40"><freejoint/><inertial pos="0.1 -0.2 0.05" mass="2" diaginertia="0.1 0.25 0.3"/><site name="f" pos="0.1 0 0"/></body>
  <body pos="0 2 1"><joint axis="0 1 0" damping="2" stiffness="100" armature="0.1"/><geom size="0.1" pos="0.1 0 0"/>
    <body pos="0.2 0 0"><joint type="ball" damping="0.3"/><geom size="0.1" pos="0.1 0 0"/></body>
    <body pos="0 0.2 0"><joint type="slide"/><geom size="0.1" pos="0.1 0 0"/></body></body>
  <body pos="0 4 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
</worldbody>
<tendon><spatial stiffness="50" damping="3" springlength="0.1"><site site="w"/><site site="f"/></spatial></tendon>)";

/// Returns the matrix T of u = T qvel.
MatrixXd make_transform(const Scene& scene, const Model& plant) {
  const int nv = scene->nv;
  MatrixXd T(nv, nv);
  for (int i = 0; i < nv; ++i) {
    const VectorXd unit = VectorXd::Unit(nv, i);
    to_solver_dofs(scene.data, plant, unit.data(), T.col(i).data());
  }
  return T;
}

TEST(Dynamics, SolverDofsAreAnOrthogonalTransform) {
  Scene scene(support::make_mjcf("", kMixed));
  std::mt19937_64 rng(1);
  scene.randomize(0.5, &rng);
  const PlantProblem p(scene);
  const MatrixXd T = make_transform(scene, p.plant);
  EXPECT_LE((T * T.transpose() - MatrixXd::Identity(T.rows(), T.cols())).norm(), 1e-14);
  const VectorXd v = VectorXd::LinSpaced(T.rows(), -1, 2);
  VectorXd back(v.size());
  to_mujoco_dofs(scene.data, p.plant, VectorXd(T * v).data(), back.data());
  EXPECT_LE((back - v).norm(), 1e-14);
  // A free body has its angular velocity in the world first, then its linear velocity.
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(scene.data->xmat + 9);
  EXPECT_LE((T.block<3, 3>(0, 3) - R).norm(), 1e-15);
  EXPECT_EQ((T.block<3, 3>(3, 0)), Eigen::Matrix3d::Identity());
}

TEST(Dynamics, MomentumMatrixIsInertiaDampingAndStiffness) {
  Scene scene(support::make_mjcf(R"(timestep="0.01")", kMixed));
  std::mt19937_64 rng(2);
  for (int trial = 0; trial < 5; ++trial) {
    scene.randomize(0.5, &rng);
    const PlantProblem p(scene);
    ASSERT_TRUE(p.is_positive_definite);
    const int nv = scene->nv;
    const double dt = 0.01;
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> expected(nv, nv);
    mj_fullM(scene.model, scene.data, expected.data());
    const MatrixXd transform = make_transform(scene, p.plant);
    const VectorXd inertia = (transform * expected * transform.transpose()).diagonal();
    EXPECT_LE((support::to_vector(p.problem.inertia) - inertia).norm(), 1e-13 * inertia.norm());
    const int hinge = 6;
    expected(hinge, hinge) += dt * 2 + dt * dt * 100;
    for (int i = 1; i <= 3; ++i) expected(hinge + i, hinge + i) += dt * 0.3;
    VectorXd j = VectorXd::Zero(nv);
    for (int i = 0; i < scene->ten_J_rownnz[0]; ++i)
      j[scene->ten_J_colind[i]] = scene.data->ten_J[i];
    const bool is_taut = scene.data->ten_length[0] > 0.1;
    expected += (dt * 3 + (is_taut ? dt * dt * 50 : 0)) * j * j.transpose();
    const MatrixXd T = make_transform(scene, p.plant);
    const MatrixXd in_u = T * expected * T.transpose();
    EXPECT_LE((support::DenseProblem(p.problem).A - in_u).norm(), 1e-13 * in_u.norm());
  }
}

/// A tendon joins a free body, a chain and a branch of another tree.
TEST(Dynamics, SpringsAcrossTreesCoupleTheirBlocks) {
  Scene scene(support::make_mjcf(R"(timestep="0.01")", R"(
<worldbody>
  <body pos="0 0 1"><freejoint/><inertial pos="0.1 -0.2 0.05" mass="2" diaginertia="0.1 0.25 0.3"/><site name="a" pos="0.1 0 0"/></body>
  <body pos="0 2 1"><joint axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/>
    <body pos="0.2 0 0"><joint type="ball"/><geom size="0.1" pos="0.1 0 0"/><site name="b" pos="0.1 0 0"/></body></body>
  <body pos="0 4 1"><joint type="slide"/><geom size="0.1"/><site name="c"/></body>
</worldbody>
<tendon><spatial stiffness="50" damping="3" springlength="0.1"><site site="a"/><site site="b"/><site site="c"/></spatial></tendon>)"));
  std::mt19937_64 rng(6);
  for (int trial = 0; trial < 5; ++trial) {
    scene.randomize(0.5, &rng);
    const PlantProblem p(scene);
    ASSERT_TRUE(p.is_positive_definite);
    EXPECT_EQ(p.problem.num_rows(), 0);
    EXPECT_EQ(p.problem.couplings.size(), 3);
    const int nv = scene->nv;
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> expected(nv, nv);
    mj_fullM(scene.model, scene.data, expected.data());
    VectorXd j = VectorXd::Zero(nv);
    for (int i = 0; i < scene->ten_J_rownnz[0]; ++i)
      j[scene->ten_J_colind[i]] = scene.data->ten_J[i];
    expected += (0.01 * 3 + 1e-4 * 50) * j * j.transpose();
    const MatrixXd T = make_transform(scene, p.plant);
    const MatrixXd in_u = T * expected * T.transpose();
    EXPECT_LE((support::DenseProblem(p.problem).A - in_u).norm(), 1e-13 * in_u.norm());
  }
}

TEST(Dynamics, GyroscopicForceOfAFreeBodyIsImplicit) {
  // (A + dt dc/dv) (v* - v0) = dt (f - dt K v0), where a central difference of MuJoCo's bias force
  // c is exact, because c is quadratic. MuJoCo's own discrete step omits dc/dv for a body with a
  // tendon, so it cannot be the reference.
  Scene scene(support::make_mjcf(R"(timestep="0.01")", kMixed));
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < 5; ++trial) {
    scene.randomize(0.5, &rng);
    mju_scl(scene.data->qvel, scene.data->qvel, 10, 6);
    const PlantProblem p(scene);
    const int nv = scene->nv;
    const MatrixXd T = make_transform(scene, p.plant);
    const MatrixXd A = T.transpose() * support::DenseProblem(p.problem).A * T;
    VectorXd rhs = 0.01 * Eigen::Map<VectorXd>(scene.data->qfrc_smooth, nv);
    for (const ImplicitForces::RankOne& term : p.implicit.rank_one())
      for (int e = term.first; e < term.first + term.size; ++e)
        rhs[p.implicit.dof(e)] -= 1e-4 * term.stiffness * term.velocity * p.implicit.value(e);
    MatrixXd G(6, 6);
    std::vector<mjtNum> bias[2];
    for (int i = 0; i < 6; ++i) {
      for (const int side : {0, 1}) {
        Scene moved(scene);
        moved.data->qvel[i] += side ? 1 : -1;
        mj_forward(moved.model, moved.data);
        bias[side].assign(moved.data->qfrc_bias, moved.data->qfrc_bias + nv);
      }
      for (int r = 0; r < 6; ++r) G(r, i) = 0.01 * (bias[1][r] - bias[0][r]) / 2;
    }
    const VectorXd change = (A.topLeftCorner(6, 6) + G).partialPivLu().solve(rhs.head(6));
    const VectorXd v_star = T.transpose() * support::to_vector(p.problem.v_star);
    const VectorXd expected = Eigen::Map<VectorXd>(scene.data->qvel, 6) + change;
    EXPECT_LE((v_star.head(6) - expected).norm(), 1e-11 * expected.norm()) << trial;
  }
}

TEST(Dynamics, GyroscopicMomentOfABallPendulumIsImplicit) {
  // As above. The second pendulum hangs from a hinge, and its forces stay explicit.
  Scene scene(support::make_mjcf(R"(timestep="0.01")", R"(
<worldbody>
  <body pos="0 0 1"><joint type="ball" damping="0.3" armature="0.02"/><inertial pos="0.1 -0.2 0.3" mass="2" diaginertia="0.1 0.25 0.3" euler="20 30 40"/></body>
  <body pos="2 0 1"><joint axis="0 1 0"/><geom size="0.1"/>
    <body pos="0 0 -0.3"><joint type="ball"/><geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0"/></body></body>
</worldbody>)"));
  std::mt19937_64 rng(4);
  for (int trial = 0; trial < 5; ++trial) {
    scene.randomize(0.5, &rng);
    mju_scl(scene.data->qvel, scene.data->qvel, 10, 3);
    const PlantProblem p(scene);
    const int nv = scene->nv;
    const MatrixXd A = support::DenseProblem(p.problem).A;
    MatrixXd G = MatrixXd::Zero(nv, nv);
    for (int i = 0; i < 3; ++i) {
      std::vector<mjtNum> bias[2];
      for (const int side : {0, 1}) {
        Scene moved(scene);
        moved.data->qvel[i] += side ? 1 : -1;
        mj_forward(moved.model, moved.data);
        bias[side].assign(moved.data->qfrc_bias, moved.data->qfrc_bias + nv);
      }
      for (int r = 0; r < nv; ++r) G(r, i) = 0.01 * (bias[1][r] - bias[0][r]) / 2;
    }
    EXPECT_GT(G.norm(), 1e-3);
    const VectorXd rhs = 0.01 * Eigen::Map<VectorXd>(scene.data->qfrc_smooth, nv);
    const VectorXd expected =
        Eigen::Map<VectorXd>(scene.data->qvel, nv) + (A + G).partialPivLu().solve(rhs);
    EXPECT_LE((support::to_vector(p.problem.v_star) - expected).norm(), 1e-11 * expected.norm());
  }
}

TEST(Model, BlocksAreFreeBodiesAndChains) {
  Scene scene(support::make_mjcf("", kMixed));
  const Model plant(scene.model);
  ASSERT_EQ(plant.num_blocks(), 3);  // the small tree is one block
  EXPECT_TRUE(plant.block(0).is_free_body);
  EXPECT_FALSE(plant.block(1).is_free_body);
  EXPECT_EQ(plant.block(1).num_dofs, 5);
  EXPECT_TRUE(plant.block(2).is_free_body);
  int dof = 0;
  for (const Model::Block& block : plant.blocks()) {
    EXPECT_EQ(block.dof_start, dof);
    dof += block.num_dofs;
  }
  EXPECT_EQ(dof, scene->nv);
}

/// Returns a tree of several blocks: a free body, a hinge on it, and four legs of six hinges each.
std::string make_spider() {
  std::string xml = R"(<worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/>
<body pos="0.2 0 0"><joint axis="0 0 1"/><geom size="0.05"/>)";
  for (int leg = 0; leg < 4; ++leg) {
    for (int i = 0; i < 6; ++i)
      xml += R"(<body pos="0.1 0 0"><joint axis="0 )" + std::to_string(i % 2) + " " +
             std::to_string(1 - i % 2) + R"("/><geom size="0.03" pos="0.05 0.01 0"/>)";
    for (int i = 0; i < 6; ++i) xml += "</body>";
  }
  return xml + "</body></body></worldbody>";
}

TEST(Model, InertiaOfALargeTreeKeepsItsCouplings) {
  Scene scene(support::make_mjcf("", make_spider()));
  std::mt19937_64 rng(4);
  scene.randomize(0.5, &rng);
  const PlantProblem p(scene);
  EXPECT_GE(p.plant.num_blocks(), 5);
  EXPECT_FALSE(p.problem.couplings.empty());
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(scene->nv, scene->nv);
  mj_fullM(scene.model, scene.data, M.data());
  EXPECT_LE((support::DenseProblem(p.problem).A - MatrixXd(M)).norm(), 1e-14 * M.norm());
  // Each leg is a descendant of the trunk, and not of another leg.
  const int trunk = p.plant.block_of_dof(0), leg0 = p.plant.block_of_dof(7);
  const int leg1 = p.plant.block_of_dof(13);
  EXPECT_TRUE(p.plant.are_related(trunk, leg0));
  EXPECT_TRUE(p.plant.are_related(leg1, trunk));
  EXPECT_FALSE(p.plant.are_related(leg0, leg1));
}

TEST(Model, DofsOfABodyMoveIt) {
  Scene scene(support::make_mjcf("", make_spider()));
  const Model plant(scene.model);
  mj_forward(scene.model, scene.data);
  std::vector<mjtNum> jacp(3 * scene->nv), jacr(3 * scene->nv);
  for (int body = 0; body < scene->nbody; ++body) {
    const mjtNum* p = scene.data->xpos + 3 * body;
    const mjtNum point[3] = {p[0] + 0.3, p[1] + 0.4, p[2] - 0.5};
    mj_jac(scene.model, scene.data, jacp.data(), jacr.data(), point, body);
    std::vector<int> moving;
    for (int dof = 0; dof < scene->nv; ++dof)
      for (int k = 0; k < 3; ++k)
        if (jacp[k * scene->nv + dof] != 0 || jacr[k * scene->nv + dof] != 0) {
          moving.push_back(dof);
          break;
        }
    const auto dofs = plant.dofs_of_body(body);
    EXPECT_EQ(std::vector<int>(dofs.begin(), dofs.end()), moving) << "body " << body;
  }
}

}  // namespace
}  // namespace stiction::plant::dynamics_test
