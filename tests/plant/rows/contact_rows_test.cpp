#include "stiction/plant/rows/contact_rows.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"
#include "support/dense_problem.hpp"

namespace stiction::plant::contact_rows_test {
namespace {

using contact::Contact;
using support::Scene;

/// Geoms near each other on all kinds of bodies: free bodies, a branched chain, bodies welded to
/// them, the world, and a mocap body. Wide margins make all geoms touch.
constexpr const char* kCrowd = R"(
<default><geom margin="0.5" condim="6" friction="0.7 0.02 0.003"/></default>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1" pos="0 0 -0.3"/>
  <body name="mocap" mocap="true" pos="0 -0.3 0.2"><geom name="mocap" type="box" size="0.1 0.1 0.1"/></body>
  <body name="free" pos="0.1 0.4 0.1" euler="10 20 30"><freejoint/><geom type="box" size="0.1 0.15 0.1" pos="0.05 0 0"/>
    <body pos="0.2 0 0" euler="0 0 45"><geom size="0.1"/></body></body>
  <body name="free2" pos="-0.2 0.3 0.3"><freejoint/><geom type="capsule" size="0.05 0.1"/></body>
  <body name="carrier" pos="0.5 0.2 0.4"><freejoint/><geom type="box" size="0.1 0.1 0.05"/>
    <body pos="0 0 0.2"><joint axis="1 0 0"/><geom size="0.08"/></body></body>
  <body name="trunk" pos="0 0 0.2"><joint axis="0 1 0"/><joint type="slide" axis="1 0 0"/><geom size="0.1"/>
    <body name="left" pos="0 0.3 0"><joint type="ball"/><geom type="capsule" size="0.05 0.1"/>
      <body name="left_tip" pos="0 0.2 0"><joint axis="1 0 0"/><geom size="0.07"/></body></body>
    <body name="right" pos="0 -0.3 0"><joint axis="0 0 1"/><joint axis="1 0 0"/><geom type="box" size="0.05 0.1 0.05"/>
      <body pos="0 -0.2 0"><geom size="0.07"/></body></body></body>
</worldbody>
<contact><pair geom1="floor" geom2="mocap" margin="0.5"/></contact>)";

class ContactRows : public testing::Test {
 protected:
  ContactRows() : scene_(support::make_mjcf("", kCrowd)) {
    scene_->opt.disableflags |= mjDSBL_FILTERPARENT;
  }
  Scene scene_;
  std::mt19937_64 rng_{1};
};

TEST_F(ContactRows, JacobianIsMuJoCosPointJacobian) {
  int num_checked = 0;
  for (int trial = 0; trial < 10; ++trial) {
    scene_.randomize(0.2, &rng_);
    const PlantProblem p(scene_);
    const support::DenseProblem dense(p.problem);
    const int nv = scene_->nv;
    std::vector<mjtNum> jacp[2], jacr[2];
    for (const contact::BodyPair& pair : p.problem.pairs) {
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts;
           ++i, ++num_checked) {
        const Contact& c = p.problem.contacts[i];
        const mjContact& con = scene_.data->contact[c.source];
        mjtNum point[3];
        for (int k = 0; k < 3; ++k) point[k] = pair.origin[k] + c.offset[k];
        for (int side = 0; side < 2; ++side) {
          jacp[side].resize(3 * nv);
          jacr[side].resize(3 * nv);
          mj_jac(scene_.model, scene_.data, jacp[side].data(), jacr[side].data(), point,
                 scene_->geom_bodyid[con.geom[side]]);
        }
        std::vector<double> qvel(nv), u(nv);
        for (int dof = 0; dof < nv; ++dof) {
          // Set one velocity to 1 at a time, in the dofs of both libraries.
          std::fill(qvel.begin(), qvel.end(), 0.0);
          qvel[dof] = 1;
          to_solver_dofs(scene_.data, p.plant, qvel.data(), u.data());
          const Eigen::VectorXd v_c = dense.J[i] * support::to_vector(u);
          // MuJoCo's frame has the rows n, t1, t2. Ours are t1, t2, n, then angular n, t1, t2.
          constexpr int kLinear[3] = {2, 0, 1}, kAngular[3] = {3, 4, 5};
          for (int axis = 0; axis < 3; ++axis) {
            double linear = 0, angular = 0;
            for (int k = 0; k < 3; ++k) {
              linear += con.frame[3 * axis + k] * (jacp[1][k * nv + dof] - jacp[0][k * nv + dof]);
              angular += con.frame[3 * axis + k] * (jacr[1][k * nv + dof] - jacr[0][k * nv + dof]);
            }
            EXPECT_NEAR(v_c[kLinear[axis]], linear, 1e-14) << "contact " << i << " dof " << dof;
            EXPECT_NEAR(v_c[kAngular[axis]], angular, 1e-14);
          }
        }
      }
    }
  }
  EXPECT_GT(num_checked, 300);
}

TEST_F(ContactRows, InitialVelocityIsTheVelocityOfTheDofs) {
  scene_.randomize(0.2, &rng_);
  const PlantProblem p(scene_);
  std::vector<double> back(scene_->nv);
  to_mujoco_dofs(scene_.data, p.plant, p.problem.v0.data(), back.data());
  for (int i = 0; i < scene_->nv; ++i) EXPECT_NEAR(back[i], scene_.data->qvel[i], 1e-15);
}

