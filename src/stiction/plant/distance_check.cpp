#include "stiction/plant/distance_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/support_function.hpp"

namespace stiction::plant {
namespace {

/// True if MuJoCo collides two geoms of this and any other type by GJK and EPA. All other pairs of
/// types have formulas.
bool is_general(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  return type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_MESH;
}

const mjContact& find_nearest(const mjContact* contacts, int begin, int end) {
  return *std::min_element(contacts + begin, contacts + end,
                           [](const mjContact& a, const mjContact& b) { return a.dist < b.dist; });
}

}  // namespace

void DistanceCheck::correct(mjModel* m, mjData* d) {
  const mjOption options = m->opt;
  m->opt.disableflags &= ~mjDSBL_NATIVECCD;  // libccd is less accurate
  find_wrong(m, d);
  if (!wrong_.empty()) {
    first_.assign(d->contact, d->contact + d->ncon);
    collide_alone(m, d);
    again_.assign(d->contact, d->contact + d->ncon);
    merge();
    write(m, d);
  }
  m->opt = options;
}

/// Returns the consecutive contacts of the same two geoms that begin at an index.
DistanceCheck::Run DistanceCheck::find_run(const mjContact* contacts, int num_contacts, int begin) {
  Run run{.begin = begin,
          .end = begin + 1,
          .geoms = {contacts[begin].geom[0], contacts[begin].geom[1]}};
  while (run.end < num_contacts && contacts[run.end].geom[0] == run.geoms[0] &&
         contacts[run.end].geom[1] == run.geoms[1])
    ++run.end;
  return run;
}

void DistanceCheck::find_wrong(const mjModel* m, mjData* d) {
  wrong_.clear();
  for (int i = 0; i < d->ncon;) {
    const Run run = find_run(d->contact, d->ncon, i);
    i = run.end;
    const auto [a, b] = run.geoms;
    if (a < 0 || b < 0 || !(is_general(m, a) || is_general(m, b))) continue;
    if (!has_support_function(m, a) || !has_support_function(m, b)) continue;
    if (is_wrong(m, d, run)) wrong_.push_back(run);
  }
}

bool DistanceCheck::is_wrong(const mjModel* m, mjData* d, const Run& run) {
  const auto [a, b] = run.geoms;
  const double radius = std::min(m->geom_rbound[a], m->geom_rbound[b]);
  const mjContact& nearest = find_nearest(d->contact, run.begin, run.end);
  const double error = std::abs(nearest.dist - calc_separation(m, d, a, b, nearest.frame)) / radius;
  if (run.end - run.begin == 1) return error > kLargestError;
  if (error <= kLargestErrorOfSeveral && nearest.dist > -kDeep * radius) return false;
  const double one = mj_geomDistance(m, d, a, b, std::max(nearest.dist, 0.0) + radius, nullptr);
  return std::abs(nearest.dist - one) > kLargestErrorOfSeveral * radius;
}

/// Collides the geoms of the wrong pairs with one accurate contact per pair.
void DistanceCheck::collide_alone(mjModel* m, mjData* d) {
  int* const all_types = m->geom_contype;
  int* const all_affinities = m->geom_conaffinity;
  contype_.assign(m->ngeom, 0);
  conaffinity_.assign(m->ngeom, 0);
  for (const Run& run : wrong_)
    for (const int geom : run.geoms) {
      contype_[geom] = all_types[geom];
      conaffinity_[geom] = all_affinities[geom];
    }
  m->geom_contype = contype_.data();
  m->geom_conaffinity = conaffinity_.data();
  m->opt.disableflags |= mjDSBL_MULTICCD;
  m->opt.ccd_tolerance = std::min(m->opt.ccd_tolerance, 1e-12);
  m->opt.ccd_iterations = std::max(m->opt.ccd_iterations, 500);
  mj_collision(m, d);
  m->geom_contype = all_types;
  m->geom_conaffinity = all_affinities;
}

/// Replaces the contacts of wrong pairs by those of the second collision. A pair that is not in it
/// is farther apart than its gap.
void DistanceCheck::merge() {
  merged_.clear();
  auto wrong = wrong_.begin();
  const int num_first = static_cast<int>(first_.size());
  const int num_again = static_cast<int>(again_.size());
  for (int i = 0; i < num_first; ++i) {
    if (wrong == wrong_.end() || i < wrong->begin) {
      merged_.push_back(first_[i]);
      continue;
    }
    for (int k = 0; k < num_again;) {
      const Run run = find_run(again_.data(), num_again, k);
      if (run.geoms == wrong->geoms)
        merged_.insert(merged_.end(), again_.begin() + run.begin, again_.begin() + run.end);
      k = run.end;
    }
    i = wrong->end - 1;
    ++wrong;
  }
}

/// Makes the list of contacts as long as the merged one, in MuJoCo's arena, and copies it.
void DistanceCheck::write(const mjModel* m, mjData* d) const {
  const int count = static_cast<int>(merged_.size());
  d->ncon = std::min(d->ncon, count);
  for (int i = d->ncon; i < count; ++i)
    if (mj_addContact(m, d, &merged_[i]) != 0) break;  // MuJoCo has warned that the arena is full
  std::copy_n(merged_.begin(), d->ncon, d->contact);
}

}  // namespace stiction::plant
