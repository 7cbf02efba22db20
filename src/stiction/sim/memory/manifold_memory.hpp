#pragma once

#include <vector>

#include "stiction/plant/collision/contact_manifolds.hpp"
#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// The contact points of the last step, which stay while both geoms support them.
class ManifoldMemory final : public Memory {
 public:
  explicit ManifoldMemory(const mjModel* model) : Memory(model, "the points of contacts") {}

  void begin(const StepStart& start) override;
  void end_part() override;
  void end(const StepEnd&) override {
    reserve();
    steps_.end();
  }
  void restore(mjData*) override { steps_.restore(); }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// Begins to find the contacts of this step.
  plant::ContactManifolds* start();
  /// Keeps the contacts of the last step for which sleeps(geom A, geom B) is true. Call it once
  /// after the contacts have been found.
  template <class F>
  void keep(F&& sleeps) {
    sleeping_.clear();
    for (const plant::Manifold& manifold : steps_.before.manifolds)
      if (kept_.has_geoms(m_, manifold.geoms) && sleeps(manifold.geoms[0], manifold.geoms[1]) &&
          !steps_.now.find(manifold.geoms))
        sleeping_.push_back(manifold);
    for (const plant::Manifold& manifold : sleeping_) steps_.now.copy(manifold, steps_.before);
    steps_.now.sort();
  }

 private:
  /// Makes room in each list for as many contacts as in the largest.
  void reserve();

  MemoryBuffers<plant::ManifoldList> steps_;
  plant::ManifoldList known_;  // those of the last step that go on, if not all do
  plant::ContactManifolds manifolds_;
  std::vector<plant::Manifold> sleeping_;
  KeptTrees kept_{m_};
};

}  // namespace stiction::sim
