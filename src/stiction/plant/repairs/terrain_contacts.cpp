#include "stiction/plant/repairs/terrain_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {

using math::Vec3;

/// The triangles of a height field.
class Grid {
 public:
  /// A box in the field's frame [m].
  struct Box {
    Vec3 low, high;
  };

  Grid(const mjModel* m, const mjData* d, int geom)
      : num_rows_(m->hfield_nrow[m->geom_dataid[geom]]),
        num_columns_(m->hfield_ncol[m->geom_dataid[geom]]),
        size_(m->hfield_size + 4 * m->geom_dataid[geom]),
        heights_(m->hfield_data + m->hfield_adr[m->geom_dataid[geom]]),
        dx_(2 * size_[0] / (num_columns_ - 1)),
        dy_(2 * size_[1] / (num_rows_ - 1)),
        pose_(get_pose(d, geom)) {}
  double dx() const { return dx_; }
  double dy() const { return dy_; }
  /// True if a facet is at right angles to the field's axis, as level cells are.
  bool is_level(const Facet& facet) const {
    constexpr double kLevel = 1e-12;
    return norm(facet.normal - Vec3{pose_.R.row[0].z, pose_.R.row[1].z, pose_.R.row[2].z}) < kLevel;
  }

  /// Returns a box that contains all points within a distance of a geom.
  Box find_box(const mjModel* m, const mjData* d, int geom, double distance) const {
    const math::RigidTransform other = get_pose(d, geom);
    const mjtNum* const aabb = m->geom_aabb + 6 * geom;
    const math::Mat3 R = transpose_times(pose_.R, other.R);
    const Vec3 center = transpose_times(pose_.R, other * to_vector(aabb) - pose_.p);
    const auto calc_extent = [&](const Vec3& row) {
      return std::abs(row.x) * aabb[3] + std::abs(row.y) * aabb[4] + std::abs(row.z) * aabb[5];
    };
    const Vec3 margin = {distance, distance, distance};
    const Vec3 half =
        Vec3{calc_extent(R.row[0]), calc_extent(R.row[1]), calc_extent(R.row[2])} + margin;
    return {center - half, center + half};
  }

  /// Returns the part [begin, end] of the segment from a to b, of length 1, that is over the field;
  /// end < begin if none is.
  std::array<double, 2> clip(const Vec3& a, const Vec3& b) const {
    const Vec3 from = transpose_times(pose_.R, a - pose_.p), way = transpose_times(pose_.R, b - a);
    std::array<double, 2> part = {0, 1};
    for (int i = 0; i < 2; ++i)
      for (const double sign : {-1.0, 1.0}) {
        const double left = size_[i] - sign * from[i], rate = sign * way[i];
        if (rate > 0)
          part[1] = std::min(part[1], left / rate);
        else if (rate < 0)
          part[0] = std::max(part[0], left / rate);
        else if (left < 0)
          return {1, 0};
      }
    return part;
  }

  /// Calls f(facet) for the triangles of all cells within a distance of a point, along the grid.
  template <class Function>
  void for_each_at(const Vec3& point, double distance, Function f) const {
    const Vec3 local = transpose_times(pose_.R, point - pose_.p);
    const Vec3 margin = {distance, distance, std::numeric_limits<double>::infinity()};
    for_each_cell({local - margin, local + margin}, [&](int i, int j) { call(i, j, f); });
  }

  /// Calls f(facet) for the triangles of all cells that reach into a box. Cells that are level at
  /// the height of the last level one are left out, because they are in its plane.
  template <class Function>
  void for_each_plane(const Box& box, Function f) const {
    float level = std::numeric_limits<float>::quiet_NaN();
    for_each_cell(box, [&](int i, int j) {
      const float* const low = heights_ + i * num_columns_ + j;
      const float* const high = low + num_columns_;
      const bool is_level = low[0] == low[1] && low[0] == high[0] && low[0] == high[1];
      if (is_level && low[0] == level) return;
      if (is_level) level = low[0];
      const auto [least, most] = std::minmax({low[0], low[1], high[0], high[1]});
      if (size_[2] * most < box.low.z || size_[2] * least > box.high.z) return;
      call(i, j, f);
    });
  }

 private:
  using Node = std::array<int, 2>;  // row, column

