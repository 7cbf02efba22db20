#include "stiction/plant/collision/contact_manifolds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {

using math::Vec3;

namespace {

/// A listed point is one of the last step if it has moved by at most this share of the radius of
/// the smaller geom, besides the motion of the bodies over each other.
constexpr double kSame = 1e-6;
/// A point goes on until its bodies have moved on each other by this share of that radius, or its
/// normal differs by this angle from all that are listed [rad].
constexpr double kLargestDrift = 1e-3, kLargestAngle = 1e-3;
/// A listed point among others is no further outside of them than this share of that radius, and no
/// deeper than their plane by this share of the depth there.
constexpr double kMargin = 0.02, kDepthShare = 1e-3;
/// Geoms further apart than this share of that radius do not touch.
constexpr mjtNum kNear = 1e-3;
/// The most points of two geoms, if MuJoCo does not list more.
constexpr std::size_t kMostPoints = 24;

/// Returns the sum of the elevations around the cells of a height field in which points lie [m].
double sum_elevations(const mjModel* m, int geom, std::span<const ManifoldPoint> points, int side) {
  const int field = m->geom_dataid[geom];
  const mjtNum* const size = m->hfield_size + 4 * field;
  const int rows = m->hfield_nrow[field], columns = m->hfield_ncol[field];
  const auto find_cell = [](double x, double half_size, int num) {
    return static_cast<int>(std::clamp((x / half_size + 1) * 0.5 * (num - 1), 0.0, num - 2.0));
  };
  double sum = 0;
  for (const ManifoldPoint& point : points) {
    const int r = find_cell(point.place[side].y, size[1], rows);
    const int c = find_cell(point.place[side].x, size[0], columns);
    const float* const first = m->hfield_data + m->hfield_adr[field] + r * columns + c;
    sum += first[0] + first[1] + first[columns] + first[columns + 1];
  }
  return size[2] * sum;
}

std::array<double, 8> find_shapes(const mjModel* m, const std::array<int, 2>& geoms,
                                  std::span<const ManifoldPoint> points) {
  std::array<double, 8> shapes{};
  for (int side = 0; side < 2; ++side) {
    const int geom = geoms[side];
    std::copy_n(m->geom_size + 3 * geom, 3, shapes.data() + 4 * side);
    shapes[4 * side + 3] = m->geom_type[geom] == mjGEOM_HFIELD
                               ? sum_elevations(m, geom, points, side)
                               : m->geom_rbound[geom];
  }
  return shapes;
}

/// True for a geom that touches another one at one point only.
bool has_one_point(const mjModel* m, int geom) {
  return geom < 0 || m->geom_type[geom] == mjGEOM_SPHERE || m->geom_type[geom] == mjGEOM_ELLIPSOID;
}

}  // namespace

void ManifoldList::clear() {
  manifolds.clear();
  points.clear();
}

void ManifoldList::reserve_as(const ManifoldList& other) {
  manifolds.reserve(other.manifolds.capacity());
  points.reserve(other.points.capacity());
}

void ManifoldList::sort() { std::ranges::sort(manifolds, {}, &Manifold::geoms); }

const Manifold* ManifoldList::find(const std::array<int, 2>& geoms) const {
  const auto found = std::ranges::lower_bound(manifolds, geoms, {}, &Manifold::geoms);
  return found == manifolds.end() || found->geoms != geoms ? nullptr : &*found;
}

void ManifoldList::copy(const Manifold& manifold, const ManifoldList& from) {
  manifolds.push_back(manifold);
  manifolds.back().first_point = static_cast<int>(points.size());
  const auto first = from.points.begin() + manifold.first_point;
  points.insert(points.end(), first, first + manifold.num_points);
}

ContactManifolds::ContactManifolds() {
  constexpr std::size_t kMost = mjMAXCONPAIR + kMostPoints;
  listed_.reserve(kMost);
  placed_.reserve(kMost);
  match_.reserve(kMost);
  is_taken_.reserve(kMost);
  support_.reserve(kMost);
  contacts_.reserve(kMost);
}

void ContactManifolds::set_memory(const ManifoldList* before, ManifoldList* now) {
  before_ = before;
  now_ = now;
}

void ContactManifolds::keep(const mjModel* m, mjData* d) {
  now_->clear();
  for (int i = 0; i < d->ncon;) i += keep_pair(m, d, find_contacts_at(m, d, i));
  now_->sort();
}

