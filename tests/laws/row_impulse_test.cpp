#include "stiction/laws/row_impulse.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/certificate/reference_laws.hpp"

namespace stiction::laws::row_impulse_test {
namespace {

std::vector<Row> make_rows() {
  std::vector<Row> rows;
  for (const RowKind kind : {RowKind::kEquality, RowKind::kLimit, RowKind::kFriction,
                             RowKind::kSpring, RowKind::kDrySpring}) {
    for (const double scale : {1e-6, 1.0, 1e6}) {
      Row row;
      row.kind = kind;
      row.regularization = scale;
      row.target = 0.3;
      row.bound = 2 * scale;
      row.slip_tolerance = 1e-4;
      rows.push_back(row);
      if (!is_spring(row)) continue;
      // A servo with force limits, which act below 0.05 and above 0.35.
      row.impulse_range = {-0.05 / scale, 0.25 / scale};
      rows.push_back(row);
    }
  }
  return rows;
}

/// Velocities on both sides of the kink of a limit at 0.3 and of the stiction of friction at 0.
constexpr double kVelocities[] = {-1e5,  -3,   -1e-3, -1e-4, -1e-9, 0,
                                  1e-12, 1e-4, 0.1,   0.29,  0.31,  1e5};

TEST(RowImpulse, IsMinusTheDerivativeOfTheCost) {
  for (const Row& row : make_rows()) {
    for (const double v : kVelocities) {
      const double h = row.kind == RowKind::kFriction
                           ? 1e-3 * std::hypot(v, row.slip_tolerance)
                           : 1e-3 * std::max(std::abs(v - row.target), 1e-3);
      const auto cost = [&](double step) { return calc_row_cost(row, v + step * h); };
      const double difference = -(8 * (cost(1) - cost(-1)) - (cost(2) - cost(-2))) / (12 * h);
      const RowImpulse impulse = calc_row_impulse(row, v);
      EXPECT_NEAR(impulse.gamma, difference, 1e-10 * std::abs(impulse.gamma) + 1e-15 * cost(0) / h);
      EXPECT_GE(cost(0), 0);

      const auto gamma = [&](double step) { return calc_row_impulse(row, v + step * h).gamma; };
      const double stiffness = -(8 * (gamma(1) - gamma(-1)) - (gamma(2) - gamma(-2))) / (12 * h);
      EXPECT_NEAR(impulse.stiffness, stiffness,
                  1e-10 * impulse.stiffness + 1e-15 * std::abs(impulse.gamma) / h);
      EXPECT_GE(impulse.stiffness, 0);
    }
  }
}

TEST(RowImpulse, AgreesWithTheReferenceLaw) {
  for (const Row& row : make_rows()) {
    for (const double v : kVelocities) {
      const double gamma = calc_row_impulse(row, v).gamma;
      EXPECT_NEAR(gamma, certificate::calc_reference_row_impulse(row, v), 1e-14 * std::abs(gamma));
    }
  }
}

TEST(RowImpulse, LimitOnlyPushes) {
  Row row;
  row.kind = RowKind::kLimit;
  row.regularization = 0.5;
  row.target = 0.3;
  EXPECT_DOUBLE_EQ(calc_row_impulse(row, 0.1).gamma, 0.4);
  EXPECT_EQ(calc_row_impulse(row, 0.5).gamma, 0);
  EXPECT_EQ(calc_row_impulse(row, 0.5).stiffness, 0);
  EXPECT_EQ(calc_row_cost(row, 0.5), 0);
}

TEST(RowImpulse, DryFrictionStaysBelowItsBound) {
  Row row;
  row.kind = RowKind::kFriction;
  row.bound = 2;
  row.slip_tolerance = 1e-4;
  // [theory:creep]: v = eps rho / sqrt(1 - rho^2) carries the fraction rho of the bound.
  for (const double rho : {0.01, 0.5, 0.999}) {
    const double creep = 1e-4 * rho / std::sqrt(1 - rho * rho);
    EXPECT_NEAR(calc_row_impulse(row, creep).gamma, -2 * rho, 1e-14);
  }
  EXPECT_LE(std::abs(calc_row_impulse(row, -1e9).gamma), 2);
}

/// A spring of dry friction with the stiffness k, the damping c and a stretch.
Row make_dry_spring(double dt, double k, double c, double stretch, double bound) {
  Row row;
  row.kind = RowKind::kDrySpring;
  row.regularization = 1 / (dt * (dt * k + c));
  row.target = -dt * k * stretch * row.regularization;
  row.impulse_range = {-bound, bound};
  row.position = stretch;
  row.stiffness = k;
  return row;
}

TEST(RowImpulse, DryFrictionGivesBackAtMostWhatItsSpringHolds) {
  constexpr double kBound = 0.5, kTimeStep = 0.01;
  int num_returned = 0;
  for (const double k : {1e2, 1e6})
    for (const double c : {0.0, 1e-2 * k})
      for (const double share : {-2.0, -0.7, 0.0, 0.7, 2.0}) {
        const double yield = kBound / (kTimeStep * k);
        const Row row = make_dry_spring(kTimeStep, k, c, share * yield, kBound);
        for (const double speed : {-10.0, -0.9, -0.2, 0.0, 0.2, 0.9, 10.0}) {
          const double v = speed * yield / kTimeStep;
          const double gamma = calc_row_impulse(row, v).gamma;
          num_returned += gamma * v > 0;
          EXPECT_LE(certificate::calc_dry_spring_gain(row, kTimeStep, gamma, v), 0);
        }
      }
  EXPECT_GT(num_returned, 20);
  const Row relaxed = make_dry_spring(kTimeStep, 1e6, 0, 0, kBound);
  EXPECT_GT(certificate::calc_dry_spring_gain(relaxed, kTimeStep, 1e-6, 1), 0);
}

}  // namespace
}  // namespace stiction::laws::row_impulse_test
