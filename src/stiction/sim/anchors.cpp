#include "stiction/sim/anchors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/anchor_sharing.hpp"
#include "stiction/sim/penetration_memory.hpp"

namespace stiction::sim {
namespace {

using contact::Anchor;
using contact::Contact;
using contact::ContactProblem;
using math::Vec3;
using plant::SurfaceMotion;

Vec3 axis(const Contact& c, int i) { return {c.R_WC[3 * i], c.R_WC[3 * i + 1], c.R_WC[3 * i + 2]}; }

std::array<int, 2> find_geoms(const mjData* d, const Contact& c) {
  const mjContact& con = d->contact[c.source];
  return {con.geom[0], con.geom[1]};
}

/// Returns the tangential stiffness of a contact that begins [N/m].
double find_stiffness(const Contact& c) {
  if (c.dim == 1) return 0;
  // A stiffness in N/m is that of a point. The faces of a patch have that of their elements.
  const bool is_given = c.face < 0 && std::isfinite(c.law.tangential_stiffness);
  return is_given ? c.law.tangential_stiffness : kTangentialShare * c.law.stiffness;
}

/// Returns the velocity of the moving surface of a contact point [m/s].
Vec3 find_surface_velocity(const mjModel* m, const mjData* d, const Contact& c) {
  if (!m->flg_surfacevel || c.face >= 0) return {};
  const mjtNum* v = d->contact[c.source].surfacevel;
  return axis(c, 0) * v[0] + axis(c, 1) * v[1];
}

/// True if the slip of a face is not the motion of the bodies alone, but also that of a surface.
bool has_moving_face(const mjModel* m, const Contact& c) {
  return m->flg_surfacevel && c.face >= 0 && (c.bias[0] != 0 || c.bias[1] != 0);
}

/// Returns the largest friction coefficient [-]; torsion and rolling count at a radius of one
/// meter.
double find_largest_friction(const Contact& c) {
  return std::max(1e-9, *std::max_element(c.friction.begin(), c.friction.end()));
}

}  // namespace

void Anchors::Step::clear() {
  pairs.clear();
  points.clear();
}

bool Anchors::Step::knows(const std::array<int, 2>& geoms) const {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const Pair& pair) { return pair.geoms == geoms; });
}

void Anchors::Step::copy(const Pair& pair, const Step& from) {
  pairs.push_back(pair);
  pairs.back().first_point = static_cast<int>(points.size());
  const auto first = from.points.begin() + pair.first_point;
  points.insert(points.end(), first, first + pair.num_points);
}

bool Anchors::belong_to(const mjModel* m, const mjData* d) const {
  return end_ != 0 && end_ == hash_state(m, d);
}

void Anchors::Step::reserve(int num_points) {
  pairs.reserve(num_points);
  points.reserve(num_points);
}

void Anchors::start(const mjModel* m, const mjData* d) {
  goes_on_ = belong_to(m, d);
  now_.clear();
  summary_ = {};
  if (!goes_on_) summary_.num_forgotten = static_cast<int>(before_.points.size());
}

void Anchors::finish(const mjModel* m, const mjData* d) {
  end_ = hash_state(m, d);
  std::swap(before_, now_);
  std::ranges::sort(before_.pairs, {},
                    [](const Pair& pair) { return std::tuple(pair.geoms, pair.first_point); });
}

void Anchors::forget() {
  before_.clear();
  end_ = 0;
}

/// Returns the pair of two geoms in the last step, or null. Pairs are sorted by their geoms.
const Anchors::Pair* Anchors::find_before(const std::array<int, 2>& geoms) const {
  if (!goes_on_) return nullptr;
  const auto found = std::ranges::lower_bound(before_.pairs, geoms, {}, &Pair::geoms);
  return found != before_.pairs.end() && found->geoms == geoms ? &*found : nullptr;
}

/// Makes room for the next step, which has as many contacts.
void Anchors::reserve(int num_contacts) {
  for (Step* step : {&before_, &now_, &open_}) step->reserve(num_contacts);
  match_.reserve(num_contacts);
  is_taken_.reserve(num_contacts);
}

