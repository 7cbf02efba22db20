// Takes one step from every row of reference trajectories, and compares it with the next row. The
// trajectories are from Drake 1.51.1 with a solver tolerance of 1e-11, except tamsi, which has its
// own stopping rule. Scripts and parameters are beside the data. The test is skipped if the data
// are missing.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "stiction/certificate/certifier.hpp"
#include "stiction/formulations/contact_solver.hpp"

namespace stiction::reference_test {
namespace {

#ifdef _WIN32
constexpr auto popen = _popen;
constexpr auto pclose = _pclose;
#endif

namespace fs = std::filesystem;
using contact::ContactModel;

/// A trajectory of a planar body.
struct Trajectory {
  YAML::Node meta;
  std::vector<std::vector<double>> rows;
};

Trajectory load(const fs::path& stem) {
  Trajectory out;
  out.meta = YAML::LoadFile(stem.string() + ".json");
  const std::string command = "gzip -dc '" + stem.string() + ".csv.gz'";
  FILE* pipe = popen(command.c_str(), "r");
  char line[4096];
  bool header = true;
  while (std::fgets(line, sizeof line, pipe)) {
    if (std::exchange(header, false)) continue;
    std::vector<double>& row = out.rows.emplace_back();
    for (char* at = line; *at && *at != '\n'; at += (*at == ',')) row.push_back(strtod(at, &at));
  }
  pclose(pipe);
  return out;
}

/// A planar body above the ground z <= 0, with contacts at spheres that are fixed to it. Its dofs
/// are x, z and, except for the box on the conveyor, the angle theta that rotates x towards z.
class PlanarStep {
 public:
  explicit PlanarStep(const YAML::Node& meta) : meta_(meta) {
    dt_ = meta["dt"].as<double>();
    mass_ = meta["mass"].as<double>();
    rotates_ = meta["case"].as<std::string>() != "conveyor";
    if (rotates_) inertia_ = meta["inertia_yy"].as<double>();
    if (const auto spheres = meta["end_spheres_body"]) {
      for (const auto& s : spheres)
        spheres_.push_back({s[0].as<double>(), s[1].as<double>(), s[2].as<double>()});
    } else if (rotates_) {
      spheres_.push_back({0, 0, meta["radius"].as<double>()});
    } else {
      spheres_.push_back({0, -meta["side"].as<double>() / 2 + 0.01, 0.01});
    }
    const auto name = meta["model"].as<std::string>();
    model_ = name == "lagged"    ? ContactModel::lagged_regularized
             : name == "similar" ? ContactModel::similar
             : name == "tamsi"   ? ContactModel::tamsi
                                 : ContactModel::sap;
    parameters_.stiction_tolerance = meta["stiction_tolerance"].as<double>();
    parameters_.friction_regularization = meta["sigma"].as<double>();
    parameters_.near_rigid_factor = name == "sap_nr0" ? 0 : 1;
    solver_ = formulations::make_contact_solver(model_);
  }

  int num_dofs() const { return rotates_ ? 3 : 2; }

  ContactModel model() const { return model_; }

  /// Computes the velocities at the end of time step n from the state at its start.
  /// @param tolerance relative tolerance of the solver
  std::vector<double> run(int n, const double* q, const double* v, double tolerance = 1e-12) {
    make_problem(n, q, v);
    EXPECT_TRUE(factor_.calc_derived(1, &problem_));
    islands_.find(problem_);
    formulations::SolverOptions options;
    options.parameters = parameters_;
    options.relative_tolerance = tolerance;
    options.absolute_tolerance = 1e-16;
    solver_->solve(problem_, islands_, options, {}, nullptr, &solution_);
    const certificate::SolvedStep step = {.problem = problem_,
                                          .islands = islands_,
                                          .model = model_,
                                          .parameters = parameters_,
                                          .relative_tolerance = std::max(1e-9, tolerance),
                                          .absolute_tolerance = 1e-15,
                                          .solution = solution_};
    const auto certificate = certifier_.certify(step, &factor_);
    EXPECT_TRUE(certificate.ok) << certificate.relative_residual;
    return solution_.v;
  }