/// Completes the contacts of two geoms.
/// @return their number
int ContactManifolds::keep_pair(const mjModel* m, mjData* d, const PairContacts& pair) {
  const std::array<int, 2> geoms = std::to_array(pair.contacts->geom);
  if (has_one_point(m, geoms[0]) || has_one_point(m, geoms[1])) return pair.size;
  if (std::none_of(pair.contacts, pair.end(),
                   [&](const mjContact& con) { return con.dist < kNear * pair.radius; }))
    return pair.size;
  for (int side = 0; side < 2; ++side) poses_[side] = get_pose(d, geoms[side]);
  std::vector<ManifoldPoint>& points = now_->points;
  const int first = static_cast<int>(points.size());
  for (const mjContact* con = pair.contacts; con != pair.end(); ++con)
    points.push_back(make_point(*con));
  const Manifold* const known = before_->find(geoms);
  std::span<const ManifoldPoint> before;
  if (known && known->shapes == find_shapes(m, geoms, before_->points_of(*known)))
    before = before_->points_of(*known);
  const auto listed = std::span<const ManifoldPoint>(points).subspan(first);
  if (!before.empty() && !find_again(before, listed, pair)) {
    listed_.assign(listed.begin(), listed.end());
    points.resize(first);
    complete(m, d, pair, before);
  }
  const int count = static_cast<int>(points.size()) - first;
  now_->manifolds.push_back(
      {.geoms = geoms,
       .first_point = first,
       .num_points = count,
       .shapes = find_shapes(m, geoms, std::span<const ManifoldPoint>(points).subspan(first))});
  return count;
}

ManifoldPoint ContactManifolds::make_point(const mjContact& con) const {
  const Vec3 n = to_vector(con.frame), x = to_vector(con.pos);
  ManifoldPoint point;
  for (int side = 0; side < 2; ++side) {
    const Vec3 surface = x + n * (side == 0 ? -0.5 * con.dist : 0.5 * con.dist);
    point.place[side] = transpose_times(poses_[side].R, surface - poses_[side].p);
    point.normal[side] = transpose_times(poses_[side].R, n);
  }
  return point;
}

/// Finds the points of the last step among those that are listed: a corner stays on its body.
/// @return true if these are the same points
bool ContactManifolds::find_again(std::span<const ManifoldPoint> before,
                                  std::span<const ManifoldPoint> listed, const PairContacts& pair) {
  const double tolerance2 = math::square(kSame * pair.radius);
  const auto calc_distance2 = [&](std::size_t i, std::size_t b) {
    const Vec3 one = listed[i].place[0] - before[b].place[0];
    const Vec3 two = listed[i].place[1] - before[b].place[1];
    return std::min(dot(one, one), dot(two, two));
  };
  const std::size_t num = listed.size();
  const auto is_in_order = [&] {
    for (std::size_t i = 0; i < num; ++i)
      if (calc_distance2(i, i) > tolerance2) return false;
    return true;
  };
  if (num == before.size() && is_in_order()) return true;
  match_.assign(num, -1);
  is_taken_.assign(before.size(), false);
  std::size_t num_found = 0;
  for (std::size_t i = 0; i < num; ++i) {
    double least = tolerance2;
    for (std::size_t b = 0; b < before.size(); ++b) {
      if (is_taken_[b]) continue;
      const double distance2 = calc_distance2(i, b);
      if (distance2 > least) continue;
      least = distance2;
      match_[i] = static_cast<int>(b);
    }
    if (match_[i] < 0) continue;
    is_taken_[match_[i]] = true;
    ++num_found;
  }
  return num_found == num && num_found == before.size();
}

ContactManifolds::Placed ContactManifolds::place(const ManifoldPoint& point) const {
  std::array<Vec3, 2> surface, normal;
  for (int side = 0; side < 2; ++side) {
    surface[side] = poses_[side] * point.place[side];
    normal[side] = poses_[side].R * point.normal[side];
  }
  const Vec3 sum = normal[0] + normal[1], way = surface[1] - surface[0];
  Placed placed;
  placed.position = 0.5 * (surface[0] + surface[1]);
  placed.normal = sum * (1 / norm(sum));
  placed.gap = dot(way, placed.normal);
  placed.drift = norm(way - placed.normal * placed.gap);
  placed.tilt = norm(normal[1] - normal[0]);
  return placed;
}

/// True if a point that is no longer listed still touches, or nearly so, or is no further away than
/// one that is listed.
bool ContactManifolds::goes_on(const Placed& point, const PairContacts& pair) const {
  double most = std::max(pair.contacts->includemargin, kNear * pair.radius);
  for (const mjContact* con = pair.contacts; con != pair.end(); ++con)
    most = std::max(most, con->dist * (1 + kNear));
  if (point.gap > most || point.drift > kLargestDrift * pair.radius) return false;
  return std::any_of(pair.contacts, pair.end(), [&](const mjContact& con) {
    return have_same_normal(con.frame, &point.normal.x, kLargestAngle);
  });
}

