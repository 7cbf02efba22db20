#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

/// The arrays of a report are listed once, by a function `list_arrays` beside the report. Clearing,
/// merging, averaging and copying, the attributes in Python, recordings and tables follow from this
/// list.
namespace stiction::sim {

/// The items to which the entries of an array belong.
enum class ReportItem { kContact, kPatch, kFace, kVertex };

/// The rule by which Stepper::advance makes one entry from those of its half steps.
enum class Average {
  kLast,       // that of the last half step with the contact
  kSum,        // the sum
  kMean,       // the mean, weighted by normal impulses
  kLastPatch,  // that of the last half step of the call, which has the patches; -1: none
};

/// An array of a report: `width` numbers for each item. The functions change one property of a row.
template <class Report, class T>
struct ReportArray {
  constexpr ReportArray averaged(Average rule) const { return change(&ReportArray::average, rule); }
  constexpr ReportArray unrecorded() const { return change(&ReportArray::is_recorded, false); }
  constexpr ReportArray starting(const char* i) const { return change(&ReportArray::starts_of, i); }
  template <class Value>
  constexpr ReportArray change(Value ReportArray::*property, Value value) const {
    ReportArray row = *this;
    row.*property = value;
    return row;
  }

  const char* name;
  std::vector<T> Report::*member;
  int width;
  const char* unit;  // "-" for a number without one; empty for ids, flags and directions
  ReportItem item;
  const char* meaning;      // without a full stop
  bool is_recorded = true;  // in recordings and tables
  Average average = Average::kLast;
  /// The items that an entry counts, such as "faces". Those of item i are [start[i], start[i + 1]),
  /// so that the array has one entry more. Null: the array has no starts.
  const char* starts_of = nullptr;
};

/// Calls f(array) for each array of a report.
template <class Report, class F>
void for_each_array(F&& f) {
  static constexpr auto kArrays = list_arrays(static_cast<const Report*>(nullptr));
  std::apply([&](const auto&... array) { (f(array), ...); }, kArrays);
}

/// The number of arrays of a report.
template <class Report>
constexpr std::size_t count_arrays() {
  return std::tuple_size_v<decltype(list_arrays(static_cast<const Report*>(nullptr)))>;
}

/// Empties the arrays of a report, keeping their memory.
template <class Report>
void clear_arrays(Report* report) {
  for_each_array<Report>([&](const auto& array) {
    auto& values = report->*array.member;
    array.starts_of ? values.assign(1, 0) : values.clear();
  });
}

/// Resizes the arrays of a report.
template <class Report>
void resize_arrays(std::size_t size, Report* report) {
  for_each_array<Report>(
      [&](const auto& array) { (report->*array.member).resize(array.width * size); });
}

/// Appends the arrays of a report to those of another one.
template <class Report>
void append_arrays(const Report& part, Report* all) {
  for_each_array<Report>([&](const auto& array) {
    const auto& from = part.*array.member;
    auto& to = all->*array.member;
    if (!array.starts_of) {
      to.insert(to.end(), from.begin(), from.end());
    } else {
      const auto first = to.back();
      for (std::size_t i = 1; i < from.size(); ++i) to.push_back(first + from[i]);
    }
  });
}

/// Returns the reports of many simulations as one, with the time step of the first one that has it.
/// @param offsets set to the places where those of each begin, and the end; size reports.size() + 1
template <class Report>
Report merge(const std::vector<Report>& reports, std::vector<int>* offsets) {
  Report all;
  offsets->assign(1, 0);
  for (const Report& report : reports) {
    append_arrays(report, &all);
    offsets->push_back(all.size());
    if constexpr (requires { all.time_step; })
      if (all.time_step == 0) all.time_step = report.time_step;
  }
  return all;
}

}  // namespace stiction::sim