  template <class Function>
  void for_each_cell(const Box& box, Function f) const {
    const auto rows = find_cells(box.low.y + size_[1], box.high.y + size_[1], dy_, num_rows_);
    const auto columns = find_cells(box.low.x + size_[0], box.high.x + size_[0], dx_, num_columns_);
    for (int i = rows[0]; i <= rows[1]; ++i)
      for (int j = columns[0]; j <= columns[1]; ++j) f(i, j);
  }
  static std::array<int, 2> find_cells(double low, double high, double step, int num_points) {
    const auto find_cell = [&](double at) {
      return static_cast<int>(std::clamp<double>(std::floor(at / step), -1, num_points));
    };
    return {std::max(0, find_cell(low)), std::min(num_points - 2, find_cell(high))};
  }
  template <class Function>
  void call(int i, int j, Function f) const {
    // MuJoCo divides a cell from its first to its last corner.
    f(make_facet({i, j}, {i, j + 1}, {i + 1, j + 1}));
    f(make_facet({i, j}, {i + 1, j + 1}, {i + 1, j}));
  }
  Vec3 find_node(Node node) const {
    const auto [row, column] = node;
    return pose_ * Vec3{dx_ * column - size_[0], dy_ * row - size_[1],
                        size_[2] * heights_[row * num_columns_ + column]};
  }
  Facet make_facet(Node a, Node b, Node c) const {
    Facet facet{.corners = {find_node(a), find_node(b), find_node(c)}, .normal = {}};
    const Vec3 n = cross(facet.corners[1] - facet.corners[0], facet.corners[2] - facet.corners[0]);
    facet.normal = n * (1 / norm(n));
    return facet;
  }

  int num_rows_, num_columns_;
  const mjtNum* size_;
  const float* heights_;
  double dx_, dy_;
  math::RigidTransform pose_;
};

namespace {

/// A contact deeper than this share of the geom or a cell is not that of a facet [-].
constexpr double kDeepest = 0.1;
/// Facets whose normals differ by less [rad], or whose corners by this share of a cell, are in one
/// plane.
constexpr double kSamePlane = 1e-6;
/// Normals that differ by less are taken as alike [rad].
constexpr double kAlike = 0.01;

/// The field at the point of a contact.
enum class Ground {
  kFlat,   // in one plane, whose normal the contact has
  kEdge,   // an edge or a peak; its normals include that of the contact
  kInner,  // the normal is not one of the field: MuJoCo has taken the edge or the side of a prism
           // that another one continues
};

/// Returns the point of a contact on the field.
Vec3 find_foot(const mjContact& con) {
  return to_vector(con.pos) - to_vector(con.frame) * (0.5 * con.dist);
}

Ground find_ground(const Grid& grid, const mjContact& con, double tolerance) {
  const Vec3 n = to_vector(con.frame), point = find_foot(con);
  Ground ground = Ground::kFlat;
  std::optional<Vec3> first;  // normal
  grid.for_each_at(point, tolerance, [&](const Facet& facet) {
    if (ground == Ground::kInner || !facet.contains(point, tolerance)) return;
    if (!first) first = facet.normal;
    if (norm(facet.normal - *first) > kSamePlane) ground = Ground::kEdge;
    // The direction in which the facet leaves the contact's plane upwards.
    const Vec3 uphill = n - facet.normal * dot(n, facet.normal);
    const double length = norm(uphill);
    if (length < kAlike) return;
    ground = Ground::kEdge;
    if (facet.contains(point + uphill * (20 * tolerance / length), tolerance))
      ground = Ground::kInner;
  });
  return first ? ground : Ground::kEdge;
}

}  // namespace

bool is_on_flat_terrain(const mjModel* m, const mjData* d, const PairContacts& pair) {
  const auto [field, geom] = std::to_array(pair.contacts->geom);
  if (m->geom_type[field] != mjGEOM_HFIELD || !has_support_function(m, geom)) return false;
  const Grid grid(m, d, field);
  const double tolerance = kSamePlane * std::min(grid.dx(), grid.dy());
  std::optional<Facet> first;
  bool is_flat = true;
  grid.for_each_plane(grid.find_box(m, d, geom, pair.cutoff), [&](const Facet& facet) {
    if (!first) first = facet;
    is_flat =
        is_flat && !facet.rises_above(*first, tolerance) && !first->rises_above(facet, tolerance);
  });
  return is_flat;
}

bool Facet::contains(const Vec3& foot, double tolerance) const {
  for (int i = 0; i < 3; ++i) {
    const Vec3 edge = corners[(i + 1) % 3] - corners[i];
    if (dot(cross(normal, edge), foot - corners[i]) < -tolerance * norm(edge)) return false;
  }
  return true;
}

bool Facet::rises_above(const Facet& plane, double tolerance) const {
  return std::any_of(corners, corners + 3, [&](const Vec3& corner) {
    return dot(plane.normal, corner - plane.corners[0]) > tolerance;
  });
}