void Anchors::write(const mjModel* m, const mjData* d, std::span<const plant::PatchPair> patches,
                    ContactProblem* problem) {
  reserve(problem->num_contacts());
  now_.clear();
  contacts_.clear();
  surface_speed_.clear();
  summary_.num_lost = 0;
  problem->anchors.assign(problem->num_contacts(), Anchor());
  const auto find_patch = [&](int first_contact) {
    const auto found = std::ranges::find(patches, first_contact, &plant::PatchPair::first_contact);
    STICTION_ASSERT(found != patches.end());
    return &*found;
  };
  for (int i = 0; i < problem->num_contacts();) {
    const bool is_face = problem->contacts[i].face >= 0;
    const int source = problem->contacts[i].source;
    const std::array<int, 2> geoms = find_geoms(d, problem->contacts[i]);
    const auto belongs = [&](const Contact& c) {
      return is_face ? c.face >= 0 && c.source == source : c.face < 0 && find_geoms(d, c) == geoms;
    };
    int end = i + 1;
    while (end < problem->num_contacts() && belongs(problem->contacts[end])) ++end;
    add_pair(m, d, i, end - i, is_face ? find_patch(i) : nullptr, *problem);
    const Pair& now = now_.pairs.back();
    if (const Pair* before = find_before(geoms)) find_again(*before, now);
    write_springs(now, problem);
    i = end;
  }
}

/// Adds the contacts of two geoms, without stretches.
void Anchors::add_pair(const mjModel* m, const mjData* d, int first_contact, int count,
                       const plant::PatchPair* patch, const ContactProblem& problem) {
  const std::array<int, 2> geoms = find_geoms(d, problem.contacts[first_contact]);
  now_.pairs.push_back(
      {.geoms = geoms,
       .poses = {plant::find_body_pose(m, d, geoms[0]), plant::find_body_pose(m, d, geoms[1])},
       .first_point = static_cast<int>(now_.points.size()),
       .num_points = count});
  const auto body_pair =
      std::ranges::upper_bound(problem.pairs, first_contact, {}, &contact::BodyPair::first_contact);
  const auto& origin = std::prev(body_pair)->origin;
  if (!patch) candidates_.reserve(static_cast<std::size_t>(count) * count);
  std::uint64_t last = 0;
  for (int i = first_contact; i < first_contact + count; ++i) {
    const Contact& c = problem.contacts[i];
    Point point{
        .position = {origin[0] + c.offset[0], origin[1] + c.offset[1], origin[2] + c.offset[2]},
        .normal = axis(c, 2),
        .stiffness = find_stiffness(c)};
    if (patch) {
      const geometry::SurfaceFace& face = patch->surface.faces[c.face];
      point.area = patch->points[i - first_contact].area;
      point.stiffness = point.area > 0 ? point.stiffness / point.area : 0;
      // Bits for the elements, and for the points of the faces of these elements.
      const auto bits = [](int element) {
        return static_cast<std::uint64_t>(element + 1) & 0x1ffffff;
      };
      const std::uint64_t elements = bits(face.element_A) << 38 | bits(face.element_B) << 13;
      point.feature = elements == (last & ~std::uint64_t{0x1fff}) ? last + 1 : elements;
      last = point.feature;
    }
    now_.points.push_back(point);
    contacts_.push_back(i);
    surface_speed_.push_back(find_surface_velocity(m, d, c));
    now_.points.back().sticks = !has_moving_face(m, c);
  }
}

/// Finds the contacts of a pair of the last step again, and carries their stretches to this one.
void Anchors::find_again(const Pair& before, const Pair& now) {
  const SurfaceMotion motion(before.poses, now.poses);
  match_.assign(before.num_points, -1);
  if (now_.points[now.first_point].feature != 0)
    match_faces(before, now);
  else
    match_points(motion, before, now);
  for (int i = 0; i < before.num_points; ++i)
    if (match_[i] >= 0)
      carry(motion, before_.points[before.first_point + i],
            &now_.points[now.first_point + match_[i]]);
  share_lost(motion, before, now);
}

/// Matches points by their distance on either body: a corner of a box stays on its body, while it
/// slides on the other.
void Anchors::match_points(const SurfaceMotion& motion, const Pair& before, const Pair& now) {
  constexpr double kMargin = 1e-3;  // [m]
  is_taken_.assign(now.num_points, false);
  if (before.num_points == 1 && now.num_points == 1) {
    match_[0] = 0;
    return;
  }
  candidates_.clear();
  for (int b = 0; b < before.num_points; ++b) {
    const Vec3& x = before_.points[before.first_point + b].position;
    const Vec3 x_A = motion.move_point(0, x), x_B = motion.move_point(1, x);
    const double farthest = kMargin + 2 * (norm(x_B - x_A) + motion.calc_rolling(x));
    for (int n = 0; n < now.num_points; ++n) {
      const Vec3& y = now_.points[now.first_point + n].position;
      const double distance = std::min(norm(y - x_A), norm(y - x_B));
      if (distance <= farthest) candidates_.push_back({distance, b, n});
    }
  }
  std::ranges::sort(candidates_, {},
                    [](const Candidate& c) { return std::tuple(c.distance, c.before, c.now); });
  for (const Candidate& c : candidates_) {
    if (match_[c.before] >= 0 || is_taken_[c.now]) continue;
    match_[c.before] = c.now;
    is_taken_[c.now] = true;
  }
}

