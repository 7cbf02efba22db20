#pragma once

#include <limits>

#include "stiction/formulations/rigid/cone_tolerances.hpp"

namespace stiction::formulations {

/// Chooses the stiffness of the springs from one proximal step of ConeSolver to the next, in units
/// of 1 / mobility. Soft springs are easy to solve, and stiff springs come nearer to the solution.
class SpringSchedule {
 public:
  explicit SpringSchedule(double first_stiffness) : stiffness_(first_stiffness) {}

  double stiffness() const { return stiffness_; }
  bool is_usual() const { return stiffness_ <= kUsualConeStiffness; }
  /// True if a step was solved.
  bool has_solved() const { return solved_ > 0; }
  /// True if the last steps hardly came nearer.
  bool is_slow() const { return num_slow_ >= kConeStepsBeforeSkip; }

  /// Notes the residual after a step that was solved.
  void note_solved(double residual);
  /// Forgets that steps were slow, because the last ones were taken many at once.
  void restart() { num_slow_ = 0; }
  /// Stiffens the springs after a step that was solved.
  /// @return false if steps with the stiffest springs do not come nearer
  [[nodiscard]] bool stiffen();
  /// Softens the springs after a step that was not solved.
  /// @return false if too many steps were not solved
  [[nodiscard]] bool soften();

 private:
  double stiffness_;
  double growth_ = kConeStiffnessGrowth;  // from step to step
  double solved_ = 0;                     // stiffness of the last step that was solved
  double nearest_ = std::numeric_limits<double>::infinity();  // least residual [m/s, rad/s]
  int num_slow_ = 0, num_failures_ = 0;
};

}  // namespace stiction::formulations
