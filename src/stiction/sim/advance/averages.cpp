#include "stiction/sim/advance/averages.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction::sim {
namespace {

bool is_averaged(const mjModel* m, int sensor) {
  return m->sensor_needstage[sensor] == mjSTAGE_ACC;
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
  for (ContactReport* contacts : {&contacts_, &means_}) clear_arrays(contacts);
  weights_.clear();
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

/// Adds contact i to a row: sums and weighted sums, and a copy of all else.
void AdvanceAverages::add_row(const ContactReport& from, int i, int row) {
  const double weight = from.normal_impulse[i];
  weights_[row] += weight;
  for_each_array<ContactReport>([&](const auto& array) {
    for (int k = 0; k < array.width; ++k) {
      const auto value = (from.*array.member)[array.width * i + k];
      const int place = array.width * row + k;
      auto& last = (contacts_.*array.member)[place];
      last = array.average == Average::kSum ? last + value : value;
      if (array.average == Average::kMean) (means_.*array.member)[place] += weight * value;
    }
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
      for (ContactReport* contacts : {&contacts_, &means_}) resize_arrays(size, contacts);
      weights_.resize(size, 0.0);
      last_part_.resize(size);
    }
    add_row(from, i, row);
    last_part_[row] = num_parts_;
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
  for_each_array<ContactReport>([&](const auto& array) {
    for (int row = 0; row < contacts_.size(); ++row)
      for (int place = array.width * row; place < array.width * (row + 1); ++place) {
        auto& value = (contacts_.*array.member)[place];
        if (array.average == Average::kMean && weights_[row] > 0)
          value = (means_.*array.member)[place] / weights_[row];
        if (array.average == Average::kLastPatch && last_part_[row] != num_parts_) value = -1;
      }
  });
  *contacts = contacts_;
  contacts->time_step = duration_;
}

}  // namespace stiction::sim
