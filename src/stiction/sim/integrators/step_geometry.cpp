#include "stiction/sim/integrators/step_geometry.hpp"

#include <algorithm>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {
namespace {

/// Checks that the normal law supports pressure fields if the scene has any.
/// @throws Error otherwise
void check_law(const StepOptions& options, const plant::ContactPatches& patches) {
  const contact::NormalLawTraits& law = contact::traits(
      contact::find_normal_law(options.contact_model, options.parameters.normal_law));
  if (patches.empty() || law.takes_patches) return;
  std::string others;
  for (const contact::NormalLawTraits& other : contact::normal_laws())
    if (other.takes_patches) others += (others.empty() ? "" : " or ") + std::string(other.name);
  throw Error(ErrorCode::kUnsupported, "normal_law",
              "is '" + std::string(law.name) +
                  "', which supports contact points only, but geoms of the scene touch in patches; "
                  "choose " +
                  others + ", or give no geom a hydroelastic_modulus");
}

}  // namespace

bool has_contacts(const mjModel* m) {
  return !(m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT));
}

std::array<int, 2> find_bodies(const mjModel* m, const mjContact& con) {
  return {m->geom_bodyid[con.geom[0]], m->geom_bodyid[con.geom[1]]};
}

void sense_state(const mjModel* m, mjData* d) {
  // MuJoCo's sensors compute an energy only if its flag is not set. Reset the flags, or the
  // sensors would keep the energies of the last step.
  d->flg_energypos = d->flg_energyvel = 0;
  mj_sensorPos(m, d);
  const bool wants_energy = m->opt.enableflags & mjENBL_ENERGY;
  if (!d->flg_energypos) {
    if (wants_energy)
      mj_energyPos(m, d);
    else
      d->energy[0] = d->energy[1] = 0;
  }
  mj_sensorVel(m, d);
  if (wants_energy && !d->flg_energyvel) mj_energyVel(m, d);
}

void sense_accelerations(const StepInputs& in, mjData* d, StepOutputs* out) {
  out->call_with_callbacks(in.model, d, [&] {
    d->flg_rnepost = 0;
    mj_sensorAcc(in.models.stages(), d);
  });
}

StepGeometry::StepGeometry(const mjModel* model, const StepOptions& options,
                           const plant::MaterialTable& materials, Sleep* sleep, StepOutputs* out)
    : out_(*out),
      sleep_(*sleep),
      speculative_(model, options.contact_model, options.parameters, materials),
      patches_(model,
               contact::traits(options.contact_model).takes_patches
                   ? materials
                   : plant::make_default_materials(model),
               options.surfaces),
      manifolds_(model),
      has_speculative_limits_(contact::traits(options.contact_model).is_rigid),
      implicit_(!contact::traits(options.contact_model).is_rigid) {
  check_law(options, patches_);
}

void StepGeometry::follow_model(const mjModel* m, const StepOptions& options) {
  patches_.follow_model(m);
  check_law(options, patches_);
}

bool StepGeometry::calc(const StepInputs& in, mjData* d, bool has_forces) {
  using Time = StepTimings;
  return out_.run_stage(&Time::kinematics, [&] { calc_kinematics(in, d); }) &&
         out_.run_stage(&Time::collision, [&] { collide(in, d); }) &&
         out_.run_stage(&Time::surfaces, [&] { calc_surfaces(in, d); }) &&
         out_.run_stage(&Time::kinematics, [&] {
           has_forces ? calc_smooth_forces(in, d) : calc_balancing_forces(in, d);
         });
}

void StepGeometry::calc_kinematics(const StepInputs& in, mjData* d) {
  // MuJoCo computes the poses of fixed bodies only once if trees may sleep.
  const bool needs_all = sleep_.needs_all_kinematics();
  const mjModel* m = needs_all ? in.models.all_awake() : in.models.stages();
  out_.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
  });
  if (needs_all) sleep_.write_arrays(d);
}

