#include "stiction/sim/sleep/sleep_inputs.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

/// True if a part of an array differs from what was kept.
template <class T>
bool differs(const std::vector<T>& kept, const T* values, int first, int size) {
  return !std::equal(values + first, values + first + size, kept.begin() + first);
}

/// Calls f(array of the data, what was kept of it) for each array.
template <class Values, class F>
void for_each_array(const mjModel* m, const mjData* d, Values& kept, F&& f) {
  const auto span = [](const auto* values, mjtSize size) {
    return std::span(values, static_cast<std::size_t>(size));
  };
  f(span(d->ctrl, m->nu), kept.ctrl);
  f(span(d->act, m->na), kept.act);
  f(span(d->mocap_pos, 3 * m->nmocap), kept.mocap_pos);
  f(span(d->mocap_quat, 4 * m->nmocap), kept.mocap_quat);
  f(span(d->eq_active, m->neq), kept.eq_active);
}

/// Calls f(array, its size) for each array of inputs.
template <class Values, class F>
void for_each_array(const mjModel* m, Values& values, F&& f) {
  f(values.ctrl, m->nu);
  f(values.act, m->na);
  f(values.mocap_pos, 3 * m->nmocap);
  f(values.mocap_quat, 4 * m->nmocap);
  f(values.eq_active, m->neq);
}

}  // namespace

bool has_changing_callback() {
  return mjcb_passive || mjcb_contactfilter || mjcb_act_dyn || mjcb_act_gain || mjcb_act_bias;
}

bool are_zero(const mjtNum* values, int size) {
  return std::all_of(values, values + size,
                     [](mjtNum x) { return std::bit_cast<std::uint64_t>(x) == 0; });
}

bool is_applied(const mjModel* m, const mjData* d, int tree) {
  return !are_zero(d->xfrc_applied + 6 * m->tree_bodyadr[tree], 6 * m->tree_bodynum[tree]) ||
         !are_zero(d->qfrc_applied + m->tree_dofadr[tree], m->tree_dofnum[tree]);
}

void SleepInputs::keep(const mjModel* m, const mjData* d) {
  for_each_array(m, d, values_,
                 [](const auto& now, auto& kept) { kept.assign(now.begin(), now.end()); });
}

bool SleepInputs::has_changed(const mjModel* m, const mjData* d) const {
  bool is_any = false;
  for_each_array(m, d, values_, [&](const auto& now, const auto& kept) {
    is_any = is_any || !std::ranges::equal(now, kept);
  });
  return is_any;
}

void SleepInputs::find_changes(const mjModel* m, const mjData* d, const plant::TreeTies& ties,
                               std::span<std::uint8_t> is_changed) const {
  const auto mark = [&](const plant::TreeTies::Tie& tie) {
    for (const int tree : tie.trees) is_changed[tree] = 1;
  };
  for (int i = 0; i < m->nactuator; ++i) {
    if (!has_changed_control(m, d, i) && !has_changed_activation(m, d, i)) continue;
    mark(ties.of_actuator(i));
    if (ties.of_actuator(i).trees.empty()) std::ranges::fill(is_changed, 1);
  }
  for (int i = 0; i < m->neq; ++i)
    if (d->eq_active[i] != values_.eq_active[i]) mark(ties.of_equality(i));
}

bool SleepInputs::has_changed_control(const mjModel* m, const mjData* d, int actuator) const {
  return differs(values_.ctrl, d->ctrl, m->actuator_ctrladr[actuator],
                 m->actuator_ctrlnum[actuator]);
}

bool SleepInputs::has_changed_activation(const mjModel* m, const mjData* d, int actuator) const {
  const int first = m->actuator_actadr[actuator];
  return first >= 0 && differs(values_.act, d->act, first, m->actuator_actnum[actuator]);
}

bool SleepInputs::has_moved(const mjData* d, int mocap) const {
  return differs(values_.mocap_pos, d->mocap_pos, 3 * mocap, 3) ||
         differs(values_.mocap_quat, d->mocap_quat, 4 * mocap, 4);
}

void SleepInputs::write(std::vector<std::uint64_t>* words) const {
  words->push_back(values_.model);
  for (const auto* numbers : {&values_.ctrl, &values_.act, &values_.mocap_pos, &values_.mocap_quat})
    for (const mjtNum x : *numbers) words->push_back(std::bit_cast<std::uint64_t>(x));
  for (const mjtBool is_active : values_.eq_active) words->push_back(is_active ? 1 : 0);
}

void SleepInputs::read(const mjModel* m, std::span<const std::uint64_t>* words) {
  const std::size_t size = 1 + m->nu + m->na + 7 * m->nmocap + m->neq;
  if (words->size() < size)
    throw Error(
        ErrorCode::kWrongShape, "state",
        "has too few numbers for the inputs of sleeping trees; it belongs to another model");
  const std::uint64_t* next = words->data();
  values_.model = *next++;
  for_each_array(m, values_, [&next](auto& array, mjtSize count) {
    array.resize(count);
    for (auto&& x : array) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(x)>, mjtNum>)
        x = std::bit_cast<mjtNum>(*next++);
      else
        x = *next++ != 0;
    }
  });
  *words = words->subspan(size);
}

}  // namespace stiction::sim
