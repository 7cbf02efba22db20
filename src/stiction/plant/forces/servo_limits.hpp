#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// An actuator whose force depends on the length l and the velocity l' of its transmission. At the
/// end of a step it is f0 - dt k l' - d (l' - l0').
struct Servo {
  int actuator = -1;
  double stiffness = 0;  // k >= 0
  double damping = 0;    // d >= 0
};

/// The element that has a force limit.
enum LimitTarget : std::uint8_t { kActuator, kJoint, kTendon };

/// The force of one servo, or of all servos of a joint or tendon, with the limits that clamp it. It
/// depends on one velocity u = j v,
///
///     f(u) = f0 + clamp(excess - dt k u - d (u - u0), lower, upper),
///
/// and does not increase with u, so it is minus the derivative of a convex potential.
struct LimitedServo {
  LimitTarget target = kActuator;
  int id = -1;                            // of the actuator, joint or tendon
  int first_member = 0, num_members = 0;  // range of servos, see ServoLimits::members
  double stiffness = 0;                   // k >= 0
  double damping = 0;                     // d >= 0
  double velocity = 0;                    // u0
  double force = 0;                       // f0, the force at the start of the step
  double excess = 0;                      // force that the limits take away at the start
  double lower = 0, upper = 0;            // bounds on the change of the force, lower <= 0 <= upper
  int first_entry = 0, num_entries = 0;   // range of j, see ServoLimits::dofs and values
  bool is_near = false;                   // the limits may act within the step
};

/// Finds the servos whose force reaches a limit within the step.
///
/// Supported are the forcerange of an affine actuator; the actuatorfrcrange of a joint, for the
/// affine actuators on this joint; and that of a tendon, if all its actuators are affine and have
/// the same gear. An actuator that shares such a joint or tendon with others has its own forcerange
/// only at the start of the step. All other servos that a limit holds at the start are explicit.
class ServoLimits {
 public:
  /// @param act_in_step false if a servo is explicit whenever a limit holds it at the start
  explicit ServoLimits(bool act_in_step) : act_in_step_(act_in_step) {}

  /// Starts a step. No limit is known to be reached within it.
  void start(const mjModel* model);
  /// Separates the servos that a limit holds, or may hold at the end of the step, from the others.
  /// @param data after mj_fwdActuation
  void calc(const mjModel* model, const mjData* data, std::span<const Servo> servos);
  /// Marks the limits that are reached at the end of the step, and were not near.
  /// @param qvel velocities at the end of the step, size nv
  /// @return true if there are any; call calc again
  bool add_reached(double dt, std::span<const double> qvel);

  /// The servos without a limit that acts, in the order of the actuators.
  std::span<const Servo> linear() const { return linear_; }
  /// The forces with limits, also with those that are not near.
  std::span<const LimitedServo> limited() const { return limited_; }
  std::span<const int> dofs(const LimitedServo& limited) const {
    return std::span(dofs_).subspan(limited.first_entry, limited.num_entries);
  }
  std::span<const double> values(const LimitedServo& limited) const {
    return std::span(values_).subspan(limited.first_entry, limited.num_entries);
  }

  /// Writes the force that a limited servo applies to actuator_force, qfrc_actuator and
  /// qfrc_smooth.
  /// @param change of the force from the start of the step [N, N m]
  /// @param qvel   velocities at the end of the step, size nv
  void write_force(const mjModel* model, mjData* data, const LimitedServo& limited, double change,
                   std::span<const double> qvel) const;

 private:
  /// The part of a servo in this step.
  enum class Role : std::uint8_t { kOpen, kLinear, kLimited, kExplicit };
  /// A servo that a limit holds.
  struct Member {
    Servo servo;
    std::size_t index;  // among the servos given
    double gear;        // of its force in the limited one
  };

  std::span<const Member> members(const LimitedServo& limited) const {
    return std::span(members_).subspan(limited.first_member, limited.num_members);
  }
  bool find_supported(const mjModel* m, int actuator, LimitedServo* out) const;
  void gather_members(const mjModel* m, const mjData* d, std::span<const Servo> servos,
                      std::size_t first, LimitedServo* limited);
  void set_direction(const mjModel* m, const mjData* d, LimitedServo* limited);
  void set_limits(const mjModel* m, const mjData* d, LimitedServo* limited) const;
  double calc_velocity(const LimitedServo& limited, std::span<const double> qvel) const;

  bool act_in_step_;
  bool has_started_ = false;
  std::vector<Servo> linear_;
  std::vector<Member> members_;
  std::vector<LimitedServo> limited_;
  std::vector<Role> roles_;  // of each servo given
  std::vector<int> dofs_;
  std::vector<double> values_;
  // For each actuator, joint and tendon, 1 if a limit is reached within the step.
  std::array<std::vector<std::uint8_t>, 3> is_reached_;
};

}  // namespace stiction::plant
