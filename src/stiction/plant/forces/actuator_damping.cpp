#include "stiction/plant/forces/actuator_damping.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {
namespace {

/// Returns the derivative of a muscle's force-velocity curve, which consists of parabolas and
/// constants.
/// @param V velocity in units of the largest one
/// @param largest the curve's value at high velocities of lengthening
double calc_curve_slope(double V, double largest) {
  const double end = largest - 1;
  if (V <= -1 || V > end) return 0;
  return V <= 0 ? 2 * (V + 1) : 2 * (end - V) / std::max(mjMINVAL, end);
}

/// Returns the damping of a muscle's gain -F_0 F_L(l) F_V(v).
double calc_muscle_damping(const mjModel* m, const mjData* d, int actuator) {
  const int out = m->actuator_outadr[actuator];
  const mjtNum* prm = m->actuator_gainprm + mjNGAIN * actuator;
  const mjtNum* range = m->actuator_lengthrange + 2 * out;
  const double length0 = (range[1] - range[0]) / std::max(mjMINVAL, prm[1] - prm[0]);
  const double unit = std::max(mjMINVAL, length0 * prm[6]);
  const double slope = calc_curve_slope(d->actuator_velocity[out] / unit, prm[8]);
  // F_V(0) is 1.
  const double gain0 =
      mju_muscleGain(d->actuator_length[out], 0, range, m->actuator_acc0[out], prm);
  return -gain0 * slope / unit;
}

/// Returns the share of the change of a motor's current that happens within a step. The force of a
/// motor with inductance depends on the velocity through the current at the end of the step, if the
/// actuator uses it.
double calc_current_share(const mjModel* m, int actuator) {
  const double time_constant = m->actuator_dynprm[mjNDYN * actuator];
  if (time_constant <= 0) return 1;
  return m->actuator_actearly[actuator] ? 1 - math::exp(-m->opt.timestep / time_constant) : 0;
}

/// True if the voltage that a motor's controller needs is at its limit. It follows from the
/// current, V = R i + K v. Motors with cogging or friction have other torques too, so it is not
/// known there.
bool is_voltage_limited(const mjModel* m, const mjData* d, int actuator, double share) {
  const mjtNum *dyn = m->actuator_dynprm + mjNDYN * actuator,
               *gain = m->actuator_gainprm + mjNGAIN * actuator;
  const double R = std::max(mjMINVAL, gain[0]), K = gain[1], limit = gain[7];
  const bool has_friction = dyn[5] > 0, has_cogging = m->actuator_biasprm[mjNBIAS * actuator] != 0;
  if (limit <= 0 || K == 0 || share == 0 || has_friction || has_cogging) return false;
  const int out = m->actuator_outadr[actuator];
  double current = d->actuator_force[out] / K;  // the one at the end of a long time
  if (share < 1) {
    const double start = d->act[m->actuator_actadr[actuator] + m->actuator_actnum[actuator] - 1];
    current = start + (current - start) / share;
  }
  const double voltage = R * current + K * d->actuator_velocity[out];
  return std::abs(voltage) >= (1 - 1e-9) * limit;
}

/// Returns the damping of a DC motor. A motor that is given a voltage has that of its back-EMF,
/// K^2/R. A controller of position or velocity compensates the back-EMF and has a velocity gain,
/// until its voltage is limited. The friction has its micro-damping.
double calc_motor_damping(const mjModel* m, const mjData* d, int actuator) {
  constexpr int kControllers = mjINPUT_POS | mjINPUT_VEL | mjINPUT_FF;
  const mjtNum *dyn = m->actuator_dynprm + mjNDYN * actuator,
               *gain = m->actuator_gainprm + mjNGAIN * actuator;
  const double R = std::max(mjMINVAL, gain[0]), K = gain[1];
  const double share = calc_current_share(m, actuator);
  const bool has_controller = m->actuator_ctrlspec[actuator] & kControllers;
  const double damping = has_controller && !is_voltage_limited(m, d, actuator, share)
                             ? std::max(0.0, gain[6])
                             : K * K / R;
  return share * damping + std::max(0.0, dyn[6]);
}

}  // namespace

double calc_special_damping(const mjModel* m, const mjData* d, int actuator, double input) {
  switch (m->actuator_gaintype[actuator]) {
    case mjGAIN_MUSCLE: return input * calc_muscle_damping(m, d, actuator);
    case mjGAIN_DCMOTOR: return calc_motor_damping(m, d, actuator);
    default: return 0;
  }
}

}  // namespace stiction::plant