/// Matches faces by the elements that meet in them, by which both lists are sorted.
void Anchors::match_faces(const Pair& before, const Pair& now) {
  for (int b = 0, n = 0; b < before.num_points && n < now.num_points;) {
    const std::uint64_t old = before_.points[before.first_point + b].feature;
    const std::uint64_t present = now_.points[now.first_point + n].feature;
    if (old == present) match_[b] = n;
    b += old <= present;
    n += present <= old;
  }
}

/// Carries the stretch of a contact from the last step to this one.
void Anchors::carry(const SurfaceMotion& motion, const Point& before, Point* now) const {
  const double spin = motion.calc_spin(now->normal);
  const auto turn = [&](const Vec3& a) {
    return plant::carry_to_plane(a, before.normal, now->normal, spin);
  };
  Vec3 u = turn(before.stretch);
  // Replace the slip of the step by that of the bodies' motion. The slip of a contact that slides
  // does not stretch its spring.
  if (before.sticks)
    u += motion.calc_slip(before.position, before.normal, now->position, now->normal) -
         turn(before.displacement);
  u -= now->normal * dot(now->normal, u);
  // A face that grows must not gain energy. One that changes by little keeps its spring, or small
  // swings of its area would take its stretch away bit by bit.
  constexpr double kKept = 0.05;
  if (std::abs(now->area - before.area) <= kKept * before.area) now->area = before.area;
  const double share = now->area > before.area ? before.area / now->area : 1;
  now->stretch = u * share;
  now->twist = turn(before.twist) * share;
  // The stiffness is that of the first touch. A stiffness that grew with a load at a given stretch
  // would add energy, and one that shrank would lose force.
  now->stiffness = before.stiffness;
}

/// Shares the force of the contacts that were not found again among the others of the pair.
void Anchors::share_lost(const SurfaceMotion& motion, const Pair& before, const Pair& now) {
  AnchorSharing sharing;
  for (int b = 0; b < before.num_points; ++b) {
    const Point& point = before_.points[before.first_point + b];
    if (match_[b] >= 0 || point.stretch == Vec3{}) continue;
    sharing.add_lost(
        0.5 * (motion.move_point(0, point.position) + motion.move_point(1, point.position)),
        point.stretch, point.stiffness * point.area);
    ++summary_.num_lost;
  }
  if (sharing.empty()) return;
  for (int n = now.first_point; n < now.first_point + now.num_points; ++n) {
    const Point& point = now_.points[n];
    sharing.add_contact(point.position, point.normal, point.stretch, point.stiffness * point.area);
  }
  sharing.solve();
  for (int n = now.first_point; n < now.first_point + now.num_points; ++n) {
    Point& point = now_.points[n];
    point.stretch += sharing.calc_added_stretch(point.position, point.normal);
  }
}

/// Writes the springs of a pair's contacts. Together they are damped by the damping ratio.
void Anchors::write_springs(const Pair& pair, ContactProblem* problem) const {
  double total = 0;
  for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p)
    if (problem->contacts[contacts_[p]].phi0 <= 0)
      total += now_.points[p].stiffness * now_.points[p].area;
  for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
    const Point& point = now_.points[p];
    const Contact& c = problem->contacts[contacts_[p]];
    const double k = point.stiffness * point.area, w = problem->delassus[contacts_[p]];
    const Vec3 t1 = axis(c, 0), t2 = axis(c, 1);
    Anchor& anchor = problem->anchors[contacts_[p]];
    anchor.stretch = {dot(t1, point.stretch), dot(t2, point.stretch),
                      dot(point.normal, point.twist), dot(t1, point.twist), dot(t2, point.twist)};
    anchor.stiffness = k;
    if (k > 0 && w > 0)
      anchor.damping = 2 * c.law.tangential_damping * k / std::sqrt(w * std::max(total, k));
  }
}

void Anchors::record(const ContactProblem& problem, const contact::ContactSolution& solution) {
  summary_.largest_stretch = summary_.energy = 0;
  const double dt = problem.time_step;
  std::swap(open_, now_);
  now_.clear();
  for (const Pair& pair : open_.pairs) {
    const auto first = now_.points.size();
    for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
      const int i = contacts_[p];
      if (!(solution.impulses[i][2] > 0)) continue;  // a contact that does not press forgets
      now_.points.push_back(open_.points[p]);
      record_point(problem.contacts[i], problem.anchors[i], solution, i, surface_speed_[p], dt,
                   &now_.points.back());
    }
    if (now_.points.size() == first) continue;
    now_.pairs.push_back(pair);
    now_.pairs.back().first_point = static_cast<int>(first);
    now_.pairs.back().num_points = static_cast<int>(now_.points.size() - first);
  }
}