/// Finds the contact points by MuJoCo's collision detection. Trees that awake ones touch wake and
/// may touch others, so this is repeated until none wakes.
void StepGeometry::collide(const StepInputs& in, mjData* d) {
  for (;;) {
    out_.call_mujoco(d, [&] {
      speculative_.collide(in.models.stages(), d, in.mocap, patches_.touches_only_in_patches(),
                           manifolds_.start());
    });
    if (out_.failed()) return;
    if (!wake_touched(in, d)) break;
    calc_kinematics(in, d);
    if (out_.failed()) return;
  }
  warn_of_full_pair(speculative_.full_pair(), &out_);
}

/// Wakes the sleeping trees that others touch.
/// @return true if there were any
bool StepGeometry::wake_touched(const StepInputs& in, mjData* d) {
  if (sleep_.num_asleep() == 0) return false;
  const mjModel* m = in.models.stages();
  bool is_any = false;
  const auto wake = [&](const std::array<int, 2>& bodies) {
    is_any |= sleep_.wake_touched(d, bodies);
  };
  for (int i = 0; i < d->ncon; ++i)
    if (speculative_.acts_at_start(m, d, d->contact[i])) wake(find_bodies(m, d->contact[i]));
  patches_.for_each_touch(
      m, d, [&](int A, int B) { return sleep_.sleeps(A) || sleep_.sleeps(B); }, wake);
  if (is_any)
    sleep_.update(d);
  else
    sleep_.remove_contacts(d);
  return is_any;
}

/// Wakes the sleeping trees of contacts that take part only because of the forces. Their positions
/// and forces are not known in this step, so the step must be taken again.
void StepGeometry::wake_late(const StepInputs& in, mjData* d) {
  if (sleep_.num_asleep() == 0) return;
  for (int i = 0; i < d->ncon; ++i)
    if (speculative_.acts()[i])
      out_.must_retake |= sleep_.wake_touched(d, find_bodies(in.model, d->contact[i]));
  if (out_.must_retake) sleep_.update(d);
}

/// Computes the contact surfaces of pressure fields.
void StepGeometry::calc_surfaces(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  if (patches_.empty() || !has_contacts(m)) return;
  patches_.calc_surfaces(m, d, [this](int A, int B) { return sleep_.leaves_out(A, B); });
  patches_.find_deep(d);
  out_.call_mujoco(d, [&] { patches_.add_to_data(m, d); });
}

