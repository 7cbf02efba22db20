#include "stiction/sim/advance/advance_extrapolation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stiction::sim {

void AdvanceExtrapolation::start(const mjModel* m) {
  groups_.reset(static_cast<int>(m->ntree));
  has_changed_.assign(m->ntree, 0);
}

void AdvanceExtrapolation::join(const mjModel* m, const plant::Model& plant,
                                const contact::Islands& islands) {
  for (int i = 0; i < islands.size(); ++i) {
    const std::span<const int> blocks = islands.blocks(i);
    const auto tree_of = [&](int block) { return m->dof_treeid[plant.block(block).dof_start]; };
    for (std::size_t k = 1; k < blocks.size(); ++k)
      groups_.join(std::array{tree_of(blocks[k - 1]), tree_of(blocks[k])});
  }
}

void AdvanceExtrapolation::compare(const AdvancePattern& start, const AdvancePattern& full,
                                   std::span<const AdvancePattern, 2> halves) {
  const auto note = [this](int tree) { has_changed_[tree] = 1; };
  full.for_each_difference(start, false, note);
  for (const AdvancePattern& half : halves) full.for_each_difference(half, true, note);
}

bool AdvanceExtrapolation::choose(const mjModel* m, const Velocities& v,
                                  std::span<const double> levers) {
  constexpr double kAgreement = 0.1;
  const auto num_trees = static_cast<std::size_t>(m->ntree);
  group_changed_.assign(num_trees, 0);
  for (auto* speeds : {&gap_, &way_}) speeds->assign(num_trees, 0.0);
  for (int tree = 0; tree < m->ntree; ++tree)
    if (has_changed_[tree]) group_changed_[groups_.find(tree)] = 1;
  for (int i = 0; i < m->nv; ++i) {
    const int group = groups_.find(m->dof_treeid[i]);
    const double w = levers[i];
    gap_[group] = std::max(gap_[group], w * std::abs(v.second[i] - v.full[i]));
    way_[group] = std::max(
        way_[group], w * (std::abs(v.first[i] - v.start[i]) + std::abs(v.second[i] - v.first[i])));
  }
  bool takes_all = true;
  is_chosen_.resize(m->nv);
  for (int i = 0; i < m->nv; ++i) {
    const int group = groups_.find(m->dof_treeid[i]);
    is_chosen_[i] = !group_changed_[group] || gap_[group] <= kAgreement * way_[group];
    takes_all = takes_all && is_chosen_[i];
  }
  return takes_all;
}

void AdvanceExtrapolation::apply(const mjModel* m, mjData* d, std::span<double> dq,
                                 const Velocities& v, std::span<const double> full_act) const {
  for (int i = 0; i < m->nv; ++i) {
    if (!is_chosen_[i]) {
      dq[i] = 0;
      continue;
    }
    d->qvel[i] += v.second[i] - v.full[i];
  }
  mj_integratePos(m, d->qpos, dq.data(), 1);
  for (int a = 0; a < m->nactuator; ++a) {
    for (int i = m->actuator_actadr[a]; i < m->actuator_actadr[a] + m->actuator_actnum[a]; ++i) {
      const double act = 2 * d->act[i] - full_act[i];
      const mjtNum* range = m->actuator_actrange + 2 * a;
      if (m->actuator_actlimited[a] && !(act > range[0] && act < range[1])) continue;
      d->act[i] = act;
    }
  }
}

}  // namespace stiction::sim
