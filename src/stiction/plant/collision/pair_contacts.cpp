#include "stiction/plant/collision/pair_contacts.hpp"

#include <cmath>

#include "stiction/plant/collision/geom_pair.hpp"
#include "stiction/plant/mujoco/mujoco_contact.hpp"

namespace stiction::plant {

double find_gap(const mjModel* m, int a, int b) {
  const int pair = find_pair(m, a, b);
  return pair >= 0 ? m->pair_gap[pair] : m->geom_gap[a] + m->geom_gap[b];
}

PairContacts find_contacts_at(const mjModel* m, const mjData* d, int begin) {
  PairContacts pair{
      .contacts = d->contact + begin, .size = 1, .radius = 0, .tolerance = 0, .cutoff = 0};
  const int a = pair.contacts->geom[0], b = pair.contacts->geom[1];
  while (begin + pair.size < d->ncon && pair.end()->geom[0] == a && pair.end()->geom[1] == b)
    ++pair.size;
  if (a < 0 || b < 0) return pair;
  // A plane is unbounded, and its radius is 0.
  const bool has_plane = m->geom_type[a] == mjGEOM_PLANE;
  pair.radius = has_plane ? m->geom_rbound[b] : std::min(m->geom_rbound[a], m->geom_rbound[b]);
  pair.tolerance = std::min(m->opt.ccd_tolerance, kLargestErrorOfSmallGeoms * pair.radius);
  pair.cutoff = pair.contacts->includemargin + find_gap(m, a, b);
  return pair;
}

void set_distance(double distance, mjContact* con) {
  con->dist = distance;
  if (con->exclude <= kInGap) con->exclude = distance >= con->includemargin ? kInGap : kTakesPart;
}

void set_normal(const double n[3], mjContact* con) {
  mjtNum* t = con->frame + 3;
  std::copy_n(n, 3, con->frame);
  mju_zero3(t);
  t[std::abs(n[1]) < 0.5 ? 1 : 2] = 1;
  mju_addToScl3(t, con->frame, -mju_dot3(t, con->frame));
  mju_normalize3(t);
  mju_cross(con->frame + 6, con->frame, t);
}

void erase(mjData* d, mjContact* begin, mjContact* end) {
  std::move(end, d->contact + d->ncon, begin);
  d->ncon -= static_cast<int>(end - begin);
}

void insert(const mjModel* m, mjData* d, mjContact* at, const mjContact& con) {
  const auto index = at - d->contact;
  if (mj_addContact(m, d, &con) != 0) return;
  mjContact* const list = d->contact;
  std::rotate(list + index, list + d->ncon - 1, list + d->ncon);
}

}  // namespace stiction::plant
