#include "stiction/plant/actuator_damping.hpp"

#include <algorithm>
#include <cmath>

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

/// Returns the damping of a DC motor: the back-EMF K^2/R, the velocity gain of its controller, and
/// the micro-damping of its friction. With inductance, the force depends on the velocity through the
/// current at the end of the step, if the actuator uses it.
double calc_motor_damping(const mjModel* m, int actuator) {
  const mjtNum* dyn = m->actuator_dynprm + mjNDYN * actuator;
  const mjtNum* gain = m->actuator_gainprm + mjNGAIN * actuator;
  const double R = std::max(mjMINVAL, gain[0]), K = gain[1], time_constant = dyn[0];
  const int input = static_cast<int>(gain[8]);  // 0: voltage, 1: position, 2: velocity
  const double control = input == 1 ? gain[6] : input == 2 ? gain[4] : 0;
  double share = 1;  // of its change that the current makes within the step
  if (time_constant > 0)
    share = m->actuator_actearly[actuator] ? 1 - std::exp(-m->opt.timestep / time_constant) : 0;
  return K * (K + control) * share / R + std::max(0.0, dyn[6]);
}

}  // namespace

double calc_special_damping(const mjModel* m, const mjData* d, int actuator, double input) {
  switch (m->actuator_gaintype[actuator]) {
    case mjGAIN_MUSCLE: return input * calc_muscle_damping(m, d, actuator);
    case mjGAIN_DCMOTOR: return calc_motor_damping(m, actuator);
    default: return 0;
  }
}

}  // namespace stiction::plant
