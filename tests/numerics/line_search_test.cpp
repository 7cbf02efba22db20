#include "stiction/numerics/line_search.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::numerics::line_search_test {
namespace {

/// Runs the search and records its evaluations.
struct RecordedSearch {
  LineSearchResult result;
  std::vector<double> steps, slopes;

  RecordedSearch(double initial_slope, const LineSearchOptions& options,
                 const std::function<Slope(double)>& slope) {
    result = minimize_along_line(initial_slope, options, [&](double alpha) {
      const Slope at = slope(alpha);
      steps.push_back(alpha);
      slopes.push_back(at.slope);
      return at;
    });
  }

  /// Checks that every evaluation lies in (0, max_step] and in the bracket known before it.
  void expect_bracketed(double max_step) const {
    double low = 0, high = max_step;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_GT(steps[i], low) << "evaluation " << i;
      EXPECT_LE(steps[i], high) << "evaluation " << i;
      (slopes[i] < 0 ? low : high) = steps[i];
    }
  }
};

LineSearchOptions tight() {
  LineSearchOptions options;
  options.slope_tolerance = 1e-12;
  options.step_tolerance = 1e-15;
  return options;
}

TEST(MinimizeAlongLine, QuadraticTakesTwoEvaluations) {
  for (const double root : {1e-3, 0.3, 0.999, 1.2, 1.49}) {
    const RecordedSearch search(-7 * root, tight(), [&](double a) {
      return Slope{7 * (a - root), 7};
    });
    EXPECT_TRUE(search.result.converged);
    EXPECT_NEAR(search.result.step, root, 1e-15);
    EXPECT_EQ(search.result.num_evaluations, 2) << root;  // the full step, then Newton's step
  }
}

TEST(MinimizeAlongLine, FullNewtonStepTakesOneEvaluation) {
  const RecordedSearch search(-2, tight(), [](double a) { return Slope{2 * (a - 1), 2}; });
  EXPECT_EQ(search.result.step, 1);
  EXPECT_EQ(search.result.num_evaluations, 1);
}

TEST(MinimizeAlongLine, TakesTheLongestStepWhileTheCostStillFalls) {
  // The slope is constant, as if no contact acts, or nearly constant.
  for (const double curvature : {0.0, 1e-6, 0.1}) {
    const RecordedSearch search(-1, {}, [&](double a) {
      return Slope{-1 + curvature * a, curvature};
    });
    EXPECT_TRUE(search.result.converged);
    EXPECT_EQ(search.result.step, LineSearchOptions{}.max_step);
    EXPECT_LE(search.result.num_evaluations, 2);
  }
}

TEST(MinimizeAlongLine, RespectsAMaximumBelowOne) {
  LineSearchOptions options = tight();
  options.max_step = 0.25;
  const RecordedSearch beyond(-1, options, [](double a) { return Slope{a - 1, 1}; });
  EXPECT_EQ(beyond.result.step, 0.25);
  const RecordedSearch within(-1, options, [](double a) { return Slope{10 * a - 1, 10}; });
  EXPECT_NEAR(within.result.step, 0.1, 1e-15);
}

TEST(MinimizeAlongLine, FindsTheRootsOfSmoothSlopes) {
  for (const double rate : {0.1, 1.0, 10.0, 60.0}) {  // At 60 the slope spans 26 decades.
    for (const double root : {0.01, 0.5, 0.9, 1.4}) {
      const auto slope = [&](double a) {
        return Slope{std::expm1(rate * (a - root)), rate * std::exp(rate * (a - root))};
      };
      const double initial = slope(0).slope;
      const RecordedSearch search(initial, tight(), slope);
      EXPECT_TRUE(search.result.converged);
      // |slope| <= 1e-12 |initial| bounds the distance to the root by 1e-12 |initial| / curvature.
      EXPECT_NEAR(search.result.step, root, 1e-12 * std::abs(initial) / rate + 4e-15);
      search.expect_bracketed(1.5);
    }
  }
}

TEST(MinimizeAlongLine, FindsTheJumpOfASlope) {
  for (const double height : {0.1, 1.0, 1e9}) {
    for (const double jump : {1e-4, 0.37, 0.99, 1.0, 1.3}) {
      const RecordedSearch search(-1, {}, [&](double a) {
        return a < jump ? Slope{-1 + 0.1 * a, 0.1} : Slope{height, 0.1};
      });
      EXPECT_TRUE(search.result.converged);
      EXPECT_NEAR(search.result.step, jump, 1.01 * 1e-10 * 1.5) << height;
      EXPECT_LE(search.result.num_evaluations, 40 + 34);  // 34: halvings to 1e-10
      search.expect_bracketed(1.5);
    }
  }
}

