#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// A range of rows that are the components of one vector.
struct RowComponents {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
};

/// Finds the vector that a row is a component of. A connect has one, and a weld has one of
/// positions and one of rotations. Other rows are scalars.
/// @param row of the equalities, dry friction and limits in data->efc_*
RowComponents find_components(const mjModel* model, const mjData* data, int row);

/// Computes mobilities of constraint rows from the inertia matrix M of the pose.
///
/// M and not the momentum matrix A: the mobility scales a spring and a damper, which would
/// otherwise depend on the time step and on the gains of servos, and a run would not converge to a
/// motion.
class RowMobility {
 public:
  /// Returns the mean of the diagonal of J M^-1 J^T over some rows, >= 0 [1/kg, 1/(kg m^2)]. It
  /// does not depend on the axes of a vector. In a pose in which no motion moves one component, the
  /// others keep it above 0.
  /// @param data after mj_factorM and mj_makeConstraint
  double calc_mean(const mjModel* model, const mjData* data, const RowComponents& rows);

 private:
  double take_squared_norm(const mjModel* model, const mjData* data, int first, int last);

  std::vector<double> z_;  // a row of J L^-1, with M = L^T D L; zeros between calls
};

}  // namespace stiction::plant