bool TerrainContacts::correct(const mjModel* m, mjData* d, const PairContacts& pair) {
  const int geom = pair.contacts->geom[1];
  if (!has_support_function(m, geom)) return false;
  const Grid grid(m, d, pair.contacts->geom[0]);
  const double radius = m->geom_rbound[geom];
  size_ = std::min({radius, grid.dx(), grid.dy()});
  find_points(m, d, pair, grid);
  keep_one_of_each(1e-6 * size_);
  sort(d, geom, radius);
  kept_.clear();
  for (const Point& point : points_) kept_.push_back(point.contact);
  constexpr double kSlack = 1e-3;
  for (const mjContact* con = pair.contacts; con != pair.end(); ++con) {
    const Ground ground = find_ground(grid, *con, kSlack * size_);
    if (ground != Ground::kInner && !covers(*con, kSlack * radius, ground == Ground::kFlat))
      kept_.push_back(*con);
  }
  replace(m, d, pair, kept_);
  return true;
}

/// Finds the planes of all triangles near the geom. Facets in one plane get the same contacts in
/// all bits: rounding of the normal would move the points of an upright cylinder.
void TerrainContacts::find_planes(const mjModel* m, const mjData* d, const PairContacts& pair,
                                  const Grid& grid) {
  const int geom = pair.contacts->geom[1];
  const Vec3 center = to_vector(d->geom_xpos + 3 * geom);
  planes_.clear();
  const double reach = std::max(pair.cutoff, kDeepest * size_);
  const bool is_sphere = m->geom_type[geom] == mjGEOM_SPHERE;
  grid.for_each_plane(grid.find_box(m, d, geom, reach), [&](const Facet& facet) {
    if (std::abs(dot(facet.normal, center - facet.corners[0])) > m->geom_rbound[geom] + reach)
      return;
    // A sphere's only point is below its center. A level facet stands for all at its height.
    if (is_sphere && !facet.contains(center, 1e-6 * size_) && !grid.is_level(facet)) return;
    constexpr std::ptrdiff_t kRecent = 8;  // neighbors come soon after each other
    const auto last = planes_.end();
    const auto recent = last - std::min<std::ptrdiff_t>(kRecent, last - planes_.begin());
    if (std::none_of(recent, last, [&](const Facet& plane) { return is_in(facet, plane); }))
      planes_.push_back(facet);
  });
}

/// True if a facet is in the plane of another one.
bool TerrainContacts::is_in(const Facet& facet, const Facet& plane) const {
  constexpr double kSame = 1e-9;
  return norm(facet.normal - plane.normal) < kSame &&
         std::abs(dot(plane.normal, facet.corners[0] - plane.corners[0])) < kSame * size_;
}

/// Finds the contacts of the geom with the planes of all triangles near it.
void TerrainContacts::find_points(const mjModel* m, mjData* d, const PairContacts& pair,
                                  const Grid& grid) {
  const int field = pair.contacts->geom[0];
  mjtNum* const x = d->geom_xpos + 3 * field;
  mjtNum* const R = d->geom_xmat + 9 * field;
  std::array<mjtNum, 12> pose;
  std::copy_n(x, 3, pose.begin());
  std::copy_n(R, 9, pose.begin() + 3);
  points_.clear();
  find_planes(m, d, pair, grid);
  for (const Facet& plane : planes_) add_points(m, d, pair, grid, plane);
  std::copy_n(pose.begin(), 3, x);
  std::copy_n(pose.begin() + 3, 9, R);
}

/// Adds the contacts of the geom with a plane, for which the field's geom stands, whose foot is in
/// a facet of this plane.
void TerrainContacts::add_points(const mjModel* m, mjData* d, const PairContacts& pair,
                                 const Grid& grid, const Facet& plane) {
  mjContact con = *pair.contacts;
  const int field = con.geom[0], geom = con.geom[1], begin = d->ncon;
  const double normal[3] = {plane.normal.x, plane.normal.y, plane.normal.z};
  set_normal(normal, &con);
  mjtNum* const R = d->geom_xmat + 9 * field;
  for (int i = 0; i < 3; ++i) {  // its axes are the tangents and the normal
    d->geom_xpos[3 * field + i] = plane.corners[0][i];
    R[3 * i] = con.frame[3 + i];
    R[3 * i + 1] = con.frame[6 + i];
    R[3 * i + 2] = con.frame[i];
  }
  mjPreContact parts[mjMAXCONPAIR];
  const int num =
      mjCOLLISIONFUNC[mjGEOM_PLANE][m->geom_type[geom]](m, d, parts, field, geom, pair.cutoff);
  for (int i = 0; i < num; ++i) {
    std::copy_n(parts[i].pos, 3, con.pos);
    set_distance(parts[i].dist, &con);
    if (mj_addContact(m, d, &con) != 0) break;
  }
  if (d->ncon > begin) {
    PairContacts listed = pair;
    listed.contacts = d->contact + begin;
    listed.size = d->ncon - begin;
    correct_plane_contacts(m, d, listed);
  }
  const std::span<const mjContact> own(d->contact + begin, d->contact + d->ncon);
  for (const mjContact& c : own) add_point(c, grid, plane);
  // A face that goes on beyond the field also touches its border.
  for (std::size_t i = 0; i < own.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const auto [first, last] = grid.clip(find_foot(own[i]), find_foot(own[k]));
      for (const double t : {first, last}) {
        if (first > last || t <= 0 || t >= 1) continue;
        mjContact border = own[i];
        for (int j = 0; j < 3; ++j) border.pos[j] += t * (own[k].pos[j] - own[i].pos[j]);
        set_distance((1 - t) * own[i].dist + t * own[k].dist, &border);
        add_point(border, grid, plane);
      }
    }
  d->ncon = begin;
}

