#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// The memory of an object that changes it while it works, and writes and reads it as words.
template <class Owner>
class OwnedMemory : public Memory {
 public:
  void begin(const StepStart& start) override {
    if (start.is_again) return restore(start.data);
    kept_.clear();
    base::WordWriter words(&kept_);
    owner_->write_memory(&words);
  }
  void restore(mjData*) override {
    base::WordReader words(kept_);
    owner_->read_memory(&words);
  }
  void write(base::WordWriter* words) const override { owner_->write_memory(words); }
  void read(base::WordReader* words) override { owner_->read_memory(words); }

 protected:
  OwnedMemory(const char* name, Owner* owner) : Memory(nullptr, name), owner_(owner) {}

  Owner* owner_;

 private:
  std::vector<std::uint64_t> kept_;  // at the last call of begin
};

/// A contact solver, which remembers the active set of the last step.
class SolverMemory final : public OwnedMemory<formulations::ContactSolver> {
 public:
  explicit SolverMemory(contact::ContactModel model)
      : OwnedMemory("the active set of a rigid model", nullptr),
        solver_(formulations::make_contact_solver(model)) {
    owner_ = solver_.get();
  }
  formulations::ContactSolver* operator->() const { return owner_; }

  void begin(const StepStart& start) override {
    OwnedMemory::begin(start);
    if (start.lost & kActiveSet) owner_->forget_memory();
  }
  std::uint32_t used() const override { return owner_->has_memory() ? kActiveSet : 0u; }

 private:
  std::unique_ptr<formulations::ContactSolver> solver_;
};

/// Pressure-field patches, which remember where the force of deep ones goes on.
class PatchMemory final : public OwnedMemory<plant::ContactPatches> {
 public:
  explicit PatchMemory(plant::ContactPatches* patches)
      : OwnedMemory("the patches of pressure fields", patches) {}

  std::uint32_t used() const override {
    const auto has_surface = [](const plant::PatchPair& pair) { return !pair.points.empty(); };
    return std::ranges::any_of(owner_->pairs(), has_surface) ? kPatchHistory : 0u;
  }
};

}  // namespace stiction::sim