/// Computes constraint rows, sensors of position and velocity, and all forces except constraint
/// forces.
void StepGeometry::calc_smooth_forces(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  adhesion_.calc(m, d);
  constraint_rows_.reserve(d);
  const auto calc_velocities = [&] {
    mj_fwdVelocity(m, d);
    sense_state(m, d);
  };
  out_.call_mujoco(d, [&] { make_constraints(in.models.rows(), in.mocap, d); });
  if (out_.failed()) return;
  out_.call_with_callbacks(in.model, d, calc_velocities);
  if (out_.failed()) return;
  if (out_.call_control(in.model, d)) {
    if (in.models.has_sleep()) sleep_.write_arrays(d);
    // Transmissions and passive forces of adhesion follow from the contacts.
    out_.call_with_callbacks(in.model, d, [&] {
      mj_transmission(m, d);
      calc_velocities();
    });
  }
  if (out_.failed()) return;
  if (mjcb_control && sleep_.wake_within_step(d)) out_.must_retake = true;
  out_.call_with_callbacks(in.model, d, [&] {
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
}

/// Computes constraint rows at the bodies' present positions, and forces that keep the velocities.
void StepGeometry::calc_balancing_forces(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  adhesion_.calc(m, d);
  constraint_rows_.reserve(d);
  out_.call_mujoco(d, [&] { make_constraints(m, in.mocap, d); });
  if (out_.failed()) return;
  out_.call_with_callbacks(in.model, d, [&] { mj_fwdVelocity(m, d); });
  if (out_.failed()) return;
  implicit_.start(m);
  implicit_.calc(m, d, in.plant);
  implicit_.calc_balancing_forces(d->qvel, in.time_step(), m->nv, d->qfrc_smooth);
  out_.call_mujoco(d, [&] { mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1); });
}

/// Calls MuJoCo to make its constraint rows. This function must not own memory, because an error of
/// MuJoCo jumps out of it.
void StepGeometry::make_constraints(const mjModel* m, const plant::MocapMotion& mocap, mjData* d) {
  if (has_speculative_limits_) limits_.choose(m, d, mocap);
  constraint_rows_.make_constraints(m, d, has_speculative_limits_ ? &limits_ : nullptr, &adhesion_);
}

void StepGeometry::adapt_forces(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  // Such an actuator takes the activation of the end of the step.
  if (std::any_of(m->actuator_actearly, m->actuator_actearly + m->nactuator,
                  [](mjtBool is_early) { return is_early != 0; }))
    out_.call_with_callbacks(in.model, d, [&] {
      mj_fwdActuation(m, d);
      mj_fwdAcceleration(m, d);
    });
}

void StepGeometry::choose(const StepInputs& in, mjData* d, bool only_touching) {
  speculative_.choose(in.models.stages(), d, only_touching);
  wake_late(in, d);
  if (!out_.failed()) patches_.find_thin(in.models.stages(), d, in.mocap);
}

void StepGeometry::add_contacts(const StepInputs& in, mjData* d, contact::ContactProblem* problem) {
  const mjModel* m = in.models.stages();
  const contact::ModelParameters& parameters = in.options.parameters;
  implicit_.calc(m, d, in.plant);
  plant::add_blocks(m, d, in.plant, implicit_, &rank_one_terms_, problem);
  if (!has_contacts(in.model)) return;
  plant::add_contacts(
      m, d, in.plant, in.materials,
      {.acts = speculative_.acts(),
       .law = contact::find_normal_law(in.options.contact_model, parameters.normal_law),
       .mocap = &in.mocap},
      problem);
  patches_.add_contacts(m, d, in.plant, in.materials, in.mocap, problem);
  contact::correct_overlaps(in.options.contact_model, parameters, problem);
  adhesion_.limit_separation(in.contact_model().is_rigid, problem);
}

/// Adds equalities, limits, dry friction and coupled springs.
void StepGeometry::add_rows(const StepInputs& in, mjData* d, contact::ContactProblem* problem) {
  const contact::ModelParameters& parameters = in.options.parameters;
  constraint_rows_.add_rows(
      in.models.stages(), d, in.plant,
      {.exact_mobility = in.options.exact_mobility && !in.contact_model().is_rigid,
       .stiction_tolerance = parameters.stiction_tolerance,
       .friction_regularization = parameters.friction_regularization},
      in.mocap, problem);
  plant::add_coupling_rows(d, in.plant, implicit_, problem);
}

bool StepGeometry::add_reached(const StepInputs& in, mjData* d, bool wants_contacts,
                               std::span<const double> qvel) {
  bool is_any = implicit_.add_reached_limits(in.time_step(), qvel);
  if (wants_contacts) {
    out_.call_mujoco(
        d, [&] { is_any |= speculative_.add_reached(in.models.stages(), d, qvel.data()); });
    if (out_.failed()) return false;
    is_any |= add_reached_limits(in, d, qvel.data());
  }
  if (!is_any) return false;
  wake_late(in, d);
  return !out_.failed();
}

bool StepGeometry::add_reached_limits(const StepInputs& in, mjData* d, const double* qvel) {
  const mjModel* m = in.models.stages();
  if (!has_speculative_limits_ || !limits_.add_reached(m, d, in.mocap, qvel)) return false;
  out_.call_mujoco(d, [&] {
    constraint_rows_.make_constraints(m, d, &limits_, &adhesion_, qvel);
    mj_referenceConstraint(m, d);
  });
  return !out_.failed();
}

}  // namespace stiction::sim
