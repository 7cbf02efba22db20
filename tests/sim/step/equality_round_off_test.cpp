// A connect or a weld between bodies of one tree is an internal constraint, so the momentum of the
// tree does not change. Some of its rows are only round-off, because a joint prevents the motion
// that they concern. Which of them are exactly 0 depends on the pose.
#include <array>
#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::equality_round_off_test {
namespace {

using support::Scene;

class EqualityRoundOff : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(RigidModels, EqualityRoundOff, testing::ValuesIn(rigid_models()),
                         model_name);
INSTANTIATE_TEST_SUITE_P(CompliantModels, EqualityRoundOff, testing::ValuesIn(compliant_models()),
                         model_name);

constexpr int kNumPoses = 40;  // MuJoCo leaves round-off in about every tenth of them

/// Returns N numbers between -1 and 1 as the value of an attribute.
template <int N>
std::string draw(std::mt19937_64* rng) {
  std::string text;
  for (int i = 0; i < N; ++i)
    text += std::to_string(static_cast<double>((*rng)() % 20001) / 10000 - 1) + " ";
  return text;
}

/// Returns a free body `a` that carries `b` on a joint.
std::string make_tree(const std::string& joint, const std::string& equality, std::mt19937_64* rng) {
  std::string body = "<worldbody><body name='a' pos='" + draw<3>(rng);
  body += "' quat='" + draw<4>(rng);
  body += "'><freejoint/><geom type='box' size='0.1 0.07 0.05' contype='0' conaffinity='0'/>";
  body += "<body name='b' pos='" + draw<3>(rng);
  body += "' quat='" + draw<4>(rng);
  body += "'><joint type='" + joint + "'/>";
  body += "<geom type='box' size='0.05 0.03 0.04' contype='0' conaffinity='0'/></body></body>";
  return body + "</worldbody><equality>" + equality + "</equality>";
}

/// Returns the momentum [N s] and the angular momentum [N m s] of everything.
std::array<double, 6> calc_momentum(const Scene& scene) {
  mj_kinematics(scene.model, scene.data);
  mj_comPos(scene.model, scene.data);
  mj_comVel(scene.model, scene.data);
  mj_subtreeVel(scene.model, scene.data);
  std::array<double, 6> momentum;
  for (int k = 0; k < 3; ++k) {
    momentum[k] = scene->body_subtreemass[0] * scene.data->subtree_linvel[k];
    momentum[3 + k] = scene.data->subtree_angmom[k];
  }
  return momentum;
}

TEST_P(EqualityRoundOff, DoesNotChangeTheMomentumOfATree) {
  // Every equality has rows that the joint makes redundant.
  for (const char* equality : {R"(<weld body1="a" body2="b"/>)", R"(<weld body1="b" body2="a"/>)",
                               R"(<connect body1="b" body2="a" anchor="0 0 0"/>)"}) {
    for (const char* joint : {"ball", "hinge"}) {
      std::mt19937_64 rng(11);
      for (int pose = 0; pose < kNumPoses; ++pose) {
        Scene scene(support::make_mjcf(R"(timestep="0.001" gravity="0 0 0")",
                                       make_tree(joint, equality, &rng)));
        for (int i = 0; i < 6; ++i) scene.data->qvel[i] = i % 2 == 0 ? 1 : -0.5;
        const std::array<double, 6> before = calc_momentum(scene);
        Stepper stepper(scene.model, make_options(GetParam()));
        run(&stepper, &scene);
        const std::array<double, 6> after = calc_momentum(scene);
        double squared = 0, change = 0;
        for (int k = 0; k < 6; ++k) {
          squared += before[k] * before[k];
          change += (after[k] - before[k]) * (after[k] - before[k]);
        }
        // A step turns the bodies by 1.2e-3 rad, and its error is of second order.
        EXPECT_LE(std::sqrt(change), 1e-5 * std::sqrt(squared))
            << equality << " across a " << joint << ", pose " << pose;
      }
    }
  }
}

}  // namespace
}  // namespace stiction::sim::equality_round_off_test
