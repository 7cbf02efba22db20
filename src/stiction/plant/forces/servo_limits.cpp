#include "stiction/plant/forces/servo_limits.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"
#include "stiction/plant/forces/actuator_input.hpp"

namespace stiction::plant {
namespace {

bool is_on_joint(const mjModel* m, int actuator) {
  const int type = m->actuator_trntype[actuator];
  return type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
}

bool is_on_tendon(const mjModel* m, int actuator, int tendon) {
  return m->actuator_trntype[actuator] == mjTRN_TENDON && m->actuator_trnid[2 * actuator] == tendon;
}

int count_actuators(const mjModel* m, int tendon) {
  int count = 0;
  for (int a = 0; a < m->nactuator; ++a) count += is_on_tendon(m, a, tendon);
  return count;
}

/// Returns the range of an actuator's force, infinite without a limit.
std::span<const double, 2> find_range(const mjModel* m, int actuator) {
  static constexpr double kUnlimited[] = {-mjMAXVAL, mjMAXVAL};
  const mjtNum* range = m->actuator_forcerange + 2 * actuator;
  return std::span<const double, 2>(m->actuator_forcelimited[actuator] ? range : kUnlimited, 2);
}

bool is_at_limit(double force, const mjtNum* range) {
  return force <= range[0] || force >= range[1];
}

/// True if an actuator's own forcerange holds its force.
bool is_at_own_limit(const mjModel* m, const mjData* d, int actuator) {
  const int out = m->actuator_outadr[actuator];
  if (!m->actuator_forcelimited[actuator]) return false;
  const mjtNum* range = m->actuator_forcerange + 2 * actuator;
  if (m->actuator_trntype[actuator] == mjTRN_SO3)  // the limit bounds the norm
    return mju_norm3(d->actuator_force + out) >= (1 - 1e-12) * range[1];
  return is_at_limit(d->actuator_force[out], range);
}

/// Returns the total force of a tendon's actuators.
double calc_tendon_force(const mjModel* m, const mjData* d, int tendon) {
  double total = 0;
  for (int a = 0; a < m->nactuator; ++a)
    if (is_on_tendon(m, a, tendon)) total += d->actuator_force[m->actuator_outadr[a]];
  return total;
}

/// True if the actuatorfrcrange of a tendon holds the total force of its actuators. MuJoCo scales
/// the forces down to the limit, so this allows for rounding.
bool is_at_tendon_limit(const mjModel* m, double total, int tendon) {
  const mjtNum* range = m->tendon_actfrcrange + 2 * tendon;
  const double slack = 1e-12 * std::min(std::abs(range[0]) + std::abs(range[1]), std::abs(total));
  return total <= range[0] + slack || total >= range[1] - slack;
}

/// True if any limit holds an actuator's force.
bool is_saturated(const mjModel* m, const mjData* d, int actuator) {
  if (is_at_own_limit(m, d, actuator)) return true;
  const int target = m->actuator_trnid[2 * actuator];
  if (m->actuator_trntype[actuator] == mjTRN_TENDON)
    return m->tendon_actfrclimited[target] &&
           is_at_tendon_limit(m, calc_tendon_force(m, d, target), target);
  return is_on_joint(m, actuator) && m->jnt_actfrclimited[target] &&
         is_at_limit(d->qfrc_actuator[m->jnt_dofadr[target]], m->jnt_actfrcrange + 2 * target);
}

/// Returns the coefficient of an actuator's force in the force of a dof.
double find_moment(const mjData* d, int out, int dof) {
  for (int k = d->moment_rowadr[out]; k < d->moment_rowadr[out] + d->moment_rownnz[out]; ++k)
    if (d->moment_colind[k] == dof) return d->actuator_moment[k];
  return 0;
}

/// Returns the force of all actuators on a joint, and of gravity compensation, without its limit.
double calc_joint_force(const mjModel* m, const mjData* d, int joint) {
  const int dof = m->jnt_dofadr[joint];
  double total = m->jnt_actgravcomp[joint] ? d->qfrc_gravcomp[dof] : 0;
  for (int out = 0; out < m->nout; ++out)
    total += find_moment(d, out, dof) * d->actuator_force[out];
  return total;
}

/// Returns true if the limit of a tendon is that of a force which depends on one velocity.
bool supports_tendon(const mjModel* m, int tendon) {
  const bool is_shared = count_actuators(m, tendon) > 1;
  double gear = 0;
  for (int a = 0; a < m->nactuator; ++a) {
    if (!is_on_tendon(m, a, tendon)) continue;
    const double other = m->actuator_gear[6 * m->actuator_outadr[a]];
    if (!is_affine_actuator(m, a) || is_disabled_actuator(m, a)) return false;
    if (is_shared && (m->actuator_forcelimited[a] || (gear != 0 && other != gear))) return false;
    gear = other;
  }
  return true;
}

/// Returns the force that an actuator's own forcerange takes away.
double calc_own_excess(const mjModel* m, const mjData* d, int actuator) {
  if (!is_at_own_limit(m, d, actuator)) return 0;
  return calc_affine_force(m, d, actuator) - d->actuator_force[m->actuator_outadr[actuator]];
}

/// Sets the bounds of a force and what they take away from it at the start of the step.
/// @param unlimited the force at the start without limits
void set_bounds(double unlimited, double lower, double upper, LimitedServo* out) {
  out->lower = std::min(0.0, lower - out->force);
  out->upper = std::max(0.0, upper - out->force);
  out->excess = unlimited - out->force;
}

}  // namespace

void ServoLimits::start(const mjModel* m) {
  first_joint_ = m->nactuator;
  first_tendon_ = first_joint_ + static_cast<int>(m->njnt);
  reached_.assign(first_tendon_ + m->ntendon, 0);
}

void ServoLimits::calc(const mjModel* m, const mjData* d, std::span<const Servo> servos) {
  if (reached_.empty()) start(m);
  roles_.assign(servos.size(), Role::kOpen);
  linear_.clear();
  members_.clear();
  indices_.clear();
  limited_.clear();
  dofs_.clear();
  values_.clear();
  for (std::size_t i = 0; i < servos.size(); ++i) {
    if (roles_[i] != Role::kOpen) continue;
    LimitedServo limited;
    if (!find_supported(m, servos[i].actuator, &limited)) {
      roles_[i] = is_saturated(m, d, servos[i].actuator) ? Role::kExplicit : Role::kLinear;
      continue;
    }
    gather_members(m, d, servos, i, &limited);
    if (limited.num_members == 0) continue;
    set_direction(m, d, &limited);
    limited.velocity = calc_velocity(limited, {d->qvel, static_cast<std::size_t>(m->nv)});
    set_limits(m, d, &limited);
    const double change = limited.excess - m->opt.timestep * limited.stiffness * limited.velocity;
    limited.is_near = limited.excess != 0 || limited.lower == 0 || limited.upper == 0 ||
                      change < limited.lower || change > limited.upper || reached(limited);
    limited_.push_back(limited);
    if (!limited.is_near) continue;
    for (int k = limited.first_member; k < limited.first_member + limited.num_members; ++k)
      roles_[indices_[k]] = Role::kLimited;
  }
  for (std::size_t i = 0; i < servos.size(); ++i)
    if (roles_[i] == Role::kLinear) linear_.push_back(servos[i]);
}

/// Finds the limit that holds an actuator's force last.
/// @return false if there is none, or it is not supported
bool ServoLimits::find_supported(const mjModel* m, int actuator, LimitedServo* out) const {
  if (!act_in_step_ || !is_affine_actuator(m, actuator)) return false;
  const int target = m->actuator_trnid[2 * actuator];
  if (is_on_joint(m, actuator) && m->jnt_actfrclimited[target]) {
    out->target = LimitTarget::kJoint;
    out->id = target;
    return true;
  }
  if (m->actuator_trntype[actuator] == mjTRN_TENDON && m->tendon_actfrclimited[target]) {
    out->target = LimitTarget::kTendon;
    out->id = target;
    return supports_tendon(m, target);
  }
  out->id = actuator;
  return m->actuator_forcelimited[actuator];
}

/// Gathers the servos of a limit. Those that share it and are held by their own are explicit.
/// @param first the first of these servos
void ServoLimits::gather_members(const mjModel* m, const mjData* d, std::span<const Servo> servos,
                                 std::size_t first, LimitedServo* limited) {
  limited->first_member = static_cast<int>(members_.size());
  const auto add = [&](std::size_t i) {
    roles_[i] = Role::kLinear;
    members_.push_back(servos[i]);
    indices_.push_back(i);
  };
  if (limited->target == LimitTarget::kActuator) {
    add(first);
  } else {
    const auto is_member = [&](const Servo& servo) {
      LimitedServo other;
      return find_supported(m, servo.actuator, &other) && other.target == limited->target &&
             other.id == limited->id;
    };
    const bool is_shared = std::count_if(servos.begin(), servos.end(), is_member) > 1;
    for (std::size_t i = first; i < servos.size(); ++i) {
      if (!is_member(servos[i])) continue;
      if (is_shared && is_at_own_limit(m, d, servos[i].actuator))
        roles_[i] = Role::kExplicit;
      else
        add(i);
    }
  }
  limited->num_members = static_cast<int>(members_.size()) - limited->first_member;
}

/// Sets j, and the stiffness and damping in its units. For a joint it is the unit of its dof, and
/// otherwise the moment of the servos.
void ServoLimits::set_direction(const mjModel* m, const mjData* d, LimitedServo* limited) {
  limited->first_entry = static_cast<int>(dofs_.size());
  const int out = m->actuator_outadr[members(*limited)[0].actuator];
  if (limited->target == LimitTarget::kJoint) {
    dofs_.push_back(m->jnt_dofadr[limited->id]);
    values_.push_back(1);
  } else {
    const int begin = d->moment_rowadr[out], end = begin + d->moment_rownnz[out];
    dofs_.insert(dofs_.end(), d->moment_colind + begin, d->moment_colind + end);
    values_.insert(values_.end(), d->actuator_moment + begin, d->actuator_moment + end);
  }
  limited->num_entries = static_cast<int>(dofs_.size()) - limited->first_entry;
  for (const Servo& servo : members(*limited)) {
    const double gear =
        limited->target == LimitTarget::kJoint
            ? find_moment(d, m->actuator_outadr[servo.actuator], m->jnt_dofadr[limited->id])
            : 1;
    limited->stiffness += gear * gear * servo.stiffness;
    limited->damping += gear * gear * servo.damping;
  }
}

/// Sets the force at the start and its limits.
void ServoLimits::set_limits(const mjModel* m, const mjData* d, LimitedServo* limited) const {
  switch (limited->target) {
    case LimitTarget::kActuator: return set_actuator_limits(m, d, limited);
    case LimitTarget::kJoint: return set_joint_limits(m, d, limited);
    case LimitTarget::kTendon: return set_tendon_limits(m, d, limited);
  }
}

void ServoLimits::set_actuator_limits(const mjModel* m, const mjData* d,
                                      LimitedServo* limited) const {
  const auto range = find_range(m, limited->id);
  limited->force = d->actuator_force[m->actuator_outadr[limited->id]];
  set_bounds(limited->force + calc_own_excess(m, d, limited->id), range[0], range[1], limited);
}

/// The limits of a joint clamp the sum of all forces on it. A servo that is alone also has its own,
/// which clamp its force before.
void ServoLimits::set_joint_limits(const mjModel* m, const mjData* d, LimitedServo* limited) const {
  const int dof = m->jnt_dofadr[limited->id], actuator = members(*limited)[0].actuator;
  const mjtNum* range = m->jnt_actfrcrange + 2 * limited->id;
  limited->force = d->qfrc_actuator[dof];
  const bool is_held = is_at_limit(limited->force, range);
  const bool has_own = limited->num_members == 1 && m->actuator_forcelimited[actuator];
  const double total = is_held || has_own ? calc_joint_force(m, d, limited->id) : limited->force;
  if (!has_own) return set_bounds(total, range[0], range[1], limited);

  const auto own = find_range(m, actuator);
  const int out = m->actuator_outadr[actuator];
  const double gear = find_moment(d, out, dof);
  const double others = total - gear * d->actuator_force[out];
  const auto [low, high] = std::minmax({gear * own[0], gear * own[1]});
  set_bounds((is_held ? total : limited->force) + gear * calc_own_excess(m, d, actuator),
             std::clamp(low + others, range[0], range[1]),
             std::clamp(high + others, range[0], range[1]), limited);
}

/// MuJoCo limits the sum of the forces on a tendon before it limits that of each actuator.
void ServoLimits::set_tendon_limits(const mjModel* m, const mjData* d,
                                    LimitedServo* limited) const {
  const int tendon = limited->id, actuator = members(*limited)[0].actuator;
  const mjtNum* range = m->tendon_actfrcrange + 2 * tendon;
  const auto own = find_range(m, actuator);
  limited->force = calc_tendon_force(m, d, tendon);
  double unlimited = limited->force;
  if (is_saturated(m, d, actuator)) {
    unlimited = 0;
    for (int a = 0; a < m->nactuator; ++a)
      if (is_on_tendon(m, a, tendon)) unlimited += calc_affine_force(m, d, a);
  }
  set_bounds(unlimited, std::clamp(range[0], own[0], own[1]), std::clamp(range[1], own[0], own[1]),
             limited);
}

double ServoLimits::calc_velocity(const LimitedServo& limited, std::span<const double> qvel) const {
  double velocity = 0;
  for (int e = limited.first_entry; e < limited.first_entry + limited.num_entries; ++e)
    velocity += values_[e] * qvel[dofs_[e]];
  return velocity;
}

bool ServoLimits::add_reached(double dt, std::span<const double> qvel) {
  bool is_any = false;
  for (const LimitedServo& limited : limited_) {
    if (limited.is_near) continue;
    const double u = calc_velocity(limited, qvel);
    const double change = -dt * limited.stiffness * u - limited.damping * (u - limited.velocity);
    if (change >= limited.lower && change <= limited.upper) continue;
    reached(limited) = 1;
    is_any = true;
  }
  return is_any;
}

std::uint8_t& ServoLimits::reached(const LimitedServo& limited) {
  const int first = limited.target == LimitTarget::kActuator ? 0
                    : limited.target == LimitTarget::kJoint  ? first_joint_
                                                             : first_tendon_;
  STICTION_ASSERT(first + limited.id < static_cast<int>(reached_.size()));
  return reached_[first + limited.id];
}

void ServoLimits::write_force(const mjModel* m, mjData* d, const LimitedServo& limited,
                              double change, std::span<const double> qvel) const {
  const auto columns = dofs(limited);
  const auto entries = values(limited);
  for (std::size_t e = 0; e < columns.size(); ++e) {
    d->qfrc_actuator[columns[e]] += entries[e] * change;
    d->qfrc_smooth[columns[e]] += entries[e] * change;
  }
  const auto all = members(limited);
  double* const forces = d->actuator_force;
  if (limited.target == LimitTarget::kActuator ||
      (limited.target == LimitTarget::kTendon && count_actuators(m, limited.id) == 1)) {
    forces[m->actuator_outadr[all[0].actuator]] += change;
    return;
  }
  // Several actuators, or one that shares its limit with other forces.
  const double dt = m->opt.timestep, u = calc_velocity(limited, qvel), u0 = limited.velocity;
  const bool is_joint = limited.target == LimitTarget::kJoint;
  if (!is_joint)
    for (int a = 0; a < m->nactuator; ++a)
      if (is_on_tendon(m, a, limited.id))
        forces[m->actuator_outadr[a]] = calc_affine_force(m, d, a);
  for (const Servo& servo : all) {
    const int out = m->actuator_outadr[servo.actuator];
    const double gear = is_joint ? find_moment(d, out, m->jnt_dofadr[limited.id]) : 1;
    const auto range = find_range(m, servo.actuator);
    const double force = calc_affine_force(m, d, servo.actuator) -
                         gear * (dt * servo.stiffness * u + servo.damping * (u - u0));
    forces[out] = std::clamp(force, range[0], range[1]);
  }
  if (is_joint) return;
  const double total = calc_tendon_force(m, d, limited.id);
  const double scale = total == 0 ? 1 : (limited.force + change) / total;
  for (int a = 0; a < m->nactuator; ++a)
    if (is_on_tendon(m, a, limited.id)) forces[m->actuator_outadr[a]] *= scale;
}

}  // namespace stiction::plant
