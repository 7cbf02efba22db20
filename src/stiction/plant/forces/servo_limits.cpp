#include "stiction/plant/forces/servo_limits.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/forces/actuators.hpp"

namespace stiction::plant {
namespace {

bool is_on_joint(const mjModel* m, int actuator) {
  const int type = m->actuator_trntype[actuator];
  return type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
}

/// Calls f(actuator) for each actuator on a tendon.
template <class F>
void for_each_on_tendon(const mjModel* m, int tendon, F&& f) {
  for (int a = 0; a < m->nactuator; ++a)
    if (m->actuator_trntype[a] == mjTRN_TENDON && m->actuator_trnid[2 * a] == tendon) f(a);
}

int count_actuators(const mjModel* m, int tendon) {
  int count = 0;
  for_each_on_tendon(m, tendon, [&](int) { ++count; });
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
  for_each_on_tendon(m, tendon, [&](int a) { total += d->actuator_force[m->actuator_outadr[a]]; });
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
  bool is_supported = true;
  double gear = 0;
  for_each_on_tendon(m, tendon, [&](int a) {
    const double other = m->actuator_gear[6 * m->actuator_outadr[a]];
    const bool is_alone =
        !is_shared || (!m->actuator_forcelimited[a] && (gear == 0 || other == gear));
    is_supported &= is_affine_actuator(m, a) && !is_disabled_actuator(m, a) && is_alone;
    gear = other;
  });
  return is_supported;
}

/// Returns the force that an actuator's own forcerange takes away.
double calc_own_excess(const mjModel* m, const mjData* d, int actuator) {
  if (!is_at_own_limit(m, d, actuator)) return 0;
  return calc_affine_force(m, d, actuator) - d->actuator_force[m->actuator_outadr[actuator]];
}

/// A force at the start of the step: with its limits, without them, and the limits.
struct ForceRange {
  double force, unlimited, lower, upper;
};

ForceRange find_actuator_range(const mjModel* m, const mjData* d, int actuator) {
  const auto range = find_range(m, actuator);
  const double force = d->actuator_force[m->actuator_outadr[actuator]];
  return {force, force + calc_own_excess(m, d, actuator), range[0], range[1]};
}

/// The limits of a joint clamp the sum of all forces on it. A servo that is alone also has its own,
/// which clamp its force before.
ForceRange find_joint_range(const mjModel* m, const mjData* d, int joint, int actuator,
                            bool is_alone) {
  const int dof = m->jnt_dofadr[joint];
  const mjtNum* range = m->jnt_actfrcrange + 2 * joint;
  const double force = d->qfrc_actuator[dof];
  const bool is_held = is_at_limit(force, range);
  const bool has_own = is_alone && m->actuator_forcelimited[actuator];
  const double total = is_held || has_own ? calc_joint_force(m, d, joint) : force;
  if (!has_own) return {force, total, range[0], range[1]};

  const auto own = find_range(m, actuator);
  const int out = m->actuator_outadr[actuator];
  const double gear = find_moment(d, out, dof);
  const double others = total - gear * d->actuator_force[out];
  const auto [low, high] = std::minmax({gear * own[0], gear * own[1]});
  return {force, (is_held ? total : force) + gear * calc_own_excess(m, d, actuator),
          std::clamp(low + others, range[0], range[1]),
          std::clamp(high + others, range[0], range[1])};
}

/// MuJoCo limits the sum of the forces on a tendon before it limits that of each actuator.
ForceRange find_tendon_range(const mjModel* m, const mjData* d, int tendon, int actuator) {
  const mjtNum* range = m->tendon_actfrcrange + 2 * tendon;
  const auto own = find_range(m, actuator);
  const double force = calc_tendon_force(m, d, tendon);
  double unlimited = force;
  if (is_saturated(m, d, actuator)) {
    unlimited = 0;
    for_each_on_tendon(m, tendon, [&](int a) { unlimited += calc_affine_force(m, d, a); });
  }
  return {force, unlimited, std::clamp(range[0], own[0], own[1]),
          std::clamp(range[1], own[0], own[1])};
}

}  // namespace

void ServoLimits::start(const mjModel* m) {
  is_reached_[kActuator].assign(m->nactuator, 0);
  is_reached_[kJoint].assign(m->njnt, 0);
  is_reached_[kTendon].assign(m->ntendon, 0);
  has_started_ = true;
}

void ServoLimits::calc(const mjModel* m, const mjData* d, std::span<const Servo> servos) {
  if (!has_started_) start(m);
  roles_.assign(servos.size(), Role::kOpen);
  linear_.clear();
  members_.clear();
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
                      change < limited.lower || change > limited.upper ||
                      is_reached_[limited.target][limited.id];
    limited_.push_back(limited);
    if (!limited.is_near) continue;
    for (const Member& member : members(limited)) roles_[member.index] = Role::kLimited;
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
    out->target = kJoint;
    out->id = target;
    return true;
  }
  if (m->actuator_trntype[actuator] == mjTRN_TENDON && m->tendon_actfrclimited[target]) {
    out->target = kTendon;
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
  const auto is_member = [&](const Servo& servo) {
    LimitedServo other;
    return find_supported(m, servo.actuator, &other) && other.target == limited->target &&
           other.id == limited->id;
  };
  const bool is_alone = limited->target == kActuator;
  const bool is_shared = !is_alone && std::count_if(servos.begin(), servos.end(), is_member) > 1;
  for (std::size_t i = first; i < (is_alone ? first + 1 : servos.size()); ++i) {
    const int actuator = servos[i].actuator;
    if (!is_alone && !is_member(servos[i])) continue;
    if (is_shared && is_at_own_limit(m, d, actuator)) {
      roles_[i] = Role::kExplicit;
      continue;
    }
    roles_[i] = Role::kLinear;
    const double gear = limited->target == kJoint ? find_moment(d, m->actuator_outadr[actuator],
                                                                m->jnt_dofadr[limited->id])
                                                  : 1;
    members_.push_back({servos[i], i, gear});
  }
  limited->num_members = static_cast<int>(members_.size()) - limited->first_member;
}

/// Sets j, and the stiffness and damping in its units. For a joint it is the unit of its dof, and
/// otherwise the moment of the servos.
void ServoLimits::set_direction(const mjModel* m, const mjData* d, LimitedServo* limited) {
  limited->first_entry = static_cast<int>(dofs_.size());
  if (limited->target == kJoint) {
    dofs_.push_back(m->jnt_dofadr[limited->id]);
    values_.push_back(1);
  } else {
    const int out = m->actuator_outadr[members(*limited)[0].servo.actuator];
    const int begin = d->moment_rowadr[out], end = begin + d->moment_rownnz[out];
    dofs_.insert(dofs_.end(), d->moment_colind + begin, d->moment_colind + end);
    values_.insert(values_.end(), d->actuator_moment + begin, d->actuator_moment + end);
  }
  limited->num_entries = static_cast<int>(dofs_.size()) - limited->first_entry;
  for (const Member& member : members(*limited)) {
    limited->stiffness += member.gear * member.gear * member.servo.stiffness;
    limited->damping += member.gear * member.gear * member.servo.damping;
  }
}

/// Sets the force at the start, its limits, and what they take away from it.
void ServoLimits::set_limits(const mjModel* m, const mjData* d, LimitedServo* limited) const {
  const int actuator = members(*limited)[0].servo.actuator;
  const ForceRange range =
      limited->target == kActuator ? find_actuator_range(m, d, actuator)
      : limited->target == kJoint
          ? find_joint_range(m, d, limited->id, actuator, limited->num_members == 1)
          : find_tendon_range(m, d, limited->id, actuator);
  limited->force = range.force;
  limited->lower = std::min(0.0, range.lower - range.force);
  limited->upper = std::max(0.0, range.upper - range.force);
  limited->excess = range.unlimited - range.force;
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
    is_reached_[limited.target][limited.id] = 1;
    is_any = true;
  }
  return is_any;
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
  const bool is_tendon = limited.target == kTendon;
  if (limited.target == kActuator || (is_tendon && count_actuators(m, limited.id) == 1)) {
    forces[m->actuator_outadr[all[0].servo.actuator]] += change;
    return;
  }
  // Several actuators, or one that shares its limit with other forces.
  const double dt = m->opt.timestep, u = calc_velocity(limited, qvel), u0 = limited.velocity;
  if (is_tendon)
    for_each_on_tendon(m, limited.id,
                       [&](int a) { forces[m->actuator_outadr[a]] = calc_affine_force(m, d, a); });
  for (const auto& [servo, index, gear] : all) {
    const auto range = find_range(m, servo.actuator);
    const double force = calc_affine_force(m, d, servo.actuator) -
                         gear * (dt * servo.stiffness * u + servo.damping * (u - u0));
    forces[m->actuator_outadr[servo.actuator]] = std::clamp(force, range[0], range[1]);
  }
  if (!is_tendon) return;
  const double total = calc_tendon_force(m, d, limited.id);
  const double scale = total == 0 ? 1 : (limited.force + change) / total;
  for_each_on_tendon(m, limited.id, [&](int a) { forces[m->actuator_outadr[a]] *= scale; });
}

}  // namespace stiction::plant
