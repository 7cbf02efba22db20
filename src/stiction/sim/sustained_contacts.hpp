#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/body_velocities.hpp"
#include "stiction/plant/gap_acceleration.hpp"

namespace stiction::sim {

/// What the velocities of a contact problem stand for.
enum class Level { impact, acceleration };

/// The contacts and constraint rows that hold through a part of an `rk4` step. A contact is
/// sustained if it touched when the part began, still touches, and neither closes nor opens.
/// Source: [drumwright2015] section III; [theory:acceleration-level].
class SustainedContacts {
 public:
  /// Records which geoms touch when a part begins, and how far limits and equalities are off.
  /// @param data after MuJoCo's position stage and constraint rows
  void record_start(const mjData* data);

  /// Returns true if the positions of a later stage are still those of the same contacts: no geoms
  /// and no limits overlap deeper than when the part began, beyond the tolerance.
  /// @param reach largest possible time since the part began [s]. A stage moves straight on, so it
  ///     may enter a curved surface by the distance that curvature makes in this time. It is 0 at
  ///     the end of a part, which follows the surfaces.
  bool are_followed(const mjModel* model, const mjData* data, double reach);
  /// Returns true if no equality is open wider than when the part began, or opens.
  bool hold_equalities(const mjData* data) const;

  /// Chooses the contacts that touch, for an impact.
  /// @return true if a contact, limit or equality closes or opens, so that an impact is to be
  /// solved
  bool choose_touching(const mjModel* model, const mjData* data);

  /// Chooses the contacts that are sustained, as nearly as a stage can tell.
  /// @param reach as above, 0 at the part's beginning
  void choose_sustained(const mjModel* model, const mjData* data, double reach);

  /// Removes the rows of dry friction and of open limits from the problem, and gives the other rows
  /// their J-dot v for their position, or 0 at an impact.
  void choose_rows(const mjData* data, Level level, double reach,
                   contact::ContactProblem* problem) const;

  /// One flag per contact in data->contact: 1 if it is chosen.
  std::span<const std::uint8_t> acts() const { return acts_; }
  /// N-dot v of a contact in data->contact after choose_sustained [m/s^2].
  double bias(int contact) const { return bias_[contact]; }

 private:
  /// Two geoms that touched when the part began.
  struct Touching {
    std::array<int, 2> geoms{};
    double depth = 0;  // >= 0 [m]
  };
  const Touching* find_touching(const mjContact& con) const;

  std::vector<Touching> touching_;
  double limit_depth_ = 0;     // the largest when the part began [m, rad]
  double equality_error_ = 0;  // likewise [m, rad]
  plant::GapAcceleration gap_acceleration_;
  plant::BodyVelocities velocities_;
  std::vector<std::uint8_t> acts_;
  std::vector<double> bias_;
};

}  // namespace stiction::sim
