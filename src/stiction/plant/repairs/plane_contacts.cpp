#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/repairs/collision_repair.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {
namespace {

/// The error of a cylinder's contact that counts as rounding, relative to the cylinder's size.
constexpr double kRoundingOfCylinders = 1e-10;
/// The angle between a cylinder's axis and a normal from which on MuJoCo's error is below that.
constexpr double kWide = 1e-5;

/// The normal of a plane.
std::array<double, 3> get_normal(const mjData* d, int plane) {
  const mjtNum* R = d->geom_xmat + 9 * plane;
  return {R[2], R[5], R[8]};
}

double calc_height(const mjData* d, int plane, const double point[3]) {
  double r[3];
  mju_sub3(r, point, d->geom_xpos + 3 * plane);
  return mju_dot3(get_normal(d, plane).data(), r);
}

/// Moves a contact to a point of the geom.
void move_to(const mjData* d, const double point[3], mjContact* con) {
  set_distance(calc_height(d, con->geom[0], point), con);
  mju_addScl3(con->pos, point, con->frame, -0.5 * con->dist);
}

/// Returns the sine of the angle between a cylinder's axis and a normal in its frame.
double calc_lean(const double n[3]) { return std::sqrt(n[0] * n[0] + n[1] * n[1]); }

/// Returns true if a contact's point is on a rim of a cylinder.
bool is_on_rim(const mjModel* m, const mjData* d, const mjContact& con, double tolerance) {
  const mjtNum* size = m->geom_size + 3 * con.geom[1];
  double point[3], r[3];
  mju_addScl3(point, con.pos, con.frame, 0.5 * con.dist);
  mju_subFrom3(point, d->geom_xpos + 3 * con.geom[1]);
  mju_mulMatTVec3(r, d->geom_xmat + 9 * con.geom[1], point);
  return std::abs(std::sqrt(r[0] * r[0] + r[1] * r[1]) - size[0]) <= tolerance &&
         std::abs(std::abs(r[2]) - size[1]) <= tolerance;
}

/// Replaces the contacts of a plane and a cylinder.
void replace_cylinder(const mjModel* m, mjData* d, const PairContacts& pair) {
  const int plane = pair.contacts->geom[0], geom = pair.contacts->geom[1];
  const mjtNum* size = m->geom_size + 3 * geom;
  double n[3];  // in the cylinder's frame
  mju_mulMatTVec3(n, d->geom_xmat + 9 * geom, get_normal(d, plane).data());
  const double length = calc_lean(n), end = n[2] > 0 ? -size[1] : size[1];
  // The direction in which the axis leans; MuJoCo takes the x axis if there is none.
  const double x = length < mjMINVAL ? 1 : -n[0] / length;
  const double y = length < mjMINVAL ? 0 : -n[1] / length;
  std::array<mjContact, 4> contacts;
  std::size_t count = 0;
  const auto add = [&](double c, double s, double z) {
    const double local[3] = {size[0] * (c * x - s * y), size[0] * (s * x + c * y), z};
    double point[3];
    mju_mulMatVec3(point, d->geom_xmat + 9 * geom, local);
    mju_addTo3(point, d->geom_xpos + 3 * geom);
    contacts[count] = *pair.contacts;
    move_to(d, point, &contacts[count]);
    if (contacts[count].dist < pair.cutoff) ++count;
  };
  constexpr double kCos = -0.5, kSin = std::numbers::sqrt3 / 2;  // of 120 degrees
  add(1, 0, end);
  add(1, 0, -end);
  add(kCos, kSin, end);
  add(kCos, -kSin, end);
  replace(m, d, pair, {contacts.data(), count});
}

/// Returns true if MuJoCo makes no contact of a plane and a cylinder that are within their gap.
/// Not all of its filters are tested.
bool is_missed(const mjModel* m, mjData* d, int plane, int geom) {
  const int plane_body = m->geom_bodyid[plane], body = m->geom_bodyid[geom];
  const bool may_collide = (m->geom_contype[plane] & m->geom_conaffinity[geom]) ||
                           (m->geom_contype[geom] & m->geom_conaffinity[plane]) || m->npair > 0;
  if (!may_collide || m->body_weldid[plane_body] == m->body_weldid[body]) return false;
  const bool sleeps = (m->opt.enableflags & mjENBL_SLEEP) &&
                      d->body_awake[plane_body] != mjS_AWAKE && d->body_awake[body] != mjS_AWAKE;
  if (sleeps) return false;
  double n[3];
  mju_mulMatTVec3(n, d->geom_xmat + 9 * geom, get_normal(d, plane).data());
  if (calc_lean(n) > kWide) return false;
  // The contacts of a <pair> have a margin of its own.
  const int element = find_pair(m, plane, geom);
  const double margin =
      element >= 0 ? m->pair_margin[element] : m->geom_margin[plane] + m->geom_margin[geom];
  const double cutoff = margin + find_gap(m, plane, geom);
  if (calc_plane_distance(m, d, plane, geom, nullptr) >= cutoff) return false;
  mjPreContact contacts[mjMAXCONPAIR];
  return mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_CYLINDER](m, d, contacts, plane, geom, cutoff) == 0;
}

