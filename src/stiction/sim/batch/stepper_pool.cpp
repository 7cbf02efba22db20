#include "stiction/sim/batch/stepper_pool.hpp"

#include <utility>

namespace stiction::sim {

StepperPool::Member::Member(const mjModel* model, const StepOptions& options,
                            const plant::MaterialTable& materials)
    : stepper(model, options, materials), fresh(stepper.get_state()) {}

StepperPool::StepperPool(const StepOptions& options, plant::MaterialTable materials)
    : options_(resolve(options, materials)), materials_(std::move(materials)) {}

void StepperPool::clear() {
  const std::scoped_lock lock(mutex_);
  free_.clear();
}

StepperPool::Lease::Lease(StepperPool* pool, const mjModel* model) : pool_(pool), model_(model) {
  {
    const std::scoped_lock lock(pool->mutex_);
    Members& members = pool->free_[model];
    if (!members.empty()) {
      member_ = std::move(members.back());
      members.pop_back();
      return;
    }
  }
  // Without the lock, because a scene with pressure fields makes meshes.
  member_ = std::make_unique<Member>(model, pool->options_, pool->materials_);
  member_->stepper.set_interrupt(pool->is_interrupted_);
}

StepperPool::Lease::~Lease() {
  const std::scoped_lock lock(pool_->mutex_);
  pool_->free_[model_].push_back(std::move(member_));
}

}  // namespace stiction::sim
