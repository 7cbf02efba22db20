#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/collision/gap_acceleration.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"

namespace stiction::sim {

/// The level of a contact problem: its velocities are velocities after an impact, or accelerations.
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
  bool are_followed(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap,
                    double reach);
  /// Returns true if no equality is open wider than when the part began, or opens.
  bool hold_equalities(const mjData* data) const;

  /// Chooses the contacts that touch, for an impact.
  /// @return true if a contact or limit closes or an equality opens, so that an impact must be
  /// solved
  bool choose_touching(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap);

  /// Chooses the contacts that are sustained, within the accuracy of a stage.
  /// @param reach largest possible time since the part began [s], 0 at its beginning
  void choose_sustained(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap,
                        double reach);

  /// Removes the rows of dry friction and of open limits from the problem. Sets Row::position of
  /// the other rows to their J-dot v, or to 0 at an impact.
  void choose_rows(const mjData* data, Level level, double reach,
                   contact::ContactProblem* problem) const;

  /// One flag per contact in data->contact: 1 if it is chosen.
  std::span<const std::uint8_t> acts() const { return acts_; }
  /// The term N-dot v of a contact in data->contact [m/s^2]. Call choose_sustained first.
  double bias(int contact) const { return bias_[contact]; }

 private:
  /// Two geoms that touched when the part began.
  struct Touching {
    std::array<int, 2> geoms{};
    double depth = 0;  // >= 0 [m]
  };
  const Touching* find_touching(const mjContact& con) const;

  std::vector<Touching> touching_;
  double limit_depth_ = 0;     // largest violation of a limit when the part began [m, rad]
  double equality_error_ = 0;  // largest error of an equality when the part began [m, rad]
  plant::GapAcceleration gap_acceleration_;
  plant::BodyVelocities velocities_;
  std::vector<std::uint8_t> acts_;
  std::vector<double> bias_;
};

}  // namespace stiction::sim
