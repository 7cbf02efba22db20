#include "stiction/plant/repairs/terrain_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace stiction::plant {

/// The triangles of a height field.
class Grid {
 public:
  Grid(const mjModel* m, const mjData* d, int geom)
      : num_rows_(m->hfield_nrow[m->geom_dataid[geom]]),
        num_columns_(m->hfield_ncol[m->geom_dataid[geom]]),
        size_(m->hfield_size + 4 * m->geom_dataid[geom]),
        heights_(m->hfield_data + m->hfield_adr[m->geom_dataid[geom]]) {
    std::copy_n(d->geom_xpos + 3 * geom, 3, position_);
    std::copy_n(d->geom_xmat + 9 * geom, 9, rotation_);
  }
  double dx() const { return 2 * size_[0] / (num_columns_ - 1); }
  double dy() const { return 2 * size_[1] / (num_rows_ - 1); }

  /// Calls f(facet) for the triangles of all cells within a distance of a point, in the plane of
  /// the grid.
  template <class Function>
  void for_each_near(const double point[3], double distance, Function f) const {
    double r[3], local[3];
    mju_sub3(r, point, position_);
    mju_mulMatTVec3(local, rotation_, r);
    const auto rows = find_cells(local[1] + size_[1], distance, dy(), num_rows_);
    const auto columns = find_cells(local[0] + size_[0], distance, dx(), num_columns_);
    for (int i = rows[0]; i <= rows[1]; ++i) {
      for (int j = columns[0]; j <= columns[1]; ++j) {
        // MuJoCo divides a cell from its first to its last corner.
        f(make_facet({i, j}, {i, j + 1}, {i + 1, j + 1}));
        f(make_facet({i, j}, {i + 1, j + 1}, {i + 1, j}));
      }
    }
  }

 private:
  using Node = std::array<int, 2>;  // row, column

  static std::array<int, 2> find_cells(double x, double distance, double step, int num_points) {
    const auto find_cell = [&](double at) {
      return static_cast<int>(std::clamp<double>(std::floor(at / step), -1, num_points));
    };
    return {std::max(0, find_cell(x - distance)),
            std::min(num_points - 2, find_cell(x + distance))};
  }
  Facet make_facet(Node a, Node b, Node c) const {
    Facet facet;
    const Node nodes[3] = {a, b, c};
    for (int i = 0; i < 3; ++i) {
      const auto [row, column] = nodes[i];
      const double local[3] = {dx() * column - size_[0], dy() * row - size_[1],
                               size_[2] * heights_[row * num_columns_ + column]};
      mju_mulMatVec3(facet.corners[i], rotation_, local);
      mju_addTo3(facet.corners[i], position_);
    }
    double u[3], v[3];
    mju_sub3(u, facet.corners[1], facet.corners[0]);
    mju_sub3(v, facet.corners[2], facet.corners[0]);
    mju_cross(facet.normal, u, v);
    mju_normalize3(facet.normal);
    return facet;
  }

  int num_rows_, num_columns_;
  const mjtNum* size_;
  const float* heights_;
  double position_[3], rotation_[9];
};