TEST_F(ContactRows, BodiesWithoutDofsHaveNoContacts) {
  scene_.randomize(0.2, &rng_);
  const PlantProblem p(scene_);
  const int floor = scene_.geom("floor"), mocap = scene_.body("mocap");
  bool found_mocap_on_floor = false;
  for (int i = 0; i < scene_.data->ncon; ++i) {
    const int* geom = scene_.data->contact[i].geom;
    found_mocap_on_floor |= geom[0] == floor && scene_->geom_bodyid[geom[1]] == mocap;
  }
  ASSERT_TRUE(found_mocap_on_floor) << "the <pair> makes MuJoCo list them";
  for (const Contact& c : p.problem.contacts) {
    const int* geom = scene_.data->contact[c.source].geom;
    EXPECT_FALSE(scene_->body_weldid[scene_->geom_bodyid[geom[0]]] == 0 &&
                 scene_->geom_bodyid[geom[1]] == mocap);
  }
  EXPECT_LE(p.problem.num_contacts(), scene_.data->ncon);
  for (const contact::BodyPair& pair : p.problem.pairs) {
    EXPECT_GE(pair.num_segments, 1);
    EXPECT_GE(pair.num_contacts, 1);
  }
}

TEST_F(ContactRows, EveryContactIsInThePairOfItsBodies) {
  scene_.randomize(0.2, &rng_);
  const PlantProblem p(scene_);
  std::vector<int> seen(p.problem.num_contacts(), 0);
  for (const contact::BodyPair& pair : p.problem.pairs) {
    const int* first = nullptr;
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      ++seen[i];
      const int* geom = scene_.data->contact[p.problem.contacts[i].source].geom;
      if (!first) first = geom;
      for (int side = 0; side < 2; ++side)
        EXPECT_EQ(scene_->geom_bodyid[geom[side]], scene_->geom_bodyid[first[side]]);
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

/// A ball that penetrates a floor by 1 mm. Each has its own material.
struct Press {
  Scene scene;
  MaterialTable materials;
  contact::ContactProblem problem;

  explicit Press(const std::string& geom_attributes = "")
      : scene(support::make_mjcf("", R"(<worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 0.099"><freejoint/><geom size="0.1" )" +
                                         geom_attributes + "/></body></worldbody>")),
        materials(make_default_materials(scene.model)) {}

  const Contact& assemble() {
    const Model plant(scene.model);
    mj_forward(scene.model, scene.data);
    problem.clear(0.002);
    add_contacts(scene.model, scene.data, plant, materials, {}, &problem);
    return problem.contacts.at(0);
  }
  double point_z() const { return problem.pairs[0].origin[2] + problem.contacts[0].offset[2]; }
};

TEST(ContactPoint, LiesWhereTheTwoSpringsMeet) {
  // Springs in series divide the compression by their compliance, so the soft side takes more.
  Press press;
  for (const auto& [floor, ball, expected] :
       {std::array{1e5, 1e5, -0.0005}, std::array{1e5, 3e5, -0.00075},
        std::array{3e5, 1e5, -0.00025}, std::array{contact::kInfinity, 1e5, 0.0},
        std::array{1e5, contact::kInfinity, -0.001}}) {
    press.materials.geoms[0].law.stiffness = floor;
    press.materials.geoms[1].law.stiffness = ball;
    const Contact& c = press.assemble();
    EXPECT_NEAR(press.point_z(), expected, 1e-12) << floor << " " << ball;
    const double k = 1 / (1 / floor + 1 / ball);
    EXPECT_NEAR(c.law.stiffness, k, 1e-9 * k);
    EXPECT_NEAR(c.fn0, k * 1e-3, 1e-9 * k);
    EXPECT_NEAR(c.phi0, -1e-3, 1e-15);
  }
}

TEST(ContactPoint, MarginMovesTheSurfaceAndGapDoesNot) {
  EXPECT_NEAR(Press().assemble().phi0, -0.001, 1e-15);
  EXPECT_NEAR(Press(R"(margin="0.004")").assemble().phi0, -0.005, 1e-15);
  EXPECT_NEAR(Press(R"(margin="0.004" gap="0.003")").assemble().phi0, -0.005, 1e-15);
}

TEST(ContactPoint, ContactWithinTheGapIsInTheProblem) {
  Press press(R"(gap="0.005")");
  press.scene.data->qpos[2] = 0.102;  // 2 mm apart: MuJoCo lists the contact without a force
  const Model plant(press.scene.model);
  mj_forward(press.scene.model, press.scene.data);
  ASSERT_EQ(press.scene.data->ncon, 1);
  press.problem.clear(0.002);
  add_contacts(press.scene.model, press.scene.data, plant, press.materials, {}, &press.problem);
  ASSERT_EQ(press.problem.num_contacts(), 1);
  EXPECT_NEAR(press.problem.contacts[0].phi0, 0.002, 1e-15);
}

TEST(ContactPoint, DimensionsBeyondCondimHaveNoFriction) {
  for (const int dim : {1, 3, 4, 6}) {
    Press press("condim=\"" + std::to_string(dim) + R"(" friction="0.8 0.03 0.004" priority="1")");
    const Contact& c = press.assemble();
    EXPECT_EQ(c.dim, dim);
    const double expected[5] = {0.8, 0.8, 0.03, 0.004, 0.004};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(c.friction[i], i < dim - 1 ? expected[i] : 0) << dim;
  }
}

}  // namespace
}  // namespace stiction::plant::contact_rows_test
