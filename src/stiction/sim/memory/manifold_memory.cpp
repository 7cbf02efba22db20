#include "stiction/sim/memory/manifold_memory.hpp"

#include <algorithm>

namespace stiction::sim {
namespace {

constexpr std::size_t kWordsOfManifold = 11, kWordsOfManifoldPoint = 12;

void for_each_coordinate(auto& point, auto&& f) {
  for (auto* vectors : {&point.place, &point.normal})
    for (auto& vector : *vectors)
      for (auto* number : {&vector.x, &vector.y, &vector.z}) f(*number);
}

}  // namespace

void ManifoldMemory::begin(const StepStart& start) {
  steps_.begin();
  steps_.now.clear();
  kept_ = *start.kept;
}

void ManifoldMemory::reserve() {
  plant::ManifoldList* const lists[] = {&steps_.before, &steps_.now, &steps_.start};
  for (plant::ManifoldList* list : lists)
    for (const plant::ManifoldList* other : lists) list->reserve_as(*other);
}

void ManifoldMemory::end_part() {
  reserve();
  steps_.end_part();
  steps_.now.clear();
  kept_.set_all();
}

plant::ContactManifolds* ManifoldMemory::start() {
  known_.clear();
  if (!kept_.has_all())
    for (const plant::Manifold& manifold : steps_.before.manifolds)
      if (kept_.has_geoms(m_, manifold.geoms)) known_.copy(manifold, steps_.before);
  manifolds_.set_memory(kept_.has_all() ? &steps_.before : &known_, &steps_.now);
  return &manifolds_;
}

void ManifoldMemory::write(base::WordWriter* words) const {
  const plant::ManifoldList& list = steps_.before;
  words->put(list.manifolds.size());
  for (const plant::Manifold& manifold : list.manifolds) {
    words->put_all(manifold.geoms);
    words->put(manifold.num_points);
    words->put_all(manifold.shapes);
    for (const plant::ManifoldPoint& point : list.points_of(manifold))
      for_each_coordinate(point, [words](double x) { words->put(x); });
  }
}

void ManifoldMemory::read(base::WordReader* words) {
  plant::ManifoldList* const list = &steps_.before;
  list->clear();
  list->manifolds.resize(words->take_count(kWordsOfManifold));
  for (plant::Manifold& manifold : list->manifolds) {
    for (int& geom : manifold.geoms) geom = words->take_below(m_->ngeom);
    manifold.first_point = static_cast<int>(list->points.size());
    manifold.num_points = static_cast<int>(words->take_count(kWordsOfManifoldPoint));
    for (double& x : manifold.shapes) x = words->take_finite();
    for (int i = 0; i < manifold.num_points; ++i)
      for_each_coordinate(list->points.emplace_back(),
                          [words](double& x) { x = words->take_finite(); });
  }
  words->check(std::ranges::is_sorted(list->manifolds, {}, &plant::Manifold::geoms));
}

}  // namespace stiction::sim