namespace {

/// A contact deeper than this share of the geom or a cell is not that of a facet [-].
constexpr double kDeepest = 0.1;
/// Facets whose normals differ by less are in one plane [rad].
constexpr double kSamePlane = 1e-6;
/// Normals of contacts that differ by less are the same [rad].
constexpr double kSameNormal = 0.01;

/// The field at the point of a contact.
enum class Ground {
  kFlat,   // in one plane, whose normal the contact has
  kEdge,   // an edge or a peak; its normals include that of the contact
  kInner,  // the normal is not one of the field: MuJoCo has taken the edge or the side of a prism
           // that another one continues
};

Ground find_ground(const Grid& grid, const mjContact& con, double tolerance) {
  double point[3];
  mju_addScl3(point, con.pos, con.frame, -0.5 * con.dist);
  Ground ground = Ground::kFlat;
  double normal[3] = {};  // of the first facet
  grid.for_each_near(point, tolerance, [&](const Facet& facet) {
    if (ground == Ground::kInner || !facet.contains(point, tolerance)) return;
    if (mju_norm3(normal) == 0) mju_copy3(normal, facet.normal);
    double turn[3], uphill[3], ahead[3];
    mju_sub3(turn, facet.normal, normal);
    if (mju_norm3(turn) > kSamePlane) ground = Ground::kEdge;
    // The direction in which the facet leaves the contact's plane upwards.
    mju_addScl3(uphill, con.frame, facet.normal, -mju_dot3(con.frame, facet.normal));
    if (mju_normalize3(uphill) < kSameNormal) return;
    ground = Ground::kEdge;
    mju_addScl3(ahead, point, uphill, 20 * tolerance);
    if (facet.contains(ahead, tolerance)) ground = Ground::kInner;
  });
  return mju_norm3(normal) == 0 ? Ground::kEdge : ground;
}

}  // namespace

bool is_on_flat_terrain(const mjModel* m, const mjData* d, const PairContacts& pair) {
  const auto [field, geom] = std::to_array(pair.contacts->geom);
  if (m->geom_type[field] != mjGEOM_HFIELD || !has_support_function(m, geom)) return false;
  const Grid grid(m, d, field);
  const double tolerance = kSamePlane * std::min(grid.dx(), grid.dy());
  std::optional<Facet> first;
  bool is_flat = true;
  grid.for_each_near(d->geom_xpos + 3 * geom, m->geom_rbound[geom] + pair.cutoff,
                     [&](const Facet& facet) {
                       if (!first) first = facet;
                       is_flat = is_flat && !facet.rises_above(*first, tolerance) &&
                                 !first->rises_above(facet, tolerance);
                     });
  return is_flat;
}

bool Facet::contains(const double foot[3], double tolerance) const {
  for (int i = 0; i < 3; ++i) {
    double edge[3], inwards[3], r[3];
    mju_sub3(edge, corners[(i + 1) % 3], corners[i]);
    mju_cross(inwards, normal, edge);
    mju_sub3(r, foot, corners[i]);
    if (mju_dot3(inwards, r) < -tolerance * mju_norm3(edge)) return false;
  }
  return true;
}

