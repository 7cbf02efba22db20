#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

#include "options.hpp"
#include "step_turn.hpp"
#include "stiction/base/error.hpp"
#include "stiction/base/thread_pool.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/batch/batch.hpp"

namespace stiction::python {

using io::ContactProperties;
using sim::Batch;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Ids = std::optional<Vector<const int>>;

/// One record of a rollout: the name of a field, or none and the bits of a state; and the array.
using Record = std::tuple<std::optional<std::string>, int, Array<nb::ro>>;

/// Calls MuJoCo.
/// @param f must not own objects with destructors
/// @throws Error if MuJoCo raises an error
template <class F>
void call_mujoco(F&& f) {
  plant::MuJoCoGuard guard;
  if (!guard.run(f))
    throw Error(ErrorCode::kMuJoCo, "Batch", std::string("MuJoCo: ") + guard.error());
}

/// @throws Error unless an array that a call reads or fills has the size that the call needs
inline void check_size(const char* name, std::size_t size, std::size_t wanted) {
  if (size != wanted)
    throw Error(
        ErrorCode::kWrongShape, name,
        "has " + std::to_string(size) + " numbers or bytes, must have " + std::to_string(wanted));
}

/// The simulations of a batch, with the methods that mujoco.batch.Batch calls on its own
/// simulations. python/stiction/batch.py checks the arguments before it calls these methods.
class PyBatch {
 public:
  PyBatch(std::uintptr_t model, int num_sims, int num_threads, bool is_persistent,
          const nb::dict& options, const ContactProperties& properties) {
    const mjBatchConfig config = {.nthread = num_threads,
                                  .persistent = static_cast<mjtBool>(is_persistent)};
    const sim::StepOptions step_options = make_step_options(options, properties);
    plant::MaterialTable materials = io::assign_materials(model_at(model), properties);
    // MuJoCo's threads may call a callback that needs the GIL.
    const nb::gil_scoped_release release;
    batch_ = std::make_unique<Batch>(model_at(model), num_sims, config, step_options,
                                     std::move(materials));
    batch_->set_interrupt(&has_signal);
  }
  ~PyBatch() {
    // Threads do not exist in a forked process, so that it would wait for them for ever.
    if (is_forked()) (void)batch_.release();
  }
  PyBatch(const PyBatch&) = delete;
  PyBatch& operator=(const PyBatch&) = delete;

  int num_sims() const { return mjb_nsim(get()); }

  int step(const Ids& ids, int num_steps, int stage) {
    return call("step", ids, [&](const int* first, int size) {
      return batch_->step(first, size, num_steps, stage);
    });
  }
  int forward(const Ids& ids, int stage) {
    return call("forward", ids,
                [&](const int* first, int size) { return batch_->forward(first, size, stage); });
  }
  int reset(const Ids& ids, const std::optional<Vector<const int>>& keys, int stage) {
    if (keys) check_size("keyframe", keys->size(), count(ids));
    return call("reset", ids, [&](const int* first, int size) {
      return batch_->reset(first, size, keys ? keys->data() : nullptr, stage);
    });
  }
  int set_const(const Ids& ids) {
    const int num_failed = call("set_const", ids, [&](const int* first, int size) {
      int n = 0;
      call_mujoco([&] { n = mjb_setConst(get(), first, size); });
      return n;
    });
    batch_->forget_models();
    return num_failed;
  }
  int rollout(const Ids& ids, int num_steps, const std::optional<Array<const double>>& control,
              int control_spec, const std::vector<Record>& records) {
    check_ids(ids);
    const std::size_t num_rows = count(ids) * static_cast<std::size_t>(num_steps);
    std::vector<mjBatchRecord> plain;
    for (const auto& [field, spec, array] : records) {
      check_size("record", array.nbytes(), num_rows * size_of_record(field, spec));
      plain.push_back({.field = field ? field->c_str() : nullptr,
                       .spec = spec,
                       .buf = const_cast<void*>(static_cast<const void*>(array.data()))});
    }
    if (control) check_size("control", control->size(), num_rows * size_of_state(control_spec));
    return call("rollout", ids, [&](const int* first, int size) {
      return batch_->rollout(first, size, num_steps, control ? control->data() : nullptr,
                             control_spec, plain);
    });
  }

  int jac(const Ids& ids, const Vector<const int>& body, const Array<const double>& point,
          const std::optional<Array<double>>& jacp, const std::optional<Array<double>>& jacr) {
    check_ids(ids);
    const std::size_t n = count(ids);
    check_size("body", body.size(), n);
    check_size("point", point.size(), 3 * n);
    for (const auto* to : {&jacp, &jacr})
      if (*to) check_size("jac", (*to)->size(), 3 * n * static_cast<std::size_t>(model()->nv));
    const auto at = [](const std::optional<Array<double>>& to, std::size_t i) {
      return to ? to->data() + i : nullptr;
    };
    return apply("jac", ids, [&](const mjModel* m, mjData* d, std::size_t i) {
      mj_kinematics(m, d);
      mj_comPos(m, d);
      mj_jac(m, d, at(jacp, 3 * m->nv * i), at(jacr, 3 * m->nv * i), point.data() + 3 * i,
             body.data()[i]);
    });
  }

