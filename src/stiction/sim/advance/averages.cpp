#include "stiction/sim/advance/averages.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {
namespace {

bool is_averaged(const mjModel* m, int sensor) {
  return m->sensor_needstage[sensor] == mjSTAGE_ACC;
}

/// Calls f(array of a, the same array of b, numbers per contact) for all arrays but the impulses.
template <class F>
void for_each_array(const ContactReport& a, ContactReport* b, F&& f) {
  f(a.bodies, &b->bodies, 2);
  f(a.geoms, &b->geoms, 2);
  f(a.point, &b->point, 3);
  f(a.normal, &b->normal, 3);
  f(a.distance, &b->distance, 1);
  f(a.normal_velocity, &b->normal_velocity, 1);
  f(a.slip_velocity, &b->slip_velocity, 3);
  f(a.slipping, &b->slipping, 1);
  f(a.friction, &b->friction, 1);
  f(a.delassus, &b->delassus, 1);
  f(a.is_fallback, &b->is_fallback, 1);
  f(a.patch, &b->patch, 1);
}

/// Calls f(row, key) for all rows of constraints; see AdvanceAverages::RowForce.
template <class F>
void for_each_row(const mjData* d, F&& f) {
  std::array<int, 3> element = {-1, -1, 0};
  int place = 0;
  for (int row = 0; row < d->nefc; ++row) {
    const int type = d->efc_type[row], id = d->efc_id[row];
    const bool is_contact = type >= mjCNSTR_CONTACT_FRICTIONLESS;
    if (row > 0 && d->efc_type[row - 1] == type && d->efc_id[row - 1] == id) {
      ++place;
    } else {
      place = 0;
      if (is_contact) {
        const int* geoms = d->contact[id].geom;
        const bool repeats = element[0] == geoms[0] && element[1] == geoms[1];
        element = {geoms[0], geoms[1], repeats ? element[2] + 1 : 0};
      }
    }
    f(row, is_contact ? std::array{element[0], element[1], element[2], place}
                      : std::array{-1, type, id, place});
  }
}

/// Returns where a key is in a list that is sorted by keys, or where it belongs.
/// @param place a guess; set to the result
template <class T>
auto find_key(std::vector<T>* sorted, const decltype(T::key)& key, int* place) {
  if (*place < static_cast<int>(sorted->size()) && (*sorted)[*place].key == key)
    return sorted->begin() + *place;
  const auto at = std::ranges::lower_bound(*sorted, key, {}, &T::key);
  *place = static_cast<int>(at - sorted->begin());
  return at;
}

}  // namespace

bool AdvanceAverages::has_sensors(const mjModel* m) {
  for (int i = 0; i < m->nsensor; ++i)
    if (is_averaged(m, i)) return true;
  return false;
}

void AdvanceAverages::start(const mjModel* m, const mjData* d) {
  duration_ = 0;
  num_parts_ = 0;
  qvel_.assign(d->qvel, d->qvel + m->nv);
  sensordata_.assign(m->nsensordata, 0.0);
  qfrc_constraint_.assign(m->nv, 0.0);
  clear_contacts(&contacts_);
  weights_.clear();
  points_.clear();
  last_part_.clear();
  entries_.clear();
  rows_.clear();
}

void AdvanceAverages::read(const mjModel* m, const mjData* d, const ContactReport& contacts,
                           double duration, Part* part) {
  part->duration = duration;
  part->contacts = contacts;
  part->sensordata.assign(d->sensordata, d->sensordata + m->nsensordata);
  part->qfrc_constraint.assign(d->qfrc_constraint, d->qfrc_constraint + m->nv);
  part->rows.clear();
  for_each_row(d, [&](int row, const std::array<int, 4>& key) {
    part->rows.push_back({key, d->efc_force[row]});
  });
}

void AdvanceAverages::add(const mjModel* m, const Part& part) {
  duration_ += part.duration;
  ++num_parts_;
  for (int i = 0; i < m->nsensordata; ++i) sensordata_[i] += part.duration * part.sensordata[i];
  for (int i = 0; i < m->nv; ++i) qfrc_constraint_[i] += part.duration * part.qfrc_constraint[i];
  add_contacts(part.contacts);
  add_rows(part);
}