TEST(MinimizeAlongLine, PassesKinksWherePlainNewtonCycles) {
  // The curvature is 1 and 1e8 on the two sides of a kink near the root. The Newton step from each
  // side ends on the other side.
  for (const double offset : {-1e-9, 1e-9, -1e-3, 1e-3}) {
    const double kink = 0.4;
    const auto slope = [&](double a) {
      const double curvature = a < kink ? 1 : 1e8;
      return Slope{offset + curvature * (a - kink), curvature};
    };
    const double root = offset > 0 ? kink - offset : kink - offset * 1e-8;
    const RecordedSearch search(slope(0).slope, tight(), slope);
    EXPECT_TRUE(search.result.converged);
    EXPECT_NEAR(search.result.step, root, 1e-12);
    search.expect_bracketed(1.5);
  }
}

TEST(MinimizeAlongLine, StaysInItsBracketOnRandomConvexCosts) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 1000; ++trial) {
    // A nondecreasing slope with random kinks and jumps. Its curvatures span twelve decades.
    struct Piece {
      double at, curvature, jump;
    };
    std::vector<Piece> pieces;
    for (int i = 0; i < 8; ++i)
      pieces.push_back({1.5 * uniform(rng), std::pow(10, 12 * uniform(rng) - 6),
                        trial % 2 ? std::pow(10, 6 * uniform(rng) - 4) : 0});
    const auto slope = [&](double a) {
      Slope s{-1 + 0.01 * a, 0.01};
      for (const Piece& p : pieces) {
        if (a <= p.at) continue;
        s.slope += p.jump + p.curvature * (a - p.at);
        s.curvature += p.curvature;
      }
      return s;
    };
    const RecordedSearch search(-1, {}, slope);
    EXPECT_TRUE(search.result.converged) << trial;
    EXPECT_EQ(search.result.step, search.steps.back()) << "the result was not evaluated last";
    search.expect_bracketed(1.5);
    // Either the slope is small, or the bracket around its sign change is narrow.
    const double at = std::abs(slope(search.result.step).slope);
    const bool is_jump =
        slope(search.result.step - 2e-10).slope < 0 && slope(search.result.step + 2e-10).slope > 0;
    EXPECT_TRUE(at <= 1e-3 || is_jump || search.result.step == 1.5) << trial << " slope " << at;
  }
}

TEST(MinimizeAlongLine, ReportsThatEvaluationsRanOut) {
  LineSearchOptions options = tight();
  options.max_evaluations = 4;
  const RecordedSearch search(-1, options, [](double a) {
    return a < 0.3 ? Slope{-1, 0} : Slope{1, 0};
  });
  EXPECT_FALSE(search.result.converged);
  EXPECT_EQ(search.result.num_evaluations, 4);
}

TEST(MinimizeAlongLine, RetreatsFromAStepThatIsNotANumber) {
  // The cost overflows far beyond its minimum.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RecordedSearch search(-1, tight(), [&](double a) {
    return a > 0.5 ? Slope{nan, nan} : Slope{4 * a - 1, 4};
  });
  EXPECT_TRUE(search.result.converged);
  EXPECT_NEAR(search.result.step, 0.25, 1e-12);
}

TEST(LineIntegral, IsExactForCubics) {
  const auto f = [](double x) { return 4 * x * x * x - 2 * x + 1; };
  EXPECT_NEAR(integrate(f, 0, 3, 1e-12), 81 - 9 + 3, 1e-12);
}

TEST(LineIntegral, MeetsItsToleranceForSmoothFunctions) {
  const double exact = std::exp(2.0) - 1;
  for (const double tolerance : {1e-3, 1e-6, 1e-9})
    EXPECT_NEAR(integrate([](double x) { return std::exp(x); }, 0, 2, tolerance), exact, tolerance);
}

TEST(LineIntegral, MeetsItsToleranceAtAKink) {
  const double kink = 1 / std::sqrt(3.0);
  const auto f = [&](double x) { return std::max(0.0, x - kink); };
  EXPECT_NEAR(integrate(f, 0, 1, 1e-10), 0.5 * (1 - kink) * (1 - kink), 1e-10);
}

TEST(LineIntegral, EndsAtAJump) {
  const auto f = [](double x) { return x < 0.3 ? 0.0 : 1.0; };
  EXPECT_NEAR(integrate(f, 0, 1, 1e-12), 0.7, 1e-5);
}

}  // namespace

}  // namespace stiction::numerics::line_search_test
