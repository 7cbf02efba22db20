#include "support/random_problem.hpp"

#include <cmath>
#include <span>
#include <utility>

#include <gtest/gtest.h>

namespace stiction::support::random_problem_test {
namespace {

using contact::Contact;
using contact::ContactProblem;
using contact::Row;

/// A weighted sum of numbers, each of which is brought to [-1, 1] first. All weights are different,
/// so the sum depends on the order of the numbers. The last digits of the numbers, which differ
/// between compilers and libraries, change it by about 1e-14.
class Fingerprint {
 public:
  void add(double x) {
    // The multiples of the golden ratio modulo 1 are distinct and evenly spread in (0, 1).
    const double weight = std::fmod(0.6180339887498949 * ++num_, 1.0);
    sum_ += weight * (std::isinf(x) ? 1 : x / (1 + std::abs(x)));
  }
  template <class T>
  void add_all(const T& values) {
    for (const auto value : values) add(value);
  }
  double sum() const { return sum_; }

 private:
  int num_ = 0;
  double sum_ = 0;
};

void add_contact(const Contact& c, Fingerprint* out) {
  for (const auto& values : {std::span<const double>(c.R_WC), std::span<const double>(c.offset),
                             std::span<const double>(c.bias), std::span<const double>(c.friction)})
    out->add_all(values);
  for (const double x : {c.spin_bias, c.fn0, c.phi0, c.law.stiffness, c.law.dissipation,
                         c.law.relaxation_time, static_cast<double>(c.dim)})
    out->add(x);
}

double calc_fingerprint(const ContactProblem& p) {
  Fingerprint out;
  for (const auto* values : {&p.A, &p.v0, &p.free_impulse, &p.columns, &p.row_columns})
    out.add_all(*values);
  for (const auto* indices : {&p.dof_start, &p.column_dof, &p.row_dof}) out.add_all(*indices);
  for (const contact::BodyPair& pair : p.pairs) {
    out.add_all(pair.origin);
    out.add(pair.num_contacts);
  }
  for (const contact::Segment& s : p.segments) {
    out.add_all(s.offset);
    out.add(s.block);
  }
  for (const Contact& c : p.contacts) add_contact(c, &out);
  for (const Row& row : p.rows)
    for (const double x : {row.regularization, row.target, row.bound}) out.add(x);
  return out.sum();
}

ContactProblem make_problem() {
  std::mt19937_64 rng(1);
  return make_random_problem({.num_pairs = 20}, &rng);
}

// A call's arguments are evaluated in an order that the compiler chooses, so numbers that are drawn
// there differ between compilers.
TEST(RandomProblem, IsTheSameForEveryCompiler) {
  EXPECT_NEAR(calc_fingerprint(make_problem()), 187.41930620979, 1e-9);
}

TEST(RandomProblem, HasAFingerprintThatDependsOnTheOrderOfItsNumbers) {
  const double expected = calc_fingerprint(make_problem());
  ContactProblem problem = make_problem();
  std::swap(problem.contacts[3].offset[0], problem.contacts[3].offset[1]);
  EXPECT_GT(std::abs(calc_fingerprint(problem) - expected), 1e-4);
}

}  // namespace
}  // namespace stiction::support::random_problem_test
