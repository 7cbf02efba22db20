// Custom normal laws of arbitrary parameters: the check of a law ends, and a law that passes it
// gives a finite solution.
#include <cmath>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"

namespace stiction::fuzz {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::NormalForce;
using contact::SolveStatus;

/// The force k (x + gap)_+^p (1 + d xdot)_+ + c, with derivatives that may be wrong by a factor.
struct PowerLaw {
  double k, power, d, c, gap, slope_factor, far;

  explicit PowerLaw(Input* input)
      : k(input->raw_number()),
        power(input->number()),
        d(input->raw_number()),
        c(input->flag() ? 0 : input->raw_number()),
        gap(input->flag() ? 0 : input->raw_number()),
        slope_factor(input->flag() ? 1 : input->raw_number()),
        far(input->flag() ? gap : input->raw_number()) {}

  NormalForce calc_force(double x, double xdot) const noexcept {
    const double depth = x + gap, damping = 1 + d * xdot;
    if (!(depth > 0) || !(damping > 0)) return {c, 0, 0};
    const double elastic = k * std::pow(depth, power);
    return {elastic * damping + c, slope_factor * elastic * power / depth * damping, elastic * d};
  }
  double reach() const noexcept { return far; }
};

/// A body of 1 kg over the ground, at a gap phi0 [m] and a speed [m/s].
ContactProblem make_ball(double phi0, double speed) {
  ContactProblem problem;
  problem.clear(2e-3);
  const int block = problem.add_rigid_body();
  for (int i = 0; i < 6; ++i) problem.diagonal(block)[7 * i] = i < 3 ? 0.01 : 1;
  problem.v0 = {0, 0, 0, 0.1, 0, speed};
  problem.free_impulse = {0, 0, 0, 0, 0, -9.81 * problem.time_step};
  contact::Segment segment;
  segment.block = block;
  segment.is_rigid_body = true;
  segment.offset = {0, 0, -0.1};
  problem.segments.push_back(segment);
  contact::BodyPair pair;
  pair.num_segments = pair.num_contacts = 1;
  problem.pairs.push_back(pair);
  Contact c;
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.phi0 = phi0;
  c.friction = {0.5, 0.5, 0, 0, 0};
  problem.contacts.push_back(c);
  return problem;
}

void solve(const std::shared_ptr<const contact::CustomLaw>& law, ContactModel model,
           ContactProblem problem) {
  formulations::SolverOptions options;
  options.parameters.normal_law = contact::NormalLawKind::custom;
  options.parameters.custom_law = law;
  contact::MomentumFactor factor;
  require(factor.calc_derived(1, &problem));
  contact::Islands islands;
  islands.find(problem);
  contact::ContactSolution solution;
  formulations::make_contact_solver(model)->solve(problem, islands, options, {}, nullptr,
                                                  &solution);
  if (solution.islands[0].status != SolveStatus::kConverged) return;
  for (const double v : solution.v) require(std::isfinite(v));
}

}  // namespace
}  // namespace stiction::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  fuzz::Input input(data, size);
  const fuzz::PowerLaw law(&input);
  contact::LawRange range;
  if (input.flag()) range = {input.raw_number(), input.raw_number()};
  std::shared_ptr<const contact::CustomLaw> custom;
  try {
    custom = contact::make_custom_law(law, range);
  } catch (const Error&) {
    return 0;
  }
  const double phi0 = 0.01 * input.number(), speed = input.number();
  for (const contact::ContactModelTraits& model : contact::contact_models())
    if (model.takes_laws) fuzz::solve(custom, model.model, fuzz::make_ball(phi0, speed));
  return 0;
}
