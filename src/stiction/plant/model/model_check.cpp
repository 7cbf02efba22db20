#include "stiction/plant/model/model_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <variant>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/model_numbers.hpp"
#include "stiction/plant/model/square_sum.hpp"

namespace stiction::plant {
namespace {

/// The number of faulty elements of an array after which the others are not listed.
constexpr int kMaxBadRows = 10;

/// Describes a range that `value` violates.
std::string to_text(Range range, double value) {
  if (range == Range::kDistance) return "finite and at most 1e6 in magnitude";
  if (range == Range::kNotNan) return "a number";
  if (std::isfinite(value) && std::abs(value) > interval_of(range).max)
    return range == Range::kDerived ? "at most 1e200" : "at most 1e50 in magnitude";
  if (interval_of(range).has_negative) return "finite";
  return range == Range::kPositive ? "finite and above 0" : "finite and at least 0";
}

/// Collects the faults of a model's numbers.
class Checker {
 public:
  Checker(const mjModel* model, ErrorList* errors) : m_(model), errors_(*errors) {}

  void check(const NumberMember& member) {
    const mjtNum* values = member.at(m_);
    for (int i = 0; i < member.size; ++i)
      if (!is_in(member.range, values[i]))
        add(member.where, member.what, values[i], member.range,
            index_of(member.field, member.size > 1 ? i : -1, -1));
  }

  void check(const NumberArray& array) {
    std::visit([&](auto values) { check_all(array, m_->*values); }, array.values);
  }

 private:
  template <class Number>
  void check_all(const NumberArray& array, const Number* values) {
    int num_bad = 0;
    for (mjtSize i = 0; i < m_->*array.count && num_bad < kMaxBadRows; ++i)
      num_bad += !check_row(array, static_cast<int>(i), values + i * array.width);
  }

  /// Returns true if the row has no fault.
  template <class Number>
  bool check_row(const NumberArray& array, int row, const Number* values) {
    bool is_good = true;
    for (int i = 0; i < array.width; ++i) {
      if (is_in(array.range, values[i])) continue;
      is_good = false;
      add(array.describe(m_, row), array.what, values[i], array.range,
          index_of(array.field, row, array.width > 1 ? i : -1));
    }
    if constexpr (std::is_same_v<Number, mjtNum>)
      if (is_good && is_row(array.range) && !have_norms(array.range, 1, array.width, values)) {
        add_row(array, row, values);
        is_good = false;
      }
    return is_good;
  }

  void add(const std::string& where, const char* what, double value, Range range,
           const std::string& place) {
    errors_.add(ErrorCode::kInvalidValue, where,
                std::string(what) + " is " + base::to_text(value) + ", must be " +
                    to_text(range, value) + "; correct " + place);
  }

  void add_row(const NumberArray& array, int row, const mjtNum* values) {
    std::string text;
    for (int i = 0; i < array.width; ++i)
      text.append(i > 0 ? " " : "").append(base::to_text(values[i]));
    errors_.add(ErrorCode::kInvalidValue, array.describe(m_, row),
                std::string(array.what) + " is (" + text + "), must " +
                    (array.range == Range::kUnitRow ? "have norm 1" : "not be 0") + "; normalize " +
                    index_of(array.field, row, -1));
  }

  /// Returns the place of a number as Python writes it, such as "model.geom_size[3, 1]".
  static std::string index_of(const char* field, int row, int column) {
    std::string text = std::string("model.") + field;
    if (row >= 0) text.append("[").append(std::to_string(row));
    if (column >= 0) text.append(", ").append(std::to_string(column));
    return text.append(row >= 0 ? "]" : "");
  }

  const mjModel* m_;
  ErrorList& errors_;
};

/// Returns the first fault of a message, and the number of the others.
std::string first_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return text;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return text.substr(0, end) + " (and " + std::to_string(more) + " more)";
}

/// Describes the first negative value of dofs, joints or tendons; empty if all are at least 0.
std::string find_negative(const mjModel* m, mjtObj type, mjtSize count, const char* what,
                          const mjtNum* values) {
  for (mjtSize i = 0; i < count; ++i)
    if (values[i] < 0) {
      const bool is_dof = type == mjOBJ_DOF;
      return describe(m, is_dof ? mjOBJ_JOINT : type,
                      is_dof ? m->dof_jntid[i] : static_cast<int>(i)) +
             ": " + what + " is " + base::to_text(values[i]) +
             ", which may make the step's matrix indefinite";
    }
  return "";
}

}  // namespace

void check_model(const mjModel* m) {
  ErrorList errors;
  Checker checker(m, &errors);
  for (const NumberMember& member : number_members()) checker.check(member);
  for (const NumberArray& array : number_arrays()) checker.check(array);
  errors.throw_if_any();
}

std::string find_fault(const mjModel* m) {
  try {
    check_model(m);
  } catch (const Error& e) {
    return first_line(e.what());
  }
  return "";
}

std::string explain_failure(const mjModel* m) {
  std::string found = find_fault(m);
  if (found.empty()) found = find_negative(m, mjOBJ_DOF, m->nv, "damping", m->dof_damping);
  if (found.empty()) found = find_negative(m, mjOBJ_JOINT, m->njnt, "stiffness", m->jnt_stiffness);
  if (found.empty())
    found = find_negative(m, mjOBJ_TENDON, m->ntendon, "damping", m->tendon_damping);
  if (found.empty())
    found = find_negative(m, mjOBJ_TENDON, m->ntendon, "stiffness", m->tendon_stiffness);
  return found;
}

StateFault check_state(const mjModel* m, const mjData* d) noexcept {
  struct Array {
    const char* name;
    const mjtNum* values;
    mjtSize size;
    bool is_state;
  };
  const Array arrays[] = {{"time", &d->time, 1, true},
                          {"qpos", d->qpos, m->nq, true},
                          {"qvel", d->qvel, m->nv, true},
                          {"act", d->act, m->na, true},
                          {"ctrl", d->ctrl, m->nu, false},
                          {"qfrc_applied", d->qfrc_applied, m->nv, false},
                          {"xfrc_applied", d->xfrc_applied, 6 * m->nbody, false},
                          {"mocap_pos", d->mocap_pos, 3 * m->nmocap, false},
                          {"mocap_quat", d->mocap_quat, 4 * m->nmocap, false}};
  // Nearly always all numbers are so small that the sum of their squares shows it.
  SquareSum squares;
  for (const Array& array : arrays) squares.add(array.values, array.size);
  if (squares.get() <= mjMAXVAL * mjMAXVAL) return {};
  for (const Array& array : arrays)
    for (mjtSize i = 0; i < array.size; ++i)
      if (!(std::abs(array.values[i]) <= mjMAXVAL))  // true for NaN
        return {.array = array.name,
                .index = static_cast<int>(i),
                .value = array.values[i],
                .is_state = array.is_state};
  return {};
}

}  // namespace stiction::plant
