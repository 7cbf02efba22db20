// Invariants of every step of the rigid models on seeded random clusters of bodies. The tests use
// only the states before and after the step, the models' parameters, the masses and the reported
// impulses.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>
#include <Eigen/QR>

#include "sim/models/cluster.hpp"

namespace stiction::sim::rigid_invariants_test {
namespace {

using contact::ContactModel;
using contact::TangentPolicy;
using support::RandomSceneOptions;
using support::Scene;

/// Surfaces touch below this distance [m]. Source: [theory:rigid-touch].
constexpr double kTouchDistance = 1e-6;
/// The tolerance of speeds and impulses, relative to the largest of a contact. Measured errors are
/// below 1e-14.
constexpr double kTolerance = 1e-11;

/// One step of a cluster of bodies without joints whose inertias no rotation changes.
struct ClusterStep {
  const Scene& scene;
  const plant::MaterialTable& materials;
  const StepReport& report;
  const ContactReport& contacts;
  Motion before, free, after;  // at the poses before the step; free: without contact
  double impulse = 0;          // the largest of a contact [N s]
  double speed = 0;            // the largest of a contact in free motion [m/s]

  double time_step() const { return scene->opt.timestep; }
  double mass(int i) const { return scene->body_mass[i + 1]; }
  double inertia(int i) const { return scene->body_inertia[3 * i + 3]; }
  double calc_energy(const Motion& motion) const;