  int ray(const Ids& ids, const Array<const double>& from, const Array<const double>& direction,
          const std::optional<Vector<const std::uint8_t>>& groups, bool hits_static,
          const Array<const int>& excluded, const Array<double>& distance, const Array<int>& geom,
          const std::optional<Array<double>>& normal) {
    check_ids(ids);
    const std::size_t n = count(ids);
    const std::size_t num_rays = n > 0 ? distance.size() / n : 0;
    for (const auto* vectors : {&from, &direction})
      check_size("ray", vectors->size(), 3 * n * num_rays);
    for (const std::size_t size : {distance.size(), geom.size(), excluded.size()})
      check_size("ray", size, n * num_rays);
    if (normal) check_size("normal", normal->size(), 3 * n * num_rays);
    if (groups) check_size("geomgroup", groups->size(), mjNGROUP);
    return apply("ray", ids, [&](const mjModel* m, mjData* d, std::size_t i) {
      mj_kinematics(m, d);
      mj_flex(m, d);
      for (std::size_t ray = num_rays * i; ray < num_rays * (i + 1); ++ray)
        distance.data()[ray] =
            mj_ray(m, d, from.data() + 3 * ray, direction.data() + 3 * ray,
                   groups ? groups->data() : nullptr, hits_static, excluded.data()[ray],
                   geom.data() + ray, normal ? normal->data() + 3 * ray : nullptr);
    });
  }

  /// Runs the simulations on models of the caller, which must live on; empty: on the batch's.
  void set_models(const std::vector<std::uintptr_t>& models) {
    std::vector<const mjModel*> pointers;
    for (const std::uintptr_t model : models) pointers.push_back(model_at(model));
    call_mujoco([&] { mjb_setModels(get(), pointers.empty() ? nullptr : pointers.data()); });
    // The caller keeps the present models alive, so a model at the same address is the same one.
    if (pointers != models_) batch_->forget_models();
    models_ = std::move(pointers);
  }

  /// Returns why the last call on a simulation failed; empty if it did not.
  std::string error(int sim) const {
    const std::string text = mjb_error(get(), sim);
    const std::string& whole = batch_->reports().message[sim];
    return !text.empty() && whole.starts_with(text) ? whole : text;
  }

  std::pair<int, int> state_component(int component) {
    int size = 0;
    mjtNum* first = nullptr;
    call_mujoco([&] { first = mjb_stateComponent(get(), component, &size); });
    return {static_cast<int>(first - mjb_state(get())), size};
  }

  /// Takes a call whose interrupts are Python's.
  template <class F>
  int call(const char* function, const Ids& ids, F&& f) {
    if (is_forked())
      throw Error(ErrorCode::kUnsupported, function,
                  "cannot run in this process, because it was forked after the batch was made; "
                  "make the batch in the new process");
    gate_.check_fork();
    int num_failed = 0;
    {
      const nb::gil_scoped_release release;
      const StepTurn turn(&gate_, function);
      num_failed = f(ids ? ids->data() : nullptr, ids ? static_cast<int>(ids->size()) : 0);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return num_failed;
  }

  const mjModel* model() const { return mjb_model(get()); }
  Batch& batch() { return *batch_; }
  mjBatch* get() const { return batch_->get(); }

 private:
  /// True if this process was forked after the batch was made.
  bool is_forked() const { return fork_count_ != base::fork_count(); }
  /// The number of simulations of a call.
  std::size_t count(const Ids& ids) const {
    return ids ? ids->size() : static_cast<std::size_t>(num_sims());
  }
  /// @throws Error unless the ids are ascending and in range
  void check_ids(const Ids& ids) const {
    if (!ids) return;
    int least = 0;
    for (std::size_t i = 0; i < ids->size(); ++i) {
      const int id = ids->data()[i];
      if (id < least || id >= num_sims())
        throw Error(ErrorCode::kInvalidValue, "ids",
                    "has " + std::to_string(id) + ", must be ascending and in 0.." +
                        std::to_string(num_sims() - 1));
      least = id + 1;
    }
  }
  /// Returns the number of values of the components of a state.
  std::size_t size_of_state(int spec) const {
    if (spec < 0 || spec >= (1 << mjNSTATE))
      throw Error(ErrorCode::kInvalidValue, "spec",
                  "is " + std::to_string(spec) + ", must consist of bits of mjtState");
    return static_cast<std::size_t>(mj_stateSize(model(), spec));
  }
  /// Returns the bytes of a record of one simulation.
  std::size_t size_of_record(const std::optional<std::string>& field, int spec) const {
    if (!field) return sizeof(mjtNum) * size_of_state(spec);
    const auto found = plant::find_data_field(model(), *field);
    if (!found)
      throw Error(ErrorCode::kUnknownName, "record",
                  "mjData has no field '" + *field + "' that can be recorded");
    return found->size;
  }

  /// Calls f(model, data, place in the call) for simulations whose state stays.
  template <class F>
  int apply(const char* function, const Ids& ids, const F& f) {
    struct Call {
      const F* f;
      std::vector<int> place;
    } call_data{&f, std::vector<int>(static_cast<std::size_t>(num_sims()))};
    for (int i = 0; i < static_cast<int>(count(ids)); ++i)
      call_data.place[ids ? ids->data()[i] : i] = i;
    const auto run_one = [](const mjModel* m, mjData* d, int sim, void* argument) {
      const Call& each = *static_cast<const Call*>(argument);
      (*each.f)(m, d, static_cast<std::size_t>(each.place[sim]));
    };
    return call(function, ids, [&](const int* first, int n) {
      int num_failed = 0;
      call_mujoco([&] { num_failed = mjb_apply(get(), first, n, run_one, &call_data, 0); });
      return num_failed;
    });
  }

  std::unique_ptr<Batch> batch_;
  std::vector<const mjModel*> models_;  // those of the caller; empty: the batch's own
  StepGate gate_;
  int fork_count_ = base::fork_count();
};

}  // namespace stiction::python