/// Tilts a geom about its x axis by an angle for which MuJoCo's formula is right.
void tilt(mjData* d, int geom) {
  constexpr double kAngle = 1e-3;
  const double c = math::cos(kAngle), s = math::sin(kAngle);
  const mjtNum turn[9] = {1, 0, 0, 0, c, -s, 0, s, c};
  mjtNum turned[9];
  mju_mulMatMat(turned, d->geom_xmat + 9 * geom, turn, 3, 3, 3);
  std::copy_n(turned, 9, d->geom_xmat + 9 * geom);
}

/// Calls a function for all missed pairs, until it returns false.
template <class Function>
void for_each_missed(const mjModel* m, mjData* d, Function f) {
  for (int plane = 0; plane < m->ngeom; ++plane) {
    if (m->geom_type[plane] != mjGEOM_PLANE) continue;
    for (int geom = 0; geom < m->ngeom; ++geom)
      if (m->geom_type[geom] == mjGEOM_CYLINDER && is_missed(m, d, plane, geom) && !f(geom)) return;
  }
}

}  // namespace

double calc_plane_distance(const mjModel* m, const mjData* d, int plane, int geom,
                           double point[3]) {
  const auto n = get_normal(d, plane);
  const double down[3] = {-n[0], -n[1], -n[2]};
  double lowest[3];
  find_support_point(m, d, geom, down, lowest);
  if (point) mju_copy3(point, lowest);
  return calc_height(d, plane, lowest);
}

bool correct_plane_contacts(const mjModel* m, mjData* d, const PairContacts& pair) {
  const int plane = pair.contacts->geom[0], geom = pair.contacts->geom[1];
  const bool is_cylinder = m->geom_type[geom] == mjGEOM_CYLINDER;
  double point[3];
  const double exact = calc_plane_distance(m, d, plane, geom, point);
  const double error = pair.nearest().dist - exact;
  const double tolerance = is_cylinder ? kRoundingOfCylinders * pair.radius : pair.tolerance;
  const bool is_right = std::abs(error) <= tolerance;
  if (is_cylinder) {
    if (is_right && std::all_of(pair.contacts, pair.end(), [&](const mjContact& con) {
          return is_on_rim(m, d, con, tolerance);
        }))
      return false;
    replace_cylinder(m, d, pair);
    return true;
  }
  if (is_right) return false;
  for (mjContact* con = pair.contacts; con != pair.end(); ++con)
    if (con->dist < exact) set_distance(exact, con);
  if (error > 0) {
    mjContact con = *pair.contacts;
    move_to(d, point, &con);
    insert(m, d, pair.contacts, con);
  }
  return true;
}

void CollisionRepair::add_missed_cylinders(const mjModel* m, mjData* d) {
  bool has_missed = false;
  for_each_missed(m, d, [&](int) {
    has_missed = true;
    return false;
  });
  if (!has_missed) return;
  contacts_.assign(d->contact, d->contact + d->ncon);
  geom_xmat_.assign(d->geom_xmat, d->geom_xmat + 9 * m->ngeom);
  // MuJoCo's collision, with its filters and parameters, makes the contacts of cylinders that lean.
  for_each_missed(m, d, [&](int geom) {
    tilt(d, geom);
    return true;
  });
  mj_collision(m, d);
  std::copy(geom_xmat_.begin(), geom_xmat_.end(), d->geom_xmat);
  const auto is_needless = [&](const mjContact& con) {
    if (con.geom[0] < 0 || con.geom[1] < 0 || m->geom_type[con.geom[0]] != mjGEOM_PLANE ||
        m->geom_type[con.geom[1]] != mjGEOM_CYLINDER)
      return true;
    return std::any_of(contacts_.begin(), contacts_.end(), [&](const mjContact& other) {
      return other.geom[0] == con.geom[0] && other.geom[1] == con.geom[1];
    });
  };
  const auto end = std::remove_if(d->contact, d->contact + d->ncon, is_needless);
  d->ncon = static_cast<int>(end - d->contact);
  for (const mjContact& con : contacts_)
    if (mj_addContact(m, d, &con) != 0) return;
}

}  // namespace stiction::plant
