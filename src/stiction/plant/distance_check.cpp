#include "stiction/plant/distance_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/plant/geom_pair.hpp"
#include "stiction/plant/mujoco_contact.hpp"
#include "stiction/plant/support_function.hpp"

namespace stiction::plant {
namespace {

/// True if MuJoCo collides two geoms of this and any other type by GJK and EPA. All other pairs of
/// types have formulas.
bool is_general(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  return type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_MESH;
}

bool are_boxes(const mjModel* m, const mjContact& con) {
  return m->geom_type[con.geom[0]] == mjGEOM_BOX && m->geom_type[con.geom[1]] == mjGEOM_BOX;
}

bool is_checked(const mjModel* m, const mjContact& con) {
  const int a = con.geom[0], b = con.geom[1];
  if (a < 0 || b < 0 || !has_support_function(m, a) || !has_support_function(m, b)) return false;
  return are_boxes(m, con) || is_general(m, a) || is_general(m, b);
}

/// The tolerance of an exact distance, relative to the largest error that is accepted.
constexpr double kExactShare = 0.01;

/// The consecutive contacts of two geoms.
struct Pair {
  mjContact* contacts;
  int size;
  double radius;     // of the smaller geom
  double tolerance;  // the largest error that is accepted [m]
  double reach;      // the distance from which on the geoms have no contact [m]