bool Facet::rises_above(const Facet& plane, double tolerance) const {
  return std::any_of(corners, corners + 3, [&](const double(&corner)[3]) {
    double r[3];
    mju_sub3(r, corner, plane.corners[0]);
    return mju_dot3(plane.normal, r) > tolerance;
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

/// Finds the contacts of the geom with the planes of all triangles near it.
void TerrainContacts::find_points(const mjModel* m, mjData* d, const PairContacts& pair,
                                  const Grid& grid) {
  const int field = pair.contacts->geom[0], geom = pair.contacts->geom[1];
  mjtNum* const x = d->geom_xpos + 3 * field;
  mjtNum* const R = d->geom_xmat + 9 * field;
  std::array<mjtNum, 12> pose;
  std::copy_n(x, 3, pose.begin());
  std::copy_n(R, 9, pose.begin() + 3);
  points_.clear();
  planes_.clear();
  of_planes_.clear();
  grid.for_each_near(d->geom_xpos + 3 * geom, m->geom_rbound[geom] + pair.cutoff,
                     [&](const Facet& facet) { add_points(m, d, pair, facet); });
  std::copy_n(pose.begin(), 3, x);
  std::copy_n(pose.begin() + 3, 9, R);
}

/// Adds the contacts of the geom with the plane of a facet whose foot is in the facet.
void TerrainContacts::add_points(const mjModel* m, mjData* d, const PairContacts& pair,
                                 const Facet& facet) {
  double r[3];
  mju_sub3(r, d->geom_xpos + 3 * pair.contacts->geom[1], facet.corners[0]);
  if (std::abs(mju_dot3(facet.normal, r)) > m->geom_rbound[pair.contacts->geom[1]] + pair.cutoff)
    return;
  const Plane& plane = find_plane(m, d, pair, facet);
  for (int i = plane.first; i < plane.end; ++i) {
    const mjContact& con = of_planes_[i];
    double foot[3];
    mju_addScl3(foot, con.pos, con.frame, -0.5 * con.dist);
    if (con.dist < -kDeepest * size_ || !facet.contains(foot, 1e-9 * size_)) continue;
    Point& point = points_.emplace_back(Point{.contact = con, .facet = facet, .position = {}});
    mju_addScl3(point.position, con.pos, con.frame, 0.5 * con.dist);
  }
}

/// Returns the plane of a facet. Facets in one plane have the same contacts in all bits: rounding
/// of the normal would move the points of an upright cylinder.
const TerrainContacts::Plane& TerrainContacts::find_plane(const mjModel* m, mjData* d,
                                                          const PairContacts& pair,
                                                          const Facet& facet) {
  constexpr std::ptrdiff_t kRecent = 8;  // neighbors come soon after each other
  constexpr double kSame = 1e-9;
  const auto last = planes_.end();
  const auto found = std::find_if(last - std::min<std::ptrdiff_t>(kRecent, last - planes_.begin()),
                                  last, [&](const Plane& plane) {
                                    double r[3], turn[3];
                                    mju_sub3(r, facet.corners[0], plane.point);
                                    mju_sub3(turn, facet.normal, plane.normal);
                                    return mju_norm3(turn) < kSame &&
                                           std::abs(mju_dot3(plane.normal, r)) < kSame * size_;
                                  });
  if (found != last) return *found;
  Plane& plane = planes_.emplace_back();
  std::copy_n(facet.corners[0], 3, plane.point);
  std::copy_n(facet.normal, 3, plane.normal);
  plane.first = static_cast<int>(of_planes_.size());
  collide(m, d, pair, plane);
  plane.end = static_cast<int>(of_planes_.size());
  return plane;
}

/// Adds the contacts of the geom with a plane, for which the field's geom stands.
void TerrainContacts::collide(const mjModel* m, mjData* d, const PairContacts& pair,
                              const Plane& plane) {
  mjContact con = *pair.contacts;
  const int field = con.geom[0], geom = con.geom[1], begin = d->ncon;
  set_normal(plane.normal, &con);
  std::copy_n(plane.point, 3, d->geom_xpos + 3 * field);
  mjtNum* const R = d->geom_xmat + 9 * field;
  for (int i = 0; i < 3; ++i) {  // its axes are the tangents and the normal
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
    PairContacts own = pair;
    own.contacts = d->contact + begin;
    own.size = d->ncon - begin;
    correct_plane_contacts(m, d, own);
  }
  of_planes_.insert(of_planes_.end(), d->contact + begin, d->contact + d->ncon);
  d->ncon = begin;
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
          return mju_dist3(point.position, other.position) > tolerance ||
                 point.facet.rises_above(other.facet, tolerance);
        });
    if (is_new) points_[num_kept++] = point;
  }
  points_.resize(num_kept);
}

/// Sorts the contacts by the place of their points on the geom, so that a point of the geom keeps
/// its place in the list while it moves from cell to cell.
void TerrainContacts::sort(const mjData* d, int geom, double radius) {
  const auto key = [&](const Point& point) {
    constexpr double kStep = 1e-3, kOffset = 0.377;  // no edge of a box is at a multiple of steps
    double r[3], local[3];
    mju_sub3(r, point.position, d->geom_xpos + 3 * geom);
    mju_mulMatTVec3(local, d->geom_xmat + 9 * geom, r);
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
    return have_same_normal(point.facet.normal, con.frame, kSameNormal);
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
