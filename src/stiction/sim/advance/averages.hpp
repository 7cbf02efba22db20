#pragma once

#include <array>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Averages the contacts, the constraint forces and the sensors of acceleration over the half steps
/// of a call. Each half step has another length, so those of the last one alone would mean little.
class AdvanceAverages {
 public:
  /// The force of a constraint row, whose key names it in all half steps: the geoms of its contact,
  /// their place among contacts of the same geoms, and its place among the rows of the contact; or
  /// -1, and the type, the element and the place of another row.
  struct RowForce {
    std::array<int, 4> key{};
    double force = 0;  // [N, N m]
  };
  /// A half step.
  struct Part {
    double duration = 0;  // [s]
    ContactReport contacts;
    std::vector<double> sensordata;       // all; only those of acceleration are read
    std::vector<double> qfrc_constraint;  // size nv
    std::vector<RowForce> rows;           // efc_force
  };

  /// Begins a call.
  void start(const mjModel* model, const mjData* data);
  /// Reads a half step from data and its report.
  static void read(const mjModel* model, const mjData* data, const ContactReport& contacts,
                   double duration, Part* part);
  /// Adds a half step that was accepted.
  void add(const mjModel* model, const Part& part);

  /// Writes the averages to data: the sensors of acceleration, qfrc_constraint, efc_force of the
  /// rows of the last half step, and qacc as the change of velocity over the duration.
  /// @param contacts those of the last half step; set to those of the whole call
  void finish(const mjModel* model, mjData* data, ContactReport* contacts);

  /// True if the model has sensors of acceleration or force.
  static bool has_sensors(const mjModel* model);

 private:
  /// The row of contacts_ that sums the contacts between the same geoms with the same place in
  /// their order.
  struct Entry {
    std::array<int, 3> key{};  // geoms, place
    int row = 0;
  };
  int find_row(const std::array<int, 3>& key, int* place, bool* is_new);
  void add_contacts(const ContactReport& from);
  void add_rows(const Part& part);
  void write_rows(mjData* data);
  void add_row(const ContactReport& from, int i, int row);

  double duration_ = 0;
  int num_parts_ = 0;
  std::vector<double> qvel_;                          // at the start of the call
  std::vector<double> sensordata_, qfrc_constraint_;  // sums of value times duration
  ContactReport contacts_;                            // sums, and values of the last part
  ContactReport means_;                               // sums of values times normal impulses
  std::vector<double> weights_;                       // sums of normal impulses
  std::vector<int> last_part_;                        // per row: the last part that has the contact
  std::vector<RowForce> rows_;                        // sums of force times duration, by keys
  std::vector<Entry> entries_;                        // in ascending order of keys
  // The places in rows_ and entries_ of the rows and contacts of the last part. Most parts have the
  // same ones in the same order.
  std::vector<int> row_places_, entry_places_;
};

}  // namespace stiction::sim
