#pragma once

#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// Makes contacts hold under MuJoCo's adhesion, of actuators on a body and of geoms.
///
/// MuJoCo applies adhesion to contacts within their margin. A rigid contact that overlaps at the
/// start of a step would leave at the speed that removes the overlap, and then adhesion would let
/// it go. Here, with the acceleration a that the whole adhesion gives the two bodies,
///
///  - an overlap x of near-rigid contacts is removed at a speed of at most sqrt(2 e a x). Adhesion
///    that exceeds the load by the share e of a stops this motion within x.
///  - adhesion also acts on gaps below a dt^2, which it closes within about one step.
class Adhesion {
 public:
  /// The share e of the adhesion by which it must exceed the load [-].
  static constexpr double kExcess = 0.005;

  /// Computes the acceleration of each contact by adhesion. Costs nothing in models without it.
  /// @param data after mj_collision, with the controls or activations of the step
  void calc(const mjModel* model, const mjData* data);

  /// True if adhesion acts on a contact although it is beyond its margin.
  /// @param index in data->contact
  bool bridges_gap(const mjModel* model, const mjData* data, int index) const;

  /// Limits the speed at which adhesive contacts of a problem remove their overlap.
  /// @param is_rigid true if the contact model is rigid; then phi0 changes
  void limit_separation(bool is_rigid, contact::ContactProblem* problem);
  /// Restores the distances that limit_separation has changed, for the report.
  void restore_distances(contact::ContactProblem* problem) const;

 private:
  std::vector<double> acceleration_;          // per contact of data [m/s^2]; empty: no adhesion
  std::vector<std::pair<int, double>> phi0_;  // contacts whose distance was changed, and it
};

}  // namespace stiction::plant
