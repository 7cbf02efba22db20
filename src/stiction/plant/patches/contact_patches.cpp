#include "stiction/plant/patches/contact_patches.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/plant/collision/geom_pair.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/patches/patch_sum.hpp"
#include "stiction/plant/rows/contact_rows.hpp"

namespace stiction::plant {
namespace {

using contact::Contact;
using math::Vec3;

std::vector<GeomBody> make_bodies(const mjModel* m, const MaterialTable& materials) {
  std::vector<GeomBody> bodies;
  bodies.reserve(m->ngeom);
  for (int geom = 0; geom < m->ngeom; ++geom) bodies.push_back(make_geom_body(m, materials, geom));
  return bodies;
}

std::vector<bool> have_bodies(const std::vector<GeomBody>& bodies) {
  std::vector<bool> out;
  for (const GeomBody& body : bodies) out.push_back(body.body.has_value());
  return out;
}

}  // namespace

ContactPatches::ContactPatches(const mjModel* m, const MaterialTable& materials,
                               const contact::SurfaceOptions& options)
    : options_(options),
      bodies_(make_bodies(m, materials)),
      values_(m, have_bodies(bodies_)),
      pairs_(find_pairs(m)),
      touches_only_in_patches_(m->ngeom, 0) {
  find_patch_geoms(m);
}

void ContactPatches::follow_model(const mjModel* m) {
  values_.check_shapes(m);
  if (!values_.has_changed_filters(m)) return;
  std::vector<PatchPair> pairs = find_pairs(m);
  for (PatchPair& pair : pairs) {
    const auto known = std::find_if(pairs_.begin(), pairs_.end(), [&](const PatchPair& other) {
      return other.geoms == pair.geoms;
    });
    if (known == pairs_.end()) continue;
    std::swap(known->mujoco_pair, pair.mujoco_pair);
    std::swap(known->contact, pair.contact);
    std::swap(*known, pair);
  }
  pairs_ = std::move(pairs);
  find_patch_geoms(m);
  values_.copy_filters(m);
}

std::vector<PatchPair> ContactPatches::find_pairs(const mjModel* m) const {
  std::vector<PatchPair> pairs;
  std::optional<GeomPairProbe> probe;
  for (int A = 0; A < m->ngeom; ++A) {
    for (int B = A + 1; B < m->ngeom; ++B) {
      const auto &body_A = bodies_[A].body, &body_B = bodies_[B].body;
      if (!body_A || !body_B || !geometry::has_contact_surface(*body_A, *body_B)) continue;
      if (!probe) probe.emplace(m);
      const GeomPair found = probe->probe(A, B);
      if (!found.collides) continue;
      PatchPair pair;
      pair.geoms = {A, B};
      pair.mujoco_pair = found.pair;
      pair.contact = found.contact;
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

/// Finds the geoms of touches_only_in_patches.
void ContactPatches::find_patch_geoms(const mjModel* m) {
  // MuJoCo need not collide a geom if all geoms that match it by contype and conaffinity touch it
  // in patches.
  const auto is_matched = [&](int A, int B) {
    return m->body_weldid[m->geom_bodyid[A]] != m->body_weldid[m->geom_bodyid[B]] &&
           ((m->geom_contype[A] & m->geom_conaffinity[B]) != 0 ||
            (m->geom_contype[B] & m->geom_conaffinity[A]) != 0);
  };
  for (int A = 0; A < m->ngeom; ++A) {
    bool only_patches = bodies_[A].body.has_value();
    for (int B = 0; B < m->ngeom && only_patches; ++B)
      only_patches = A == B || !is_matched(A, B) || is_pair(A, B);
    touches_only_in_patches_[A] = only_patches;
  }
}

bool ContactPatches::is_pair(int geom1, int geom2) const {
  if (geom1 < 0 || geom2 < 0 || !bodies_[geom1].body || !bodies_[geom2].body) return false;
  const std::array<int, 2> geoms = {std::min(geom1, geom2), std::max(geom1, geom2)};
  const auto at = std::lower_bound(
      pairs_.begin(), pairs_.end(), geoms,
      [](const PatchPair& pair, const std::array<int, 2>& key) { return pair.geoms < key; });
  return at != pairs_.end() && at->geoms == geoms;
}

Gap ContactPatches::calc_gap(const mjData* d, int geom1, int geom2) const {
  const double r1 = bodies_[geom1].radius, r2 = bodies_[geom2].radius;
  const math::RigidTransform X1 = find_pose(d, geom1), X2 = find_pose(d, geom2);
  const auto calc_above = [](const math::RigidTransform& plane, const Vec3& x, double r) {
    const Vec3 up{plane.R.row[0].z, plane.R.row[1].z, plane.R.row[2].z};
    const double height = dot(up, x - plane.p);
    return Gap{height - r, up, height < -r};
  };
  if (std::isinf(r1)) return calc_above(X1, X2.p, r2);
  if (std::isinf(r2)) {
    const Gap above = calc_above(X2, X1.p, r1);
    return {above.distance, -above.direction, above.is_behind};
  }
  const Vec3 between = X2.p - X1.p;
  const double distance = norm(between);
  return {distance - r1 - r2, distance > 0 ? between * (1 / distance) : Vec3{0, 0, 1}, false};
}

void ContactPatches::calc_surfaces(const mjModel* m, const mjData* d) {
  const bool goes_on = d->time == next_time_ && (!memory_of_ || memory_of_ == d);
  for (PatchPair& pair : pairs_) {
    base::check_limits();
    const auto [A, B] = pair.geoms;
    const bool is_known = pair.source >= 0 || pair.slept;
    if (!is_known || !goes_on) {  // no step before
      pair.normal = {};
      pair.continuation.forget();
      pair.peak.forget();
      pair.is_continued = false;
    }
    pair.source = pair.first_contact = -1;
    pair.surface.clear();
    pair.points.clear();
    pair.slept = pair.sleeps && is_known;
    pair.is_deep = pair.lacks_memory = pair.turns = false;
    if (pair.sleeps) continue;
    pair.gap = calc_gap(d, A, B);
    pair.is_deep = pair.gap.is_behind;
    if (pair.gap.distance >= 0) continue;
    if (mjcb_contactfilter && mjcb_contactfilter(m, const_cast<mjData*>(d), A, B)) continue;
    calc_surface(d, &pair);
    geometry::calc_quadrature_points(pair.surface, options_.quadrature, &pair.points);
  }
  next_time_ = d->time + m->opt.timestep;
  memory_of_ = d;
}

PatchContinuation::Pair ContactPatches::find_poses(const mjData* d, const PatchPair& pair) const {
  const auto [A, B] = pair.geoms;
  return {.A = *bodies_[A].body,
          .X_WA = find_pose(d, A),
          .B = *bodies_[B].body,
          .X_WB = find_pose(d, B),
          .is_A_smaller = bodies_[A].radius <= bodies_[B].radius};
}

/// True if the fields of a pair overlap, or if one geom is behind a plane.
bool ContactPatches::touch(const mjModel* m, const mjData* d, PatchPair* pair) const {
  if (m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return false;
  const Gap gap = calc_gap(d, pair->geoms[0], pair->geoms[1]);
  if (gap.distance >= 0) return false;
  if (gap.is_behind) return true;
  calc_fields(find_poses(d, *pair), &pair->query, &pair->other_surface);
  return !pair->other_surface.faces.empty();
}

/// Computes the surface of the fields, or of their continuation.
void ContactPatches::calc_surface(const mjData* d, PatchPair* pair) {
  const auto [A, B] = pair->geoms;
  const PatchContinuation::Pair bodies = find_poses(d, *pair);
  if (!pair->gap.is_behind) {
    calc_fields(bodies, &pair->query, &pair->surface);
    pair->is_deep = geometry::passes_medial_axis(pair->surface);
  }
  if (options_.deep_patches != contact::DeepPatches::extend) return;
  continue_patch(bodies, pair);
  const double radius = std::min(bodies_[A].radius, bodies_[B].radius);
  const PatchPeak::Loss loss =
      pair->peak.find_loss(PatchContinuation::sum_force(pair->surface), bodies, radius);
  pair->turns = loss == PatchPeak::Loss::kTurn;
  if (loss != PatchPeak::Loss::kNone) pair->is_deep = true;
}

void ContactPatches::calc_fields(const PatchContinuation::Pair& bodies,
                                 geometry::SurfaceQuery* query,
                                 geometry::ContactSurface* surface) const {
  query->calc(bodies.A, bodies.X_WA, bodies.B, bodies.X_WB,
              {options_.tessellation, options_.tilted_faces}, surface);
}

void ContactPatches::find_deep(const mjData* d) {
  if (options_.deep_patches == contact::DeepPatches::extend) return;
  for (PatchPair& pair : pairs_) {
    if (pair.is_deep || pair.surface.faces.empty()) continue;
    const PatchContinuation::Pair bodies = find_poses(d, pair);
    const Vec3 force = PatchContinuation::sum_force(pair.surface);
    PatchContinuation here;
    here.remember(force, bodies);
    pair.is_deep = starts_deep(here, norm(force), bodies, &pair);
  }
}

/// Replaces a surface whose force has decreased with the depth by the continuation of the last one
/// before, or remembers the surface.
void ContactPatches::continue_patch(const PatchContinuation::Pair& bodies, PatchPair* pair) const {
  PatchContinuation& continuation = pair->continuation;
  const Vec3 force = PatchContinuation::sum_force(pair->surface);
  if (continuation.is_empty()) {
    continuation.remember(force, bodies);
    pair->lacks_memory = pair->is_deep || starts_deep(continuation, norm(force), bodies, pair);
    pair->is_deep = pair->lacks_memory;
    return;
  }
  continuation.move(bodies);
  const double field = dot(force, continuation.normal());
  const bool was_continued = std::exchange(pair->is_continued, false);
  const bool is_deep =
      was_continued || (continuation.has_lost(field) && falls_with_depth(field, bodies, pair));
  if (!is_deep || continuation.depth() <= 0 || !extend_last(field, bodies, pair))
    continuation.remember(force, bodies);
}

/// Returns true if the fields had clearly more force at the depth of the peak, at the present place
/// and orientation. Otherwise the bodies have lost their force because they slid or turned.
bool ContactPatches::falls_with_depth(double force, const PatchContinuation::Pair& bodies,
                                      PatchPair* pair) const {
  PatchContinuation& continuation = pair->continuation;
  calc_fields(continuation.retreat(bodies, continuation.depth_since_peak()), &pair->query,
              &pair->other_surface);
  const Vec3 at_peak = PatchContinuation::sum_force(pair->other_surface);
  continuation.set_peak(std::max(force, dot(at_peak, continuation.normal())));
  return continuation.has_lost(force);
}

/// Returns true if the fields of two bodies without a step before have more force at a slightly
/// smaller depth. Only a high pressure leads to a second surface.
/// @param continuation remembers the present surface
bool ContactPatches::starts_deep(const PatchContinuation& continuation, double force,
                                 const PatchContinuation::Pair& bodies, PatchPair* pair) const {
  constexpr double kShare = 0.25, kRetreat = 0.02, kLoss = 1e-3;
  if (!(force > 0) || pair->surface.pressure_share < kShare) return false;
  const auto [A, B] = pair->geoms;
  const double depth =
      std::min({bodies_[A].depth, bodies_[B].depth, bodies_[A].radius, bodies_[B].radius});
  calc_fields(continuation.retreat(bodies, kRetreat * depth), &pair->query, &pair->other_surface);
  const Vec3 before = PatchContinuation::sum_force(pair->other_surface);
  return dot(before, continuation.normal()) > (1 + kLoss) * force;
}

/// Replaces the surface by the continuation of the remembered one. Returns false if the fields push
/// as much, or if the bodies have left each other sideways.
bool ContactPatches::extend_last(double field, const PatchContinuation::Pair& bodies,
                                 PatchPair* pair) const {
  PatchContinuation& continuation = pair->continuation;
  const auto [A, B] = pair->geoms;
  const double depth = std::min(bodies_[A].depth, bodies_[B].depth);
  // Faces at the side of plates tilt their force by 0.01 rad, so that a motion aside counts as a
  // retreat. Fields that pull where they pushed show that it has.
  constexpr double kShare = 0.02;
  constexpr int kMaxTries = 10;
  double lost = 0;
  Vec3 start;
  for (int i = 0;; ++i) {
    calc_fields(continuation.retreat(bodies, continuation.depth() + lost), &pair->query,
                &pair->other_surface);
    start = PatchContinuation::sum_force(pair->other_surface);
    const double along = dot(start, continuation.normal());
    if (along > 0) break;
    if (along == 0 || i == kMaxTries) return false;
    lost += kShare * depth;
  }
  continuation.deepen(lost);
  continuation.extend(bodies, &pair->other_surface);
  const Vec3 force = PatchContinuation::sum_force(pair->other_surface);
  if (field >= dot(force, continuation.normal())) return false;
  continuation.follow(start, bodies);
  std::swap(pair->surface, pair->other_surface);
  pair->is_deep = pair->is_continued = true;
  return true;
}

void ContactPatches::write_memory(base::WordWriter* words) const {
  if (empty()) return;
  words->put(next_time_);
  for (const PatchPair& pair : pairs_) {
    words->put(pair.source >= 0 || pair.slept ? 1.0 : 0.0);
    words->put(pair.is_continued ? 1.0 : 0.0);
    for (const double x : {pair.normal.x, pair.normal.y, pair.normal.z}) words->put(x);
    pair.continuation.write_memory(words);
    pair.peak.write_memory(words);
  }
}

void ContactPatches::read_memory(base::WordReader* words) {
  if (empty()) return;
  next_time_ = words->take_double();
  memory_of_ = nullptr;
  for (PatchPair& pair : pairs_) {
    pair.source = words->take_double() != 0 ? 0 : -1;
    pair.slept = false;
    pair.is_continued = words->take_double() != 0;
    for (double* x : {&pair.normal.x, &pair.normal.y, &pair.normal.z}) *x = words->take_double();
    pair.continuation.read_memory(words);
    pair.peak.read_memory(words);
  }
}

void ContactPatches::remove_points(mjData* d) const {
  int num_kept = 0;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_pair(con.geom[0], con.geom[1])) continue;
    if (num_kept != i) d->contact[num_kept] = con;
    ++num_kept;
  }
  d->ncon = num_kept;
}

void ContactPatches::add_to_data(const mjModel* m, mjData* d) {
  remove_points(d);
  for (PatchPair& pair : pairs_) {
    if (pair.points.empty()) continue;
    const PatchSum sum = sum_faces(pair.surface);
    if (dot(pair.normal, sum.normal) < 0) pair.is_deep = true;
    pair.normal = sum.normal;
    const mjContact con = make_mujoco_contact(m, pair, sum);
    if (mj_addContact(m, d, &con) != 0) return;
    pair.source = d->ncon - 1;
  }
}

/// Returns the largest speed at which points of the pair approach each other [m/s]. If there is a
/// patch, these are its points along their normals. Otherwise it is a bound for all points of the
/// two bounding spheres along the line between their centers.
double ContactPatches::calc_closing_speed(const mjModel* m, const mjData* d,
                                          const MocapMotion& mocap, const PatchPair& pair) const {
  Vec3 w[2], v[2], p[2];
  double turning = 0;  // speed of the surfaces by rotation about the geoms' origins
  for (int side = 0; side < 2; ++side) {
    const int geom = pair.geoms[side];
    mjtNum V[6];
    mj_objectVelocity(m, d, mjOBJ_GEOM, geom, V, 0);
    w[side] = {V[0], V[1], V[2]};
    v[side] = {V[3], V[4], V[5]};
    p[side] = find_pose(d, geom).p;
    const auto moved = mocap.calc_at_point(m, d, m->geom_bodyid[geom], &p[side].x);
    w[side] += {moved[0], moved[1], moved[2]};
    v[side] += {moved[3], moved[4], moved[5]};
    if (std::isfinite(bodies_[geom].radius)) turning += norm(w[side]) * bodies_[geom].radius;
  }
  if (pair.points.empty()) {
    const bool are_spheres = std::isfinite(bodies_[pair.geoms[0]].radius) &&
                             std::isfinite(bodies_[pair.geoms[1]].radius);
    // If the spheres overlap, the bodies may touch in any direction, because the center of a large
    // plate may be far from the contact.
    if (are_spheres && pair.gap.distance < 0) return turning + norm(v[1] - v[0]);
    return turning - dot(v[1] - v[0], pair.gap.direction);
  }
  double speed = 0;
  for (const geometry::QuadraturePoint& point : pair.points) {
    const Vec3& x = point.position;
    const Vec3 v_AB = v[1] + cross(w[1], x - p[1]) - v[0] - cross(w[0], x - p[0]);
    speed = std::max(speed, -dot(v_AB, pair.surface.faces[point.face].normal));
  }
  return speed;
}

void ContactPatches::find_thin(const mjModel* m, const mjData* d, const MocapMotion& mocap) {
  for (PatchPair& pair : pairs_) {
    pair.is_thin = false;
    if (pair.sleeps) continue;
    const auto [A, B] = pair.geoms;
    const double depth = std::min(bodies_[A].depth, bodies_[B].depth);
    const double approach = calc_closing_speed(m, d, mocap, pair) * m->opt.timestep;
    pair.is_thin = approach > depth && pair.gap.distance < approach && !pair.gap.is_behind;
  }
}

void ContactPatches::add_contacts(const mjModel* m, const mjData* d, const Model& plant,
                                  const MaterialTable& materials, const MocapMotion& mocap,
                                  contact::ContactProblem* problem) {
  for (PatchPair& pair : pairs_) {
    pair.first_contact = -1;
    if (pair.source < 0) continue;
    const auto [A, B] = pair.geoms;
    const std::array<int, 2> bodies = {m->geom_bodyid[A], m->geom_bodyid[B]};
    if (!add_body_pair(m, d, plant, bodies, d->contact[pair.source].pos, {}, problem)) continue;
    Contact properties = make_properties(m, materials, pair, bodies_[A], bodies_[B]);
    properties.source = pair.source;
    pair.first_contact = problem->num_contacts();
    contact::BodyPair& body_pair = problem->pairs.back();
    for (const geometry::QuadraturePoint& point : pair.points) {
      Contact c = contact::make_patch_contact(pair.surface.faces[point.face], point,
                                              body_pair.origin, properties);
      c.face = point.face;
      if (m->flg_surfacevel) add_surface_velocity(m, d, pair, point.position, &c);
      mocap.add_to_bias(m, d, bodies, &point.position.x, {}, &c);
      problem->contacts.push_back(c);
    }
    body_pair.num_contacts = problem->num_contacts() - pair.first_contact;
  }
}

void ContactPatches::renumber(std::span<const int> index) {
  for (PatchPair& pair : pairs_)
    if (pair.source >= 0) pair.source = index[pair.source];
}

std::string explain_points(const mjModel* m, int geom1, const GeomBody& body1, int geom2,
                           const GeomBody& body2) {
  if (!body1.body && !body2.body) return "";
  if (!body1.body) return describe(m, mjOBJ_GEOM, geom1) + " " + body1.reason;
  if (!body2.body) return describe(m, mjOBJ_GEOM, geom2) + " " + body2.reason;
  if (geometry::has_contact_surface(*body1.body, *body2.body)) return "";
  return geometry::is_compliant(*body1.body) || geometry::is_compliant(*body2.body)
             ? "two half spaces have no contact surface"
             : "both are rigid: a contact surface needs a hydroelastic_modulus on one side";
}

}  // namespace stiction::plant
