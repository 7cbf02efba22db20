// Tests that the momentum check accepts what is equal up to the last bit, and nothing much larger.
#include "stiction/plant/solution/momentum_check.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/plant/solution/write_back.hpp"

namespace stiction::plant::momentum_rounding_test {
namespace {

using contact::ContactModel;
using contact::ContactSolution;
using support::Scene;

/// Free bodies, an arm with servos, springs and limits, and a tendon, all in contact.
std::string make_workshop(double distance) {
  const std::string at = std::to_string(distance);
  return R"(<default><geom condim="6" friction="0.7 0.02 0.003"/></default><worldbody>
  <body mocap="true" pos=")" +
         at + R"( 0 0"><geom type="box" size="9 9 1" pos="0 0 -1"/></body>
  <body pos=")" +
         at + R"( 0 0.099"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
  <body pos=")" +
         at +
         R"( 0 0.297"><freejoint/><geom type="box" size="0.1 0.2 0.1" mass="0.5" pos="0.01 0 0"/></body>
  <body pos=")" +
         at + R"( 0.5 0.4"><joint name="s" axis="0 1 0" damping="1" stiffness="10" range="-20 20"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 -0.2"/>
    <body pos="0.3 0 -0.2"><joint name="e" axis="0 1 0" armature="0.01"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.2"/></body></body>
</worldbody>
<tendon><fixed stiffness="20" damping="0.5"><joint joint="s" coef="1"/><joint joint="e" coef="-1"/>
</fixed></tendon><actuator><position joint="e" kp="20" kv="1"/></actuator>)";
}

/// Any velocities and impulses of a scene, with the certificate's imbalance. They solve nothing.
class Candidate {
 public:
  Candidate(double distance, double force, std::mt19937_64* rng)
      : scene_(support::make_mjcf("", make_workshop(distance))), p_(randomized(scene_, rng)) {
    std::normal_distribution<double> normal;
    const auto draw = [&](std::size_t size, double scale) {
      std::vector<double> numbers(size);
      for (double& x : numbers) x = scale * normal(*rng);
      return numbers;
    };
    islands_.find(p_.problem);
    solution_.v = draw(p_.problem.num_dofs(), 1);
    solution_.v_low.assign(solution_.v.size(), 0.0);
    solution_.row_impulses = draw(p_.problem.num_rows(), force);
    solution_.contact_velocities.resize(p_.problem.num_contacts());
    solution_.slipping.resize(p_.problem.num_contacts());
    solution_.islands.resize(islands_.size());
    for (int i = 0; i < p_.problem.num_contacts(); ++i) {
      const std::vector<double> numbers = draw(6, force);
      solution_.impulses.push_back({});
      std::copy(numbers.begin(), numbers.end(), solution_.impulses.back().begin());
    }
    (void)certifier_.certify(step(), &p_.factor);
  }

  /// Compares another solution by MuJoCo's matrices with the certificate's imbalance of this one.
  MomentumCheck::Result compare(const ContactSolution& other) {
    write_row_forces(scene_.data, p_.problem, other);
    const MomentumCheck::Input input = make_input(other);
    MomentumCheck::Result result = check_.calc(input, p_.implicit);
    result.rounding =
        rounding_.calc(input, p_.implicit, certifier_.calc_imbalance_rounding(step()));
    return result;
  }

  const ContactSolution& solution() const { return solution_; }

 private:
  static Scene& randomized(Scene& scene, std::mt19937_64* rng) {
    scene.randomize(2e-4, rng);
    mj_forward(scene.model, scene.data);
    EXPECT_GE(scene.data->ncon, 6);
    return scene;
  }
  certificate::SolvedStep step() const {
    return {.problem = p_.problem,
            .islands = islands_,
            .model = ContactModel::lagged,
            .parameters = parameters_,
            .relative_tolerance = 1e-5,
            .absolute_tolerance = 1e-14,
            .solution = solution_};
  }
  MomentumCheck::Input make_input(const ContactSolution& solution) {
    return {.model = scene_.model,
            .data = scene_.data,
            .plant = p_.plant,
            .problem = p_.problem,
            .solution = solution,
            .imbalance = certifier_.imbalance()};
  }

  Scene scene_;
  PlantProblem p_;
  contact::ModelParameters parameters_;
  contact::Islands islands_;
  ContactSolution solution_;
  certificate::Certifier certifier_;
  MomentumCheck check_;
  MomentumRounding rounding_;
};

/// Moves each number by at most one unit in its last place.
ContactSolution perturb(ContactSolution solution, std::mt19937_64* rng) {
  const auto move = [&](double* x) {
    const int direction = static_cast<int>((*rng)() % 3) - 1;
    if (direction != 0)
      *x = std::nextafter(*x, direction * std::numeric_limits<double>::infinity());
  };
  for (auto* numbers : {&solution.v, &solution.row_impulses})
    for (double& x : *numbers) move(&x);
  for (auto& impulse : solution.impulses)
    for (double& x : impulse) move(&x);
  return solution;
}

class MomentumRoundingTest : public testing::TestWithParam<double> {};

TEST_P(MomentumRoundingTest, BoundsTheMismatchOfSolutionsThatAreEqualUpToTheLastBit) {
  const double distance = GetParam();
  std::mt19937_64 rng(21);
  for (const double force : {0.0, 1e-12, 1.0, 1e9}) {
    double closest = 0;  // of the mismatch to its bound
    for (int trial = 0; trial < 5; ++trial) {
      Candidate candidate(distance, force, &rng);
      for (int sample = 0; sample < 20; ++sample) {
        const MomentumCheck::Result result = candidate.compare(perturb(candidate.solution(), &rng));
        EXPECT_LE(result.mismatch, result.rounding) << "force " << force;
        closest = std::max(closest, result.mismatch / result.rounding);
      }
    }
    // The bound must not be so large that it hides errors.
    EXPECT_GT(closest, 1e-4) << "force " << force;
  }
}

TEST_P(MomentumRoundingTest, FindsAnErrorOfAHundredThousandth) {
  const double distance = GetParam();
  std::mt19937_64 rng(22);
  for (const double force : {1.0, 1e9}) {
    Candidate candidate(distance, force, &rng);
    for (std::size_t i = 0; i < candidate.solution().impulses.size(); ++i) {
      ContactSolution wrong = candidate.solution();
      wrong.impulses[i][2] *= 1 + 1e-5;
      const MomentumCheck::Result result = candidate.compare(wrong);
      EXPECT_FALSE(result.agrees()) << "contact " << i << " force " << force << " mismatch "
                                    << result.mismatch << " allowed " << result.allowed_mismatch();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Distances, MomentumRoundingTest, testing::Values(0.0, 1000.0));

}  // namespace
}  // namespace stiction::plant::momentum_rounding_test
