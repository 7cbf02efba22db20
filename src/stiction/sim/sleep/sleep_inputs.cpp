#include "stiction/sim/sleep/sleep_inputs.hpp"

#include <algorithm>
#include <bit>

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

void SleepInputs::write(base::WordWriter* words) const {
  words->put(values_.model);
  for (const auto* numbers : {&values_.ctrl, &values_.act, &values_.mocap_pos, &values_.mocap_quat})
    words->put_all(*numbers);
  for (const mjtBool is_active : values_.eq_active) words->put(is_active ? 1 : 0);
}

void SleepInputs::read(const mjModel* m, base::WordReader* words) {
  values_.model = words->take();
  words->take_all(m->nu, &values_.ctrl);
  words->take_all(m->na, &values_.act);
  words->take_all(3 * m->nmocap, &values_.mocap_pos);
  words->take_all(4 * m->nmocap, &values_.mocap_quat);
  values_.eq_active.resize(m->neq);
  for (auto&& is_active : values_.eq_active) is_active = words->take() != 0;
}

}  // namespace stiction::sim
