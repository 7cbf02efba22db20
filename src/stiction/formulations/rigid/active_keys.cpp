#include "stiction/formulations/rigid/active_keys.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"

namespace stiction::formulations {
namespace {

/// Returns the key of a limit: the highest bit, the dof, and a bit that is set for upper limits.
std::uint64_t make_limit_key(const contact::ContactProblem& problem, const contact::Row& row) {
  constexpr std::uint64_t kIsLimit = std::uint64_t{1} << 63;
  const bool is_upper = problem.row_columns[row.first_column] < 0;
  return kIsLimit | 2 * static_cast<std::uint64_t>(problem.row_dof[row.first_column]) | is_upper;
}

}  // namespace

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

void write_keys(const ActiveKeys& keys, std::vector<std::uint64_t>* words) {
  for (const auto* some : {&keys.first, &keys.last}) {
    words->push_back(some->size());
    words->insert(words->end(), some->begin(), some->end());
  }
}

void read_keys(std::span<const std::uint64_t>* words, ActiveKeys* keys) {
  for (auto* some : {&keys->first, &keys->last}) {
    const std::uint64_t size = words->empty() ? 1 : words->front();
    if (words->size() <= size)
      throw Error(ErrorCode::kWrongShape, "state", "ends within the active set of a rigid model");
    some->assign(words->begin() + 1, words->begin() + 1 + static_cast<std::ptrdiff_t>(size));
    if (!std::is_sorted(some->begin(), some->end()))
      throw Error(ErrorCode::kInvalidValue, "state", "has an active set that is not in order");
    *words = words->subspan(1 + size);
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
