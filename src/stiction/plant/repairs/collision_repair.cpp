#include "stiction/plant/repairs/collision_repair.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {
namespace {

/// True if MuJoCo collides two geoms of this and any other type by GJK and EPA. All other pairs of
/// types have formulas.
bool is_general(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  return type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_MESH;
}

/// Finds the two points of a contact, one on each geom.
void find_points(const mjContact& con, double A[3], double B[3]) {
  mju_addScl3(A, con.pos, con.frame, -0.5 * con.dist);
  mju_addScl3(B, con.pos, con.frame, 0.5 * con.dist);
}

bool are_boxes(const mjModel* m, const mjContact& con) {
  return std::all_of(con.geom, con.geom + 2,
                     [&](int geom) { return geom >= 0 && m->geom_type[geom] == mjGEOM_BOX; });
}

/// True for a plane and a geom that has_support_function.
bool is_on_plane(const mjModel* m, const mjContact& con) {
  const int a = con.geom[0], b = con.geom[1];
  return a >= 0 && b >= 0 && m->geom_type[a] == mjGEOM_PLANE && has_support_function(m, b);
}

bool is_on_terrain(const mjModel* m, const mjContact& con) {
  return con.geom[0] >= 0 && con.geom[1] >= 0 && m->geom_type[con.geom[0]] == mjGEOM_HFIELD;
}

bool is_checked(const mjModel* m, const mjContact& con) {
  const int a = con.geom[0], b = con.geom[1];
  if (a < 0 || b < 0 || !has_support_function(m, a) || !has_support_function(m, b)) return false;
  return are_boxes(m, con) || is_general(m, a) || is_general(m, b);
}

/// Returns true if a box contains a point, up to a tolerance.
bool contains(const mjModel* m, const mjData* d, int box, const double point[3], double tolerance) {
  double r[3], local[3];
  mju_sub3(r, point, d->geom_xpos + 3 * box);
  mju_mulMatTVec3(local, d->geom_xmat + 9 * box, r);
  const mjtNum* size = m->geom_size + 3 * box;
  return std::abs(local[0]) <= size[0] + tolerance && std::abs(local[1]) <= size[1] + tolerance &&
         std::abs(local[2]) <= size[2] + tolerance;
}

/// Returns true if the two points of a contact, one on each geom, are in two boxes.
bool has_points_in_boxes(const mjModel* m, const mjData* d, const mjContact& con,
                         double tolerance) {
  double A[3], B[3];
  find_points(con, A, B);
  return contains(m, d, con.geom[0], A, tolerance) && contains(m, d, con.geom[1], B, tolerance);
}

/// Returns true if the distance of the nearest contact is an upper bound.
bool is_upper_bound(const mjModel* m, const mjData* d, const PairContacts& pair) {
  const mjContact& con = pair.nearest();
  if (are_boxes(m, con)) return con.dist <= 0 || has_points_in_boxes(m, d, con, pair.tolerance);
  return con.dist > 0 || pair.size == 1;
}

/// Returns true if the separation along the normal proves the distance of the nearest contact.
bool is_proved(const mjModel* m, const mjData* d, const PairContacts& pair) {
  if (!is_upper_bound(m, d, pair)) return false;
  const mjContact& con = pair.nearest();
  const double separation = calc_separation(m, d, con.geom[0], con.geom[1], con.frame);
  const double rounding = kExactShare * pair.tolerance;
  return std::abs(con.dist - separation) <= pair.tolerance &&
         (con.dist <= rounding || separation > -rounding);
}

/// Turns several contacts to the exact normal. All of them stay if it turns by less than a degree,
/// as between two nearly parallel faces. Else the two points of a contact, one on each geom, must
/// be where the normal supports the geoms, up to kLargestErrorOfFaces, and others are removed.
void turn(const mjModel* m, mjData* d, const PairContacts& pair, const mjContact& exact) {
  const mjtNum* n = exact.frame;
  const double back[3] = {-n[0], -n[1], -n[2]};
  const double height_A = calc_support(m, d, exact.geom[0], n);
  const double height_B = calc_support(m, d, exact.geom[1], back);
  const double largest = kLargestErrorOfFaces * pair.radius;
  constexpr double kCosOfDegree = 0.99985;
  mjContact* kept = pair.contacts;
  bool has_nearest = false;
  for (const mjContact* con = pair.contacts; con != pair.end(); ++con) {
    double A[3], B[3];
    find_points(*con, A, B);
    const bool is_supported = std::abs(height_A - mju_dot3(n, A)) <= largest &&
                              std::abs(height_B - mju_dot3(back, B)) <= largest;
    if (!is_supported && mju_dot3(n, con->frame) < kCosOfDegree) continue;
    mjContact turned = *con;
    set_normal(n, &turned);
    set_distance(std::max(exact.dist, mju_dot3(n, B) - mju_dot3(n, A)), &turned);
    has_nearest = has_nearest || turned.dist <= exact.dist + pair.tolerance;
    *kept++ = turned;
  }
  erase(d, kept, pair.end());
  if (!has_nearest) insert(m, d, pair.contacts, exact);
}

/// Corrects the distances of several contacts whose normal is right.
/// @return true if they were wrong
bool correct_several(const mjModel* m, mjData* d, const PairContacts& pair,
                     const mjContact& exact) {
  mjContact& nearest = pair.nearest();
  const double error = nearest.dist - exact.dist;
  const bool has_same_sign = (nearest.dist > 0) == (exact.dist > 0);
  if (std::abs(error) <= pair.tolerance) {
    if (has_same_sign || std::abs(error) <= kExactShare * pair.tolerance) return false;
    set_distance(exact.dist, &nearest);
  } else if (error > 0) {
    insert(m, d, pair.contacts, exact);
  } else {
    for (mjContact* con = pair.contacts; con != pair.end(); ++con)
      if (con->dist < exact.dist) set_distance(exact.dist, con);
  }
  return true;
}

/// Finds the nearest points of a pair whose contacts are not proved to be right.
NearestContact find_exact(const mjModel* m, mjData* d, const PairContacts& pair,
                          ShadowModel* shadow) {
  const double reach = std::max(std::max(pair.nearest().dist, 0.0) + pair.radius, pair.cutoff);
  return find_nearest(shadow->follow(m), d, pair, reach);
}

/// Corrects the contacts of a pair if they are wrong.
/// @return true if they were wrong
bool correct_pair(const mjModel* m, mjData* d, const PairContacts& pair, ShadowModel* shadow) {
  if (is_proved(m, d, pair)) return false;
  const mjContact& nearest = pair.nearest();
  const NearestContact exact = find_exact(m, d, pair, shadow);
  const double error = nearest.dist - exact.contact.dist;
  const double separation = calc_separation(m, d, nearest.geom[0], nearest.geom[1], nearest.frame);
  if (exact.is_apart) {
    erase(d, pair.contacts, pair.end());
  } else if (pair.size == 1 || std::abs(error) > kLargestErrorOfFaces * pair.radius) {
    *pair.contacts = exact.contact;
    erase(d, pair.contacts + 1, pair.end());
  } else if (separation < exact.contact.dist - pair.tolerance) {
    turn(m, d, pair, exact.contact);
  } else {
    return correct_several(m, d, pair, exact.contact);
  }
  return true;
}

}  // namespace

