#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::sim {

/// Steppers for threads that step many simulations in turn. A stepper belongs to one model; the
/// pool makes one when all of a model's steppers are in use.
class StepperPool {
 public:
  /// A stepper with what a thread needs beside it.
  struct Member {
    Member(const mjModel* model, const StepOptions& options, const plant::MaterialTable& materials);

    Stepper stepper;
    std::vector<std::uint64_t> fresh;  // Stepper::get_state before the first step
  };

  /// @param materials one per geom of each model; empty: defaults
  StepperPool(const StepOptions& options, plant::MaterialTable materials);

  /// The use of a stepper, while it lives.
  class Lease {
   public:
    /// @throws Error if the model is not supported
    Lease(StepperPool* pool, const mjModel* model);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Member* operator->() const { return member_.get(); }

   private:
    StepperPool* pool_;
    const mjModel* model_;
    std::unique_ptr<Member> member_;
  };

  /// Frees all steppers. Call it, without leases, when models may have been replaced at their
  /// addresses.
  void clear();
  /// Stepper::set_interrupt of the steppers that are made from now on.
  void set_interrupt(bool (*is_interrupted)()) { is_interrupted_ = is_interrupted; }

  const StepOptions& options() const { return options_; }

 private:
  using Members = std::vector<std::unique_ptr<Member>>;

  StepOptions options_;
  plant::MaterialTable materials_;
  bool (*is_interrupted_)() = nullptr;
  std::mutex mutex_;  // of free_
  std::unordered_map<const mjModel*, Members> free_;
};

}  // namespace stiction::sim
