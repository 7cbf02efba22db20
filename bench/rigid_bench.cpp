// Measures the CPU time of the whole contact step of rigid models: making rows, selecting them, and
// solving the complementarity problem. There are three parts: several models take turns on a grasp
// with 36 contacts; one body has 4 to 10,000 contacts; and a grasp takes 1000 steps at rest, each
// with the active contacts of the step before as its guess. `rigid_bench --json` prints one JSON
// object. `rigid_bench MODEL COUNT` solves the grasp that many times, for a profiler.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "grasp.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "turns.hpp"

namespace {

using namespace stiction::bench;
using stiction::contact::ContactModel;
using stiction::contact::ContactProblem;
using stiction::contact::ContactSolution;
using stiction::contact::Islands;
using stiction::contact::MomentumFactor;
using stiction::contact::SolveStatus;
using stiction::formulations::ContactSolver;
using stiction::formulations::make_contact_solver;

/// A contact problem, the data that a step derives from it, and the solver of one model.
struct Step {
  ContactProblem problem;
  MomentumFactor factor;
  Islands islands;
  std::unique_ptr<ContactSolver> solver;
  ContactSolution solution;

  Step(ContactModel model, ContactProblem given)
      : problem(std::move(given)), solver(make_contact_solver(model)) {
    prepare();
  }
  void prepare() {
    factor.calc_derived(1, &problem);
    islands.find(problem);
  }
  void solve() { solver->solve(problem, islands, {}, {}, nullptr, &solution); }

  int pivots() const {
    int sum = 0;
    for (const auto& island : solution.islands) sum += island.iterations;
    return sum;
  }
  bool is_solved() const {
    for (const auto& island : solution.islands)
      if (island.status != SolveStatus::kConverged) return false;
    return true;
  }
};

ContactProblem without_ids(ContactProblem problem) {
  for (auto& contact : problem.contacts) contact.id = 0;
  return problem;
}

/// Makes the problem of a cube of 10 cm and 1 kg on a floor, pushed sideways with twice its weight.
/// The first contacts are at its corners, the others anywhere on its lower face.
ContactProblem make_box(int num_contacts) {
  constexpr double kTimeStep = 1e-3, kWeight = 9.81;
  ContactProblem problem;
  problem.clear(kTimeStep);
  double* A = problem.diagonal(problem.add_rigid_body());
  for (int i = 0; i < 6; ++i) A[7 * i] = i < 3 ? 0.01 / 6 : 1;
  problem.free_impulse[3] = 2 * kWeight * kTimeStep;
  problem.free_impulse[5] = -kWeight * kTimeStep;
  stiction::contact::Segment segment;
  segment.block = 0;
  segment.is_rigid_body = true;
  segment.offset = {0, 0, -0.05};
  problem.segments.push_back(segment);
  stiction::contact::BodyPair pair;
  pair.num_segments = 1;
  pair.num_contacts = num_contacts;
  problem.pairs.push_back(pair);
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> anywhere(-0.05, 0.05);
  for (int i = 0; i < num_contacts; ++i) {
    stiction::contact::Contact c;
    c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    c.offset = {i % 2 ? 0.05 : -0.05, i / 2 % 2 ? 0.05 : -0.05, 0};
    if (i >= 4) c.offset = {anywhere(rng), anywhere(rng), 0};
    c.friction = {1, 1, 0, 0, 0};
    problem.contacts.push_back(c);
  }
  return problem;
}

/// Returns the slope of log y over log x, by least squares.
double fit_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = std::log(x[i]), b = std::log(y[i]);
    sx += a;
    sy += b;
    sxx += a * a;
    sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// Prints the results as one JSON object or as lines of text.
class Output {
 public:
  explicit Output(bool as_json) : as_json_(as_json) {
    if (as_json_) std::printf("{\"cases\": [");
  }
  void add_case(const char* scene, const Contestant& c, const Step& step) {
    const int contacts = step.problem.num_contacts();
    if (!as_json_) {
      std::printf("%-14s %-24s %6d contacts %10.2f us, median %10.2f, %3d pivots%s\n", scene,
                  c.name.c_str(), contacts, c.min_us(), c.median_us(), step.pivots(),
                  step.is_solved() ? "" : ", not solved");
      return;
    }
    std::printf(
        "%s\n  {\"scene\": \"%s\", \"model\": \"%s\", \"contacts\": %d, \"us\": %.4g, "
        "\"median_us\": %.4g, \"pivots\": %d, \"solved\": %s}",
        is_first_ ? "" : ",", scene, c.name.c_str(), contacts, c.min_us(), c.median_us(),
        step.pivots(), step.is_solved() ? "true" : "false");
    is_first_ = false;
  }
  void end(double exponent, double rest_pivots, double rest_slip) {
    std::printf(as_json_ ? "\n],\n\"exponent\": %.4g, \"rest_pivots\": %.4g, \"rest_slip\": %.3g}\n"
                         : "exponent %.3f; at rest %.4f pivots per step, slip %.1e m\n",
                exponent, rest_pivots, rest_slip);
  }