  mjContact* end() const { return contacts + size; }
  mjContact& nearest() const {
    return *std::min_element(
        contacts, end(), [](const mjContact& a, const mjContact& b) { return a.dist < b.dist; });
  }
};

/// Returns the gap of two geoms, which MuJoCo adds to the margin of their contacts [m].
double find_gap(const mjModel* m, int a, int b) {
  const int pair = find_pair(m, a, b);
  return pair >= 0 ? m->pair_gap[pair] : m->geom_gap[a] + m->geom_gap[b];
}

Pair find_pair_at(const mjModel* m, const mjData* d, int begin) {
  Pair pair{.contacts = d->contact + begin, .size = 1, .radius = 0, .tolerance = 0, .reach = 0};
  const int a = pair.contacts->geom[0], b = pair.contacts->geom[1];
  while (begin + pair.size < d->ncon && pair.end()->geom[0] == a && pair.end()->geom[1] == b)
    ++pair.size;
  if (a < 0 || b < 0) return pair;
  pair.radius = std::min(m->geom_rbound[a], m->geom_rbound[b]);
  pair.tolerance = std::min(m->opt.ccd_tolerance, kLargestErrorOfSmallGeoms * pair.radius);
  pair.reach = std::max(std::max(pair.nearest().dist, 0.0) + pair.radius,
                        pair.contacts->includemargin + find_gap(m, a, b));
  return pair;
}

/// Returns true if the separation along the normal proves the distance of the nearest contact.
bool is_proved(const mjModel* m, const mjData* d, const Pair& pair) {
  const mjContact& con = pair.nearest();
  if (pair.size > 1 && con.dist <= 0 && !are_boxes(m, con)) return false;
  const double separation = calc_separation(m, d, con.geom[0], con.geom[1], con.frame);
  const double rounding = kExactShare * pair.tolerance;
  return std::abs(con.dist - separation) <= pair.tolerance &&
         (con.dist <= rounding || separation > -rounding);
}

void set_distance(double distance, mjContact* con) {
  con->dist = distance;
  if (con->exclude <= kInGap) con->exclude = distance >= con->includemargin ? kInGap : kTakesPart;
}

/// Sets the normal of a contact and its tangents, as MuJoCo chooses them.
void set_frame(const std::array<double, 3>& n, mjtNum frame[9]) {
  mjtNum* t = frame + 3;
  std::copy_n(n.begin(), 3, frame);
  mju_zero3(t);
  t[std::abs(n[1]) < 0.5 ? 1 : 2] = 1;
  mju_addToScl3(t, frame, -mju_dot3(t, frame));
  mju_normalize3(t);
  mju_cross(frame + 6, frame, t);
}

/// Computes the nearest contact of a pair by mj_geomDistance.
/// @param tolerance of GJK and EPA [m]
/// @param con       the nearest contact of the pair; distance, position and normal are changed
/// @return true if the separation along the normal proves the distance
bool calc_nearest(mjModel* m, mjData* d, const Pair& pair, double tolerance, mjContact* con) {
  constexpr double kLeastDistance = 1e-9;  // where the normal is accurate to 1e-7 [m]
  const mjOption options = m->opt;
  m->opt.disableflags &= ~mjDSBL_NATIVECCD;  // libccd is less accurate
  m->opt.ccd_tolerance = tolerance;
  m->opt.ccd_iterations = std::max(m->opt.ccd_iterations, 100);
  mjtNum points[6];
  set_distance(mj_geomDistance(m, d, con->geom[0], con->geom[1], pair.reach, points), con);
  m->opt = options;
  if (con->dist >= pair.reach) return true;  // too far to act
  std::array<double, 3> n;
  for (int i = 0; i < 3; ++i) {
    con->pos[i] = 0.5 * (points[i] + points[3 + i]);
    n[i] = points[3 + i] - points[i];
  }
  if (std::abs(con->dist) < kLeastDistance) return true;  // keep the normal
  const double length = std::copysign(mju_norm3(n.data()), con->dist);
  for (double& x : n) x /= length;
  set_frame(n, con->frame);
  const double separation = calc_separation(m, d, con->geom[0], con->geom[1], con->frame);
  return std::abs(con->dist - separation) <= pair.tolerance;
}

/// Computes the exact nearest contact of a pair.
/// @param con the nearest contact of the pair; distance, position and normal are changed
/// @return false if it is not found
bool calc_exact(mjModel* m, mjData* d, const Pair& pair, mjContact* con) {
  const mjContact given = *con;
  if (calc_nearest(m, d, pair, kExactShare * pair.tolerance, con)) return true;
  // EPA may lose its way in rounding errors. A larger tolerance ends it earlier.
  *con = given;
  return calc_nearest(m, d, pair, pair.tolerance, con);
}

/// Removes the contacts [begin, end) from the list.
void erase(mjData* d, mjContact* begin, mjContact* end) {
  std::move(end, d->contact + d->ncon, begin);
  d->ncon -= static_cast<int>(end - begin);
}

/// Inserts a contact before one of the list. If MuJoCo's arena is full, it warns.
void insert(const mjModel* m, mjData* d, int at, const mjContact& con) {
  if (mj_addContact(m, d, &con) != 0) return;
  mjContact* const list = d->contact;
  std::rotate(list + at, list + d->ncon - 1, list + d->ncon);
}

/// Corrects the contacts of a pair if they are wrong.
/// @return true if they were wrong
bool correct_pair(mjModel* m, mjData* d, const Pair& pair) {
  if (is_proved(m, d, pair)) return false;
  mjContact& nearest = pair.nearest();
  mjContact exact = nearest;
  if (!calc_exact(m, d, pair, &exact)) return false;
  const double error = nearest.dist - exact.dist;
  const bool has_same_sign = (nearest.dist > 0) == (exact.dist > 0);
  if (exact.dist >= pair.reach) {
    erase(d, pair.contacts, pair.end());
  } else if (pair.size == 1 || std::abs(error) > kLargestErrorOfFaces * pair.radius) {
    *pair.contacts = exact;
    erase(d, pair.contacts + 1, pair.end());
  } else if (std::abs(error) <= pair.tolerance) {
    if (has_same_sign || std::abs(error) <= kExactShare * pair.tolerance) return false;
    set_distance(exact.dist, &nearest);
  } else if (error > 0) {
    insert(m, d, static_cast<int>(pair.contacts - d->contact), exact);
  } else {
    for (mjContact* con = pair.contacts; con != pair.end(); ++con)
      if (con->dist < exact.dist) set_distance(exact.dist, con);
  }
  return true;
}

}  // namespace

int correct_distances(mjModel* m, mjData* d) {
  int num_corrected = 0;
  for (int i = 0; i < d->ncon;) {
    const Pair pair = find_pair_at(m, d, i);
    const int before = d->ncon;
    if (is_checked(m, *pair.contacts)) num_corrected += correct_pair(m, d, pair) ? 1 : 0;
    i += pair.size + d->ncon - before;
  }
  return num_corrected;
}

}  // namespace stiction::plant
