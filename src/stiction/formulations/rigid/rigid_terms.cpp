#include "stiction/formulations/rigid/rigid_terms.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/error.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

using contact::RowKind;

namespace {

/// @param pairs of the island, whose contacts are those of the island in the same order
void sort_contacts(std::span<const int> pairs, RigidTerms* terms) {
  terms->contacts.clear();
  terms->pairs.clear();
  int i = 0;
  for (const int p : pairs) {
    for (int k = 0; k < terms->problem->pairs[p].num_contacts; ++k, ++i) {
      const contact::Contact& c = terms->problem->contacts[terms->island.contacts()[i]];
      if (terms->gaps != contact::GapPolicy::kSpeculative && !contact::is_touching(c)) continue;
      terms->contacts.push_back(i);
      terms->pairs.push_back(p);
    }
  }
  STICTION_ASSERT(i == terms->island.num_contacts());
}

void sort_rows(RigidTerms* terms) {
  for (auto* rows : {&terms->limits, &terms->equalities, &terms->springs, &terms->dry_joints})
    rows->clear();
  for (int r = 0; r < terms->island.num_rows(); ++r) {
    const contact::Row& row = terms->row(r);
    switch (row.kind) {
      case RowKind::kLimit: terms->limits.push_back(r); break;
      case RowKind::kEquality: terms->equalities.push_back(r); break;
      case RowKind::kSpring:
      case RowKind::kDrySpring: terms->springs.push_back(r); break;
      case RowKind::kFriction: terms->dry_joints.push_back(r); break;
    }
  }
}

void gather_friction(RigidTerms* terms) {
  FrictionConstants& out = terms->friction;
  for (auto* values : {&out.mu, &out.nu, &out.slip0, &out.dry_bounds, &out.dry_compliance})
    values->clear();
  for (const int r : terms->dry_joints) {
    out.dry_bounds.push_back(terms->row(r).bound);
    out.dry_compliance.push_back(
        terms->law_has_friction() ? 0 : contact::calc_dry_compliance(terms->row(r)));
  }
  if (!terms->law_has_friction()) return;
  for (int i = 0; i < terms->num_contacts(); ++i) {
    const contact::Contact& c = terms->contact(i);
    out.mu.push_back(std::min(c.sliding_friction(), kMaxFriction));
    out.nu.push_back(terms->problem->time_step * c.law.viscous_friction);
    const math::Vector3 v0 = terms->contact_jacobian(i).multiply(terms->v0);
    out.slip0.push_back(math::hypot(v0.x() + c.bias[0], v0.y() + c.bias[1]));
  }
}

/// Returns the key of a limit: the highest bit, the dof, and a bit that is set for upper limits.
std::uint64_t make_limit_key(const contact::ContactProblem& problem, const contact::Row& row) {
  constexpr std::uint64_t kIsLimit = std::uint64_t{1} << 63;
  const bool is_upper = problem.row_columns[row.first_column] < 0;
  return kIsLimit | 2 * static_cast<std::uint64_t>(problem.row_dof[row.first_column]) | is_upper;
}

}  // namespace

void assemble_terms(const contact::ContactProblem& problem, const contact::Islands& islands,
                    int island, std::span<const int> first_dof,
                    const contact::ContactModelTraits& traits, RigidTerms* out) {
  STICTION_ASSERT(traits.is_rigid);
  STICTION_ASSERT(0 <= island && island < islands.size());
  STICTION_ASSERT(problem.v_star.size() == problem.v0.size());
  STICTION_ASSERT(problem.time_step > 0);
  out->problem = &problem;
  out->tangents = traits.tangents;
  out->gaps = traits.gaps;
  out->island.assemble_constraints(problem, islands, island, first_dof);
  const std::span<const int> dofs = out->island.dofs();
  out->v0.resize(dofs.size());
  out->v_star.resize(dofs.size());
  for (std::size_t i = 0; i < dofs.size(); ++i) {
    out->v0[i] = problem.v0[dofs[i]];
    out->v_star[i] = problem.v_star[dofs[i]];
  }
  sort_contacts(islands.pairs(island), out);
  sort_rows(out);
  gather_friction(out);
}

void find_active_keys(const RigidTerms& terms, std::span<const int> active,
                      std::vector<std::uint64_t>* keys) {
  keys->clear();
  for (const int row : active) {
    STICTION_ASSERT(0 <= row && row < terms.num_unilateral());
    const int limit = row - terms.num_contacts();
    if (limit >= 0)
      keys->push_back(make_limit_key(*terms.problem, terms.row(terms.limits[limit])));
    else if (const std::uint64_t id = terms.contact(row).id)
      keys->push_back(id);
  }
}

void write_keys(const ActiveKeys& keys, base::WordWriter* words) {
  for (const auto* some : {&keys.first, &keys.last}) {
    words->put(some->size());
    words->put_all(*some);
  }
}

void read_keys(base::WordReader* words, ActiveKeys* keys) {
  for (auto* some : {&keys->first, &keys->last}) {
    some->resize(words->take_count(1));
    for (std::uint64_t& key : *some) key = words->take();
    words->check(std::is_sorted(some->begin(), some->end()));
  }
}

void find_active_rows(const RigidTerms& terms, std::span<const std::uint64_t> keys,
                      std::vector<int>* rows) {
  STICTION_ASSERT(std::is_sorted(keys.begin(), keys.end()));
  rows->clear();
  const auto add_if_active = [&](std::uint64_t key, int row) {
    if (std::binary_search(keys.begin(), keys.end(), key)) rows->push_back(row);
  };
  for (int i = 0; i < terms.num_contacts(); ++i)
    if (const std::uint64_t id = terms.contact(i).id) add_if_active(id, i);
  for (int i = 0; i < terms.num_limits(); ++i)
    add_if_active(make_limit_key(*terms.problem, terms.row(terms.limits[i])),
                  terms.num_contacts() + i);
}

}  // namespace stiction::formulations