/// Completes the contacts of two geoms that are not the same as in the last step.
void ContactManifolds::complete(const mjModel* m, mjData* d, const PairContacts& pair,
                                std::span<const ManifoldPoint> before) {
  placed_.clear();
  for (const ManifoldPoint& point : before) placed_.push_back(place(point));
  find_moved(pair);
  find_support(pair);
  contacts_.clear();
  add_listed(pair);
  add_kept(pair, before);
  replace(m, d, pair, contacts_);
}

/// Finds the points of the last step that have moved with the motion of the bodies over each other,
/// or as one rolls: they are the same.
void ContactManifolds::find_moved(const PairContacts& pair) {
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const Vec3 x = to_vector(pair.contacts[i].pos);
    for (std::size_t b = 0; b < placed_.size() && match_[i] < 0; ++b) {
      if (is_taken_[b]) continue;
      const double moved = placed_[b].drift + 2 * placed_[b].tilt * pair.radius;
      if (norm(x - placed_[b].position) > 2 * moved) continue;
      match_[i] = static_cast<int>(b);
      is_taken_[b] = true;
    }
  }
}

void ContactManifolds::add_support(const mjContact& con) {
  support_.push_back(
      {.position = to_vector(con.pos), .normal = to_vector(con.frame), .gap = con.dist});
}

/// Lets support_ be the points that go on, listed or not. Takes those that do not.
void ContactManifolds::find_support(const PairContacts& pair) {
  support_.clear();
  for (std::size_t b = 0; b < placed_.size(); ++b)
    if (!is_taken_[b] && goes_on(placed_[b], pair) && support_.size() < kMostPoints)
      support_.push_back(placed_[b]);
    else
      is_taken_[b] = true;
  for (std::size_t i = 0; i < listed_.size(); ++i)
    if (match_[i] >= 0) add_support(pair.contacts[i]);
}

/// Adds the contacts that are listed, except new ones that the others support.
void ContactManifolds::add_listed(const PairContacts& pair) {
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const mjContact& con = pair.contacts[i];
    if (match_[i] < 0) {
      if (is_supported(con, kMargin * pair.radius)) continue;
      add_support(con);
    }
    contacts_.push_back(con);
    now_->points.push_back(listed_[i]);
  }
}

/// Adds the points that are no longer listed.
void ContactManifolds::add_kept(const PairContacts& pair, std::span<const ManifoldPoint> before) {
  for (std::size_t b = 0; b < before.size(); ++b) {
    if (is_taken_[b]) continue;
    mjContact& con = contacts_.emplace_back(*pair.contacts);
    std::copy_n(&placed_[b].position.x, 3, con.pos);
    set_normal(&placed_[b].normal.x, &con);
    set_distance(placed_[b].gap, &con);
    now_->points.push_back(before[b]);
  }
}

/// True if support_ holds a contact: seen along its normal it is within their convex hull or nearer
/// to it than a margin, and it is no deeper than their plane.
bool ContactManifolds::is_supported(const mjContact& con, double margin) const {
  const Vec3 x = to_vector(con.pos), n = to_vector(con.frame), t1 = to_vector(con.frame + 3);
  const Vec3 t2 = to_vector(con.frame + 6);
  double matrix[9] = {}, plane[3] = {};  // of the least squares plane: its gap and slopes at x
  double deepest = 0;
  int num_points = 0;
  for (const Placed& p : support_) {
    if (!have_same_normal(&p.normal.x, &n.x, kLargestAngle)) continue;
    const double row[3] = {1, dot(t1, p.position - x) / margin, dot(t2, p.position - x) / margin};
    deepest = std::min(deepest, p.gap);
    ++num_points;
    for (int i = 0; i < 3; ++i) {
      plane[i] += row[i] * p.gap;
      for (int j = 0; j < 3; ++j) matrix[3 * i + j] += row[i] * row[j];
    }
  }
  // The least slope makes the plane of points in a row unique.
  constexpr double kLeastSlope = 1e-6;
  for (const int i : {4, 8}) matrix[i] += kLeastSlope;
  if (num_points < 2 || numerics::solve_in_place(3, matrix, 1, plane) >= 0) return false;
  const double gap = std::max(plane[0], deepest);
  if (con.dist < gap - kDepthShare * std::abs(gap)) return false;
  // A direction in which x is further out than all points is across two of them, or from one.
  const auto separates = [&](const Vec3& direction) {
    const double length = norm(direction);
    return length > 0 && std::ranges::all_of(support_, [&](const Placed& p) {
             return dot(direction, x - p.position) > margin * length;
           });
  };
  for (const Placed& p : support_) {
    const Vec3 way = x - p.position;
    if (separates(way - n * dot(n, way))) return false;
    for (const Placed& q : support_)
      if (separates(cross(n, q.position - p.position))) return false;
  }
  return true;
}

}  // namespace stiction::plant
