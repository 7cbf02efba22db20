#include "stiction/sim/advance/extrapolation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/contact/jacobian.hpp"

namespace stiction::sim {
namespace {

using contact::RowKind;

/// Returns a tree that the contact moves; -1 if no dof moves its bodies.
int find_contact_tree(const mjModel* m, const ContactReport& contacts, int i) {
  for (const int side : {0, 1})
    if (const int tree = m->body_treeid[contacts.bodies[2 * i + side]]; tree >= 0) return tree;
  return -1;
}

/// Returns the kinematic tree of one of the solver's dofs.
int find_tree(const mjModel* m, const plant::Model& plant, int solver_dof) {
  return m->dof_treeid[plant.block(plant.block_of_solver_dof(solver_dof)).dof_start];
}

std::uint64_t make_key(std::uint64_t a, std::uint64_t b) { return a << 32 | b; }

}  // namespace

/// Merges the entries of the same geoms. Points of a patch come and go, so a patch counts as one
/// point, which slips if all of its points slip.
void AdvancePattern::merge() {
  std::ranges::sort(entries_, {}, &Entry::key);
  std::size_t last = 0;
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].key == entries_[last].key) {
      entries_[last].num_pushing += entries_[i].num_pushing;
      entries_[last].num_slipping += entries_[i].num_slipping;
    } else {
      entries_[++last] = entries_[i];
    }
  }
  if (!entries_.empty()) entries_.resize(last + 1);
  for (Entry& e : entries_) {
    if (!e.is_patch) continue;
    e.num_slipping = e.num_slipping == e.num_pushing;
    e.num_pushing = 1;
  }
}

void AdvancePattern::add_row(const Problem& p, int row, bool pushes, bool slips) {
  if (!pushes) return;
  const contact::Row& r = p.problem.rows[row];
  if (r.num_columns == 0) return;
  const int type = p.data->efc_type[r.source], id = p.data->efc_id[r.source];
  constexpr std::uint64_t kIsRow = std::uint64_t{1} << 31;
  entries_.push_back({.key = make_key(kIsRow | type, id),
                      .tree = find_tree(p.model, p.plant, p.problem.row_dof[r.first_column]),
                      .num_pushing = 1,
                      .num_slipping = slips});
}

/// Reads the contacts for which pushes(contact) is true.
template <class Push, class Slip>
void AdvancePattern::read_with(const Problem& p, Push&& pushes, Slip&& slips) {
  entries_.clear();
  for (const contact::BodyPair& pair : p.problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      if (!pushes(i)) continue;
      const int tree = find_contact_tree(p.model, p.contacts, i);
      if (tree < 0) continue;
      entries_.push_back({.key = make_key(p.contacts.geoms[2 * i], p.contacts.geoms[2 * i + 1]),
                          .tree = tree,
                          .is_patch = p.contacts.patch[i] >= 0,
                          .num_pushing = 1,
                          .num_slipping = slips(i)});
    }
  }
}

void AdvancePattern::read_start(const Problem& p) {
  const auto pushes = [&](int i) {
    const contact::Contact& c = p.problem.contacts[i];
    // Only barriers act across a gap.
    const bool is_barrier = c.law.barrier_stiffness != contact::kInfinity;
    return c.phi0 < (is_barrier ? c.law.barrier_thickness : 0);
  };
  read_with(p, pushes, [](int) { return false; });
  for (int r = 0; r < p.problem.num_rows(); ++r) {
    const contact::Row& row = p.problem.rows[r];
    if (row.source >= 0 && row.kind == RowKind::kLimit)
      add_row(p, r, p.data->efc_pos[row.source] < p.data->efc_margin[row.source], false);
    if (row.source >= 0 && (row.kind == RowKind::kFriction || row.kind == RowKind::kDrySpring))
      add_row(p, r, true, false);
  }
  merge();
}

void AdvancePattern::read(const Problem& p, const contact::ContactSolution& solution) {
  const auto pushes = [&](int i) { return solution.impulses[i][2] > 0; };
  const auto slips = [&](int i) { return solution.beyond_tolerance[i] != 0; };
  read_with(p, pushes, slips);
  for (int r = 0; r < p.problem.num_rows(); ++r) {
    const contact::Row& row = p.problem.rows[r];
    if (row.source < 0) continue;
    if (row.kind == RowKind::kLimit) add_row(p, r, solution.row_impulses[r] > 0, false);
    if (row.kind == RowKind::kFriction)
      add_row(
          p, r, true,
          std::abs(contact::calc_row_velocity(p.problem, row, solution.v)) > row.slip_tolerance);
    if (row.kind == RowKind::kDrySpring)
      add_row(p, r, true, std::abs(solution.row_impulses[r]) >= row.bound);
  }
  merge();
}

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
                                   const AdvancePattern& first, const AdvancePattern& second) {
  const auto note = [this](int tree) { has_changed_[tree] = 1; };
  full.for_each_difference(start, false, note);
  for (const AdvancePattern* half : {&first, &second}) full.for_each_difference(*half, true, note);
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
