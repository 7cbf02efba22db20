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

/// A contact solver, which remembers the active set of the last step.
class SolverMemory final : public Memory {
 public:
  explicit SolverMemory(contact::ContactModel model)
      : solver_(formulations::make_contact_solver(model)) {}
  formulations::ContactSolver* operator->() const { return solver_.get(); }

  void begin(const StepStart& start) override {
    if (start.is_again) {
      restore(start.data);
    } else {
      kept_.clear();
      solver_->write_memory(&kept_);
    }
    if (start.lost & kActiveSet) solver_->forget_memory();
  }
  void restore(mjData*) override {
    std::span<const std::uint64_t> words = kept_;
    solver_->read_memory(&words);
  }
  std::uint32_t used() const override { return solver_->has_memory() ? kActiveSet : 0u; }
  const char* name() const override { return "the active set of a rigid model"; }
  void write(base::WordWriter* words) const override { solver_->write_memory(words->words()); }
  void read(base::WordReader* words) override {
    std::span<const std::uint64_t> rest = words->rest();
    solver_->read_memory(&rest);
    words->set_rest(rest);
  }

 private:
  std::unique_ptr<formulations::ContactSolver> solver_;
  std::vector<std::uint64_t> kept_;  // at the last call of begin
};

/// Pressure-field patches, which remember where the force of deep ones goes on.
class PatchMemory final : public Memory {
 public:
  explicit PatchMemory(plant::ContactPatches* patches) : patches_(patches) {}

  void begin(const StepStart& start) override {
    if (start.is_again) return restore(start.data);
    kept_.clear();
    patches_->write_memory(&kept_);
  }
  void restore(mjData*) override {
    std::span<const std::uint64_t> words = kept_;
    patches_->read_memory(&words);
  }
  std::uint32_t used() const override {
    const auto has_surface = [](const plant::PatchPair& pair) { return !pair.points.empty(); };
    return std::ranges::any_of(patches_->pairs(), has_surface) ? kPatchHistory : 0u;
  }
  const char* name() const override { return "the patches of pressure fields"; }
  void write(base::WordWriter* words) const override { patches_->write_memory(words->words()); }
  void read(base::WordReader* words) override {
    std::span<const std::uint64_t> rest = words->rest();
    patches_->read_memory(&rest);
    words->set_rest(rest);
  }

 private:
  plant::ContactPatches* patches_;
  std::vector<std::uint64_t> kept_;  // at the last call of begin
};

}  // namespace stiction::sim