  /// The number of the body on a side of a contact, -1 for the world.
  int body(int c, int side) const { return contacts.bodies[2 * c + side] - 1; }
  Vector normal(int c) const { return at(contacts.normal, c); }
  Vector friction(int c) const {
    return at(contacts.impulse, c) - contacts.normal_impulse[c] * normal(c);
  }
  bool is_acting(int c) const { return at(contacts.impulse, c).norm() > 0; }
  double mu(int c) const;
  double nu(int c) const;
  /// Returns the velocity of B relative to A.
  Vector calc_velocity(const Motion& motion, int c) const;
  Vector calc_slip(const Motion& motion, int c) const;
  Vector point(int c, int side) const;  // on the body of a side
};

Vector ClusterStep::point(int c, int side) const {
  return at(contacts.point, c) + (side == 0 ? -1 : 1) * at(contacts.half_gap, c);
}

double ClusterStep::calc_energy(const Motion& motion) const {
  double sum = 0;
  for (int i = 0; i < static_cast<int>(motion.v.size()); ++i)
    sum += 0.5 * mass(i) * motion.v[i].squaredNorm() + 0.5 * inertia(i) * motion.w[i].squaredNorm();
  return sum;
}

double ClusterStep::mu(int c) const {
  return std::max(scene->geom_friction[3 * contacts.geoms[2 * c]],
                  scene->geom_friction[3 * contacts.geoms[2 * c + 1]]);
}

double ClusterStep::nu(int c) const {
  const double A = materials.geoms[contacts.geoms[2 * c]].law.viscous_friction;
  const double B = materials.geoms[contacts.geoms[2 * c + 1]].law.viscous_friction;
  return 2 * A * B / (A + B);
}

Vector ClusterStep::calc_velocity(const Motion& motion, int c) const {
  Vector v = Vector::Zero();
  for (const int side : {0, 1}) {
    const int i = body(c, side);
    if (i < 0) continue;
    const Vector arm = point(c, side) - motion.p[i];
    v += (side == 0 ? -1 : 1) * (motion.v[i] + motion.w[i].cross(arm));
  }
  return v;
}

Vector ClusterStep::calc_slip(const Motion& motion, int c) const {
  const Vector v = calc_velocity(motion, c);
  return v - normal(c).dot(v) * normal(c);
}

/// Calls check(step) for every step of seeded clusters.
void for_each_step(const StepOptions& step_options,
                   const std::function<void(const ClusterStep&)>& check) {
  // Polygons take dense matrices.
  const bool is_dense = contact::traits(step_options.contact_model).options.friction_directions;
  const int num_seeds = is_dense ? 4 : 10, num_steps = 8;
  RandomSceneOptions options;
  options.num_bodies = is_dense ? 6 : 12;
  options.isotropic = true;
  options.mass_ratio = 100;
  for (int seed = 0; seed < num_seeds; ++seed) {
    Scene scene(support::make_random_scene(seed, options));
    set_velocities(&scene, seed, 0.3, options);
    plant::MaterialTable materials = plant::make_default_materials(scene.model);
    for (std::size_t i = 0; i < materials.geoms.size(); ++i)
      materials.geoms[i].law.viscous_friction = 1 + 7.0 * static_cast<double>(i % 4);
    // With these gaps MuJoCo also lists speculative contacts, with their frames.
    std::fill_n(scene.model->geom_gap, scene->ngeom, 0.05);
    Stepper stepper(scene.model, step_options, materials);
    for (int step = 0; step < num_steps; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
      const Motion before = read_motion(scene, options.num_bodies);
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      ClusterStep now{.scene = scene,
                      .materials = materials,
                      .report = report,
                      .contacts = report.contacts,
                      .before = before,
                      .free = before,
                      .after = read_motion_at(before, scene)};
      for (Vector& v : now.free.v) v.z() -= options.gravity * options.time_step;
      for (int c = 0; c < report.contacts.size(); ++c) {
        now.impulse = std::max(now.impulse, at(report.contacts.impulse, c).norm());
        now.speed = std::max(now.speed, now.calc_velocity(now.free, c).norm());
      }
      check(now);
    }
  }
}

/// Bodies that contacts join, and the contacts among them.
struct Group {
  std::vector<int> bodies, contacts;
};

std::vector<Group> find_groups(const ClusterStep& step) {
  std::vector<int> group_of(step.before.p.size());
  std::iota(group_of.begin(), group_of.end(), 0);
  for (int c = 0; c < step.contacts.size(); ++c) {
    if (step.body(c, 0) < 0 || step.body(c, 1) < 0) continue;
    const int from = group_of[step.body(c, 0)], to = group_of[step.body(c, 1)];
    std::replace(group_of.begin(), group_of.end(), from, to);
  }
  std::vector<Group> groups(group_of.size());
  for (std::size_t i = 0; i < group_of.size(); ++i)
    groups[group_of[i]].bodies.push_back(static_cast<int>(i));
  for (int c = 0; c < step.contacts.size(); ++c)
    groups[group_of[std::max(step.body(c, 0), step.body(c, 1))]].contacts.push_back(c);
  return groups;
}

/// Adds the row of a direction at a contact, in units in which inertia is one.
void add_row(const ClusterStep& step, const Group& group, int c, const Vector& direction,
             Eigen::MatrixXd* rows) {
  rows->conservativeResize(rows->rows() + 1, 6 * group.bodies.size());
  auto row = rows->row(rows->rows() - 1);
  row.setZero();
  for (std::size_t k = 0; k < group.bodies.size(); ++k) {
    const int i = group.bodies[k];
    if (step.body(c, 0) != i && step.body(c, 1) != i) continue;
    const double sign = step.body(c, 0) == i ? -1 : 1;
    const Vector arm = step.point(c, sign < 0 ? 0 : 1) - step.before.p[i];
    row.segment<3>(6 * k) = sign / std::sqrt(step.mass(i)) * direction;
    row.segment<3>(6 * k + 3) = sign / std::sqrt(step.inertia(i)) * arm.cross(direction);
  }
}

int calc_rank(const Eigen::MatrixXd& rows) {
  if (rows.size() == 0) return 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(rows.transpose());
  qr.setThreshold(1e-6);
  return static_cast<int>(qr.rank());
}

/// The tangents that `no_slip` holds, of all contacts that act.
Eigen::MatrixXd make_tangents(const ClusterStep& step, const Group& group) {
  Eigen::MatrixXd rows(0, 6 * group.bodies.size());
  for (const int c : group.contacts) {
    if (!step.is_acting(c)) continue;
    const Vector t = step.normal(c).unitOrthogonal();
    add_row(step, group, c, t, &rows);
    add_row(step, group, c, step.normal(c).cross(t), &rows);
  }
  return rows;
}

/// True if no velocity that keeps every contact from slipping moves a contact along its normal.
bool is_locked(const ClusterStep& step, int c) {
  for (const Group& group : find_groups(step)) {
    if (std::find(group.contacts.begin(), group.contacts.end(), c) == group.contacts.end())
      continue;
    Eigen::MatrixXd rows = make_tangents(step, group);
    const int rank = calc_rank(rows);
    add_row(step, group, c, step.normal(c), &rows);
    return calc_rank(rows) == rank;
  }
  return false;
}

class RigidInvariant : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, RigidInvariant, testing::ValuesIn(rigid_models()), model_name);

/// True if the corrections of an island were skipped because they conflict.
bool has_conflict(const StepReport& report) {
  return std::any_of(report.islands.begin(), report.islands.end(),
                     [](const contact::IslandStatistics& island) { return island.has_conflict; });
}

TEST_P(RigidInvariant, PushingContactsDoNotOpenAndNoContactCloses) {
  const contact::ContactModelTraits& model = contact::traits(GetParam());
  const bool has_gaps = model.gaps == contact::GapPolicy::kSpeculative;
  int num_active = 0, num_idle = 0, num_corrected = 0;
  for_each_step(make_options(GetParam()), [&](const ClusterStep& step) {
    for (int c = 0; c < step.contacts.size(); ++c) {
      const double impulse = step.contacts.normal_impulse[c], gap = step.contacts.distance[c];
      const double v_n = step.normal(c).dot(step.calc_velocity(step.after, c));
      EXPECT_GE(impulse, 0);
      EXPECT_NEAR(v_n, step.contacts.normal_velocity[c], kTolerance * step.speed);
      if (!has_gaps && gap > kTouchDistance) {
        EXPECT_FALSE(step.is_acting(c));
        continue;
      }
      // A gap may close within the step; a tenth of an overlap opens, at most by 0.1 m/s. All
      // corrections of an island may be slowed down together, at most to a tenth.
      const double rate = gap / step.time_step();
      const double whole = std::max(0.1 * rate, -0.1);
      const double slowed = std::clamp(-v_n, whole, 0.1 * whole);
      double w = v_n + (gap <= 0 ? slowed : has_gaps ? rate : 0);
      if (gap <= 0 && w < -kTolerance * step.speed) {
        const bool may_stay = has_conflict(step.report) ||
                              (model.tangents == TangentPolicy::kBilateral && is_locked(step, c));
        EXPECT_TRUE(may_stay) << "contact " << c << " was not corrected";
        w = v_n;
      } else {
        num_corrected += gap <= 0;
      }
      EXPECT_GE(w, -kTolerance * step.speed) << "contact " << c << " closes";
      ++(impulse > 0 ? num_active : num_idle);
      // The solution of least energy may have impulses at contacts that open.
      if (model.tangents == TangentPolicy::kLeastEnergy) continue;
      EXPECT_LE(impulse * std::abs(w), kTolerance * step.impulse * step.speed) << "contact " << c;
    }
  });
  EXPECT_GT(num_active, 150);
  EXPECT_GT(num_idle, 150);
  EXPECT_GT(num_corrected, 400);
}

TEST_P(RigidInvariant, ImpulsesDissipateAtLeastTheEnergyOfTheVelocityChange) {
  // No contact's impulse does positive work on the velocity after the step, so v . A (v* - v) >= 0.
  // Under least energy the only known bound is the energy without friction.
  const bool is_each_idle = contact::traits(GetParam()).tangents != TangentPolicy::kLeastEnergy;
  StepOptions options = make_options(GetParam());
  options.parameters.gap_correction = 0;
  double most = 0;
  for_each_step(options, [&](const ClusterStep& step) {
    Motion change = step.after;
    for (std::size_t i = 0; i < change.v.size(); ++i) {
      change.v[i] -= step.free.v[i];
      change.w[i] -= step.free.w[i];
    }
    const double start = step.calc_energy(step.free), end = step.calc_energy(step.after);
    const double needed = is_each_idle ? step.calc_energy(change) : 0;
    EXPECT_LE(end + needed, start * (1 + kTolerance));
    most = std::max(most, 1 - end / start);
  });
  EXPECT_GT(most, 0.3);
}

/// Two hinged bodies lie on the floor, and the hinge is 0.007 rad beyond its limit, which is
/// corrected at 0.1 rad/s. Sticking contacts whose heights differ by a micrometer almost prevent
/// this rotation.
TEST_P(RigidInvariant, CorrectionsDoNotMakeBodiesFast) {
  for (int seed = 0; seed < 10; ++seed) {
    RandomSceneOptions options;
    options.num_bodies = options.num_hinged = 1;
    Scene scene(support::make_random_scene(seed, options));
    Stepper compliant(scene.model, StepOptions());
    run(&compliant, &scene, 500);
    Stepper stepper(scene.model, make_options(GetParam()));
    for (int step = 0; step < 5; ++step) {
      run(&stepper, &scene);
      double fastest = 0;
      for (int i = 0; i < scene->nv; ++i)
        fastest = std::max(fastest, std::abs(scene.data->qvel[i]));
      ASSERT_LE(fastest, 10) << "seed " << seed << " step " << step;
    }
  }
}

TEST(NoSlipInvariant, OverlapsThatTangentsLockGiveAWarning) {
  for_each_step(make_options(ContactModel::no_slip), [&](const ClusterStep& step) {
    if (step.report.num_warnings > 0) return;
    for (int c = 0; c < step.contacts.size(); ++c) {
      if (step.contacts.distance[c] > -1e-3) continue;
      const double v_n = step.normal(c).dot(step.calc_velocity(step.after, c));
      EXPECT_GT(v_n, 0.01) << "contact " << c << " stays at " << step.contacts.distance[c] << " m";
    }
  });
}

TEST(NoSlipInvariant, ContactsWithAnImpulseDoNotSlip) {
  int num_acting = 0;
  for_each_step(make_options(ContactModel::no_slip), [&](const ClusterStep& step) {
    for (int c = 0; c < step.contacts.size(); ++c) {
      if (!step.is_acting(c)) continue;
      ++num_acting;
      EXPECT_LE(step.calc_slip(step.after, c).norm(), kTolerance * step.speed);
    }
  });
  EXPECT_GT(num_acting, 1000);
}

// Theorem 1 of [drumwright2015]. For `viscous` its bound is six contacts per body, more than these
// clusters have; Rigid.TakesTenThousandContactsOfOneBody tests it.
TEST(NoSlipInvariant, NoMoreContactsPushThanTheoremOneSays) {
  int num_others = 0;
  for_each_step(make_options(ContactModel::no_slip), [&](const ClusterStep& step) {
    for (const Group& group : find_groups(step)) {
      const std::ptrdiff_t rank = calc_rank(make_tangents(step, group));
      const std::ptrdiff_t at_most = 6 * std::ssize(group.bodies) - rank;
      const auto num_active =
          std::count_if(group.contacts.begin(), group.contacts.end(),
                        [&](int c) { return step.contacts.normal_impulse[c] > 0; });
      EXPECT_LE(num_active, at_most);
      num_others += std::ssize(group.contacts) > at_most;
    }
  });
  EXPECT_GT(num_others, 20);
}

TEST(ViscousInvariant, FrictionIsProportionalToSlip) {
  int num_held = 0, num_open = 0;
  for_each_step(make_options(ContactModel::viscous), [&](const ClusterStep& step) {
    for (int c = 0; c < step.contacts.size(); ++c) {
      const bool is_held =
          step.contacts.normal_impulse[c] > 0 || step.contacts.distance[c] <= kTouchDistance;
      const double film = is_held ? step.time_step() * step.nu(c) : 0;
      const Vector law = -film * step.calc_slip(step.after, c);
      EXPECT_LE((step.friction(c) - law).norm(), kTolerance * step.impulse);
      ++(is_held ? num_held : num_open);
    }
  });
  EXPECT_GT(num_held, 2000);
  EXPECT_GT(num_open, 10);
}

/// MuJoCo's tangents of a contact, from which polygons count their angles.
struct Tangents {
  Vector t1, t2;
  Vector at_angle(double angle) const { return std::cos(angle) * t1 + std::sin(angle) * t2; }
};

Tangents find_tangents(const ClusterStep& step, int c) {
  const std::vector<int>& geoms = step.contacts.geoms;
  for (int i = 0; i < step.scene.data->ncon; ++i) {
    const mjContact& con = step.scene.data->contact[i];
    if (con.geom[0] == geoms[2 * c] && con.geom[1] == geoms[2 * c + 1] &&
        con.dist == step.contacts.distance[c])
      return {Vector(con.frame + 3), Vector(con.frame + 6)};
  }
  ADD_FAILURE() << "contact " << c << " is not among MuJoCo's";
  return {Vector::Zero(), Vector::Zero()};
}

class PolygonInvariant : public RigidInvariant {};
INSTANTIATE_TEST_SUITE_P(Models, PolygonInvariant,
                         testing::ValuesIn(support::without(
                             ContactModel::drumwright_shell,  // whose friction is of a shell
                             support::list_models([](const contact::ContactModelTraits& m) {
                               return m.options.friction_directions;
                             }))),
                         model_name);

TEST_P(PolygonInvariant, FrictionDissipatesTheMostThatItsPolygonAllows) {
  int num_slipping = 0, num_sticking = 0;
  for (const int k : {4, 6}) {
    StepOptions options = make_options(GetParam());
    options.parameters.friction_directions = k;
    for_each_step(options, [&](const ClusterStep& step) {
      for (int c = 0; c < step.contacts.size(); ++c) {
        const Tangents tangents = find_tangents(step, c);
        const Vector friction = step.friction(c), slip = step.calc_slip(step.after, c);
        const double bound = step.mu(c) * step.contacts.normal_impulse[c];
        double most = 0;  // of the polygon's corners against the slip
        for (int m = 0; m < k; ++m) {
          most = std::max(most, -slip.dot(tangents.at_angle(2 * std::numbers::pi * m / k)));
          // Edges lie between corners.
          const Vector edge = tangents.at_angle(2 * std::numbers::pi * (m + 0.5) / k);
          EXPECT_LE(friction.dot(edge),
                    bound * std::cos(std::numbers::pi / k) + kTolerance * step.impulse);
        }
        EXPECT_NEAR(friction.dot(slip), -bound * most, kTolerance * step.impulse * step.speed);
        if (bound > 0) ++(most > 1e-6 * step.speed ? num_slipping : num_sticking);
      }
    });
  }
  EXPECT_GT(num_slipping, 200);
  EXPECT_GT(num_sticking, 100);
}

TEST(DrumwrightShellInvariant, FrictionIsWithinItsHalfPlanes) {
  int num_bounded = 0, num_within = 0;
  for (const int k : {4, 6}) {
    StepOptions options = make_options(ContactModel::drumwright_shell);
    options.parameters.friction_directions = k;
    for_each_step(options, [&](const ClusterStep& step) {
      for (int c = 0; c < step.contacts.size(); ++c) {
        const Tangents tangents = find_tangents(step, c);
        const Vector friction = step.friction(c);
        const double bound =
            step.mu(c) * step.contacts.normal_impulse[c] +
            step.scene->opt.timestep * step.nu(c) * step.calc_slip(step.before, c).norm();
        double most = 0;
        for (int m = 0; m < k / 2; ++m) {
          const double theta = std::numbers::pi * m / (k - 2);
          most = std::max(most, std::cos(theta) * std::abs(friction.dot(tangents.t1)) +
                                    std::sin(theta) * std::abs(friction.dot(tangents.t2)));
        }
        EXPECT_LE(most, bound + kTolerance * step.impulse);
        if (step.is_acting(c)) ++(most > 0.99 * bound ? num_bounded : num_within);
      }
    });
  }
  EXPECT_GT(num_bounded, 100);
  EXPECT_GT(num_within, 100);
}

}  // namespace
}  // namespace stiction::sim::rigid_invariants_test
