#include "stiction/plant/forces/implicit_forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/plant/forces/actuators.hpp"

namespace stiction::plant {
namespace {

bool is_disabled(const mjModel* m, int flag) { return m->opt.disableflags & flag; }

/// Coefficients of the force polynomial c0 x + c1 x^2 + c2 x^3.
using Polynomial = std::array<double, 1 + mjNPOLY>;

Polynomial make_polynomial(double linear, const mjtNum* higher) {
  return {linear, higher[0], higher[1]};
}

/// Returns the derivative of a spring's polynomial at displacement x, or 0 if it is negative.
double calc_stiffness(const Polynomial& c, double x) {
  return std::max(0.0, c[0] + 2 * c[1] * x + 3 * c[2] * x * x);
}

/// Returns the derivative of a damper's polynomial c0 v + c1 v |v| + c2 v^3, or 0 if it is
/// negative.
double calc_damping(const Polynomial& c, double v) {
  return std::max(0.0, c[0] + 2 * c[1] * std::abs(v) + 3 * c[2] * v * v);
}

/// Adds the damping that actuators reflect to their joint or tendon. MuJoCo scales the coefficients
/// of all powers by the gear squared.
void add_reflected_damping(const mjModel* m, int transmission, int target, Polynomial* c) {
  for (int a = 0; a < m->nactuator; ++a) {
    const int type =
        m->actuator_trntype[a] == mjTRN_JOINTINPARENT ? mjTRN_JOINT : m->actuator_trntype[a];
    if (type != transmission || m->actuator_trnid[2 * a] != target) continue;
    const double gear = m->actuator_gear[6 * m->actuator_outadr[a]];
    const Polynomial p =
        make_polynomial(m->actuator_damping[a], m->actuator_dampingpoly + mjNPOLY * a);
    for (std::size_t i = 0; i < p.size(); ++i) (*c)[i] += gear * gear * p[i];
  }
}

bool is_nonzero(const Polynomial& c) { return c[0] != 0 || c[1] != 0 || c[2] != 0; }

/// Returns the rotation angle between a joint's quaternion and its spring reference [rad].
double calc_ball_displacement(const mjtNum* quat, const mjtNum* reference) {
  mjtNum q[4] = {quat[0], quat[1], quat[2], quat[3]};
  mju_normalize4(q);
  mjtNum difference[3];
  mju_subQuat(difference, q, reference);
  return mju_norm3(difference);
}

}  // namespace

void ImplicitForces::calc(const mjModel* m, const mjData* d, const Model& plant) {
  damping_.assign(m->nv, 0.0);
  stiffness_.assign(m->nv, 0.0);
  dofs_.clear();
  values_.clear();
  rank_one_.clear();
  calc_joints(m, d, plant);
  calc_tendons(m, d, plant);
  calc_fluid(m, d, plant);
  if (!is_disabled(m, mjDSBL_ACTUATION)) calc_actuators(m, d, plant);
}

void ImplicitForces::clear(int num_dofs) {
  damping_.assign(num_dofs, 0.0);
  stiffness_.assign(num_dofs, 0.0);
  rank_one_.clear();
  dofs_.clear();
  values_.clear();
}

void ImplicitForces::calc_balancing_forces(const double* qvel, double dt, int num_dofs,
                                           double* force) const {
  for (int i = 0; i < num_dofs; ++i) force[i] = dt * stiffness_[i] * qvel[i];
  for (const RankOne& term : rank_one_)
    for (int e = term.first; e < term.first + term.size; ++e)
      force[dofs_[e]] += dt * term.stiffness * term.velocity * values_[e];
}

void ImplicitForces::calc_joints(const mjModel* m, const mjData* d, const Model& plant) {
  if (!is_disabled(m, mjDSBL_DAMPER)) {
    for (const Model::DofRange& range : plant.awake_dofs()) {
      for (int i = range.begin; i < range.end; ++i) {
        Polynomial c = make_polynomial(m->dof_damping[i], m->dof_dampingpoly + mjNPOLY * i);
        const int joint = m->dof_jntid[i];
        if (m->jnt_actuatorid[joint] != -1) add_reflected_damping(m, mjTRN_JOINT, joint, &c);
        if (is_nonzero(c)) damping_[i] = calc_damping(c, d->qvel[i]);
      }
    }
  }
  if (is_disabled(m, mjDSBL_SPRING)) return;
  for (int j = 0; j < m->njnt; ++j) {
    const Polynomial c = make_polynomial(m->jnt_stiffness[j], m->jnt_stiffnesspoly + mjNPOLY * j);
    if (!is_nonzero(c)) continue;
    const bool is_plastic = m->jnt_plasticadr[j] >= 0;
    const mjtNum* q = d->qpos + m->jnt_qposadr[j];
    const mjtNum* reference =
        is_plastic ? d->plastic + m->jnt_plasticadr[j] : m->qpos_spring + m->jnt_qposadr[j];
    double* k = stiffness_.data() + m->jnt_dofadr[j];
    switch (m->jnt_type[j]) {
      case mjJNT_FREE:
        std::fill_n(k, 3, calc_stiffness(c, mju_dist3(q, reference)));
        std::fill_n(k + 3, 3, calc_stiffness(c, calc_ball_displacement(q + 3, reference + 3)));
        break;
      case mjJNT_BALL:
        std::fill_n(k, 3, calc_stiffness(c, calc_ball_displacement(q, reference)));
        break;
      default: *k = calc_stiffness(c, q[0] - reference[0]); break;
    }
  }
}

void ImplicitForces::calc_tendons(const mjModel* m, const mjData* d, const Model& plant) {
  for (int t = 0; t < m->ntendon; ++t) {
    double k = 0, b = 0;
    if (!is_disabled(m, mjDSBL_SPRING)) {
      // The tendon is slack between its two spring lengths. In a plastic tendon these lengths are
      // part of the state.
      const int plastic = m->tendon_plasticadr[t];
      const mjtNum* rest = plastic >= 0 ? d->plastic + plastic : m->tendon_lengthspring + 2 * t;
      const double length = d->ten_length[t];
      const double x = length > rest[1]   ? length - rest[1]
                       : length < rest[0] ? length - rest[0]
                                          : 0;
      const Polynomial c =
          make_polynomial(m->tendon_stiffness[t], m->tendon_stiffnesspoly + mjNPOLY * t);
      if (x != 0) k = calc_stiffness(c, x);
    }
    if (!is_disabled(m, mjDSBL_DAMPER)) {
      Polynomial c = make_polynomial(m->tendon_damping[t], m->tendon_dampingpoly + mjNPOLY * t);
      if (m->tendon_actuatorid[t] != -1) add_reflected_damping(m, mjTRN_TENDON, t, &c);
      b = calc_damping(c, d->ten_velocity[t]);
    }
    if (k == 0 && b == 0) continue;  // most tendons only carry actuators or sensors
    const int adr = m->ten_J_rowadr[t];
    const auto size = static_cast<std::size_t>(m->ten_J_rownnz[t]);
    add_rank_one(d, plant, k, b, {m->ten_J_colind + adr, size}, {d->ten_J + adr, size});
  }
}

void ImplicitForces::calc_fluid(const mjModel* m, const mjData* d, const Model& plant) {
  calc_fluid_drags(m, d, &fluid_drags_);
  for (const FluidDrag& drag : fluid_drags_) {
    const std::span<const int> dofs = plant.dofs_of_body(drag.body);
    fluid_row_.clear();
    for (const int dof : dofs) {
      double value = 0;
      for (int k = 0; k < 6; ++k) value += drag.axis[k] * d->cdof[6 * dof + k];
      fluid_row_.push_back(value);
    }
    add_rank_one(d, plant, 0, drag.damping, dofs, fluid_row_);
  }
}

void ImplicitForces::calc_actuators(const mjModel* m, const mjData* d, const Model& plant) {
  find_servos(m, d, plant);
  limits_.calc(m, d, servos_);
  for (const Servo& servo : limits_.linear()) {
    const int first = m->actuator_outadr[servo.actuator];
    for (int out = first; out < first + m->actuator_outnum[servo.actuator]; ++out) {
      const int adr = d->moment_rowadr[out];
      const auto size = static_cast<std::size_t>(d->moment_rownnz[out]);
      add_rank_one(d, plant, servo.stiffness, servo.damping, {d->moment_colind + adr, size},
                   {d->actuator_moment + adr, size});
    }
  }
  for (int i = 0; i < static_cast<int>(limits_.limited().size()); ++i) {
    const LimitedServo& limited = limits_.limited()[i];
    if (!limited.is_near || limited.num_entries == 0) continue;
    add_rank_one(d, plant, limited.stiffness, limited.damping, limits_.dofs(limited),
                 limits_.values(limited));
    rank_one_.back().limit = i;
  }
}

/// Finds the actuators of awake trees whose force depends on the motion.
void ImplicitForces::find_servos(const mjModel* m, const mjData* d, const Model& plant) {
  servos_.clear();
  // The trees that an actuator moves sleep together.
  const auto sleeps = [&](int a) {
    const int out = m->actuator_outadr[a];
    return d->moment_rownnz[out] > 0 && !plant.is_awake(d->moment_colind[d->moment_rowadr[out]]);
  };
  for (int a = 0; a < m->nactuator; ++a) {
    if (is_disabled_actuator(m, a) || m->actuator_plugin[a] >= 0 || sleeps(a)) continue;
    // force = (g0 + g1 l + g2 v) input + (b0 + b1 l + b2 v)
    const mjtNum* gain = m->actuator_gainprm + mjNGAIN * a;
    const mjtNum* bias = m->actuator_biasprm + mjNBIAS * a;
    double k = 0, b = 0;
    if (m->actuator_gaintype[a] == mjGAIN_SO3) {
      // force = g0 log(error) + b2 w, one output per axis. Approximate log's derivative by the
      // identity.
      k = gain[0];
      b = -bias[2];
    }
    if (m->actuator_biastype[a] == mjBIAS_AFFINE) {
      k -= bias[1];
      b -= bias[2];
    }
    if (m->actuator_gaintype[a] == mjGAIN_AFFINE && (gain[1] != 0 || gain[2] != 0)) {
      const double input = calc_actuator_input(m, d, a);
      k -= gain[1] * input;
      b -= gain[2] * input;
    }
    if (m->actuator_gaintype[a] == mjGAIN_MUSCLE || m->actuator_gaintype[a] == mjGAIN_DCMOTOR)
      b += calc_special_damping(m, d, a, calc_actuator_input(m, d, a));
    if (k > 0 || b > 0)
      servos_.push_back(
          {.actuator = a, .stiffness = std::max(0.0, k), .damping = std::max(0.0, b)});
  }
}

void ImplicitForces::add_rank_one(const mjData* d, const Model& plant, double stiffness,
                                  double damping, std::span<const int> dofs,
                                  std::span<const double> values) {
  if ((stiffness == 0 && damping == 0) || dofs.empty() || !plant.is_awake(dofs[0])) return;
  RankOne term;
  term.stiffness = stiffness;
  term.damping = damping;
  term.first = static_cast<int>(dofs_.size());
  term.size = static_cast<int>(dofs.size());
  for (std::size_t i = 0; i < dofs.size(); ++i) {
    term.velocity += values[i] * d->qvel[dofs[i]];
    dofs_.push_back(dofs[i]);
    values_.push_back(values[i]);
    // A dof is related to all before it if its block is related to those of the dofs before it.
    const int block = plant.block_of_dof(dofs[i]);
    if (i == 0 || block == plant.block_of_dof(dofs[i - 1])) continue;
    for (std::size_t j = 0; j < i && !term.joins_blocks; ++j)
      term.joins_blocks = !plant.are_related(block, plant.block_of_dof(dofs[j]));
  }
  rank_one_.push_back(term);
}

}  // namespace stiction::plant