bool CollisionRepair::have_right_normal(const mjModel* m, mjData* d,
                                        std::span<mjContact> contacts) {
  if (!is_checked(m, contacts.front())) return true;
  const PairContacts pair = make_pair_contacts(m, contacts);
  if (is_proved(m, d, pair)) return true;
  const NearestContact exact = find_exact(m, d, pair, &exact_);
  constexpr double kAlike = 0.01;  // [rad]
  return !exact.is_apart && have_same_normal(exact.contact.frame, pair.nearest().frame, kAlike);
}

int CollisionRepair::run(const mjModel* m, mjData* d, int begin) {
  if (begin == 0) add_missed_cylinders(m, d);
  int num_corrected = 0;
  for (int i = begin; i < d->ncon;) {
    const PairContacts pair = find_contacts_at(m, d, i);
    const int before = d->ncon;
    bool is_corrected = false;
    if (is_on_terrain(m, *pair.contacts))
      is_corrected = terrain_.correct(m, d, pair);
    else if (is_on_plane(m, *pair.contacts))
      is_corrected = correct_plane_contacts(m, d, pair);
    else if (is_checked(m, *pair.contacts))
      is_corrected = correct_pair(m, d, pair, &exact_);
    const bool is_empty = pair.size + d->ncon - before == 0;
    if (!is_empty && are_boxes(m, d->contact[i]))
      is_corrected = complete_box_faces(m, d, find_contacts_at(m, d, i)) || is_corrected;
    num_corrected += is_corrected ? 1 : 0;
    i += pair.size + d->ncon - before;
  }
  return num_corrected;
}

}  // namespace stiction::plant
