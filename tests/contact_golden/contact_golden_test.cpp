// Compares the bits of contact problems, their solutions and contact surfaces with a table, without
// MuJoCo. Every compiler, system, C library and processor must give the same results. `./dev
// golden` writes the table again.
#include <array>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/hertz_ellipse.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/golden_table.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::contact_golden_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ModelParameters;
using support::GoldenTable;
using support::Hash;

constexpr const char* kTable = STICTION_SOURCE_DIR "/tests/contact_golden/hashes.txt";

/// A computation whose results have a hash in the table.
struct GoldenRun {
  std::string name;
  std::function<void(Hash*)> add_results;

  std::string calc_hash() const {
    Hash hash;
    add_results(&hash);
    return hash.text();
  }
};

void PrintTo(const GoldenRun& run, std::ostream* out) { *out << run.name; }

// ---- contact problems
// ----------------------------------------------------------------------------

/// Calls a function with every number of a problem that a random generator has made.
template <class Function>
void for_each_number(ContactProblem* problem, const Function& f) {
  for (auto* numbers : {&problem->A, &problem->v0, &problem->free_impulse, &problem->columns,
                        &problem->row_columns})
    for (double& x : *numbers) f(x);
  for (contact::BodyPair& pair : problem->pairs)
    for (double& x : pair.origin) f(x);
  for (contact::Segment& segment : problem->segments)
    for (double& x : segment.offset) f(x);
  for (contact::Contact& c : problem->contacts) {
    for (double& x : c.R_WC) f(x);
    for (double& x : c.offset) f(x);
    for (double& x : c.bias) f(x);
    for (double& x : c.friction) f(x);
    for (double* x : {&c.spin_bias, &c.fn0, &c.phi0}) f(*x);
    // Solvers read springs along the surface from ContactProblem::anchors, which is empty here.
    using Data = contact::ContactLawData<double>;
    for (const auto member : contact::kLawProperties<double>)
      if (member != &Data::tangential_stiffness && member != &Data::tangential_damping)
        f(c.law.*member);
  }
  for (contact::Row& row : problem->rows) {
    for (double* x : {&row.regularization, &row.target, &row.bound, &row.slip_tolerance, &row.bias})
      f(*x);
    for (double& x : row.impulse_range) f(x);
  }
}

/// Makes a random problem whose numbers are floats. The generator uses the C library, so the last
/// bits of a double depend on it, but those of a float do not.
ContactProblem make_problem(int seed) {
  std::mt19937_64 rng(seed);
  ContactProblem problem =
      support::make_random_problem({.num_bodies = 2 + seed % 5, .num_pairs = 6 + 2 * seed}, &rng);
  for_each_number(&problem, [](double& x) { x = static_cast<float>(x); });
  return problem;
}

constexpr int kNumProblems = 8;

void add_problems(Hash* hash) {
  for (int seed = 0; seed < kNumProblems; ++seed) {
    ContactProblem problem = make_problem(seed);
    for_each_number(&problem, [&](double x) { hash->add(x); });
  }
}

/// Adds the solutions of all problems and what the certificate says of them.
void add_solutions(ContactModel model, const ModelParameters& parameters, Hash* hash) {
  for (int seed = 0; seed < kNumProblems; ++seed) {
    support::SolvedProblem solved(model, make_problem(seed), {.parameters = parameters});
    hash->add_all(solved.problem.v_star);
    hash->add_all(solved.problem.delassus);
    hash->add_all(solved.solution.v);
    for (const auto& impulse : solved.solution.impulses) hash->add_all(impulse);
    for (const auto& velocity : solved.solution.contact_velocities) hash->add_all(velocity);
    hash->add_all(solved.solution.row_impulses);
    for (const auto& island : solved.solution.islands) hash->add(island.iterations);
    const certificate::Certificate c = solved.certify();
    for (const double x :
         {c.error_bound, c.velocity_bound, c.relative_residual, c.residual_to_momentum, c.round_off,
          c.impulse_error, c.min_normal_impulse, c.max_cone_excess, c.max_friction_work,
          c.energy_gain, c.rigid.complementarity, c.rigid.constraint_error})
      hash->add(x);
  }
}

void add_models(std::vector<GoldenRun>* runs) {
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (!traits.is_mj_step)
      runs->push_back({std::string(traits.name),
                       [&traits](Hash* hash) { add_solutions(traits.model, {}, hash); }});
}

void add_laws(std::vector<GoldenRun>* runs) {
  const ContactModel model = support::models_with_laws().front();
  for (const contact::NormalLawTraits& law : contact::normal_laws()) {
    if (law.law == contact::NormalLawKind::custom) continue;
    for (const std::string_view friction : contact::friction_regularization_names())
      runs->push_back({std::string(law.name) + "_" + std::string(friction), [=](Hash* hash) {
                         add_solutions(
                             model,
                             {.normal_law = law.law,
                              .friction_law = contact::parse_friction_regularization(friction)},
                             hash);
                       }});
  }
}