/// Computes the stretch at the end of the step by return mapping: the spring stretches at the rate
/// (-gamma_t - p) / a.
void Anchors::record_point(const Contact& c, const Anchor& anchor,
                           const contact::ContactSolution& solution, int index,
                           const Vec3& surface_velocity, double dt, Point* point) {
  constexpr int kSlip[5] = {0, 1, 3, 4, 5};
  const auto& gamma = solution.impulses[index];
  const auto& v = solution.contact_velocities[index];
  const double resistance = dt * anchor.stiffness + anchor.damping;  // [N s/m]
  const double largest = find_largest_friction(c);
  double u[5] = {}, energy = 0;
  for (int i = 0; i < 5 && resistance > 0; ++i) {
    const double ratio = c.friction[i] / largest, square = ratio * ratio;
    if (!(square > 0)) continue;
    u[i] = anchor.stretch[i] -
           (gamma[kSlip[i]] / square + dt * anchor.stiffness * anchor.stretch[i]) / resistance;
    energy += 0.5 * anchor.stiffness * square * u[i] * u[i];
  }
  const Vec3 t1 = axis(c, 0), t2 = axis(c, 1);
  point->stretch = t1 * u[0] + t2 * u[1];
  point->twist = point->normal * u[2] + t1 * u[3] + t2 * u[4];
  point->displacement = (t1 * v[0] + t2 * v[1] - surface_velocity) * dt;
  point->sticks = point->sticks && solution.slipping[index] == 0;
  summary_.energy += energy;
  summary_.largest_stretch = std::max(summary_.largest_stretch, norm(point->stretch));
}

// ---- memory -------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kWordsOfPair = 17, kWordsOfPoint = 19;

/// Calls f(number) for all numbers of a point.
void for_each_number(auto& point, auto&& f) {
  for (auto* vector :
       {&point.position, &point.normal, &point.stretch, &point.twist, &point.displacement}) {
    f(vector->x);
    f(vector->y);
    f(vector->z);
  }
  f(point.stiffness);
  f(point.area);
}

void for_each_number_of_poses(auto& pair, auto&& f) {
  for (auto& pose : pair.poses) {
    for (auto& x : pose.position) f(x);
    for (auto& x : pose.quaternion) f(x);
  }
}

}  // namespace

void Anchors::write_memory(std::vector<std::uint64_t>* words) const {
  const auto push = [words](double x) { words->push_back(std::bit_cast<std::uint64_t>(x)); };
  words->push_back(end_);
  words->push_back(before_.pairs.size());
  for (const Pair& pair : before_.pairs) {
    for (const int geom : pair.geoms) words->push_back(geom);
    words->push_back(pair.num_points);
    for_each_number_of_poses(pair, push);
    for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
      const Point& point = before_.points[p];
      for_each_number(point, push);
      words->push_back(point.feature);
      words->push_back(point.sticks);
    }
  }
}

void Anchors::read_memory(const mjModel* m, std::span<const std::uint64_t>* words) {
  const auto check = [](bool is_right) {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  "has wrong numbers for the anchors of contacts; it belongs to another model");
  };
  std::span<const std::uint64_t> rest = *words;
  const auto take = [&] {
    const std::uint64_t word = rest.front();
    rest = rest.subspan(1);
    return word;
  };
  const auto read = [&](double& x) {
    x = std::bit_cast<double>(take());
    check(std::isfinite(x));
  };
  check(rest.size() >= 2);
  before_.clear();
  end_ = take();
  const std::uint64_t num_pairs = take();
  for (std::uint64_t i = 0; i < num_pairs; ++i) {
    check(rest.size() >= kWordsOfPair);
    Pair pair;
    for (int& geom : pair.geoms) {
      check(rest.front() < static_cast<std::uint64_t>(m->ngeom));
      geom = static_cast<int>(take());
    }
    check(rest.front() <= (rest.size() - (kWordsOfPair - 2)) / kWordsOfPoint);
    pair.first_point = static_cast<int>(before_.points.size());
    pair.num_points = static_cast<int>(take());
    for_each_number_of_poses(pair, read);
    for (int p = 0; p < pair.num_points; ++p) {
      Point point;
      for_each_number(point, read);
      point.feature = take();
      point.sticks = take() != 0;
      before_.points.push_back(point);
    }
    before_.pairs.push_back(pair);
  }
  check(std::ranges::is_sorted(before_.pairs, {}, &Pair::geoms));
  *words = rest;
}

}  // namespace stiction::sim