void AdvanceAverages::add_rows(const Part& part) {
  row_places_.resize(part.rows.size());
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const RowForce& row = part.rows[i];
    const auto at = find_key(&rows_, row.key, &row_places_[i]);
    if (at == rows_.end() || at->key != row.key)
      rows_.insert(at, {row.key, part.duration * row.force});
    else
      at->force += part.duration * row.force;
  }
}

/// Writes the mean forces of the rows of the last half step.
void AdvanceAverages::write_rows(mjData* d) {
  for_each_row(d, [&](int row, const std::array<int, 4>& key) {
    const auto at = std::ranges::lower_bound(rows_, key, {}, &RowForce::key);
    if (at != rows_.end() && at->key == key) d->efc_force[row] = at->force / duration_;
  });
}

/// Returns the row of a contact, which is a new one at the end for a new key.
/// @param place a guess of its place in entries_; set to the place
int AdvanceAverages::find_row(const std::array<int, 3>& key, int* place, bool* is_new) {
  const auto at = find_key(&entries_, key, place);
  *is_new = at == entries_.end() || at->key != key;
  if (!*is_new) return at->row;
  const int row = static_cast<int>(weights_.size());
  entries_.insert(at, {key, row});
  return row;
}

/// Copies everything of contact i but its impulses to a row.
void AdvanceAverages::copy_row(const ContactReport& from, int i, int row) {
  for_each_array(from, &contacts_, [&](const auto& source, auto* array, int n) {
    std::copy_n(source.begin() + n * i, n, array->begin() + n * row);
  });
}

void AdvanceAverages::add_contacts(const ContactReport& from) {
  std::array<int, 3> key = {-1, -1, 0};
  entry_places_.resize(from.size());
  for (int i = 0; i < from.size(); ++i) {
    const int A = from.geoms[2 * i], B = from.geoms[2 * i + 1];
    key = key[0] == A && key[1] == B ? std::array{A, B, key[2] + 1} : std::array{A, B, 0};
    if (from.distance[i] > 0 && from.normal_impulse[i] == 0) continue;  // it stayed open
    bool is_new = false;
    const int row = find_row(key, &entry_places_[i], &is_new);
    if (is_new) {
      const int size = row + 1;
      for_each_array(from, &contacts_,
                     [size](const auto&, auto* array, int n) { array->resize(n * size); });
      for (auto* array : {&contacts_.impulse, &contacts_.torque_impulse, &points_})
        array->resize(3 * size, 0.0);
      for (auto* array : {&contacts_.normal_impulse, &weights_}) array->resize(size, 0.0);
      last_part_.resize(size);
    }
    copy_row(from, i, row);
    last_part_[row] = num_parts_;
    const double weight = from.normal_impulse[i];
    weights_[row] += weight;
    contacts_.normal_impulse[row] += weight;
    for (int k = 0; k < 3; ++k) {
      contacts_.impulse[3 * row + k] += from.impulse[3 * i + k];
      contacts_.torque_impulse[3 * row + k] += from.torque_impulse[3 * i + k];
      points_[3 * row + k] += weight * from.point[3 * i + k];
    }
  }
}

void AdvanceAverages::finish(const mjModel* m, mjData* d, ContactReport* contacts) {
  if (num_parts_ == 0) return;
  for (int s = 0; s < m->nsensor; ++s)
    if (is_averaged(m, s))
      for (int i = m->sensor_adr[s]; i < m->sensor_adr[s] + m->sensor_dim[s]; ++i)
        d->sensordata[i] = sensordata_[i] / duration_;
  for (int i = 0; i < m->nv; ++i) {
    d->qfrc_constraint[i] = qfrc_constraint_[i] / duration_;
    d->qacc[i] = (d->qvel[i] - qvel_[i]) / duration_;
  }
  write_rows(d);
  for (int row = 0; row < contacts_.size(); ++row) {
    if (weights_[row] > 0)
      for (int k = 0; k < 3; ++k)
        contacts_.point[3 * row + k] = points_[3 * row + k] / weights_[row];
    // Patches are those of the last part.
    if (last_part_[row] != num_parts_) contacts_.patch[row] = -1;
  }
  *contacts = contacts_;
  contacts->time_step = duration_;
}

}  // namespace stiction::sim