/// Adds a contact with a plane, if its foot is in a facet of this plane.
void TerrainContacts::add_point(const mjContact& con, const Grid& grid, const Facet& plane) {
  if (con.dist < -kDeepest * size_) return;
  const Vec3 foot = find_foot(con);
  const Vec3 position = to_vector(con.pos) + to_vector(con.frame) * (0.5 * con.dist);
  const double tolerance = 1e-9 * size_;
  grid.for_each_at(foot, tolerance, [&](const Facet& facet) {
    if (is_in(facet, plane) && facet.contains(foot, tolerance))
      points_.push_back({.contact = con, .facet = facet, .position = position});
  });
}

/// Keeps the nearest contact of each point of the geom, and those with facets that rise above the
/// planes of the others.
void TerrainContacts::keep_one_of_each(double tolerance) {
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.contact.dist > b.contact.dist; });
  std::size_t num_kept = 0;
  for (const Point& point : points_) {
    const bool is_new =
        std::all_of(points_.begin(), points_.begin() + num_kept, [&](const Point& other) {
          return norm(point.position - other.position) > tolerance ||
                 point.facet.rises_above(other.facet, tolerance);
        });
    if (is_new) points_[num_kept++] = point;
  }
  points_.resize(num_kept);
}

/// Sorts the contacts by the place of their points on the geom, so that a point of the geom keeps
/// its place in the list while it moves from cell to cell.
void TerrainContacts::sort(const mjData* d, int geom, double radius) {
  const math::RigidTransform pose = get_pose(d, geom);
  const auto key = [&](const Point& point) {
    constexpr double kStep = 1e-3, kOffset = 0.377;  // no edge of a box is at a multiple of steps
    const Vec3 local = transpose_times(pose.R, point.position - pose.p);
    std::array<long, 3> rounded;
    for (int i = 0; i < 3; ++i) rounded[i] = std::lround(local[i] / (kStep * radius) + kOffset);
    return rounded;
  };
  std::sort(points_.begin(), points_.end(),
            [&](const Point& a, const Point& b) { return key(a) < key(b); });
}

/// True if the points with a contact's normal stand for the contact: the deepest is not less deep
/// by the slack, and the field is flat there, or the contact is in their hull.
bool TerrainContacts::covers(const mjContact& con, double slack, bool is_flat) const {
  const auto is_like = [&](const Point& point) {
    return dot(point.facet.normal, to_vector(con.frame)) > 1 - 0.5 * kAlike * kAlike;
  };
  double deepest = con.dist + 2 * slack;
  for (const Point& point : points_)
    if (is_like(point)) deepest = std::min<double>(deepest, point.contact.dist);
  if (con.dist < deepest - slack) return false;
  if (is_flat) return true;
  // It is outside if all points are on one side of a line through it.
  const auto is_outside_of = [&](const double u[3]) {
    return std::all_of(points_.begin(), points_.end(), [&](const Point& point) {
      double r[3];
      mju_sub3(r, point.contact.pos, con.pos);
      return !is_like(point) || mju_dot3(r, u) > slack;
    });
  };
  return std::none_of(points_.begin(), points_.end(), [&](const Point& point) {
    double towards[3], side[3], other[3];
    mju_sub3(towards, point.contact.pos, con.pos);
    mju_addToScl3(towards, con.frame, -mju_dot3(towards, con.frame));
    mju_normalize3(towards);
    mju_cross(side, con.frame, towards);
    mju_scl3(other, side, -1);
    return is_outside_of(towards) || is_outside_of(side) || is_outside_of(other);
  });
}

}  // namespace stiction::plant