void add_lcp_solvers(std::vector<GoldenRun>* runs) {
  for (const std::string_view name : numerics::lcp_solvers())
    if (name != "active_set" || numerics::ActiveSetQp::is_available())
      runs->push_back({"no_slip_" + std::string(name), [=](Hash* hash) {
                         add_solutions(ContactModel::no_slip,
                                       {.lcp_solver = numerics::parse_lcp_solver(name)}, hash);
                       }});
}

// ---- functions and surfaces
// ----------------------------------------------------------------------

void add_functions(Hash* hash) {
  // All magnitudes, then ordinary numbers.
  for (int i = -1070; i < 1024; ++i) {
    const double x = std::ldexp(1 + 1.0 / (i + 2001), i), y = std::ldexp(1.25, -i / 2);
    for (const double value : {math::log(x), math::log1p(x), math::atan(x), math::atan2(y, -x),
                               math::hypot(x, y), math::hypot(x, 0.3 * x), math::cbrt(x)})
      hash->add(value);
  }
  for (int i = -20000; i <= 20000; ++i) {
    const double x = i / 512.0;
    for (const double value : {math::exp(x), math::sin(x), math::cos(x), math::atan(x)})
      hash->add(value);
  }
  for (int i = 1; i <= 200; ++i) {
    const contact::HertzEllipse ellipse = contact::calc_hertz_ellipse(1, 1 + i * i / 8.0);
    hash->add(ellipse.factor);
    hash->add(ellipse.axis_ratio);
  }
}

/// Returns the pose of a unit quaternion that is given by integers.
math::RigidTransform make_pose(const std::array<int, 4>& q, const math::Vec3& p) {
  const double w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / (w * w + x * x + y * y + z * z);
  const math::Mat3 R = {{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                         {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                         {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}};
  return {R, p};
}

void add_surface(const geometry::ContactSurface& surface, Hash* hash) {
  std::vector<geometry::QuadraturePoint> points;
  calc_quadrature_points(surface, geometry::Quadrature::moment_exact, &points);
  const auto add_vector = [hash](const math::Vec3& a) {
    for (const double x : {a.x, a.y, a.z}) hash->add(x);
  };
  for (const geometry::SurfaceFace& face : surface.faces) {
    add_vector(face.centroid);
    add_vector(face.normal);
    add_vector(face.pressure_gradient);
    for (const double x : {face.area, face.pressure, face.gradient_A, face.gradient_B})
      hash->add(x);
  }
  for (const math::Vec3& vertex : surface.vertices) add_vector(vertex);
  for (const geometry::QuadraturePoint& point : points) {
    add_vector(point.position);
    hash->add(point.area);
    hash->add(point.pressure);
  }
}

void add_surfaces(Hash* hash) {
  const auto make_body = [](geometry::MeshedShape shape) -> geometry::ContactBody {
    return geometry::CompliantBody(make_pressure_field(std::move(shape), 1e5));
  };
  const std::vector<geometry::ContactBody> bodies = {
      make_body(geometry::make_box_mesh({0.1, 0.08, 0.06})),
      make_body(geometry::make_sphere_mesh(0.1, 0.05)),
      make_body(geometry::make_ellipsoid_mesh({0.1, 0.08, 0.06}, 0.4)),
      make_body(geometry::make_capsule_mesh(0.06, 0.1, 0.03)),
      make_body(geometry::make_cylinder_mesh(0.08, 0.15, 0.03))};
  int num_faces = 0;
  geometry::ContactSurface surface;
  geometry::SurfaceQuery query;
  for (std::size_t a = 0; a < bodies.size(); ++a)
    for (std::size_t b = 0; b <= a; ++b)
      for (const auto tessellation :
           {geometry::Tessellation::polygon, geometry::Tessellation::triangle}) {
        query.calc(bodies[a], make_pose({1, 2, -1, 3}, {0, 0, 0}), bodies[b],
                   make_pose({2, 1, 1, -1}, {0.03, 0.02, 0.09}), tessellation, &surface);
        add_surface(surface, hash);
        num_faces += static_cast<int>(surface.faces.size());
      }
  EXPECT_GT(num_faces, 1000);
}

std::vector<GoldenRun> make_runs() {
  std::vector<GoldenRun> runs = {{"scalar_functions", add_functions},
                                 {"contact_surfaces", add_surfaces},
                                 {"random_problems", add_problems}};
  add_models(&runs);
  add_laws(&runs);
  add_lcp_solvers(&runs);
  return runs;
}

class ContactGolden : public testing::TestWithParam<GoldenRun> {
 protected:
  static void SetUpTestSuite() {
    if (GoldenTable::is_to_be_written())
      GoldenTable(kTable).write(make_runs(), [](const GoldenRun& run) { return run.calc_hash(); });
  }
};
INSTANTIATE_TEST_SUITE_P(Runs, ContactGolden, testing::ValuesIn(make_runs()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ContactGolden, HasTheHashOfTheTable) {
  const std::string expected = GoldenTable(kTable).find(GetParam().name);
  ASSERT_NE(expected, "") << kTable << " has no such run; write it again with ./dev golden";
  EXPECT_EQ(GetParam().calc_hash(), expected)
      << "If random_problems differs too, the problems differ and not their solutions. If results "
         "change on purpose, run ./dev golden.";
}

}  // namespace
}  // namespace stiction::contact_golden_test