 private:
  void make_problem(int n, const double* q, const double* v) {
    problem_.clear(dt_);
    const int nv = num_dofs();
    problem_.add_block(nv);
    const double force_z = -mass_ * meta_["gravity"].as<double>();
    const double force[3] = {belt_force(n), force_z, 0};
    const double mass[3] = {mass_, mass_, inertia_};
    for (int i = 0; i < nv; ++i) {
      problem_.A[i * (nv + 1)] = mass[i];
      problem_.v0[i] = v[i];
      problem_.free_impulse[i] = dt_ * force[i];
    }
    contact::BodyPair pair;
    pair.first_segment = 0;
    pair.num_segments = 1;
    const double theta = rotates_ ? q[2] : 0;
    for (const auto& s : spheres_) {
      const double cx = std::cos(theta) * s[0] - std::sin(theta) * s[1];
      const double cz = std::sin(theta) * s[0] + std::cos(theta) * s[1];
      const double depth = s[2] - (q[1] + cz);
      if (depth < 0) continue;
      contact::Contact c;
      c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      c.offset = {cx, 0, -depth / 2 - q[1]};  // from the center of the body
      c.phi0 = -depth;
      c.law.stiffness = meta_["k"].as<double>();
      c.fn0 = c.law.stiffness * depth;
      c.law.dissipation = meta_["d"].as<double>();
      c.law.relaxation_time = meta_["tau_d"].as<double>();
      c.friction[0] = c.friction[1] = meta_["mu"].as<double>();
      problem_.contacts.push_back(c);
    }
    if (problem_.contacts.empty()) return;
    pair.num_contacts = problem_.num_contacts();
    problem_.pairs.push_back(pair);
    contact::Segment segment;
    segment.block = 0;
    segment.num_columns = nv;
    problem_.segments.push_back(segment);
    const double columns[3][6] = {{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 1}, {0, -1, 0, 0, 0, 0}};
    for (int i = 0; i < nv; ++i) {
      problem_.column_dof.push_back(i);
      problem_.columns.insert(problem_.columns.end(), columns[i], columns[i] + 6);
    }
  }

  /// Returns the inertial force -m dv_b / dt in the accelerated frame of the belt.
  double belt_force(int n) const {
    if (rotates_) return 0;
    const double w = 2 * std::numbers::pi * meta_["belt"]["f"].as<double>();
    const double A = meta_["belt"]["A"].as<double>();
    return -mass_ * A * w * (std::sin(w * n * dt_) - std::sin(w * (n - 1) * dt_)) / dt_;
  }

  YAML::Node meta_;
  double dt_ = 0, mass_ = 0, inertia_ = 1;
  bool rotates_ = false;
  std::vector<std::array<double, 3>> spheres_;
  ContactModel model_;
  contact::ModelParameters parameters_;
  std::unique_ptr<formulations::ContactSolver> solver_;
  contact::ContactProblem problem_;
  contact::MomentumFactor factor_;
  contact::Islands islands_;
  contact::ContactSolution solution_;
  certificate::Certifier certifier_;
};

class Reference : public testing::TestWithParam<const char*> {};

TEST_P(Reference, StepFromEveryRowAgreesWithDrake) {
  const fs::path folder = fs::path(STICTION_SOURCE_DIR) / "../shared/reference/point";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " does not exist";
#ifdef _WIN32
  GTEST_SKIP() << "Windows has no gzip";
#endif
  int num_files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || !name.starts_with(GetParam())) continue;
    if (name.find("every10") != std::string::npos) continue;
    ++num_files;
    const Trajectory trajectory = load(fs::path(entry.path()).replace_extension());
    PlanarStep step(trajectory.meta);
    const int nq = step.num_dofs();
    // Drake's tamsi stops when no velocity changes by more than v_s / 100, at any residual. With a
    // tolerance that any residual meets, our solver stops at the same iterate.
    const bool is_tamsi = step.model() == ContactModel::tamsi;
    const double tolerance = is_tamsi ? 1 : 1e-12;
    double worst = 0;
    int worst_row = 0;
    for (std::size_t n = 1; n < trajectory.rows.size(); ++n) {
      const double* before = trajectory.rows[n - 1].data() + 1;
      const double* after = trajectory.rows[n].data() + 1 + nq;
      const std::vector<double> v = step.run(static_cast<int>(n), before, before + nq, tolerance);
      for (int i = 0; i < nq; ++i) {
        const double error = std::abs(v[i] - after[i]);
        if (error > worst) worst = error, worst_row = static_cast<int>(n);
      }
    }
    // The tolerance in m/s and rad/s is that of a step; for tamsi it is round-off
    // (measured: 1.4e-12).
    EXPECT_LE(worst, is_tamsi ? 1e-11 : 1e-7) << name << " row " << worst_row;
    RecordProperty(name, std::to_string(worst));
    std::printf("%-40s %6zu rows, max |dv| %.1e\n", name.c_str(), trajectory.rows.size() - 1,
                worst);
  }
  EXPECT_GT(num_files, 0);
}

INSTANTIATE_TEST_SUITE_P(Point, Reference, testing::Values("conveyor", "sphere", "rod"));

}  // namespace
}  // namespace stiction::reference_test