 private:
  const bool as_json_;
  bool is_first_ = true;
};

/// Times several models in turns on a grasp.
void time_grasp(const char* scene, bool has_joint, Output* out) {
  const ContactProblem problem = Grasp(has_joint).make_problem();
  std::deque<Step> steps;
  std::vector<Contestant> contestants;
  const auto add = [&](const char* name, ContactModel model, const ContactProblem& given) {
    Step* step = &steps.emplace_back(model, given);
    contestants.push_back({.name = name, .run = [step] { step->solve(); }});
  };
  add("no_slip", ContactModel::no_slip, without_ids(problem));
  add("no_slip, warm", ContactModel::no_slip, problem);
  add("viscous", ContactModel::viscous, without_ids(problem));
  add("stewart_trinkle", ContactModel::stewart_trinkle, problem);
  add("anitescu_potra", ContactModel::anitescu_potra, problem);
  add("drumwright_shell", ContactModel::drumwright_shell, problem);
  add("rigid_coulomb", ContactModel::rigid_coulomb, problem);
  add("coulomb", ContactModel::coulomb, problem);
  add("no_slip, A and islands", ContactModel::no_slip, problem);
  Step* last = &steps.back();
  contestants.back().run = [last] { last->prepare(); };
  run_in_turns(25, &contestants);
  for (std::size_t i = 0; i < steps.size(); ++i) out->add_case(scene, contestants[i], steps[i]);
}

/// Times one model with more and more contacts.
/// @return the exponent of the time as a power of the number of contacts
double time_contacts(Output* out) {
  std::deque<Step> steps;
  std::vector<Contestant> contestants;
  std::vector<double> contacts, us;
  for (const int count : {4, 10, 32, 100, 316, 1000, 3162, 10000}) {
    Step* step = &steps.emplace_back(ContactModel::no_slip, make_box(count));
    contestants.push_back({.name = "no_slip", .run = [step] { step->solve(); }});
    contacts.push_back(count);
  }
  run_in_turns(15, &contestants);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out->add_case("box", contestants[i], steps[i]);
    us.push_back(contestants[i].min_us());
  }
  return fit_exponent(contacts, us);
}

/// Simulates a grasp at rest for 1000 steps.
/// @param slip out: Grasp::calc_slip at the end [m]
/// @return the number of pivots per step
double count_pivots_at_rest(double* slip) {
  constexpr int kNumSteps = 1000;
  Grasp grasp(true);
  Step step(ContactModel::no_slip, grasp.make_problem());
  int pivots = 0;
  for (int i = 0; i < kNumSteps; ++i) {
    step.problem = grasp.make_problem();
    step.prepare();
    step.solve();
    pivots += step.pivots();
    grasp.advance(step.solution.v);
  }
  *slip = grasp.calc_slip();
  return static_cast<double>(pivots) / kNumSteps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    const auto& name = argv[1];
    Step step(stiction::contact::parse_contact_model(name), Grasp(true).make_problem());
    for (int i = 0; i < std::atoi(argv[2]); ++i) step.solve();
    return step.is_solved() ? 0 : 1;
  }
  Output out(argc > 1 && std::strcmp(argv[1], "--json") == 0);
  time_grasp("gripper joint", true, &out);
  time_grasp("no joint", false, &out);
  const double exponent = time_contacts(&out);
  double slip;
  const double pivots = count_pivots_at_rest(&slip);
  out.end(exponent, pivots, slip);
  return 0;
}
